// The commands that are about whole rows and items.
#include <string>

#include "redis/protocol/number.h"
#include "redis/session/items.h"

namespace hs::redis {
namespace {

using store::Outcome;

bool is_item(Work& work, std::string_view key) {
  return work.containers.resolve(key).container != nullptr;
}

// Whether a row that was erased was an item that is live.
class LiveRows final : public store::Rows {
 public:
  LiveRows(Work& work, const RowAccess& access) : Rows(0), work_(work), access_(access) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& /*out*/) override {
    is_live = keys::read_head(access_.item, columns, row, work_.clock.now_ms()).is_live;
    return true;
  }
  bool is_live = false;

 private:
  Work& work_;
  const RowAccess& access_;
};

Outcome count_item(Work& work, std::string_view key, std::uint64_t& items) {
  return read_item(work, key, keys::Asks::value, [&](const KeyedRow& row) {
    LiveRows rows(work, *row.access);
    const Outcome outcome = keys::find_item(work, row, rows);
    if (outcome.ok()) items = rows.is_live ? 1 : 0;
    return outcome;
  });
}

Outcome delete_item(Work& work, std::string_view key, std::uint64_t& items) {
  keys::ItemKey item;
  if (const Status status = item_of(work, key, item); !status.ok()) return status;
  return keys::with_changed_item(work, item, [&](const KeyedRow& row) {
    LiveRows rows(work, *row.access);
    store::Changed changed;
    const store::Change erase{.kind = store::ChangeKind::erase, .rows_before = true};
    const Outcome outcome =
        work.store.modify(*row.use, row.selection(work), erase, &rows, work.out(), changed);
    if (outcome.ok()) items = rows.is_live ? 1 : 0;
    return outcome;
  });
}

Outcome delete_keys(Work& work, Words keys, std::uint64_t& deleted) {
  for (const std::string_view key : keys) {
    std::uint64_t rows = 0;
    if (const Outcome outcome = delete_key(work, key, rows); !outcome.ok()) return outcome;
    deleted += rows;
  }
  return {};
}

// Within a container the row itself gets another key, so its other columns stay. Who is in its place is erased.
Outcome move_within(Work& work, const keys::ItemKey& from, std::string_view to,
                    std::string_view to_key) {
  const auto move = [&] {
    return keys::with_changed_item(work, from, [&](const KeyedRow& row) -> Outcome {
      std::string room;
      std::vector<store::Value> parts;
      const keys::KeyMistake mistake = keys::read_parts(to_key, *row.access->shape, room, parts);
      return mistake == keys::KeyMistake::none ? keys::move_item(work, row, parts)
                                               : Outcome(keys::status_of(mistake));
    });
  };
  const Outcome moved = move();
  if (moved.status().kind() != Error::duplicate_key) return moved;
  std::uint64_t erased = 0;
  const Outcome outcome = delete_item(work, to, erased);
  return outcome.ok() ? move() : outcome;
}

// Puts a copy of an item in another one's place, and erases the first one if it is a move. False in
// `is_done`: the place is taken. Two keys may name one row, because of a collation or of two containers
// with one table. So a move between containers erases before it writes.
Outcome copy_item(Work& work, std::string_view from, std::string_view to, bool moves, bool replaces,
                  bool& is_there, bool& is_done) {
  return in_unit(work, [&]() -> Outcome {
    Item source;
    is_there = is_done = false;
    const Outcome read =
        change_item(work, from, [&](const Item* before, Item&, Decision& decision) {
          is_there = before != nullptr;
          if (is_there) source = *before;
          decision = Decision::keep;
          return Status{};
        });
    if (!read.ok() || !is_there) return read;
    is_done = replaces;
    if (!replaces) {
      const Outcome looked = change_item(work, to, [&](const Item* before, Item&, Decision&) {
        is_done = before == nullptr;
        return Status{};
      });
      if (!looked.ok() || !is_done) return looked;
    }
    if (moves) {
      keys::ItemKey here;
      keys::ItemKey there;
      if (const Status status = item_of(work, from, here); !status.ok()) return status;
      if (const Status status = item_of(work, to, there); !status.ok()) return status;
      if (here.container == there.container) return move_within(work, here, to, there.key);
      std::uint64_t deleted = 0;
      if (const Outcome erased = delete_item(work, from, deleted); !erased.ok()) return erased;
    }
    return put_item(work, to, source);
  });
}

Outcome rename(Work& work, Words words, bool if_free) {
  bool is_there = false;
  bool is_done = false;
  Outcome outcome;
  if (words[1] == words[2]) {
    FoundItem found;
    outcome = get_item(work, words[1], found);
    is_there = found.is_live;
    is_done = !if_free;
  } else {
    outcome = copy_item(work, words[1], words[2], true, !if_free, is_there, is_done);
  }
  if (!outcome.ok()) return outcome;
  if (!is_there) return say(work, "ERR no such key");
  if (if_free) {
    work.reply.integer(is_done ? 1 : 0);
  } else {
    work.reply.ok();
  }
  return outcome;
}

Outcome copy(Work& work, Words words) {
  bool replaces = false;
  for (std::size_t i = 3; i < words.size(); ++i) {
    std::int64_t database = 0;
    if (is_word(words[i], "replace")) {
      replaces = true;
    } else if (is_word(words[i], "db") && i + 1 < words.size()) {
      if (!read_integer(words[++i], database)) return status_of(Mistake::not_an_integer);
      if (database != 0) return say(work, "ERR DB index is out of range");
    } else {
      return status_of(Mistake::syntax);
    }
  }
  if (words[1] == words[2]) return say(work, "ERR source and destination objects are the same");
  bool is_there = false;
  bool is_done = false;
  const Outcome outcome = copy_item(work, words[1], words[2], false, replaces, is_there, is_done);
  if (outcome.ok()) work.reply.integer(is_done ? 1 : 0);
  return outcome;
}

}  // namespace

Outcome count_key(Work& work, std::string_view key, std::uint64_t& rows) {
  if (is_item(work, key)) return count_item(work, key, rows);
  return with_row(work, key, Asks::nothing, {},
                  [&](const KeyedRow& row) { return keys::count_row(work, row, rows); });
}

Outcome delete_key(Work& work, std::string_view key, std::uint64_t& rows) {
  if (is_item(work, key)) return delete_item(work, key, rows);
  return with_row(work, key, Asks::erases, {}, [&](const KeyedRow& row) -> Outcome {
    store::Changed changed;
    const store::Change erase{.kind = store::ChangeKind::erase};
    const Outcome outcome =
        work.store.modify(*row.use, row.selection(work), erase, nullptr, work.out(), changed);
    if (outcome.ok()) rows = changed.rows;
    return outcome;
  });
}

Outcome execute_on_keys(Work& work, Command command, Words words) {
  if (command == Command::rename || command == Command::renamenx)
    return rename(work, words, command == Command::renamenx);
  if (command == Command::copy) return copy(work, words);
  const Words keys = words.subspan(1);
  std::uint64_t count = 0;
  if (command == Command::del || command == Command::unlink) {
    Outcome outcome;
    if (keys.size() == 1) {
      outcome = delete_keys(work, keys, count);
    } else {
      outcome = in_unit(work, [&] {
        count = 0;
        return delete_keys(work, keys, count);
      });
    }
    if (outcome.ok()) work.reply.integer(static_cast<std::int64_t>(count));
    return outcome;
  }
  for (const std::string_view key : keys) {
    std::uint64_t rows = 0;
    if (const Outcome outcome = count_key(work, key, rows); !outcome.ok()) return outcome;
    count += rows;
  }
  if (command == Command::type) {
    const std::string_view kind = is_item(work, keys[0]) ? "string" : "hash";
    work.reply.simple(count == 0 ? "none" : kind);
  } else {
    work.reply.integer(static_cast<std::int64_t>(count));
  }
  return {};
}

}  // namespace hs::redis
