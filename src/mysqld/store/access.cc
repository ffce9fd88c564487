#include "mysqld/store/access.h"

#include "mysqld/accounts/account.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {

using store::Outcome;

Outcome Access::may_open(const store::Caller& caller, const std::string& database,
                         const std::string& table) {
  if (caller.may_do_everything()) return {};
  Permissions permissions;
  counters_.add(Counter::privileges_asked);
  const Outcome asked = privileges_.ask(static_cast<const Account&>(caller),
                                        {.database = database, .table = table}, permissions);
  if (!asked.ok()) return asked;
  if (server_is_offline(permissions.is_exempt)) return offline;
  return permissions.sees_table() ? Status{} : store::access_denied;
}

Outcome Access::may_see(const store::Caller& caller, const std::string& database) {
  if (caller.may_do_everything()) return {};
  bool is_exempt = false;
  bool sees = false;
  counters_.add(Counter::privileges_asked);
  const Outcome asked = privileges_.ask_about_database(static_cast<const Account&>(caller),
                                                       database, is_exempt, sees);
  if (!asked.ok()) return asked;
  if (server_is_offline(is_exempt)) return offline;
  return sees ? Status{} : store::database_denied;
}

Outcome Access::seen_columns(const store::Caller& caller, const std::string& database,
                             const std::string& table, std::span<const std::string> columns,
                             std::vector<bool>& seen) {
  seen.assign(columns.size(), caller.may_do_everything());
  if (caller.may_do_everything()) return {};
  counters_.add(Counter::privileges_asked);
  return privileges_.ask_seen(static_cast<const Account&>(caller),
                              {.database = database, .table = table, .columns = columns}, seen);
}

bool Access::server_is_offline(bool is_exempt) { return !is_exempt && server::is_offline(); }

Outcome Access::permissions_of(const store::IndexUse& use, const Permissions*& permissions) {
  static const Permissions everything{.everything = true};
  permissions = &everything;
  if (use.caller().may_do_everything()) return {};
  auto& plan = static_cast<IndexPlan&>(use.index());
  const auto& account = static_cast<const Account&>(use.caller());
  PlanPermissions& known = plan.permissions(account.role());
  permissions = &known;
  if (known.asked_in == asks_ && known.rights == account.rights() &&
      known.table_version == plan.table_version()) [[likely]]
    return {};
  pass_.begin_work();
  // What is there belongs to another account, perhaps, and is replaced in parts.
  known.asked_in = 0;
  counters_.add(Counter::privileges_asked);
  const Outcome asked = privileges_.ask(account, plan.asked_names(), known);
  if (!asked.ok()) return asked;
  known.told_in = {};
  known.asked_in = asks_;
  known.rights = account.rights();
  known.table_version = plan.table_version();
  return {};
}

// Once in a pass for each account, or once for each time that it is asked about.
Status Access::tell(const store::IndexUse& use, TABLE& table, Purpose purpose) {
  if (use.caller().may_do_everything()) return {};
  const auto& account = static_cast<const Account&>(use.caller());
  PlanPermissions& known = static_cast<IndexPlan&>(use.index()).permissions(account.role());
  if (known.told_of != account.number()) {
    known.told_in = {};
    known.told_of = account.number();
  }
  std::uint64_t& told_in = known.told_in[static_cast<std::size_t>(purpose)];
  if (told_in == asks_) return {};
  const Status status = privileges_.tell_of_access(account, table, purpose);
  if (status.ok()) told_in = asks_;
  return status;
}

}  // namespace hs::mysqld
