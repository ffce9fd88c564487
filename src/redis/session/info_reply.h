// What INFO answers: the server and its counters, in sections of Redis's names.
//
// A pure function but for what the port's counters say, on the thread that executes the command, also
// within a transaction. It asks no table and measures nothing.
#pragma once

#include <span>
#include <string_view>

#include "redis/protocol/reply.h"
#include "redis/session/config.h"

namespace hs::redis {

// Clients ask for the version in order to know which commands there may be.
inline constexpr std::string_view redis_version = "8.0.0";

// `names` are those of sections, or `default`, `all` and `everything`.
void answer_info(const Config& config, std::span<const std::string_view> names, Reply& reply);

}  // namespace hs::redis
