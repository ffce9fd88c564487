// Account: an account of the server, as which connections act.
//
// Made when a port opens, and then connections share it. It consists of names: it does not know
// whether the account exists. Or made by a log-in, for one connection. It is not changed. Whoever
// has the connection, a worker or a streamer, asks what it may do (Privileges).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "mysqld/accounts/departures.h"
#include "mysqld/accounts/rights_number.h"
#include "mysqld/server/log_in.h"
#include "store/caller.h"

namespace hs::mysqld {

class Account final : public store::Caller {
 public:
  // What kinds of accounts the connections of one port may have.
  enum class Role : std::uint8_t {
    anonymous,  // of who has said nothing
    trusted,    // of who has given the secret
    logged_in,  // of who has given a user and a password
  };
  static constexpr std::size_t roles = 3;

  Account(Role role, std::string_view user, std::string_view host)
      : role_(role), user_(user), host_(host), name_(user_ + '@' + host_) {}
  // A log-in. When it ends, `departures` gets a note, if the server wants one.
  Account(std::unique_ptr<server::LoggedIn> logged_in, std::shared_ptr<Departures> departures)
      : role_(Role::logged_in),
        name_(logged_in->name()),
        rights_(logged_in->rights_key()),
        logged_in_(std::move(logged_in)),
        departures_(std::move(departures)) {}
  ~Account() override;

  // From `user@host`. The user may contain an @. Null if there is no host.
  static std::shared_ptr<const Account> parse(Role role, std::string_view name) {
    const std::size_t at = name.rfind('@');
    if (at == std::string_view::npos || at + 1 == name.size()) return nullptr;
    return std::make_shared<Account>(role, name.substr(0, at), name.substr(at + 1));
  }

  std::string_view name() const override { return name_; }
  Role role() const { return role_; }
  const std::string& user() const { return user_; }
  const std::string& host() const { return host_; }
  // Null if it consists of names.
  server::LoggedIn* logged_in() const { return logged_in_.get(); }
  // Of no other account as long as the process runs.
  std::uint64_t number() const { return number_; }
  // Two accounts with the same one may do the same. So an answer to one is an answer to the other.
  std::uint64_t rights() const { return rights_.get(); }

 private:
  static inline std::atomic<std::uint64_t> last_number{0};

  const Role role_;
  const std::string user_;
  const std::string host_;
  const std::string name_;
  const RightsNumber rights_;
  const std::unique_ptr<server::LoggedIn> logged_in_;
  const std::shared_ptr<Departures> departures_;
  const std::uint64_t number_ = ++last_number;
};

}  // namespace hs::mysqld
