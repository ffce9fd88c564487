// What commands make of a row: takers of rows that write a reply, or only look at the columns.
//
// Each lives for one request, on its thread. A row is at most one, because a key is whole and its index
// unique; a change may give it twice, before and afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "keys/items.h"
#include "redis/protocol/reply.h"
#include "store/rows.h"

namespace hs::redis {

using keys::most_reply_bytes;

// The columns at the given places among those of the index, in this order. A negative place is a field
// that is no column.
class FieldRows final : public store::Rows {
 public:
  FieldRows(Reply& reply, std::span<const std::int32_t> places, bool is_list)
      : Rows(most_reply_bytes), reply_(reply), places_(places), is_list_(is_list) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t in_number, Buffer& out) override;

 private:
  Reply& reply_;
  const std::span<const std::int32_t> places_;
  const bool is_list_;
};

// All columns that are not NULL.
class EveryRow final : public store::Rows {
 public:
  enum class Wants : std::uint8_t { both, names, values };
  // `names` are those of the columns, as Reply::written() writes them, or none.
  EveryRow(Reply& reply, Wants wants, std::span<const std::string> names)
      : Rows(most_reply_bytes), reply_(reply), wants_(wants), names_(names) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t in_number, Buffer& out) override;

 private:
  void write_head(Reply& reply, std::size_t fields) const;
  [[gnu::noinline]] void shorten(std::size_t begin, std::size_t fields_begin, std::size_t present,
                                 Buffer& out) const;

  Reply& reply_;
  const Wants wants_;
  const std::span<const std::string> names_;
};

// How many of the first columns are not NULL, and how many bytes the first one has.
class CountingRows final : public store::Rows {
 public:
  static constexpr std::size_t all = ~std::size_t{0};
  explicit CountingRows(std::size_t columns) : Rows(most_reply_bytes), columns_(columns) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t in_number, Buffer& out) override;

  std::size_t rows = 0;
  std::size_t present = 0;  // in the first row
  std::size_t bytes = 0;    // of the last row's first column

 private:
  const std::size_t columns_;
};

// A number that stands for a row: two rows have the same one only if all of their columns are equal.
class DigestRows final : public store::Rows {
 public:
  DigestRows() : Rows(most_reply_bytes) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t in_number, Buffer& out) override;

  std::uint64_t digest = 0;  // of no row
};

// The text of the first column, of the row before a change and of the row behind it.
class OneValue final : public store::Rows {
 public:
  OneValue() : Rows(most_reply_bytes) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t in_number, Buffer& out) override;

  std::size_t rows = 0;
  bool was_null = false;  // in the first row
  bool is_null = false;   // in the last one
  std::string text{};     // the same
};

}  // namespace hs::redis
