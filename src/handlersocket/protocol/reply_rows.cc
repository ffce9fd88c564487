#include "handlersocket/protocol/reply_rows.h"

#include "handlersocket/protocol/escape.h"

namespace hs::handlersocket {

[[gnu::flatten]] bool ReplyRows::take(std::span<const store::Column> columns,
                                      const store::CurrentRow& row, std::size_t /*in_number*/,
                                      Buffer& out) {
  using enum store::ColumnValue::Kind;
  for (const store::Column& column : columns) {
    char* const to = out.reserve(1 + store::Column::room);
    to[0] = '\t';
    const store::ColumnValue value = column.value(row, to + 1);
    switch (value.kind) {
      case null:
        to[1] = '\0';
        out.advance(2);
        break;
      case in_room: out.advance(1 + value.size); break;
      case bytes:
        out.advance(1);
        append_escaped(out, {value.data, value.size});
        break;
      case no_memory: return false;
    }
  }
  return true;
}

}  // namespace hs::handlersocket
