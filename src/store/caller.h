// Caller: who a connection acts as, and what it may do.
//
// A session owns its caller and hands it to the store with the names of an index. The store keeps
// it beside the open index (IndexUse in store/store.h) and asks what the caller may do. A
// caller is made by whoever knows accounts: a store that finds a caller who may not do everything
// knows that this caller is one of its own. It may be used on a worker's thread and, for a long
// find, on a streamer's.
#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"

namespace hs::store {

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
