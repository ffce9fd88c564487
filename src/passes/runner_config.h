// RunnerConfig: the settings of PassRunner and StreamRunner, the same for all ports that they serve.
//
// Outlives the runners. Its settings may be changed by another thread at any time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/setting.h"
#include "net/application.h"
#include "store/operation.h"

namespace hs::passes {

// What there is to say about a request that took long. The views are valid only during the call.
struct LongRequest {
  std::uint64_t connection;
  const net::PeerAddress* peer;  // null in tests
  std::string_view account;      // empty: it is no account of the server
  std::string_view kind;
  store::IndexNames names;
  std::uint64_t rows_examined;
  std::chrono::nanoseconds time;
};

struct RunnerConfig {
  // Whether the store is told which finds come next. See Store::expect().
  Setting<bool> looks_ahead{false};
  Setting<std::chrono::nanoseconds> lock_wait_timeout{std::chrono::seconds{50}};
  // A long request that has been worked on for so long is ended. 0: none is.
  Setting<std::chrono::nanoseconds> max_request_time{std::chrono::nanoseconds{0}};
  // Who is told of each request that has been worked on for so long. 0: of none. Any streamer's
  // thread may call it.
  Setting<std::chrono::nanoseconds> long_request_time{std::chrono::nanoseconds{0}};
  std::function<void(const LongRequest&)> note_long_request{};
  // A pass is full when it has written so many bytes or spent so many steps (store/budget.h). Each
  // request costs one step in addition.
  std::size_t max_pass_bytes = std::size_t{1} << 20;
  std::uint64_t max_pass_steps = 20'000;
};

}  // namespace hs::passes
