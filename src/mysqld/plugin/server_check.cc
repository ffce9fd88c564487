#include "mysqld/plugin/server_check.h"

#include <atomic>
#include <memory>
#include <string>

#include "mysqld/accounts/account.h"
#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/server/account_context.h"
#include "mysqld/server/api.h"
#include "mysqld/server/logging.h"

namespace hs::mysqld {
namespace {

std::atomic<bool> is_left_to_worker = false;

// If somebody changes privileges just now, nothing is said. A request of a client says it then.
bool is_missing(THD* thd, const Account& account) {
  using Begun = server::AccountContext::Begun;
  const auto context = server::AccountContext::make(thd, account.user(), account.host());
  const Begun begun = context->begin(nullptr, "", "");
  if (begun == Begun::ready) context->end();
  return begun == Begun::unknown;
}

void warn_if_missing(THD* thd, Account::Role role, Option option) {
  const auto account = Account::parse(role, live_text_option(option));
  if (account == nullptr || !is_missing(thd, *account)) return;
  log(net::LogLevel::warning,
      "handlersocket: there is no account '" + account->user() + "'@'" + account->host() +
          "', which handlersocket_" + option_table[static_cast<std::size_t>(option)].name +
          " names: until it is created, clients that act as it are answered 1449");
}

// Once, and not each time that the ports are opened. The figures are those of docs/configuration.md.
void note_costly_lookups(THD* thd) {
  static std::atomic<bool> is_said = false;
  if (number_option(Option::verbose) == 0 || is_said) return;
  if (server::global_switch(thd, "innodb_adaptive_hash_index").value_or(true)) return;
  is_said = true;
  server::log_milestone(
      "handlersocket: innodb_adaptive_hash_index is OFF, so a pipelined lookup takes 0.88 us "
      "of CPU time on rows that are asked for often and 1.64 us on others, instead of 0.30 and "
      "0.82. If there are many lookups, set innodb_adaptive_hash_index = ON");
}

}  // namespace

void leave_check_to_worker(bool to_worker) { is_left_to_worker = to_worker; }

void check_server_on_worker(THD* thd) {
  if (is_left_to_worker.exchange(false)) check_server(thd);
}

void check_server(THD* thd) {
  warn_of_missing_accounts(thd);
  note_costly_lookups(thd);
}

void warn_of_missing_accounts(THD* thd) {
  warn_if_missing(thd, Account::Role::anonymous, Option::anonymous_account);
  warn_if_missing(thd, Account::Role::trusted, Option::secret_account);
}

}  // namespace hs::mysqld
