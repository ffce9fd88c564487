// The limit on connections that leaves the server enough file descriptors.
//
// It owns nothing. A server without a free descriptor answers no SQL, and InnoDB may end it, so the
// clients of the ports must never use up all descriptors. Called when the plugin starts and when one
// of its settings is changed. It does not follow later settings of the server (a larger table cache,
// more max_connections).
#pragma once

namespace hs::mysqld {

// Lowers handlersocket_max_connections to what the process has descriptors for, and says so in the
// log. SHOW VARIABLES then shows the number in force. `by_client`: a client changes a setting, and is
// warned.
void fit_connections_to_descriptors(bool by_client);

}  // namespace hs::mysqld
