#include "keys/containers.h"

#include <algorithm>
#include <array>

#include "base/buffer.h"
#include "store/rows.h"

namespace hs::keys {
namespace {

using store::Outcome;
using Kind = store::ColumnValue::Kind;

constexpr const char* too_many =
    "there are 1000 containers before it, and no more can be used, so it and those behind it are "
    "none";

// The first columns of each row, as texts.
template <std::size_t columns>
class TextRows final : public store::Rows {
 public:
  TextRows() : Rows(std::size_t{4} << 20) {}
  bool take(std::span<const store::Column> row_columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& /*out*/) override {
    char room[store::Column::room];
    std::array<std::string, columns>& texts = rows.emplace_back();
    for (std::size_t i = 0; i < columns; ++i) {
      const store::ColumnValue value = row_columns[i].value(row, room);
      if (value.kind == Kind::no_memory) return false;
      if (value.kind != Kind::null) texts[i].assign(value.data, value.size);
    }
    return true;
  }
  std::vector<std::array<std::string, columns>> rows;
};

// All rows of a table, up or down its primary key.
template <std::size_t columns>
Outcome read_rows(store::Store& store, const store::IndexNames& names, std::uint64_t most,
                  TextRows<columns>& rows) {
  store::IndexUse use;
  if (const Outcome opened = store.open_index(names, store::Caller::unlimited(), use); !opened.ok())
    return opened;
  Buffer nothing;
  store::Found found;
  const store::Selection all{.range = {store::Bound::within, store::Direction::up}, .limit = most};
  return store.find(use, all, rows, nothing, nullptr, found);
}

// Whether the answer says what is in the table, or that there is no such table. Others say that it cannot
// be read for the moment.
bool tells_what_is_there(Status status) {
  const Error kind = status.kind();
  return kind == Error::none || kind == Error::no_table || kind == Error::no_index ||
         kind == Error::no_column;
}

// Why a container cannot be opened. Empty: it can be.
std::string_view why(Status status) {
  switch (key_mistake_of(status)) {
    case KeyMistake::not_unique: return "its index is not unique";
    case KeyMistake::unusable_container:
      return "its columns are not those of its table and its index, or have other types";
    case KeyMistake::small_column:
      return "its column for flags or expiry is smaller than INT, or the one for cas smaller than "
             "BIGINT";
    default: break;
  }
  switch (status.kind()) {
    case Error::none: return "";
    case Error::no_table: return "its table is not there, or cannot be used";
    case Error::no_index: return "its index is not there";
    case Error::no_column: return "its columns are not there";
    default: return "its table cannot be opened";
  }
}

}  // namespace

bool read_source(std::string_view text, ContainerSource& source) {
  const std::size_t dot = text.find('.');
  source.database.clear();
  source.table.clear();
  if (text.empty()) return true;
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return false;
  source.database = text.substr(0, dot);
  source.table = text.substr(dot + 1);
  return true;
}

ItemKey Containers::resolve(std::string_view key) const {
  const ContainerSet& set = *set_;
  if (set.known.empty()) return {};
  const SplitKey split = split_key(key);
  if (split.has_parts) {
    const auto& found = find(split.name);
    if (found != nullptr && found != set.by_default) return {found.get(), split.parts};
    if (has_database_or_index(split.name)) return {};
  }
  if (set.by_default == nullptr) return {};
  return {set.by_default.get(), key};
}

// Of the threads that find that some time has gone by, one reads. Whoever was asked to reads in any case,
// because the client that has asked may be served by another thread next. As long as nobody has read at
// all, everybody does: the one who reads first may not be ready yet.
bool Containers::is_due() {
  if (!source_.was_read_.load(std::memory_order_acquire)) [[unlikely]]
    return true;
  if (source_.asked_.load(std::memory_order_relaxed) !=
      source_.answered_.load(std::memory_order_relaxed))
    return true;
  std::int64_t last = source_.read_ms_.load(std::memory_order_relaxed);
  const std::int64_t now = clock_.now_ms();
  if (now - last < period_ms && now >= last) [[likely]]
    return false;
  return source_.read_ms_.compare_exchange_strong(last, now, std::memory_order_relaxed);
}

// A table that is not there means that there are no containers. One row more is read than there may be
// containers, so that somebody who has declared too many is told of it.
Outcome Containers::read(store::Store& store, OpenRows& open_rows) {
  const std::uint64_t asked = source_.asked_.load(std::memory_order_relaxed);
  TextRows<9> rows;
  const Outcome outcome = read_rows(store,
                                    {.database = source_.database,
                                     .table = source_.table,
                                     .index = "",
                                     .columns = container_columns,
                                     .filter_columns = ""},
                                    most + 1, rows);
  if (!outcome.answered()) return put_off(outcome);
  if (!tells_what_is_there(outcome.status())) {
    note_read(asked);
    return {};
  }
  std::string separator = "|";
  ContainerSet set;
  if (outcome.ok()) {
    TextRows<2> options;
    const Outcome of_options = read_rows(store,
                                         {.database = source_.database,
                                          .table = "config_options",
                                          .index = "",
                                          .columns = "name,value",
                                          .filter_columns = ""},
                                         most, options);
    if (!of_options.answered()) return put_off(of_options);
    if (!tells_what_is_there(of_options.status())) {
      note_read(asked);
      return {};
    }
    for (const auto& [name, value] : options.rows) {
      if (name == "separator" && !value.empty()) separator = value;
      if (name == "table_map_delimiter" && !value.empty()) set.delimiter = value;
    }
  }
  if (rows.rows.size() > most) {
    set.mistakes.emplace_back(std::move(rows.rows.back().front()), too_many);
    rows.rows.pop_back();
  }
  for (auto& row : rows.rows) {
    const ContainerRow read{std::move(row[0]), std::move(row[1]), std::move(row[2]),
                            std::move(row[3]), std::move(row[4]), std::move(row[5]),
                            std::move(row[6]), std::move(row[7]), std::move(row[8])};
    Container container;
    const ContainerMistake mistake = read_container(read, separator, container);
    if (mistake != ContainerMistake::none) {
      set.mistakes.emplace_back(read.name, text_of(mistake));
      if (mistake == ContainerMistake::name) continue;
    }
    set.add(std::make_shared<const Container>(std::move(container)));
  }
  set.by_default = set.find(Container::default_name);
  const bool was_asked = asked != source_.answered_.load(std::memory_order_relaxed);
  if (publish(std::move(set)) || was_asked)
    source_.must_judge_.store(true, std::memory_order_relaxed);
  note_read(asked);
  if (is_time_to_judge()) judge(store, open_rows);
  return {};
}

// Whoever has locked the table is waited for only as long as nobody has read it. Until then a key would name
// nothing, or something else than later.
Outcome Containers::put_off(Outcome outcome) {
  const bool was_read = source_.was_read_.load(std::memory_order_acquire);
  if (outcome.verdict() != store::Verdict::blocked || !was_read) return outcome;
  follow();
  return {};
}

// What was found, or that nothing can be found out, is what this thread has seen.
void Containers::note_read(std::uint64_t asked) {
  source_.answered_.store(asked, std::memory_order_relaxed);
  source_.was_read_.store(true, std::memory_order_release);
}

// Any client may ask for a look, and there may be many containers.
bool Containers::is_time_to_judge() {
  if (!source_.must_judge_.load(std::memory_order_relaxed)) return false;
  std::int64_t last = source_.judged_ms_.load(std::memory_order_relaxed);
  const std::int64_t now = clock_.now_ms();
  if ((now - last < period_ms && now >= last) ||
      !source_.judged_ms_.compare_exchange_strong(last, now, std::memory_order_relaxed))
    return false;
  source_.must_judge_.store(false, std::memory_order_relaxed);
  return true;
}

// Opens each container once, so that what is wrong with one is known before a client meets it.
void Containers::judge(store::Store& store, OpenRows& rows) {
  auto judgement = std::make_shared<ContainerSource::Judgement>();
  for (const auto& [name, mistake] : set_->mistakes) judgement->push_back({name, mistake, nullptr});
  for (const auto& [name, container] : set_->known) {
    if (container->value_columns.empty()) continue;  // its mistake is known
    static_cast<void>(rows.text_of(name, Asks::item, {}));
    std::shared_ptr<const RowAccess> access;
    const Outcome opened =
        rows.open_items(store, store::Caller::unlimited(), container, Asks::item, access);
    // Of a table that somebody has locked, nothing is known.
    judgement->push_back(
        {name, opened.answered() ? std::string(why(opened.status())) : std::string(), container});
  }
  std::ranges::sort(*judgement, {}, &ContainerSource::Judged::name);
  const auto before = source_.judgement_.get();
  if (*before == *judgement) return;
  for (const ContainerSource::Judged& one : *judgement) {
    const bool is_known = std::ranges::any_of(*before, [&](const ContainerSource::Judged& known) {
      return known.name == one.name && known.mistake == one.mistake;
    });
    if (!one.mistake.empty() && !is_known && source_.note_mistake) source_.note_mistake(one);
  }
  source_.judgement_ = std::shared_ptr<const ContainerSource::Judgement>(std::move(judgement));
}

// Several threads may have read at the same time. The number that is shown has to be that of the set.
bool Containers::publish(ContainerSet set) {
  const std::lock_guard lock(source_.publishing_);
  take(source_.current_.get());
  const bool is_same = set.known.size() == set_->known.size() && set.mistakes == set_->mistakes &&
                       set.delimiter == set_->delimiter &&
                       std::ranges::all_of(set.known, [&](const auto& one) {
                         const std::shared_ptr<const Container>& before = set_->find(one.first);
                         return before != nullptr && *before == *one.second;
                       });
  if (is_same) return false;
  set.generation = set_->generation + 1;
  take(std::make_shared<const ContainerSet>(std::move(set)));
  source_.current_ = set_;
  source_.generation_.store(set_->generation, std::memory_order_release);
  return true;
}

}  // namespace hs::keys
