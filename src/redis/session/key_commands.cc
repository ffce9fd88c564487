// The commands that are about whole rows.
#include "redis/session/work.h"

namespace hs::redis {
namespace {

using store::Outcome;

Outcome delete_rows(Work& work, Words keys, std::uint64_t& deleted) {
  for (const std::string_view key : keys) {
    std::uint64_t rows = 0;
    if (const Outcome outcome = delete_row(work, key, rows); !outcome.ok()) return outcome;
    deleted += rows;
  }
  return {};
}

}  // namespace

Outcome count_row(Work& work, std::string_view key, std::uint64_t& rows) {
  return with_row(work, key, Asks::nothing, {}, [&](const KeyedRow& row) {
    return work.store.count(*row.use, row.selection(work), rows, work.sink);
  });
}

Outcome delete_row(Work& work, std::string_view key, std::uint64_t& rows) {
  return with_row(work, key, Asks::erases, {}, [&](const KeyedRow& row) -> Outcome {
    store::Changed changed;
    const store::Change erase{.kind = store::ChangeKind::erase};
    const Outcome outcome =
        work.store.modify(*row.use, row.selection(work), erase, nullptr, work.out(), changed);
    if (outcome.ok()) rows = changed.rows;
    return outcome;
  });
}

Outcome execute_on_keys(Work& work, Command command, Words keys) {
  std::uint64_t count = 0;
  if (command == Command::del || command == Command::unlink) {
    Outcome outcome;
    if (keys.size() == 1 || work.is_in_unit) {
      outcome = delete_rows(work, keys, count);
    } else {
      outcome = store::run_unit(work.store, work.out(), [&] {
        count = 0;
        return delete_rows(work, keys, count);
      });
    }
    if (outcome.ok()) work.reply.integer(static_cast<std::int64_t>(count));
    return outcome;
  }
  for (const std::string_view key : keys) {
    std::uint64_t rows = 0;
    if (const Outcome outcome = count_row(work, key, rows); !outcome.ok()) return outcome;
    count += rows;
  }
  if (command == Command::type) {
    work.reply.simple(count == 0 ? "none" : "hash");
  } else {
    work.reply.integer(static_cast<std::int64_t>(count));
  }
  return {};
}

}  // namespace hs::redis
