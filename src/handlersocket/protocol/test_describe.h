// describe(): a request as text, for tests and fuzzers.
//
// Two requests are the same exactly if their texts are. It is not fast; only tests and fuzzers
// include it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "handlersocket/protocol/change_words.h"
#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/request.h"

namespace hs::handlersocket {

inline std::string describe(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "'";
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code >= 0x20 && code < 0x7f && byte != '\'' && byte != '\\') {
      text += byte;
    } else {
      text += {'\\', 'x', digits[code >> 4], digits[code & 15]};
    }
  }
  return text + "'";
}

inline std::string describe(const Value& value) {
  return value.null ? "NULL" : describe(value.bytes);
}

inline std::string describe(std::span<const Value> values) {
  std::string text = "(";
  for (const Value& value : values) text += (text.size() > 1 ? " " : "") + describe(value);
  return text + ")";
}

inline std::string describe(store::Comparison comparison) {
  switch (comparison) {
    case store::Comparison::equal: return "=";
    case store::Comparison::greater: return ">";
    case store::Comparison::greater_equal: return ">=";
    case store::Comparison::less: return "<";
    case store::Comparison::less_equal: return "<=";
    case store::Comparison::not_equal: return "!=";
  }
  return "?";
}

inline std::string describe(store::Range range) {
  if (range.bound == store::Bound::only) return "=";
  if (range.bound == store::Bound::within)
    return range.direction == store::Direction::up ? "up" : "down";
  const std::string sign = range.direction == store::Direction::up ? ">" : "<";
  return range.bound == store::Bound::from ? sign + "=" : sign;
}

inline std::string describe(std::span<const store::Assignment> assignments) {
  std::string text;
  for (const store::Assignment& assignment : assignments) {
    text += " " + std::to_string(assignment.column) + std::string(word_of(assignment)) +
            describe(assignment.value);
    if (!assignment.bounds.empty()) text += describe(assignment.bounds);
  }
  return text;
}

inline std::string describe(const store::Change& change) {
  std::string text = "?";
  switch (change.kind) {
    case store::ChangeKind::update: text = " update"; break;
    case store::ChangeKind::erase: text = " erase"; break;
    case store::ChangeKind::increment: text = " increment"; break;
    case store::ChangeKind::decrement: text = " decrement"; break;
    case store::ChangeKind::assign: text = " assign"; break;
    case store::ChangeKind::lock: text = " lock"; break;
  }
  if (change.rows_before) text += " rows_before";
  if (change.rows_after) text += " rows_after";
  text += describe(change.assignments);
  if (!change.values.empty()) text += describe(change.values);
  return text;
}

inline std::string describe(std::span<const store::Filter> filters) {
  std::string text;
  for (const store::Filter& filter : filters) {
    text += filter.kind == store::FilterKind::skip ? " skip unless " : " stop unless ";
    text += std::to_string(filter.column) + describe(filter.comparison) + describe(filter.value);
  }
  return text;
}

inline std::string describe(const store::InsertRows& rows) {
  std::string text;
  for (std::size_t number = 0; number < rows.rows(); ++number) text += describe(rows.row(number));
  if (rows.on_duplicate != store::OnDuplicate::fail)
    text += " else " + std::string(word_of(rows.on_duplicate));
  return text + describe(rows.assignments) + describe(rows.condition);
}

// Members with their default value are left out.
inline std::string describe(const store::Selection& selection) {
  std::string text = describe(selection.range) + describe(selection.key);
  for (const store::End* end : {&selection.lower, &selection.upper}) {
    if (!end->is_given()) continue;
    text += end->begins ? " beginning with " : end == &selection.lower ? " from " : " to ";
    text += (end->open ? "behind " : "") + describe(end->values);
  }
  if (selection.limit != 1) text += " limit " + std::to_string(selection.limit);
  if (selection.offset != 0) text += " offset " + std::to_string(selection.offset);
  if (!selection.in.values.empty()) {
    text += " in " + std::to_string(selection.in.key_part) + describe(selection.in.values);
  }
  text += describe(selection.filters);
  return text;
}

inline std::string describe(const store::IndexNames& names) {
  return describe(names.database) + describe(names.table) + describe(names.index) +
         (names.every_column ? "*" : describe(names.columns)) + describe(names.filter_columns);
}

inline std::string describe(const Request& request) {
  const std::string id = std::to_string(request.index_id);
  switch (request.kind) {
    case Kind::open_index: return "open " + id + " " + describe(request.names);
    case Kind::find: return "find " + id + " " + describe(request.selection);
    case Kind::count:
      return (request.exists ? "exists " : "count ") + id + " " + describe(request.selection);
    case Kind::modify:
      return "modify " + id + " " + describe(request.selection) + describe(request.change);
    case Kind::insert: return "insert " + id + " " + describe(request.insert.values);
    case Kind::insert_rows: return "insert rows " + id + " " + describe(request.insert_rows);
    case Kind::auth:
      return "auth " +
             (request.auth.way == AuthWay::account ? describe(request.auth.user) : std::string()) +
             describe(request.auth.secret);
    case Kind::describe: return "describe " + id;
    case Kind::hello:
      return std::string("hello") + (request.hello.wants_texts ? " texts" : "") +
             (request.hello.escapes_names ? " names" : "") +
             (request.hello.wants_warnings ? " warnings" : "");
    case Kind::list:
      return "list" +
             (request.listed == Listed::databases ? "" : " " + describe(request.names.database)) +
             (request.listed == Listed::indexes ? describe(request.names.table) : "");
    case Kind::warnings: return "warnings";
    case Kind::echo: return "echo " + describe(request.echoed);
  }
  return "?";
}

// The request, or the error if it has one.
inline std::string describe(const Status& status, const Request& request) {
  return status.ok() ? describe(request) : "error " + std::string(reply_of(status).text);
}

}  // namespace hs::handlersocket
