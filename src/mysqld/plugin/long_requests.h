// The log's line about a request that took long (handlersocket_long_request_time).
//
// Any streamer's thread may call it. A port has two, and each line takes a second of their work at
// least, so the log cannot be flooded.
#pragma once

#include "passes/runner_config.h"

namespace hs::mysqld {

void log_long_request(const passes::LongRequest& request);

}  // namespace hs::mysqld
