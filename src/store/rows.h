// Rows: takes the rows of a request, and writes them as its protocol does. Column and CurrentRow:
// how it gets their values from a store.
//
// It belongs to the request: whoever makes the request gives it to the store, which calls it once
// for each row, on the request's thread. It asks each column for its value and writes it in the
// protocol's form. It knows the value's size before it writes, so it can put a count in front. It
// may have state, such as the number of rows. Each store has readers for its columns, chosen when
// the index is opened. A row costs one virtual call, and a column one call by its pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/buffer.h"

namespace hs::store {

// A column's value in the row at hand. It has two words, so that it is returned in registers.
struct ColumnValue {
  enum class Kind : std::uint32_t {
    null,
    in_room,    // printable ASCII, written into the room that the taker of the row gave
    bytes,      // any bytes, which stay valid until the next column is read
    no_memory,  // the value could not be read
  };
  const char* data = nullptr;
  std::uint32_t size = 0;
  Kind kind = Kind::null;
};

// The row that a store has found. Each store derives its own.
struct CurrentRow {
 protected:
  CurrentRow() = default;
  ~CurrentRow() = default;
};

struct Column {
  // A value of this size at most may be written into the room.
  static constexpr std::size_t room = 32;
  using Read = ColumnValue (*)(const Column& column, const CurrentRow& row, char* room);

  Read read;
  std::uint32_t number;  // of the column in its table
  // By which the index was opened, and so the right one after ALTER TABLE, too. Valid while a row is
  // taken.
  std::string_view name;

  ColumnValue value(const CurrentRow& row, char* room) const { return read(*this, row, room); }
};

class Rows {
 public:
  static constexpr std::size_t no_bound = std::numeric_limits<std::size_t>::max();

  // Appends a row. `in_number` is the position in Selection::in.values of the value that the row
  // has met, 0 without IN; of a value that is given twice, it is the position of the first one.
  // False if there is no memory for a value: then a part of the row may have been written.
  [[nodiscard]] virtual bool take(std::span<const Column> columns, const CurrentRow& row,
                                  std::size_t in_number, Buffer& out) = 0;

  // Whether what is taken is a reply as it comes, so that a find may send it in pieces and may be
  // parked between two rows. If not, a find keeps all of it in `out`, because its beginning or the
  // state of the taker depends on what follows.
  bool is_sent_in_pieces() const { return most_bytes_ == no_bound; }
  // So many bytes at most are kept of one find or modification; with more it is an error. A store
  // has a bound of its own for those that have none.
  std::size_t most_bytes() const { return most_bytes_; }

 protected:
  Rows() = default;
  // They are kept as a whole.
  explicit Rows(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  Rows(const Rows&) = default;
  Rows& operator=(const Rows&) = default;
  ~Rows() = default;

 private:
  std::size_t most_bytes_ = no_bound;
};

}  // namespace hs::store
