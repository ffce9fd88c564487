// How much memory may wait to be read or sent, and what one request may take of it.
//
// Called by the thread that starts the plugin, and by SET GLOBAL, one at a time.
#pragma once

namespace hs::mysqld {

// Hands the limit on. If handlersocket_max_request_size is more than half of it, lowers that number
// and says so in the log.
void fit_requests_to_memory();

}  // namespace hs::mysqld
