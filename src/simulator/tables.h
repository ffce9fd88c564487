// Tables: tables with rows that come and go, which transactions read and change.
//
// All simulated stores share them. A row is one record for each transaction that has changed it: readers see
// what was committed when they began, and writers see what was committed last, and lock it. A transaction
// never waits here. A table's key is its first column.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hs::simulator {

using Cell = std::optional<std::string>;  // none: NULL
using Record = std::vector<Cell>;

struct TableColumn {
  std::string name;
  bool is_integer = false;
  bool is_nullable = true;
};

class Transaction;

struct Table {
  struct Version {
    std::uint64_t commit;
    std::optional<Record> record;  // none: there is no such row
  };
  std::string name;
  std::vector<TableColumn> columns;
  std::map<std::string, std::vector<Version>, std::less<>> rows{};
  std::map<std::string, const Transaction*, std::less<>> locks{};

  // What was committed last, or at that commit.
  const Record* committed(std::string_view key, std::uint64_t commit = ~std::uint64_t{0}) const;
};

class Tables {
 public:
  static constexpr std::string_view database = "db";
  // Of HandlerSocket's counters, whose rows are all there.
  static constexpr std::string_view counters = "t";

  // With one container, `default`, which is `kv`; and `h`, whose rows are hashes.
  Tables();

  // Null: it is not there.
  Table* find(std::string_view name);
  const Table& at(std::string_view name) const;
  std::uint64_t commits = 0;

 private:
  std::deque<Table> tables_;
};

// Of one store. It has to be ended before it goes.
class Transaction {
 public:
  explicit Transaction(Tables& tables) : tables_(tables) {}

  // What is read: the snapshot, which is taken at the first read, with the transaction's own changes.
  const Record* read(const Table& table, std::string_view key);
  // What a write finds: the last commit, with its own changes.
  const Record* latest(const Table& table, std::string_view key) const;
  // Whether no other transaction has it. A row that is there is locked then.
  bool lock(Table& table, std::string_view key);
  // The row is locked. No record: it is deleted.
  void write(Table& table, std::string_view key, std::optional<Record> record);
  // All that a row may have, for a reader or a writer.
  std::set<std::string> keys(const Table& table) const;
  bool has_changed() const { return !changes_.empty(); }

  void commit();
  void roll_back();
  // What was done since the first of these is taken back by the other. Locks stay.
  void set_savepoint() { savepoint_ = changes_; }
  void roll_back_to_savepoint() { changes_ = savepoint_; }

 private:
  using Place = std::pair<Table*, std::string>;
  using Changes = std::map<Place, std::optional<Record>>;

  const std::optional<Record>* own(const Table& table, std::string_view key) const;
  void end();

  Tables& tables_;
  std::optional<std::uint64_t> snapshot_{};
  Changes changes_{};
  Changes savepoint_{};
  std::vector<Place> locks_{};
};

}  // namespace hs::simulator
