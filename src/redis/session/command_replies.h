// COMMAND: what the table of commands tells clients.
//
// Pure functions, for any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "redis/protocol/reply.h"

namespace hs::redis {

// As answer_plain().
Status answer_command(std::span<const std::string_view> words, Reply& reply, std::string& said);

}  // namespace hs::redis
