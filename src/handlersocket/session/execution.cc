#include "handlersocket/session/execution.h"

#include <algorithm>

#include "handlersocket/protocol/change_words.h"
#include "handlersocket/protocol/reply.h"
#include "handlersocket/protocol/reply_rows.h"

namespace hs::handlersocket {
namespace {

using store::Outcome;

// Removes the values for which the open index has no column, as the original does: real clients
// send such values. Returns their number.
std::uint32_t ignore_surplus(std::span<const store::Value>& values, std::uint32_t column_count) {
  const std::size_t used = std::min<std::size_t>(values.size(), column_count);
  const std::size_t ignored = values.size() - used;
  values = values.first(used);
  return static_cast<std::uint32_t>(ignored);
}

Outcome execute_find(passes::Place& place, const store::Selection& selection,
                     std::uint32_t column_count) {
  const std::size_t begin = place.out.size();
  ReplyWriter reply(place.out);
  if (place.reply_begins) reply.begin_rows(column_count);
  ReplyRows rows;
  store::Found found;
  const Outcome outcome =
      place.store.find(place.uses.front(), selection, rows, place.out, place.sink, found);
  if (outcome.ok()) {
    reply.end_rows();
  } else if (place.sink == nullptr) {
    place.out.truncate(begin);
  }
  return outcome;
}

Outcome execute_count(passes::Place& place, const store::Selection& selection) {
  std::uint64_t rows = 0;
  const Outcome outcome = place.store.count(place.uses.front(), selection, rows, place.sink);
  if (outcome.ok()) ReplyWriter(place.out).ok(rows);
  return outcome;
}

Outcome execute_insert_rows(passes::Place& place, const store::InsertRows& rows,
                            std::vector<store::InsertedRow>& inserted) {
  const Outcome outcome = place.store.insert_rows(place.uses.front(), rows, inserted);
  if (!outcome.ok()) return outcome;
  ReplyWriter reply(place.out);
  reply.begin_rows(2);
  for (const store::InsertedRow& row : inserted) reply.inserted_row(word_of(row.fate), row.id);
  reply.end_rows();
  return outcome;
}

Outcome execute_write(passes::Place& place, Request& request, std::uint32_t column_count,
                      store::Changed& changed) {
  changed = {};
  ReplyWriter reply(place.out);
  store::IndexUse& use = place.uses.front();
  if (request.kind == Kind::insert) {
    place.values_ignored = ignore_surplus(request.insert.values, column_count) + request.surplus;
    const Outcome outcome = place.store.insert(use, request.insert, changed);
    if (outcome.ok())
      changed.id ? reply.inserted(changed.id->magnitude(), changed.id->is_negative()) : reply.ok();
    return outcome;
  }
  place.values_ignored = ignore_surplus(request.change.values, column_count);
  const std::size_t begin = place.out.size();
  const bool has_rows = request.change.gives_rows();
  if (has_rows) reply.begin_rows(column_count);
  ReplyRows rows;
  const Outcome outcome =
      place.store.modify(use, request.selection, request.change, &rows, place.out, changed);
  if (!outcome.ok()) {
    place.out.truncate(begin);
  } else if (has_rows) {
    reply.end_rows();
  } else {
    reply.ok(changed.rows);
  }
  return outcome;
}

}  // namespace

Outcome execute_admitted(passes::Place& place, Workspace& workspace) {
  Request& request = workspace.request;
  const std::uint32_t column_count = workspace.index->column_count;
  switch (request.kind) {
    case Kind::find: return execute_find(place, request.selection, column_count);
    case Kind::count: return execute_count(place, request.selection);
    case Kind::insert_rows:
      return execute_insert_rows(place, request.insert_rows, workspace.inserted);
    default: return execute_write(place, request, column_count, workspace.changed);
  }
}

}  // namespace hs::handlersocket
