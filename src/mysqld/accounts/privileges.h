// Privileges: asks the server what the accounts of a port's connections may do.
//
// Each worker has one, on its own thread and THD. It keeps no answer: whoever asks keeps it for one
// pass at most, and asks again when others join the pass.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "mysqld/accounts/account.h"
#include "mysqld/accounts/permissions.h"
#include "store/store.h"

namespace hs::mysqld {

// The names of an open index.
struct AskedNames {
  const std::string& database;
  const std::string& table;
  std::span<const std::string> columns{};
  std::span<const std::string> filter_columns{};
  std::span<const std::string> key_columns{};
};

class Privileges {
 public:
  explicit Privileges(THD* thd) : thd_(thd) {}

  // `blocked` if the server cannot be asked now; an error if there is no such account.
  store::Outcome ask(const Account& account, const AskedNames& names, Permissions& permissions);

 private:
  THD* thd_;
  std::array<std::unique_ptr<server::AccountContext>, Account::roles> contexts_;
};

}  // namespace hs::mysqld
