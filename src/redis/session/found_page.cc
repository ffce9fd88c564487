#include "redis/session/found_page.h"

namespace hs::redis {

using Kind = store::ColumnValue::Kind;

bool FoundRows::take(std::span<const store::Column> columns, const store::CurrentRow& row,
                     std::size_t /*in_number*/, Buffer& out) {
  const std::size_t begin = out.size();
  Reply reply(out, resp_);
  char room[store::Column::room];
  reply.map(columns.size());
  for (const store::Column& column : columns) {
    const store::ColumnValue value = column.value(row, room);
    if (value.kind == Kind::no_memory) return false;
    reply.bulk(column.name);
    if (value.kind == Kind::null) {
      reply.null();
    } else {
      reply.bulk({value.data, value.size});
    }
    // Whoever keeps the rows sees that they are too large.
    if (out.size() - begin > most_reply_bytes) break;
  }
  ++rows;
  return true;
}

store::Sink::Flushed PageSink::flush(Buffer& out, bool can_park) {
  rows_.append(out.view());
  out.clear();
  is_too_large_ = rows_.size() > most_reply_bytes;
  if (is_too_large_ || must_end()) return Flushed::ended;
  is_full_ = can_park && rows_.size() >= most_page_bytes;
  return is_full_ ? Flushed::stalled : Flushed::sent;
}

void PageSink::go_on(PagePosition& from) {
  rows_.append(from.bytes_found);
  position = std::move(from.find);
}

}  // namespace hs::redis
