// RowCodec: how a protocol writes rows. Column and CurrentRow: how it gets their values from a store.
//
// A codec is chosen when an index is opened, and its store calls it once for each row. The codec
// asks each column for its value and writes it in the protocol's form. It knows the value's size
// before it writes, so it can put a count in front. Each store has readers for its columns, chosen
// when the index is opened. A row costs one virtual call, and a column one call by its pointer. A
// codec has no state, and all threads share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer.h"

namespace hs::store {

// A column's value in the row at hand. It has two words, so that it is returned in registers.
struct ColumnValue {
  enum class Kind : std::uint32_t {
    null,
    in_room,    // printable ASCII, written into the room that the codec gave
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

  ColumnValue value(const CurrentRow& row, char* room) const { return read(*this, row, room); }
};

class RowCodec {
 public:
  // Appends a row. False if there is no memory for a value: then a part of the row may have been
  // written.
  [[nodiscard]] virtual bool append_row(std::span<const Column> columns, const CurrentRow& row,
                                        Buffer& out) const = 0;

 protected:
  ~RowCodec() = default;
};

}  // namespace hs::store
