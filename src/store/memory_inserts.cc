// The in-memory store's inserts of several rows, and what they do about rows that are there.
#include <cassert>
#include <optional>
#include <utility>

#include "store/memory_index.h"
#include "store/memory_store.h"

namespace hs::store {
namespace {

constexpr std::uint32_t sql_duplicate_entry = 1062;

std::optional<InsertId> id_of(const MemoryTable& table, const Row& row) {
  if (!table.has_auto_increment()) return std::nullopt;
  return InsertId{.bits = static_cast<std::uint64_t>(table.number_of(row)), .is_signed = true};
}

}  // namespace

Outcome MemoryStore::insert_rows(IndexUse& use, const InsertRows& rows,
                                 std::vector<InsertedRow>& inserted) {
  assert(access_ == Access::write && rows.is_valid());
  const MemoryIndex& on = static_cast<const MemoryIndex&>(use.index());
  if (!may(use, rights_to_insert(rows))) return access_denied;
  assert(rows.columns <= on.columns.size());
  if (const Verdict verdict = enter(on.table); verdict != Verdict::answered) return verdict;
  const Status known = MemoryMatches::check_filters(on.filter_columns, rows.condition);
  if (!known.ok()) return known;
  if (mode_ != PassMode::aside && rows.rows() * Budget::steps_of_a_change > bounds_.rows)
    return Verdict::oversized;

  const std::size_t undo_size = undo_.size();
  inserted.clear();
  Status status;
  for (std::size_t number = 0; number < rows.rows() && status.ok(); ++number)
    status = insert_row(on, rows, rows.row(number), inserted.emplace_back());
  return finish_write(status, undo_size);
}

Status MemoryStore::insert_row(const MemoryIndex& on, const InsertRows& rows,
                               std::span<const Value> values, InsertedRow& inserted) {
  MemoryTable& table = on.table;
  const bool ignores = rows.on_duplicate == OnDuplicate::ignore;
  Row row;
  if (const Status status = table.make_row(on.columns, values, ignores, row); !status.ok())
    return status;
  inserted = {.fate = RowFate::inserted, .id = id_of(table, row)};
  const Row* there = table.duplicate_of(row);
  if (there == nullptr) {
    table.add(std::move(row), undo_);
    return {};
  }
  switch (rows.on_duplicate) {
    case OnDuplicate::fail: return duplicate_key;
    case OnDuplicate::ignore:
      inserted = {.fate = RowFate::ignored};
      warn_of_duplicate();
      return {};
    case OnDuplicate::replace:
      inserted.fate = RowFate::replaced;
      for (; there != nullptr; there = table.duplicate_of(row)) table.erase(*there, undo_);
      table.add(std::move(row), undo_);
      return {};
    case OnDuplicate::update: break;
  }
  inserted = {.fate = RowFate::unmet, .id = id_of(table, *there)};
  if (!MemoryMatches::meets(table, on.filter_columns, rows.condition, *there)) return {};
  const RowChange change = assign_row(table, on.columns, rows.assignments, *there, &row);
  inserted.fate = change.differs ? RowFate::updated : RowFate::unchanged;
  if (change.status.ok()) inserted.id = id_of(table, *there);
  return change.status;
}

void MemoryStore::warn_of_duplicate() {
  if (said_ == nullptr || !said_->wants_warnings) return;
  if (said_->warnings.size() == Said::most_warnings) return;
  said_->warnings.push_back({.number = sql_duplicate_entry, .text = "Duplicate entry"});
}

}  // namespace hs::store
