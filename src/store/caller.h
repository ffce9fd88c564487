// Caller: who a connection acts as, and what it may do.
//
// A session owns its caller and hands it to the store with the names of an index. The store keeps
// it beside the open index (IndexUse in store/store.h) and asks there what the caller may do. A
// caller is made by whoever knows accounts: a store that finds a caller who may not do everything
// knows that this caller is one of its own. It may be used on a worker's thread and, for a long
// find, on a streamer's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"

namespace hs::store {

// What a request does to the rows of a table. A set of rights is the sum of its members.
enum class Rights : std::uint8_t {
  none = 0,
  read = 1,  // of columns that are answered, compared or part of a key
  insert = 2,
  update = 4,
  erase = 8,
  all = 15,
};

constexpr Rights operator|(Rights a, Rights b) {
  return static_cast<Rights>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool contains(Rights rights, Rights needed) {
  return (static_cast<unsigned>(needed) & ~static_cast<unsigned>(rights)) == 0;
}

// The answer to a request that its caller may not make.
inline constexpr Status access_denied = Error::denied;

class Caller {
 public:
  virtual ~Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // As SQL names it: `user@host`; empty if it is no account. Valid as long as the caller.
  virtual std::string_view name() const { return {}; }
  // Whether no store has to ask what it may do.
  bool may_do_everything() const { return may_do_everything_; }

  // As whom all connections act as long as there are no accounts.
  static const std::shared_ptr<const Caller>& unlimited() {
    static const std::shared_ptr<const Caller> caller(new Caller(true));
    return caller;
  }

 protected:
  // A caller whose rights a store has to ask for.
  Caller() = default;

 private:
  explicit Caller(bool may_do_everything) : may_do_everything_(may_do_everything) {}

  const bool may_do_everything_ = false;
};

}  // namespace hs::store
