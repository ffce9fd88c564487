#include "redis/session/row_replies.h"

#include <algorithm>
#include <array>

#include "base/keyed_hash.h"

namespace hs::redis {
namespace {

using Kind = store::ColumnValue::Kind;

}  // namespace

[[gnu::flatten]] bool FieldRows::take(std::span<const store::Column> columns,
                                      const store::CurrentRow& row, std::size_t /*in_number*/,
                                      Buffer& out) {
  const std::size_t begin = out.size();
  char room[store::Column::room];
  if (is_list_) reply_.array(places_.size());
  for (const std::int32_t place : places_) {
    if (place < 0) {
      reply_.null();
      continue;
    }
    const store::ColumnValue value = columns[static_cast<std::size_t>(place)].value(row, room);
    if (value.kind == Kind::no_memory) return false;
    if (value.kind == Kind::null) {
      reply_.null();
    } else {
      reply_.bulk({value.data, value.size});
    }
    // A client may ask for a large column many times. The store sees that it is too much.
    if (out.size() - begin > most_bytes()) return true;
  }
  return true;
}

void EveryRow::write_head(Reply& reply, std::size_t fields) const {
  if (wants_ == Wants::both) {
    reply.map(fields);
  } else {
    reply.array(fields);
  }
}

// The head is written for as many fields as there are columns. If fewer are not NULL, and their number
// is shorter, what is behind it moves.
[[gnu::flatten]] bool EveryRow::take(std::span<const store::Column> columns,
                                     const store::CurrentRow& row, std::size_t /*in_number*/,
                                     Buffer& out) {
  const std::size_t begin = out.size();
  write_head(reply_, columns.size());
  const std::size_t fields_begin = out.size();
  // The names of another version of the table make no difference: the row will be read again.
  const bool has_names = wants_ == Wants::both && names_.size() == columns.size();
  std::size_t present = 0;
  char room[store::Column::room];
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const store::ColumnValue value = columns[i].value(row, room);
    if (value.kind == Kind::no_memory) return false;
    if (value.kind == Kind::null) continue;
    ++present;
    if (has_names) [[likely]] {
      reply_.written_and_bulk(names_[i], {value.data, value.size});
    } else {
      if (wants_ != Wants::values) reply_.bulk(columns[i].name);
      if (wants_ != Wants::names) reply_.bulk({value.data, value.size});
    }
    if (out.size() - begin > most_bytes()) return true;
  }
  if (present != columns.size()) shorten(begin, fields_begin, present, out);
  return true;
}

// Writes the head again, for as many fields as there are.
void EveryRow::shorten(std::size_t begin, std::size_t fields_begin, std::size_t present,
                       Buffer& out) const {
  Buffer head;
  Reply in_head(head, reply_.resp());
  write_head(in_head, present);
  const std::size_t surplus = fields_begin - begin - head.size();
  std::copy(head.data(), head.data() + head.size(), out.data() + begin);
  if (surplus == 0) return;
  std::memmove(out.data() + begin + head.size(), out.data() + fields_begin,
               out.size() - fields_begin);
  out.truncate(out.size() - surplus);
}

bool CountingRows::take(std::span<const store::Column> columns, const store::CurrentRow& row,
                        std::size_t /*in_number*/, Buffer& /*out*/) {
  char room[store::Column::room];
  std::size_t found = 0;
  for (const store::Column& column : columns.first(std::min(columns_, columns.size()))) {
    const store::ColumnValue value = column.value(row, room);
    if (value.kind == Kind::no_memory) return false;
    if (&column == &columns.front()) bytes = value.kind == Kind::null ? 0 : value.size;
    found += value.kind == Kind::null ? 0 : 1;
  }
  if (rows++ == 0) present = found;
  return true;
}

// Nobody outside can find two values of one hash, so nobody can hide a change.
bool DigestRows::take(std::span<const store::Column> columns, const store::CurrentRow& row,
                      std::size_t /*in_number*/, Buffer& /*out*/) {
  static const KeyedHash hash;
  char room[store::Column::room];
  std::string sums;
  for (const store::Column& column : columns) {
    const store::ColumnValue value = column.value(row, room);
    if (value.kind == Kind::no_memory) return false;
    const bool is_null = value.kind == Kind::null;
    const std::array<std::uint64_t, 2> sum{hash(column.name),
                                           is_null ? 0 : 1 + hash({value.data, value.size})};
    sums.append(reinterpret_cast<const char*>(sum.data()), sizeof sum);
  }
  digest = 1 + hash(sums);
  return true;
}

bool OneValue::take(std::span<const store::Column> columns, const store::CurrentRow& row,
                    std::size_t /*in_number*/, Buffer& /*out*/) {
  char room[store::Column::room];
  const store::ColumnValue value = columns.front().value(row, room);
  if (value.kind == Kind::no_memory) return false;
  is_null = value.kind == Kind::null;
  if (rows++ == 0) was_null = is_null;
  text.assign(is_null ? "" : value.data, is_null ? 0 : value.size);
  return true;
}

}  // namespace hs::redis
