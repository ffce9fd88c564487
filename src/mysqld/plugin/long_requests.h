// The log's line about a request that took long (handlersocket_long_request_time).
//
// Any streamer's thread may call it. A port has two, and each line takes a second of their work at
// least, so the log cannot be flooded.
#pragma once

#include "handlersocket/session/pass_runner.h"

namespace hs::mysqld {

void log_long_request(const session::LongRequest& request);

}  // namespace hs::mysqld
