#include "mysqld/accounts/privileges.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/once_a_minute.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/logging.h"

namespace hs::mysqld {
namespace {

using server::AccountContext;
using server::Extent;
using server::Privilege;

// SQL's ER_NO_SUCH_USER, as for a view whose definer does not exist.
constexpr Status no_such_account{Error::denied, 1449};

// How many of the first columns have the privilege.
std::uint32_t count_leading(AccountContext& context, Privilege privilege, Extent extent,
                            std::span<const std::string> columns) {
  if (extent == Extent::nothing) return 0;
  if (extent == Extent::all) return static_cast<std::uint32_t>(columns.size());
  const auto lacking = std::find_if(columns.begin(), columns.end(), [&](const std::string& name) {
    return !context.has_column(privilege, name);
  });
  return static_cast<std::uint32_t>(lacking - columns.begin());
}

// Which columns have the privilege.
void ask_each(AccountContext& context, Privilege privilege, Extent extent,
              std::span<const std::string> columns, std::vector<bool>& have) {
  have.clear();
  if (extent != Extent::some) return;
  for (const std::string& name : columns) have.push_back(context.has_column(privilege, name));
}

// `writes`: whether there are other requests than finds.
void ask_about_columns(AccountContext& context, const AskedNames& names, bool writes,
                       Permissions& permissions) {
  const auto leading = [&](Privilege privilege, Extent& extent,
                           std::span<const std::string> columns) {
    extent = context.extent(privilege);
    return count_leading(context, privilege, extent, columns);
  };
  permissions.erase = permissions.insert = permissions.update = Extent::nothing;
  permissions.insertable = permissions.updatable = 0;
  if (writes) {
    permissions.erase = context.extent(Privilege::erase);
    permissions.insertable = leading(Privilege::insert, permissions.insert, names.columns);
    permissions.updatable = leading(Privilege::update, permissions.update, names.columns);
    ask_each(context, Privilege::update, permissions.update, names.columns,
             permissions.updatable_columns);
  }
  permissions.selectable = leading(Privilege::select, permissions.select, names.columns);
  ask_each(context, Privilege::select, permissions.select, names.columns,
           permissions.selectable_columns);
  if (!writes && permissions.select == Extent::nothing) {
    // Whoever may only write sees the table, too.
    permissions.erase = context.extent(Privilege::erase);
    permissions.insert = context.extent(Privilege::insert);
    permissions.update = context.extent(Privilege::update);
  }
  permissions.rows = permissions.selectable == names.columns.size();
  const Extent select = permissions.select;
  permissions.key_parts = 0;
  for (const std::vector<std::string>& part : names.key_columns) {
    if (count_leading(context, Privilege::select, select, part) != part.size()) break;
    ++permissions.key_parts;
  }
  permissions.filters.clear();
  for (const std::string& name : names.filter_columns) {
    permissions.filters.push_back(
        select == Extent::all ||
        (select == Extent::some && context.has_column(Privilege::select, name)));
  }
}

// Whether the log has to say again that there is no account of this role. All workers ask.
bool is_to_be_logged(Account::Role role) {
  static std::array<OnceAMinute, Account::roles> lines;
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return lines[static_cast<std::size_t>(role)].is_due(static_cast<std::uint64_t>(now.count()));
}

store::Outcome outcome_of(AccountContext::Begun begun, const Account& account) {
  switch (begun) {
    case AccountContext::Begun::ready: return {};
    case AccountContext::Begun::busy: return store::Verdict::blocked;
    case AccountContext::Begun::unknown: break;
  }
  if (is_to_be_logged(account.role())) {
    server::log_warning("handlersocket: there is no account '" + account.user() + "'@'" +
                        account.host() + "', as which clients would act");
  }
  return no_such_account;
}

}  // namespace

template <class Ask>
store::Outcome Privileges::ask_context(const Account& account, const AskedNames& names, Ask ask) {
  AccountContext& context = context_of(account);
  const store::Outcome begun =
      outcome_of(context.begin(account.logged_in(), names.database, names.table), account);
  if (!begun.ok()) return begun;
  try {
    ask(context);
  } catch (...) {  // no memory for an answer
    context.end();
    throw;
  }
  return context.end() ? store::Outcome{} : store::Verdict::blocked;
}

store::Outcome Privileges::ask(const Account& account, const AskedNames& names,
                               Permissions& permissions) {
  return ask_context(account, names, [&](AccountContext& context) {
    permissions.is_exempt = context.is_exempt();
    permissions.everything = context.has_every_privilege();
    if (!permissions.everything) ask_about_columns(context, names, writes_, permissions);
  });
}

store::Outcome Privileges::ask_seen(const Account& account, const AskedNames& names,
                                    std::vector<bool>& seen) {
  return ask_context(account, names, [&](AccountContext& context) {
    seen.assign(names.columns.size(), context.has_every_privilege());
    for (const Privilege privilege : {Privilege::select, Privilege::insert, Privilege::update}) {
      const Extent extent = context.extent(privilege);
      if (extent == Extent::nothing) continue;
      for (std::size_t i = 0; i < seen.size(); ++i) {
        seen[i] =
            seen[i] || extent == Extent::all || context.has_column(privilege, names.columns[i]);
      }
    }
  });
}

store::Outcome Privileges::ask_about_database(const Account& account, const std::string& database,
                                              bool& is_exempt, bool& sees) {
  static const std::string no_table;
  return ask_context(account, {.database = database, .table = no_table},
                     [&](AccountContext& context) {
                       is_exempt = context.is_exempt();
                       sees = context.sees_database();
                     });
}

store::Outcome Privileges::act(const Account& account) {
  return outcome_of(context_of(account).act(account.logged_in()), account);
}

void Privileges::stop_acting(const Account& account) { context_of(account).stop_acting(); }

Status Privileges::tell_of_access(const Account& account, TABLE& table, Purpose purpose) {
  const std::uint32_t error =
      context_of(account).tell_of_access(account.logged_in(), table, purpose);
  return error == 0 ? Status{} : server::status_of(error);
}

AccountContext& Privileges::context_of(const Account& account) {
  const std::string_view name =
      account.logged_in() != nullptr ? std::string_view{} : account.name();
  const auto known = std::ranges::find(contexts_, name, &Known::name);
  if (known != contexts_.end()) return *known->context;
  std::unique_ptr<AccountContext> context =
      AccountContext::make(thd_, account.user(), account.host());
  return *contexts_.emplace_back(Known{std::string(name), std::move(context)}).context;
}

}  // namespace hs::mysqld
