#include "simulator/tables.h"

#include <algorithm>

namespace hs::simulator {

const Record* Table::committed(std::string_view key, std::uint64_t commit) const {
  const auto found = rows.find(key);
  if (found == rows.end()) return nullptr;
  const std::vector<Version>& versions = found->second;
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    if (version->commit <= commit) return version->record ? &*version->record : nullptr;
  }
  return nullptr;
}

Tables::Tables() {
  tables_.push_back({.name = "h",
                     .columns = {{.name = "k", .is_integer = true, .is_nullable = false},
                                 {.name = "v", .is_integer = true},
                                 {.name = "s"}}});
  tables_.push_back({.name = "kv",
                     .columns = {{.name = "k", .is_nullable = false},
                                 {.name = "v"},
                                 {.name = "flags", .is_integer = true},
                                 {.name = "cas", .is_integer = true, .is_nullable = false},
                                 {.name = "expires", .is_integer = true}}});
  // The shared counters.
  for (const char* const row : {"1", "2"})
    tables_.front().rows[row].push_back({.commit = 0, .record = Record{row, "0", std::nullopt}});
  for (const char* const item : {"shared0", "shared1"}) {
    tables_.back().rows[item].push_back(
        {.commit = 0, .record = Record{item, "0", "0", "1", std::nullopt}});
  }
  Table& containers = tables_.emplace_back(Table{.name = "containers",
                                                 .columns = {{.name = "name"},
                                                             {.name = "db_schema"},
                                                             {.name = "db_table"},
                                                             {.name = "key_columns"},
                                                             {.name = "value_columns"},
                                                             {.name = "flags"},
                                                             {.name = "cas_column"},
                                                             {.name = "expire_time_column"},
                                                             {.name = "unique_idx_name_on_key"}}});
  containers.rows["default"].push_back(
      {.commit = 0,
       .record = Record{"default", "db", "kv", "k", "v", "flags", "cas", "expires", "PRIMARY"}});
}

Table* Tables::find(std::string_view name) {
  const auto found = std::ranges::find(tables_, name, &Table::name);
  return found == tables_.end() ? nullptr : &*found;
}

const Table& Tables::at(std::string_view name) const {
  return *std::ranges::find(tables_, name, &Table::name);
}

// Null: it has not changed the row.
const std::optional<Record>* Transaction::own(const Table& table, std::string_view key) const {
  if (changes_.empty()) return nullptr;
  const auto found = changes_.find(Place(const_cast<Table*>(&table), key));
  return found == changes_.end() ? nullptr : &found->second;
}

const Record* Transaction::read(const Table& table, std::string_view key) {
  if (!snapshot_) snapshot_ = tables_.commits;
  if (const auto* mine = own(table, key)) return *mine ? &**mine : nullptr;
  return table.committed(key, *snapshot_);
}

const Record* Transaction::latest(const Table& table, std::string_view key) const {
  if (const auto* mine = own(table, key)) return *mine ? &**mine : nullptr;
  return table.committed(key);
}

std::set<std::string> Transaction::keys(const Table& table) const {
  std::set<std::string> keys;
  for (const auto& [key, versions] : table.rows) keys.insert(key);
  for (const auto& [place, record] : changes_) {
    if (place.first == &table) keys.insert(place.second);
  }
  return keys;
}

bool Transaction::lock(Table& table, std::string_view key) {
  const auto held = table.locks.find(key);
  if (held != table.locks.end()) return held->second == this;
  if (table.committed(key) == nullptr) return true;
  table.locks.emplace(key, this);
  locks_.emplace_back(&table, key);
  return true;
}

void Transaction::write(Table& table, std::string_view key, std::optional<Record> record) {
  if (table.locks.emplace(key, this).second) locks_.emplace_back(&table, key);
  changes_.insert_or_assign(Place(&table, key), std::move(record));
}

void Transaction::commit() {
  if (!changes_.empty()) {
    ++tables_.commits;
    for (auto& [place, record] : changes_)
      place.first->rows[place.second].push_back({tables_.commits, std::move(record)});
  }
  end();
}

void Transaction::roll_back() { end(); }

void Transaction::end() {
  snapshot_.reset();
  changes_.clear();
  for (const auto& [table, key] : locks_) table->locks.erase(key);
  locks_.clear();
}

}  // namespace hs::simulator
