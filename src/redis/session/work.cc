#include "redis/session/work.h"

#include <utility>

namespace hs::redis {

using store::Outcome;

Status say(Work& work, std::string text) {
  work.said = std::move(text);
  return status_of(Mistake::said);
}

Status wrong_arity(Work& work, std::string_view name) {
  return say(work, "ERR wrong number of arguments for '" + std::string(name) + "' command");
}

Outcome execute_on_rows(Work& work, const CommandInfo& info, Words words) {
  switch (info.command) {
    case Command::del:
    case Command::unlink:
    case Command::exists:
    case Command::touch:
    case Command::type: return execute_on_keys(work, info.command, words.subspan(1));
    case Command::hincrby:
    case Command::hincrbyfloat: return add_to_hash(work, info.command, words);
    default:
      return writes(info.effect) ? change_hash(work, info.command, words)
                                 : read_hash(work, info.command, words);
  }
}

}  // namespace hs::redis
