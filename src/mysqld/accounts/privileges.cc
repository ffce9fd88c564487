#include "mysqld/accounts/privileges.h"

#include <algorithm>
#include <chrono>

#include "base/once_a_minute.h"
#include "mysqld/server/logging.h"

namespace hs::mysqld {
namespace {

using server::AccountContext;
using server::Extent;
using server::Privilege;

// SQL's ER_NO_SUCH_USER, as for a view whose definer does not exist.
constexpr Status no_such_account = Status::server(1449);

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

void ask_about_columns(AccountContext& context, const AskedNames& names, Permissions& permissions) {
  const auto leading = [&](Privilege privilege, Extent& extent,
                           std::span<const std::string> columns) {
    extent = context.extent(privilege);
    return count_leading(context, privilege, extent, columns);
  };
  permissions.erase = context.extent(Privilege::erase);
  permissions.insertable = leading(Privilege::insert, permissions.insert, names.columns);
  permissions.updatable = leading(Privilege::update, permissions.update, names.columns);
  permissions.selectable = leading(Privilege::select, permissions.select, names.columns);
  permissions.rows = permissions.selectable == names.columns.size();
  const Extent select = permissions.select;
  permissions.key_parts = count_leading(context, Privilege::select, select, names.key_columns);
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

}  // namespace

store::Outcome Privileges::ask(const Account& account, const AskedNames& names,
                               Permissions& permissions) {
  const auto number = static_cast<std::size_t>(account.role());
  std::unique_ptr<AccountContext>& context = contexts_[number];
  if (context == nullptr) context = AccountContext::make(thd_, account.user(), account.host());
  switch (context->begin(account.logged_in(), names.database, names.table)) {
    case AccountContext::Begun::ready: break;
    case AccountContext::Begun::busy: return store::Verdict::blocked;
    case AccountContext::Begun::unknown:
      if (is_to_be_logged(account.role())) {
        server::log_warning("handlersocket: there is no account '" + account.user() + "'@'" +
                            account.host() + "', as which clients would act");
      }
      return no_such_account;
  }
  try {
    permissions.everything = context->has_every_privilege();
    if (!permissions.everything) ask_about_columns(*context, names, permissions);
  } catch (...) {  // no memory for an answer
    context->end();
    throw;
  }
  return context->end() ? store::Outcome{} : store::Verdict::blocked;
}

}  // namespace hs::mysqld
