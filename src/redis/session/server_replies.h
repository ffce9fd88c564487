// The commands that tell of the server and of the commands, and change nothing.
//
// Pure functions but for a clock, on the thread that executes the command, also within a transaction.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "redis/protocol/commands.h"
#include "redis/protocol/reply.h"
#include "redis/session/config.h"

namespace hs::redis {

// Whether the words name a part of the command that there is, with as many arguments as it takes. If
// not, `said` is the text of Mistake::said. A transaction refuses such a command when it is queued.
Status check_plain(const CommandInfo& info, std::span<const std::string_view> words,
                   std::string& said);

// Appends the reply, or returns why there is none; `said` is then the text of Mistake::said.
Status answer_plain(const Config& config, const CommandInfo& info,
                    std::span<const std::string_view> words, Reply& reply, std::string& said);

}  // namespace hs::redis
