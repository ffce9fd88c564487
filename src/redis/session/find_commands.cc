// HS.FIND, HS.COUNT, HS.UPDATE and HS.DELETE: the rows that are selected by any index.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "redis/protocol/find_words.h"
#include "redis/session/found_page.h"
#include "redis/session/hash_columns.h"
#include "redis/session/scan_options.h"
#include "redis/session/work.h"

namespace hs::redis {
namespace {

using store::Outcome;
using store::Value;

// What a command's words select, by an index that is open.
struct Selected {
  std::vector<Value> key;
  std::vector<store::Filter> filters;
  store::Selection selection;
};

// Which part of the index a column is. As many as there are: none.
std::size_t part_of(const store::IndexShape& shape, std::string_view column) {
  std::string lower(column);
  std::ranges::transform(lower, lower.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
  });
  const auto is_it = [&](std::uint32_t number) {
    return number < shape.columns.size() && is_word(shape.columns[number].name, lower);
  };
  return static_cast<std::size_t>(std::ranges::find_if(shape.key, is_it) - shape.key.begin());
}

// The column of IN takes its place among the values of the key.
Status choose_in(Work& work, const KeyedRow& row, const FindWords& words, Selected& selected) {
  const store::IndexShape& shape = *row.access->shape;
  const std::size_t part = part_of(shape, words.in_column);
  if (part == shape.key.size())
    return say(work, "ERR column " + in_quotes(words.in_column) + " is no part of the index");
  if (part > selected.key.size())
    return say(work, "ERR each part of the index before that of IN needs a value of KEY");
  selected.key.insert(selected.key.begin() + static_cast<std::ptrdiff_t>(part), Value{});
  selected.selection.in = {static_cast<std::uint32_t>(part), words.in_values};
  return {};
}

Status choose_filters(Work& work, const KeyedRow& row, const FindWords& words, Selected& selected) {
  for (std::size_t i = 0; i < words.conditions.size(); ++i) {
    const FindWords::Condition& one = words.conditions[i];
    const std::int32_t place = row.access->filter_places[i];
    if (place == RowAccess::no_column) return no_such_column(work, row, one.column);
    selected.filters.push_back(
        {one.kind, one.comparison, static_cast<std::uint32_t>(place), one.value});
  }
  return {};
}

Status select(Work& work, const KeyedRow& row, const FindWords& words, Selected& selected) {
  for (std::size_t i = 0; i < words.fields.size(); ++i) {
    if (row.access->places[i] == RowAccess::no_column)
      return no_such_column(work, row, words.fields[i]);
  }
  selected.key = words.key;
  if (!words.in_column.empty()) {
    if (const Status status = choose_in(work, row, words, selected); !status.ok()) return status;
  }
  if (const Status status = choose_filters(work, row, words, selected); !status.ok()) return status;
  store::Selection& selection = selected.selection;
  selection.key = selected.key;
  selection.filters = selected.filters;
  selection.limit = words.limit;
  selection.offset = words.offset;
  selection.lower = {.values = words.lower, .open = words.lower_open, .begins = words.begins};
  selection.upper = {.values = words.upper, .open = words.upper_open};
  if (selection.key_parts() > row.access->shape->key.size())
    return say(work, "ERR there are more values than the index has parts");
  if (words.has_ends() || words.is_ordered || selected.key.empty()) {
    const bool up = !words.descends;
    selection.range = {store::Bound::within, up ? store::Direction::up : store::Direction::down};
  }
  return {};
}

// Calls `execute(row, selected)` with what a command's words select.
template <class Execute>
Outcome with_selected(Work& work, const FindWords& words, bool changes, Execute execute) {
  std::vector<std::string_view> names = words.fields;
  names.insert(names.end(), words.wants_every_column ? 2 : 1, keys::SearchColumns::separator);
  for (const FindWords::Condition& one : words.conditions) names.push_back(one.column);
  const auto open = [&](std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                        KeyedRow& row) {
    return keys::open_search(work, words.name, names, access, own, row);
  };
  return keys::with_opened(work, changes, open, [&](const KeyedRow& row) -> Outcome {
    Selected selected;
    if (const Status status = select(work, row, words, selected); !status.ok()) return status;
    return execute(row, selected.selection);
  });
}

// Nobody outside can find two selections that are taken for one.
std::string digest_of(const FindWords& words) {
  static const std::array<KeyedHash, 2> hashes;
  const std::string text = selection_text(words);
  const std::array<std::uint64_t, 2> sums{hashes[0](text), hashes[1](text)};
  // No pattern of SCAN that somebody can make is the same.
  std::string digest(sizeof sums, '\0');
  std::memcpy(digest.data(), sums.data(), sizeof sums);
  return digest;
}

Status invalid_position(Work& work) {
  return say(work,
             "ERR invalid position: it is too old, or of another selection, account or form of the "
             "table. Begin again without AFTER, see docs/redis.md");
}

// The end of a page, from the rows that stand in the buffer behind `begin`. `next` is empty if there are no
// more rows.
void write_page(Work& work, std::size_t begin, std::size_t rows, std::string_view next) {
  Buffer& out = work.out();
  const std::size_t head = out.size();
  work.reply.map(2);
  work.reply.bulk("rows");
  work.reply.array(rows);
  char* const data = out.data();
  std::rotate(data + begin, data + head, data + out.size());
  work.reply.bulk("next");
  if (next.empty()) return work.reply.null();
  work.reply.bulk(next);
}

// One page of a find: its rows behind what was in the reply's buffer, and where it has ended.
struct Page {
  std::size_t rows = 0;
  bool may_have_more = false;
  std::unique_ptr<store::Position> end{};  // null: the index has no such place
};

Outcome read_whole(Work& work, const KeyedRow& row, const store::Selection& selection,
                   bool wants_end, Page& page) {
  FoundRows rows(work.reply.resp(), FoundRows::Kept::whole);
  store::Found found{.wants_end = wants_end};
  const Outcome outcome = work.store.find(*row.use, selection, rows, work.out(), nullptr, found);
  page = {rows.rows, found.may_have_more, std::move(found.end)};
  return outcome;
}

// Beside the workers: the find may be parked for the sake of others, and keeps what it has found.
Outcome read_beside(Work& work, const KeyedRow& row, const store::Selection& selection,
                    bool wants_end, Page& page) {
  PageSink sink(*work.sink);
  FoundRows rows(work.reply.resp(), FoundRows::Kept::in_pieces);
  if (work.sink->position != nullptr) {
    const auto from = std::move(work.sink->position);
    auto& of_page = static_cast<PagePosition&>(*from);
    sink.go_on(of_page);
    rows.rows = of_page.rows;
  }
  Buffer out;
  store::Found found{.wants_end = wants_end};
  const Outcome outcome = work.store.find(*row.use, selection, rows, out, &sink, found);
  if (!outcome.ok() && outcome.verdict() != store::Verdict::parked) return outcome;
  if (const Status ended = sink.ended(); !ended.ok()) return ended;
  sink.rows().append(out.view());
  if (sink.rows().size() > most_reply_bytes) return Error::too_large;
  if (outcome.verdict() == store::Verdict::parked && !sink.is_full()) {
    work.sink->position =
        std::make_unique<PagePosition>(std::move(sink.position), sink.rows().view(), rows.rows);
    return outcome;
  }
  page = {rows.rows, sink.is_full() || found.may_have_more,
          sink.is_full() ? std::move(sink.position) : std::move(found.end)};
  work.out().append(sink.rows().view());
  return {};
}

// Where a page begins, and what is to be skipped there.
struct Begin {
  std::shared_ptr<const store::Position> behind;
  std::uint64_t offset = 0;
};

Status find_begin(Work& work, const FindWords& words, const std::string& digest, Begin& begin) {
  begin.offset = words.offset;
  if (words.after.value_or(0) == 0) return {};
  const std::optional<ScanPosition> from = work.scans.find(*words.after, work.caller->name());
  if (!from || from->pattern != digest) return invalid_position(work);
  begin.behind = from->place;
  // An index that has no such places is gone through by the number of rows that were answered.
  if (begin.behind == nullptr && !read_cursor(from->key[0].value_or(""), begin.offset))
    return invalid_position(work);
  return {};
}

// What a page says about the rows behind it. Only who has given AFTER means to go on: if each find that its
// limit has ended kept a position, they would push out those of others.
std::string next_of(Work& work, const FindWords& words, const Begin& from, std::string digest,
                    Page& page) {
  if (!words.after) return page.may_have_more ? "more" : "";
  if (!page.may_have_more) {
    work.scans.end(*words.after);
    return {};
  }
  ScanPosition end{
      .account = std::string(work.caller->name()), .pattern = std::move(digest), .key = {}};
  if (page.end == nullptr) end.key.emplace_back(std::to_string(from.offset + page.rows));
  end.place = std::move(page.end);
  return std::to_string(work.scans.add(*words.after, std::move(end)));
}

Outcome find(Work& work, const FindWords& words) {
  const bool goes_on = words.after.has_value();
  std::string digest = goes_on ? digest_of(words) : std::string();
  Begin from;
  if (const Status status = find_begin(work, words, digest, from); !status.ok()) return status;
  const std::size_t begin = work.out().size();
  Page page;
  const Outcome outcome =
      with_selected(work, words, false, [&](const KeyedRow& row, store::Selection& selection) {
        selection.behind = from.behind.get();
        selection.offset = from.offset;
        return work.sink == nullptr ? read_whole(work, row, selection, goes_on, page)
                                    : read_beside(work, row, selection, goes_on, page);
      });
  const bool is_old = outcome.answered() && outcome.status().kind() == Error::table_changed;
  if (is_old && from.behind != nullptr) return invalid_position(work);
  if (!outcome.ok()) return outcome;
  write_page(work, begin, page.rows, next_of(work, words, from, std::move(digest), page));
  return {};
}

Outcome count(Work& work, const FindWords& words) {
  std::uint64_t rows = 0;
  const Outcome outcome = with_selected(
      work, words, false, [&](const KeyedRow& row, const store::Selection& selection) {
        return work.store.count(*row.use, selection, rows, work.sink);
      });
  if (outcome.ok()) work.reply.integer(static_cast<std::int64_t>(rows));
  return outcome;
}

// A column that is set twice would leave open which value counts.
Status check_set(Work& work, const KeyedRow& row, const FindWords& words) {
  if (row.access->field_columns == words.fields.size()) return {};
  return say(work, "ERR a column is set twice");
}

Outcome change(Work& work, const FindWords& words, bool erases) {
  store::Changed changed;
  const Outcome outcome = with_selected(
      work, words, true, [&](const KeyedRow& row, const store::Selection& selection) -> Outcome {
        store::Change change{.kind = store::ChangeKind::erase};
        if (!erases) {
          if (const Status status = check_set(work, row, words); !status.ok()) return status;
          change = {.values = words.set};
        }
        return work.store.modify(*row.use, selection, change, nullptr, work.out(), changed);
      });
  if (outcome.ok()) work.reply.integer(static_cast<std::int64_t>(changed.rows));
  return outcome;
}

}  // namespace

Outcome execute_find(Work& work, const CommandInfo& info, Words words) {
  FindWords read;
  if (std::string mistake = read_find(info, words, read); !mistake.empty())
    return say(work, std::move(mistake));
  switch (info.command) {
    case Command::hs_count: return count(work, read);
    case Command::hs_delete: return change(work, read, true);
    case Command::hs_update: return change(work, read, false);
    default: return find(work, read);
  }
}

}  // namespace hs::redis
