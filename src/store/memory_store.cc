#include "store/memory_store.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "store/memory_assign.h"
#include "store/memory_index.h"

namespace hs::store {
namespace {

constexpr Status query_interrupted = Error::killed;
// A find that flushes nothing asks after so many rows whether anybody waits for it.
constexpr std::uint64_t rows_between_looks = 256;

struct MemoryCurrentRow final : CurrentRow {
  explicit MemoryCurrentRow(const Row& row) : row(row) {}
  const Row& row;
};

const Field& field_of(const Column& column, const CurrentRow& row) {
  return static_cast<const MemoryCurrentRow&>(row).row.fields[column.number];
}

ColumnValue read_text(const Column& column, const CurrentRow& row, char* /*room*/) {
  const Field& field = field_of(column, row);
  if (field.null) return {};
  return {field.bytes.data(), static_cast<std::uint32_t>(field.bytes.size()),
          ColumnValue::Kind::bytes};
}

ColumnValue read_number(const Column& column, const CurrentRow& row, char* room) {
  const Field& field = field_of(column, row);
  if (field.null) return {};
  assert(field.bytes.size() <= Column::room);
  std::ranges::copy(field.bytes, room);
  return {room, static_cast<std::uint32_t>(field.bytes.size()), ColumnValue::Kind::in_room};
}

bool is_blank(std::string_view text) { return text.find_first_not_of(' ') == text.npos; }

// Whether one of the columns would cross zero: then the row is left as it is, whatever becomes of
// the others.
bool crosses_zero(const MemoryTable& table, std::span<const std::uint32_t> columns,
                  std::span<const Value> values, const Row& row) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MemoryColumn& of = table.spec().columns[columns[i]];
    const Field& field = row.fields[columns[i]];
    Cell by;
    std::int64_t number = 0;
    const bool is_skipped = field.null || values[i].null || is_blank(values[i].bytes);
    if (is_skipped || !of.integer || !to_cell(of, values[i], by) ||
        __builtin_sub_overflow(field.number, by.number, &number)) {
      continue;
    }
    if ((field.number > 0 && number < 0) || (field.number < 0 && number > 0)) return true;
  }
  return false;
}

constexpr std::uint64_t most_integer = std::numeric_limits<std::int64_t>::max();

std::shared_ptr<const IndexShape> shape_of(const MemoryTableSpec& spec, std::size_t key) {
  auto shape = std::make_shared<IndexShape>();
  shape->is_unique = spec.keys[key].unique;
  for (const MemoryColumn& column : spec.columns) {
    shape->columns.push_back({.name = column.name,
                              .is_nullable = column.nullable,
                              .spelling = column.integer ? Spelling::integer : Spelling::text,
                              .most = column.integer ? most_integer : 0});
  }
  shape->key = spec.keys[key].columns;
  return shape;
}

std::shared_ptr<MemoryIndex> make_index(MemoryTable& table, std::size_t key,
                                        std::vector<std::uint32_t> columns,
                                        std::vector<std::uint32_t> filter_columns,
                                        std::shared_ptr<const IndexShape> shape) {
  std::vector<Column> readers;
  for (const std::uint32_t column : columns) {
    const MemoryColumn& of = table.spec().columns[column];
    readers.push_back({of.integer ? read_number : read_text, column, of.name});
  }
  return std::make_shared<MemoryIndex>(table, key, std::move(columns), std::move(filter_columns),
                                       std::move(readers), std::move(shape));
}

bool find_columns(const MemoryTableSpec& spec, std::string_view names, char separator,
                  std::vector<std::uint32_t>& columns) {
  if (names.empty()) return true;
  for (;;) {
    const std::size_t end = names.find(separator);
    const std::string_view name = names.substr(0, end);
    const auto column = std::ranges::find(spec.columns, name, &MemoryColumn::name);
    if (column == spec.columns.end()) return false;
    columns.push_back(static_cast<std::uint32_t>(column - spec.columns.begin()));
    if (end == std::string_view::npos) return true;
    names.remove_prefix(end + 1);
  }
}

std::optional<std::size_t> find_key(const MemoryTableSpec& spec, std::string_view name) {
  if (!name.empty() && name[0] >= '0' && name[0] <= '9') {
    std::size_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, number);
    if (error != std::errc{} || stop != end || number >= spec.keys.size()) return std::nullopt;
    return number;
  }
  const auto key = std::ranges::find(spec.keys, name.empty() ? "PRIMARY" : name, &MemoryKey::name);
  if (key == spec.keys.end()) return std::nullopt;
  return static_cast<std::size_t>(key - spec.keys.begin());
}

void take_row(Rows& rows, const MemoryIndex& index, const Row& row, std::size_t in_number,
              Buffer& out) {
  if (!rows.take(index.readers, MemoryCurrentRow(row), in_number, out)) throw std::bad_alloc();
}

}  // namespace

MemoryStore::MemoryStore(MemoryDatabase& database, Access access, CounterBlock& counters,
                         MemoryBounds bounds)
    : database_(database), access_(access), counters_(counters), bounds_(bounds) {}

MemoryStore::~MemoryStore() { abandon_pass(); }

// Every request on rows begins here.
Verdict MemoryStore::enter(const MemoryTable& table) {
  if (table.blocked()) return Verdict::blocked;
  if (faults_.broken_in != 0 && --faults_.broken_in == 0) {
    abandon_pass();
    return Verdict::broken;
  }
  if (!locked_) lock();
  return Verdict::answered;
}

// A caller with limits is a MemoryCaller. Its rights are asked once a pass, as servers do, so those that
// are given or taken count from the next pass on.
bool MemoryStore::may(const IndexUse& use, Rights needed) {
  if (use.caller().may_do_everything()) return true;
  const MemoryTable& table = static_cast<const MemoryIndex&>(use.index()).table;
  const auto [asked, is_new] = asked_.try_emplace({&use.caller(), &table}, Rights::none);
  if (is_new) {
    const MemoryTableSpec& spec = table.spec();
    asked->second = static_cast<const MemoryCaller&>(use.caller()).on(spec.database, spec.name);
  }
  return contains(asked->second, needed);
}

Outcome MemoryStore::open_index(const IndexNames& names,
                                const std::shared_ptr<const Caller>& caller, IndexUse& use) {
  if (!caller->may_do_everything() &&
      static_cast<const MemoryCaller&>(*caller).on(names.database, names.table) == Rights::none) {
    return access_denied;
  }
  MemoryTable* const table = database_.find_table(names.database, names.table);
  if (table == nullptr) return Error::no_table;
  if (table->blocked()) return Verdict::blocked;
  const std::optional<std::size_t> key = find_key(table->spec(), names.index);
  if (!key) return Error::no_index;
  std::vector<std::uint32_t> columns;
  std::vector<std::uint32_t> filter_columns;
  if (!find_columns(table->spec(), names.columns, names.separator, columns) ||
      !find_columns(table->spec(), names.filter_columns, names.separator, filter_columns)) {
    return Error::no_column;
  }
  std::shared_ptr<const IndexShape> shape;
  if (names.every_column) {
    shape = shape_of(table->spec(), *key);
    for (std::uint32_t i = 0; i < shape->columns.size(); ++i) columns.push_back(i);
  }
  counters_.add(Counter::table_opens);
  use = {make_index(*table, *key, std::move(columns), std::move(filter_columns), std::move(shape)),
         caller};
  return {};
}

void MemoryStore::note_expected(const IndexUse& use, std::span<const Value> key) {
  bool is_expected = false;
  for (const Lookup& lookup : expected_) {
    for (const Value& value : lookup.key) {
      if (value.bytes.empty()) continue;
      read_of_expected_ ^= value.bytes.front();
      read_of_expected_ ^= value.bytes.back();
    }
    is_expected |= std::ranges::equal(lookup.key, key) && lookup.index == &use.index();
  }
  if (is_expected) ++expected_finds_;
}

Outcome MemoryStore::find(IndexUse& use, const Selection& selection, Rows& rows, Buffer& out,
                          Sink* sink, Found& found) {
  assert(selection.is_valid());
  const MemoryIndex& on = static_cast<const MemoryIndex&>(use.index());
  note_expected(use, selection.key);
  if (!may(use, Rights::read)) return access_denied;
  if (const Verdict verdict = enter(on.table); verdict != Verdict::answered) return verdict;
  const Status status = MemoryMatches::check(on.table, on.key, on.filter_columns, selection);
  if (!status.ok()) return status;

  const std::size_t begin = out.size();
  const bool is_bounded = sink == nullptr && mode_ != PassMode::aside;
  MemoryMatches matches(on.table, on.key, on.filter_columns, selection,
                        is_bounded ? bounds_.rows : std::numeric_limits<std::uint64_t>::max());
  if (sink != nullptr && sink->position != nullptr) {
    matches.resume(static_cast<const MemoryPosition&>(*sink->position));
  } else if (selection.behind != nullptr) {
    matches.go_on_behind(static_cast<const MemoryPosition&>(*selection.behind));
  }
  found.rows = 0;
  found.end = nullptr;
  found.may_have_more = false;
  const auto bytes = [&] { return out.size() - begin; };
  while (const Row* const row = matches.next()) {
    take_row(rows, on, *row, matches.in_number(), out);
    ++found.rows;
    if (bytes() > rows.most_bytes() || (is_bounded && bytes() > bounds_.bytes)) break;
    if (sink == nullptr) continue;
    if (!rows.is_sent_in_pieces()) {
      if (found.rows % rows_between_looks == 0 && sink->must_end()) {
        out.truncate(begin);
        return query_interrupted;
      }
    } else if (out.size() >= bounds_.flush_bytes && !matches.is_at_limit()) {
      assert(undo_.size() == 0);
      std::unique_ptr<MemoryPosition> position = matches.leave();
      unlock();
      const Sink::Flushed flushed = sink->flush(out, true);
      if (flushed == Sink::Flushed::stalled) {
        sink->position = std::move(position);
        budget_->spend(matches.examined());
        counters_.add(Counter::rows_read, found.rows);
        return Verdict::parked;
      }
      lock();
      if (flushed == Sink::Flushed::ended) return query_interrupted;
      matches.resume(*position);
    }
  }
  budget_->spend(matches.examined());
  if (bytes() > rows.most_bytes()) {
    out.truncate(begin);
    return Error::too_large;
  }
  if (is_bounded && (matches.gave_up() || bytes() > bounds_.bytes)) {
    out.truncate(begin);
    return Verdict::oversized;
  }
  counters_.add(Counter::rows_read, found.rows);
  if (found.rows != 0) {
    found.end = matches.leave_at_limit();
    found.may_have_more = found.end != nullptr;
    if (!found.wants_end) found.end = nullptr;
  }
  return {};
}

// It looks at the sink each time when it has looked at as many rows as a worker may.
Outcome MemoryStore::count(IndexUse& use, const Selection& selection, std::uint64_t& rows,
                           Sink* sink) {
  assert(selection.is_valid());
  const MemoryIndex& on = static_cast<const MemoryIndex&>(use.index());
  if (!may(use, Rights::read)) return access_denied;
  if (const Verdict verdict = enter(on.table); verdict != Verdict::answered) return verdict;
  const Status status = MemoryMatches::check(on.table, on.key, on.filter_columns, selection);
  if (!status.ok()) return status;

  const bool is_bounded = sink == nullptr && mode_ != PassMode::aside;
  MemoryMatches matches(on.table, on.key, on.filter_columns, selection,
                        is_bounded ? bounds_.rows : std::numeric_limits<std::uint64_t>::max());
  std::uint64_t counted = 0;
  if (sink != nullptr && sink->position != nullptr) {
    const auto& from = static_cast<const MemoryPosition&>(*sink->position);
    counted = selection.limit - from.to_give;
    matches.resume(from);
  }
  std::uint64_t look_at = bounds_.rows;
  while (matches.next() != nullptr) {
    ++counted;
    if (sink == nullptr || matches.examined() < look_at) continue;
    look_at += bounds_.rows;
    if (sink->must_end()) {
      budget_->spend(matches.examined());
      return query_interrupted;
    }
    if (!sink->must_give_way()) continue;
    sink->position = matches.leave();
    sink->position->reply_begun = false;
    budget_->spend(matches.examined());
    return Verdict::parked;
  }
  budget_->spend(matches.examined());
  if (is_bounded && matches.gave_up()) return Verdict::oversized;
  rows = counted;
  return {};
}

Outcome MemoryStore::modify(IndexUse& use, const Selection& selection, const Change& change,
                            Rows* rows, Buffer& out, Changed& changed) {
  assert(access_ == Access::write && selection.is_valid());
  assert(rows != nullptr || !change.gives_rows());
  const MemoryIndex& on = static_cast<const MemoryIndex&>(use.index());
  if (!may(use, rights_to_modify(change))) return access_denied;
  assert(change.values.size() <= on.columns.size() &&
         !((change.erases() || change.only_locks()) && change.rows_after));
  if (const Verdict verdict = enter(on.table); verdict != Verdict::answered) return verdict;
  const Status status = MemoryMatches::check(on.table, on.key, on.filter_columns, selection);
  if (!status.ok()) return status;

  // All rows are found before the first is changed, so that a modification never meets a row that
  // it has changed. `seen` is there because IN may name a row twice.
  matched_.clear();
  std::unordered_set<const Row*> seen;
  const bool is_bounded = mode_ != PassMode::aside;
  const std::uint64_t most = is_bounded ? bounds_.rows : std::numeric_limits<std::uint64_t>::max();
  MemoryMatches matches(on.table, on.key, on.filter_columns, selection, most);
  while (const Row* const row = matches.next()) {
    if (selection.in.values.size() < 2 || seen.insert(row).second)
      matched_.push_back({row, matches.in_number()});
  }

  budget_->spend(matches.examined());
  const std::uint64_t to_change = matched_.size() * Budget::steps_of_a_change;
  if (matches.gave_up() || (is_bounded && matches.examined() + to_change > most))
    return Verdict::oversized;

  const std::size_t begin = out.size();
  const std::size_t undo_size = undo_.size();
  changed = {};
  RowChange of_row;
  // False: the rows that were taken are too large.
  const auto take = [&](const Matched& found) {
    take_row(*rows, on, *found.row, found.in_number, out);
    return out.size() - begin <= rows->most_bytes();
  };
  for (const Matched& found : matched_) {
    if (change.rows_before && !take(found)) of_row.status = Error::too_large;
    if (!of_row.status.ok()) break;
    of_row = change_row(on.table, on.columns, change, *found.row);
    if (!of_row.status.ok()) break;
    if (change.rows_after && !take(found)) of_row.status = Error::too_large;
    if (!of_row.status.ok()) break;
    if (of_row.counts) ++changed.rows;
  }
  const Outcome outcome = finish_write(of_row.status, undo_size);
  if (!outcome.ok()) out.truncate(begin);
  return outcome;
}

MemoryStore::RowChange MemoryStore::change_row(MemoryTable& table,
                                               std::span<const std::uint32_t> columns,
                                               const Change& change, const Row& row) {
  using enum ChangeKind;
  if (change.only_locks()) return {};
  if (change.kind == erase) {
    table.erase(row, undo_);
    return {};
  }
  if (change.assigns()) return assign_row(table, columns, change.assignments, row, nullptr);
  if (change.kind == decrement && crosses_zero(table, columns, change.values, row))
    return {.counts = false};
  std::vector<Field> fields = row.fields;
  bool differs = false;
  for (std::size_t i = 0; i < change.values.size(); ++i) {
    const std::uint32_t column = columns[i];
    const MemoryColumn& of = table.spec().columns[column];
    Field& field = fields[column];
    Value value = change.values[i];
    std::string sum;
    if (change.kind != update) {
      if (field.null || value.null || is_blank(value.bytes)) continue;
      Cell by;
      if (!of.integer || !to_cell(of, value, by)) return {.status = no_number};
      std::int64_t number = 0;
      const bool overflow = change.kind == increment
                                ? __builtin_add_overflow(field.number, by.number, &number)
                                : __builtin_sub_overflow(field.number, by.number, &number);
      if (overflow) return {.status = out_of_range};
      sum = std::to_string(number);
      value = {sum, false};
    }
    Field changed;
    if (const Status status = to_field(of, value, changed); !status.ok()) return {.status = status};
    differs = differs || changed.null != field.null || changed.bytes != field.bytes;
    field = std::move(changed);
  }
  if (!differs) return {};
  return {.status = table.update(row, std::move(fields), undo_)};
}

MemoryStore::RowChange MemoryStore::assign_row(MemoryTable& table,
                                               std::span<const std::uint32_t> columns,
                                               std::span<const Assignment> assignments,
                                               const Row& row, const Row* inserted) {
  std::vector<Field> fields = row.fields;
  RowChange change{.differs = false};
  for (const Assignment& assignment : assignments) {
    assert(assignment.is_valid());
    const std::uint32_t column = columns[assignment.column];
    Field& field = fields[column];
    const Field before = field;
    if (assignment.kind == AssignKind::set_new) {
      assert(inserted != nullptr);
      field = inserted->fields[column];
    } else {
      const Status status = assign(table.spec().columns[column], assignment, field);
      if (!status.ok()) return {.status = status};
    }
    change.differs |= before.null != field.null || before.bytes != field.bytes;
  }
  if (change.differs) change.status = table.update(row, std::move(fields), undo_);
  return change;
}

Outcome MemoryStore::insert(IndexUse& use, const Insert& row, Changed& changed) {
  assert(access_ == Access::write);
  const MemoryIndex& on = static_cast<const MemoryIndex&>(use.index());
  if (!may(use, Rights::insert)) return access_denied;
  assert(row.values.size() <= on.columns.size());
  if (const Verdict verdict = enter(on.table); verdict != Verdict::answered) return verdict;

  if (row.keeps_zero && on.table.asks_for_id(on.columns, row.values)) return zero_asks_for_id;
  const std::size_t undo_size = undo_.size();
  std::uint64_t id = 0;
  const Status status = on.table.insert(on.columns, row.values, undo_, id);
  changed = {.rows = 1};
  if (on.table.has_auto_increment()) changed.id = InsertId{.bits = id, .is_signed = true};
  return finish_write(status, undo_size);
}

// Undoes a failed write, and only that. Commits a successful one if it stands alone. A unit is
// committed at its end.
Outcome MemoryStore::finish_write(Status status, std::size_t undo_size) {
  const std::size_t changed = undo_.size() - undo_size;
  if (!status.ok()) undo_.rollback_to(undo_size);
  if (status.ok() && mode_ != PassMode::together && !in_unit_) status = commit();
  if (status.ok()) {
    counters_.add(Counter::rows_changed, changed);
    budget_->spend(changed * Budget::steps_of_a_change);
  }
  return status;
}

}  // namespace hs::store
