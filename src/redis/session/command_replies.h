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

// As check_plain() and answer_plain().
Status check_command(std::span<const std::string_view> words, std::string& said);
Status answer_command(std::span<const std::string_view> words, Reply& reply, std::string& said);

}  // namespace hs::redis
