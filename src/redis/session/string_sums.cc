// INCR and the commands of its kind: the number is read and written here, while the item is locked.
#include <cmath>
#include <limits>

#include "redis/protocol/number.h"
#include "redis/session/items.h"

namespace hs::redis {
namespace {

using store::Outcome;

Outcome add_integer(Work& work, std::string_view key, std::int64_t amount) {
  std::int64_t sum = 0;
  const Outcome outcome =
      change_item(work, key, [&](const Item* before, Item& after, Decision& decision) -> Status {
        std::int64_t number = 0;
        if (before != nullptr && !read_integer(before->value, number))
          return status_of(Mistake::not_an_integer);
        if (__builtin_add_overflow(number, amount, &sum)) return status_of(Mistake::overflow);
        decision = Decision::set;
        after.value = std::to_string(sum);
        return {};
      });
  if (outcome.ok()) work.reply.integer(sum);
  return outcome;
}

Outcome add_float(Work& work, std::string_view key, std::string_view amount) {
  long double added = 0;
  if (!read_long_double(amount, added)) return status_of(Mistake::not_a_float);
  std::string text;
  const Outcome outcome =
      change_item(work, key, [&](const Item* before, Item& after, Decision& decision) -> Status {
        long double sum = 0;
        if (before != nullptr && !read_long_double(before->value, sum))
          return status_of(Mistake::not_a_float);
        sum += added;
        if (!std::isfinite(sum)) return status_of(Mistake::not_a_number);
        decision = Decision::set;
        text = text_of(sum);
        after.value = text;
        return {};
      });
  if (outcome.ok()) work.reply.bulk(text);
  return outcome;
}

}  // namespace

Outcome add_to_string(Work& work, Command command, Words words) {
  if (command == Command::incr) return add_integer(work, words[1], 1);
  if (command == Command::decr) return add_integer(work, words[1], -1);
  if (command == Command::incrbyfloat) return add_float(work, words[1], words[2]);
  std::int64_t amount = 0;
  if (!read_integer(words[2], amount)) return status_of(Mistake::not_an_integer);
  if (command == Command::incrby) return add_integer(work, words[1], amount);
  if (amount == std::numeric_limits<std::int64_t>::min())
    return say(work, "ERR decrement would overflow");
  return add_integer(work, words[1], -amount);
}

}  // namespace hs::redis
