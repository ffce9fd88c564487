#include "redis/session/work.h"

#include <utility>

#include "redis/session/key_scan.h"

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
  const bool is_write = writes(info.effect);
  switch (info.command) {
    case Command::copy:
    case Command::del:
    case Command::exists:
    case Command::rename:
    case Command::renamenx:
    case Command::touch:
    case Command::type:
    case Command::unlink: return execute_on_keys(work, info.command, words);
    case Command::hs_count:
    case Command::hs_delete:
    case Command::hs_find:
    case Command::hs_update: return execute_find(work, info, words);
    case Command::hs_describe: return describe_table(work, words);
    case Command::keys: return list_keys(work, words);
    case Command::scan: return scan_keys(work, words);
    // The most usual reads, so that they are found at once.
    case Command::get: return read_string(work, info.command, words);
    case Command::hget:
    case Command::hgetall:
    case Command::hmget: return read_hash(work, info.command, words);
    case Command::hgetdel: return take_from_hash(work, words);
    case Command::hrandfield:
    case Command::hscan: return sample_hash(work, info.command, words);
    case Command::hincrby:
    case Command::hincrbyfloat: return add_to_hash(work, info.command, words);
    case Command::decr:
    case Command::decrby:
    case Command::incr:
    case Command::incrby:
    case Command::incrbyfloat: return add_to_string(work, info.command, words);
    default: break;
  }
  if (info.group == Group::generic) return execute_expiry(work, info, words);
  if (info.group == Group::string)
    return is_write ? change_string(work, info.command, words)
                    : read_string(work, info.command, words);
  return is_write ? change_hash(work, info.command, words) : read_hash(work, info.command, words);
}

}  // namespace hs::redis
