// The commands that read strings.
#include <algorithm>

#include "keys/keys_ahead.h"
#include "redis/protocol/number.h"
#include "redis/session/items.h"
#include "redis/session/row_replies.h"

namespace hs::redis {
namespace {

using store::Outcome;

// Writes the value of a live item. Of one that is not live it writes nothing.
class ValueRows final : public store::Rows {
 public:
  ValueRows(Work& work, const RowAccess& access)
      : Rows(most_reply_bytes), work_(work), access_(access) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& /*out*/) override {
    char room[store::Column::room];
    const keys::ShownItem item =
        keys::show_item(access_, columns, row, work_.clock.now_ms(), room, work_.scratch.joined);
    is_live_ = item.head.is_live;
    status_ = item.status;
    if (is_live_ && status_.ok()) work_.reply.bulk(item.value);
    return status_.kind() != Error::no_memory;
  }
  bool is_live() const { return is_live_; }
  Status status() const { return status_; }

 private:
  Work& work_;
  const RowAccess& access_;
  bool is_live_ = false;
  Status status_{};
};

Outcome get(Work& work, std::string_view key) {
  return read_item(work, key, keys::Asks::value, [&](const KeyedRow& row) -> Outcome {
    ValueRows rows(work, *row.access);
    const Outcome outcome = keys::find_item(work, row, rows);
    if (!outcome.ok()) return outcome;
    if (!rows.is_live()) work.reply.null();
    return rows.status();
  });
}

// A row is no string, and so nil, as a hash is in Redis.
Outcome get_many(Work& work, Words keys_of_command) {
  const std::size_t begin = work.out().size();
  work.reply.array(keys_of_command.size());
  keys::KeysAhead keys_ahead(work);
  for (std::size_t i = 0; i < keys_of_command.size(); ++i) {
    keys_ahead.begin_key([&](store::LookAhead& ahead) {
      const Words rest = keys_of_command.subspan(i);
      for (const std::string_view key :
           rest.first(std::min<std::size_t>(rest.size(), keys::KeysAhead::keys_of_look))) {
        const keys::ItemKey item = work.containers.resolve(key);
        if (item.container == nullptr) continue;
        keys::name_key(work.remembered->find(*item.container, keys::Asks::value), item.key, ahead);
      }
    });
    const Outcome outcome = get(work, keys_of_command[i]);
    if (outcome.answered() && keys::key_mistake_of(outcome.status()) == keys::KeyMistake::is_row) {
      work.reply.null();
    } else if (!outcome.ok()) {
      work.out().truncate(begin);
      return outcome;
    }
    if (work.out().size() - begin <= most_reply_bytes) continue;
    work.out().truncate(begin);
    return Error::too_large;
  }
  return {};
}

Outcome get_length(Work& work, std::string_view key) {
  FoundItem found;
  const Outcome outcome = get_item(work, key, found);
  if (outcome.ok()) work.reply.integer(static_cast<std::int64_t>(found.item.value.size()));
  return outcome;
}

Outcome get_range(Work& work, Words words) {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  if (!read_integer(words[2], begin) || !read_integer(words[3], end))
    return status_of(Mistake::not_an_integer);
  FoundItem found;
  const Outcome outcome = get_item(work, words[1], found);
  if (!outcome.ok()) return outcome;
  const std::string_view value = found.item.value;
  const auto size = static_cast<std::int64_t>(value.size());
  const bool is_empty = begin < 0 && end < 0 && begin > end;
  if (begin < 0) begin = std::max<std::int64_t>(begin + size, 0);
  if (end < 0) end = std::max<std::int64_t>(end + size, 0);
  end = std::min(end, size - 1);
  if (is_empty || begin > end || size == 0) {
    work.reply.bulk("");
  } else {
    work.reply.bulk(
        value.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin + 1)));
  }
  return outcome;
}

}  // namespace

Outcome read_string(Work& work, Command command, Words words) {
  switch (command) {
    case Command::get: return get(work, words[1]);
    case Command::mget: return get_many(work, words.subspan(1));
    case Command::strlen: return get_length(work, words[1]);
    default: return get_range(work, words);
  }
}

}  // namespace hs::redis
