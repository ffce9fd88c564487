// What the plugin has to say about the server that it serves: an account that the settings name and
// that is not there, and a setting of InnoDB with which lookups cost more than they need to.
//
// A server that starts does not know its accounts yet when it loads the plugin. Then the first worker
// that starts looks. Otherwise the thread of the client looks that has the ports opened or names
// another account, and its client is told the warnings, too. Nothing here waits.
#pragma once

class THD;

namespace hs::mysqld {

// Before the ports are opened: whether the first worker has to look.
void leave_check_to_worker(bool to_worker);
// A worker starts.
void check_server_on_worker(THD* thd);

// On the THD's own thread, when the server has started.
void check_server(THD* thd);
// Only the accounts.
void warn_of_missing_accounts(THD* thd);

}  // namespace hs::mysqld
