// Column readers: how a column's value is read from a record as text.
//
// The reader of a column is chosen once, when the index is opened. Frequent types are read straight
// from the record, all others in the way that the server writes them for a SQL client. What a reader
// returns is written into a reply by the taker of the row (store/rows.h). Called
// on the thread that owns the TABLE.
#pragma once

#include <memory>

#include "store/rows.h"

class Field;
struct TABLE;

namespace hs::mysqld {

// The encoding of text in requests and replies.
enum class TextEncoding : unsigned char {
  utf8mb4,  // converted, as for a SQL client
  column,   // as the column holds them, as the original did
};

// Memory for values that are not in the record. Each worker has one, and uses it for one value after
// the other.
class ColumnScratch {
 public:
  ColumnScratch();
  ~ColumnScratch();

  // No value is used any more: frees what a large one took.
  void give_back();

  struct Texts;
  Texts& texts() const { return *texts_; }

 private:
  const std::unique_ptr<Texts> texts_;
};

// The row in a table's record[0].
struct TableRow final : store::CurrentRow {
  TableRow(TABLE& table, ColumnScratch& scratch) : table(table), scratch(scratch) {}
  TABLE& table;
  ColumnScratch& scratch;
};

// The reader expects a TableRow.
store::Column::Read choose_column_reader(const Field& field, TextEncoding encoding);

}  // namespace hs::mysqld
