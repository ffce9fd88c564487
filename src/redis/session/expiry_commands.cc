// The commands about when keys expire. Items do, if their container has a column for it. Rows do not.
#include <string>

#include "redis/protocol/expiry.h"
#include "redis/session/items.h"

namespace hs::redis {
namespace {

using store::Outcome;

bool is_row(Work& work, std::string_view key) {
  keys::ItemKey item;
  return keys::key_mistake_of(item_of(work, key, item)) == keys::KeyMistake::is_row;
}

Outcome expire(Work& work, const CommandInfo& info, Words words) {
  ExpireOptions options;
  std::string_view unknown;
  const std::string_view mistake = read_expire_options(words.subspan(3), options, unknown);
  if (!mistake.empty()) return say(work, std::string(mistake) + std::string(unknown));
  const bool in_ms = info.command == Command::pexpire || info.command == Command::pexpireat;
  const bool is_absolute = info.command == Command::expireat || info.command == Command::pexpireat;
  const TimeForm form{in_ms ? TimeUnit::milliseconds : TimeUnit::seconds, is_absolute};
  std::int64_t expires_ms = Item::never;
  switch (read_time(words[2], form, false, work.clock.now_ms(), expires_ms)) {
    case TimeMistake::none: break;
    case TimeMistake::not_an_integer: return status_of(Mistake::not_an_integer);
    case TimeMistake::invalid:
      return say(work, "ERR invalid expire time in '" + std::string(info.name) + "' command");
  }
  if (is_row(work, words[1])) return say(work, "ERR a row does not expire, see docs/redis.md");
  bool is_done = false;
  const Outcome outcome =
      change_item(work, words[1], [&](const Item* before, Item& after, Decision& decision) {
        is_done = false;
        if (before == nullptr) return Status{};
        const bool expires = before->expires_ms != Item::never;
        if ((options.if_none && expires) || (options.if_some && !expires) ||
            (options.if_later && (!expires || expires_ms <= before->expires_ms)) ||
            (options.if_sooner && expires && expires_ms >= before->expires_ms))
          return Status{};
        is_done = true;
        decision = expires_ms <= work.clock.now_ms() ? Decision::erase : Decision::touch;
        after.expires_ms = expires_ms;
        return Status{};
      });
  if (outcome.ok()) work.reply.integer(is_done ? 1 : 0);
  return outcome;
}

Outcome persist(Work& work, std::string_view key) {
  if (is_row(work, key)) {
    work.reply.integer(0);
    return {};
  }
  bool is_done = false;
  const Outcome outcome =
      change_item(work, key, [&](const Item* before, Item& after, Decision& decision) {
        is_done = before != nullptr && before->expires_ms != Item::never;
        if (!is_done) return Status{};
        decision = Decision::touch;
        after.expires_ms = Item::never;
        return Status{};
      });
  if (outcome.ok()) work.reply.integer(is_done ? 1 : 0);
  return outcome;
}

// How long it is until then, or when it is. Of a key that does not expire, and of one that is not there,
// numbers below 0.
Outcome answer_expiry(Work& work, Command command, std::string_view key) {
  constexpr std::int64_t without_expiry = -1;
  constexpr std::int64_t not_there = -2;
  if (is_row(work, key)) {
    std::uint64_t rows = 0;
    const Outcome counted = count_key(work, key, rows);
    if (counted.ok()) work.reply.integer(rows != 0 ? without_expiry : not_there);
    return counted;
  }
  FoundItem found;
  const Outcome outcome = get_item(work, key, found);
  if (!outcome.ok()) return outcome;
  if (!found.is_live || found.item.expires_ms == Item::never) {
    work.reply.integer(found.is_live ? without_expiry : not_there);
    return outcome;
  }
  const bool is_absolute = command == Command::expiretime || command == Command::pexpiretime;
  const bool in_ms = command == Command::pttl || command == Command::pexpiretime;
  const std::int64_t ms = found.item.expires_ms - (is_absolute ? 0 : work.clock.now_ms());
  const std::int64_t rounded = ms / 1000 + (ms % 1000 >= 500 ? 1 : 0);
  work.reply.integer(in_ms ? ms : rounded);
  return outcome;
}

}  // namespace

Outcome execute_expiry(Work& work, const CommandInfo& info, Words words) {
  switch (info.command) {
    case Command::expire:
    case Command::expireat:
    case Command::pexpire:
    case Command::pexpireat: return expire(work, info, words);
    case Command::persist: return persist(work, words[1]);
    default: return answer_expiry(work, info.command, words[1]);
  }
}

}  // namespace hs::redis
