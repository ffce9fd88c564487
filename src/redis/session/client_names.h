// ClientNames: what clients have told of themselves, for CLIENT LIST of another one.
//
// A port has one. A connection's thread writes its entry when its client gives a name or chooses a version
// of the protocol, which clients do when they connect, and takes it away at the end. So its lock is not
// on the way of any other request. There is one entry for a connection at most.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "redis/protocol/reply.h"

namespace hs::redis {

struct ClientName {
  Resp resp = Resp::two;
  std::string name{};
  std::string library{};
  std::string library_version{};
};

class ClientNames {
 public:
  void set(std::uint64_t connection, ClientName name) {
    const std::lock_guard lock(mutex_);
    names_.insert_or_assign(connection, std::move(name));
  }
  void forget(std::uint64_t connection) {
    const std::lock_guard lock(mutex_);
    names_.erase(connection);
  }
  ClientName find(std::uint64_t connection) const {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(connection);
    return found == names_.end() ? ClientName{} : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, ClientName> names_;
};

}  // namespace hs::redis
