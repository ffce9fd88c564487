// Account: an account of the server, as which connections of a port act.
//
// Made when a port opens, and not changed. Workers and streamers share it. It consists of names: it
// does not know whether the account exists. Each worker asks what it may do (Privileges).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "store/caller.h"

namespace hs::mysqld {

class Account final : public store::Caller {
 public:
  // The accounts that one port may have.
  enum class Role : std::uint8_t {
    anonymous,  // of who has said nothing
    trusted,    // of who has given the secret
  };
  static constexpr std::size_t roles = 2;

  Account(Role role, std::string_view user, std::string_view host)
      : role_(role), user_(user), host_(host) {}

  // From `user@host`. The user may contain an @. Null if there is no host.
  static std::shared_ptr<const Account> parse(Role role, std::string_view name) {
    const std::size_t at = name.rfind('@');
    if (at == std::string_view::npos || at + 1 == name.size()) return nullptr;
    return std::make_shared<Account>(role, name.substr(0, at), name.substr(at + 1));
  }

  Role role() const { return role_; }
  const std::string& user() const { return user_; }
  const std::string& host() const { return host_; }

 private:
  const Role role_;
  const std::string user_;
  const std::string host_;
};

}  // namespace hs::mysqld
