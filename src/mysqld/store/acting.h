// Acting: while it exists, the worker's THD acts as a caller's account, if a table needs that.
//
// Triggers, defaults and virtual columns may ask who the user is. Most tables have none that do,
// and cost one comparison. On the worker's thread, around the change or the reading of rows.
#pragma once

#include "mysqld/accounts/privileges.h"
#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"

namespace hs::mysqld {

class Acting {
 public:
  // `is_needed`: see server/tables.h.
  Acting(Privileges& privileges, const store::Caller& caller, THD* thd, TABLE& table,
         bool is_needed) {
    if (!is_needed || caller.may_do_everything()) [[likely]]
      return;
    const auto& account = static_cast<const Account&>(caller);
    outcome_ = privileges.act(account);
    if (!outcome_.ok()) return;
    privileges_ = &privileges;
    account_ = &account;
    if (!server::forget_user(thd, table)) outcome_ = server::status_of(server::raised_error(thd));
  }
  ~Acting() {
    if (privileges_ != nullptr) [[unlikely]]
      privileges_->stop_acting(*account_);
  }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;

  // Whether the THD acts as the account.
  explicit operator bool() const { return privileges_ != nullptr; }
  store::Outcome outcome() const { return outcome_; }

 private:
  Privileges* privileges_ = nullptr;
  const Account* account_ = nullptr;
  store::Outcome outcome_;
};

}  // namespace hs::mysqld
