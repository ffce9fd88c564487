// CLIENT LIST and CLIENT KILL: the connections of a client's own account, through its port.
//
// Only the workers know their connections, so who asks waits for their answers: it is done on another
// thread than a worker's. A client sees and ends what acts as its own account, and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "redis/protocol/commands.h"
#include "redis/protocol/reply.h"
#include "redis/session/config.h"
#include "redis/session/work.h"

namespace hs::redis {

// Whether it is one of them.
bool asks_for_clients(const CommandInfo& info, Words words);

// Who asks.
struct Asking {
  std::uint64_t connection;
  std::string_view account;
};
// Appends the reply, or returns why there is none; `said` is then the text of Mistake::said.
Status answer_clients(const Config& config, const Asking& who, Words words, Reply& reply,
                      std::string& said);

// What CLIENT HELP answers.
void answer_client_help(Reply& reply);

// A client as it is shown.
inline constexpr std::string_view default_user = "default";

}  // namespace hs::redis
