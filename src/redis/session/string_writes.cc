// The commands that set strings.
#include <string>

#include "redis/protocol/expiry.h"
#include "redis/protocol/number.h"
#include "redis/session/items.h"

namespace hs::redis {
namespace {

using store::Outcome;

Status invalid_time(Work& work, std::string_view command) {
  return say(work, "ERR invalid expire time in '" + std::string(command) + "' command");
}

Status time_of(Work& work, std::string_view command, std::string_view word, TimeForm form,
               std::int64_t& expires_ms) {
  switch (read_time(word, form, true, work.clock.now_ms(), expires_ms)) {
    case TimeMistake::none: return {};
    case TimeMistake::not_an_integer: return status_of(Mistake::not_an_integer);
    case TimeMistake::invalid: break;
  }
  return invalid_time(work, command);
}

void answer_value(Work& work, const Item* item) {
  if (item != nullptr) {
    work.reply.bulk(item->value);
  } else {
    work.reply.null();
  }
}

bool meets(const ValueOptions& options, const Item* before) {
  using enum ValueOptions::Condition;
  switch (options.condition) {
    case none: return true;
    case is_there: return before != nullptr;
    case is_not_there: return before == nullptr;
    case equals: return before != nullptr && before->value == options.other;
  }
  return false;
}

// How a set tells its client what it did.
enum class Answers : std::uint8_t { ok, number };

Outcome set(Work& work, std::string_view key, std::string_view value, const ValueOptions& options,
            std::int64_t expires_ms, Answers answers = Answers::ok) {
  const bool looks =
      options.condition != ValueOptions::Condition::none || options.gets || options.keeps_expiry;
  if (!looks) {
    const Outcome outcome =
        put_item(work, key, {.value = std::string(value), .expires_ms = expires_ms});
    if (outcome.ok()) work.reply.ok();
    return outcome;
  }
  const std::size_t begin = work.out().size();
  return change_item(work, key, [&](const Item* before, Item& after, Decision& decision) {
    work.out().truncate(begin);
    const bool is_set = meets(options, before);
    if (is_set) {
      decision = Decision::set;
      after.value = value;
      after.flags = 0;
      if (!options.keeps_expiry) after.expires_ms = expires_ms;
    }
    if (options.gets) {
      answer_value(work, before);
    } else if (answers == Answers::number) {
      work.reply.integer(is_set ? 1 : 0);
    } else if (is_set) {
      work.reply.ok();
    } else {
      work.reply.null();
    }
    return Status{};
  });
}

Outcome set_with_options(Work& work, Words words) {
  ValueOptions options;
  if (!read_set_options(words.subspan(3), options)) return status_of(Mistake::syntax);
  std::int64_t expires_ms = Item::never;
  if (options.time) {
    const Status status = time_of(work, "set", options.time->word, options.time->form, expires_ms);
    if (!status.ok()) return status;
  }
  return set(work, words[1], words[2], options, expires_ms);
}

Outcome set_with_time(Work& work, std::string_view command, Words words, TimeUnit unit) {
  std::int64_t expires_ms = Item::never;
  const Status status = time_of(work, command, words[2], {.unit = unit}, expires_ms);
  if (!status.ok()) return status;
  return set(work, words[1], words[3], {}, expires_ms);
}

Outcome get_and_change(Work& work, Words words, Command command) {
  ValueOptions options;
  if (command == Command::getex && !read_getex_options(words.subspan(2), options))
    return status_of(Mistake::syntax);
  const std::size_t begin = work.out().size();
  return change_item(work, words[1], [&](const Item* before, Item& after, Decision& decision) {
    work.out().truncate(begin);
    std::int64_t expires_ms = Item::never;
    // A time is looked at only if there is something that can expire.
    if (before != nullptr && options.time) {
      const Status status =
          time_of(work, "getex", options.time->word, options.time->form, expires_ms);
      if (!status.ok()) return status;
    }
    answer_value(work, before);
    if (before == nullptr) return Status{};
    if (command == Command::getdel) {
      decision = Decision::erase;
    } else if (options.time) {
      const bool is_over = expires_ms <= work.clock.now_ms();
      decision = is_over ? Decision::erase : Decision::touch;
      after.expires_ms = expires_ms;
    } else if (options.persists && before->expires_ms != Item::never) {
      decision = Decision::touch;
      after.expires_ms = Item::never;
    }
    return Status{};
  });
}

// Of each key the last value counts, as if one SET followed the other.
Outcome set_many(Work& work, Words words, bool if_none_is_there) {
  if (words.size() % 2 == 0) return wrong_arity(work, if_none_is_there ? "msetnx" : "mset");
  bool some_are_there = false;
  const Outcome outcome = in_unit(work, [&]() -> Outcome {
    some_are_there = false;
    for (std::size_t i = 1; if_none_is_there && i < words.size(); i += 2) {
      const Outcome looked = change_item(work, words[i], [&](const Item* before, Item&, Decision&) {
        some_are_there = some_are_there || before != nullptr;
        return Status{};
      });
      if (!looked.ok() || some_are_there) return looked;
    }
    for (std::size_t i = 1; i < words.size(); i += 2) {
      const Outcome put = put_item(work, words[i], {.value = std::string(words[i + 1])});
      if (!put.ok()) return put;
    }
    return {};
  });
  if (!outcome.ok()) return outcome;
  if (if_none_is_there) {
    work.reply.integer(some_are_there ? 0 : 1);
  } else {
    work.reply.ok();
  }
  return outcome;
}

Status too_long(Work& work) {
  return say(work, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
}

Outcome append(Work& work, Words words) {
  std::size_t size = 0;
  const Outcome outcome =
      change_item(work, words[1], [&](const Item* /*before*/, Item& after, Decision& decision) {
        if (after.value.size() + words[2].size() > keys::most_value_bytes) return too_long(work);
        decision = Decision::set;
        after.value += words[2];
        size = after.value.size();
        return Status{};
      });
  if (outcome.ok()) work.reply.integer(static_cast<std::int64_t>(size));
  return outcome;
}

Outcome set_range(Work& work, Words words) {
  std::int64_t offset = 0;
  if (!read_integer(words[2], offset)) return status_of(Mistake::not_an_integer);
  if (offset < 0) return say(work, "ERR offset is out of range");
  const std::string_view part = words[3];
  std::size_t size = 0;
  const Outcome outcome =
      change_item(work, words[1], [&](const Item* /*before*/, Item& after, Decision& decision) {
        size = after.value.size();
        if (part.empty()) return Status{};
        const auto begin = static_cast<std::uint64_t>(offset);
        if (begin + part.size() > keys::most_value_bytes) return too_long(work);
        decision = Decision::set;
        if (after.value.size() < begin + part.size()) after.value.resize(begin + part.size());
        after.value.replace(begin, part.size(), part);
        size = after.value.size();
        return Status{};
      });
  if (outcome.ok()) work.reply.integer(static_cast<std::int64_t>(size));
  return outcome;
}

}  // namespace

Outcome change_string(Work& work, Command command, Words words) {
  using enum ValueOptions::Condition;
  switch (command) {
    case Command::set: return set_with_options(work, words);
    case Command::setnx:
      return set(work, words[1], words[2], {.condition = is_not_there}, Item::never,
                 Answers::number);
    case Command::setex: return set_with_time(work, "setex", words, TimeUnit::seconds);
    case Command::psetex: return set_with_time(work, "psetex", words, TimeUnit::milliseconds);
    case Command::getset: return set(work, words[1], words[2], {.gets = true}, Item::never);
    case Command::getdel:
    case Command::getex: return get_and_change(work, words, command);
    case Command::mset: return set_many(work, words, false);
    case Command::msetnx: return set_many(work, words, true);
    case Command::append: return append(work, words);
    default: return set_range(work, words);
  }
}

}  // namespace hs::redis
