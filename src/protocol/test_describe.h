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
#include "protocol/request.h"

namespace hs::protocol {

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

inline std::string describe(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal: return "=";
    case Comparison::greater: return ">";
    case Comparison::greater_equal: return ">=";
    case Comparison::less: return "<";
    case Comparison::less_equal: return "<=";
    case Comparison::not_equal: return "!=";
  }
  return "?";
}

inline std::string describe(Modification modification) {
  switch (modification) {
    case Modification::none: return "";
    case Modification::update: return " update";
    case Modification::erase: return " erase";
    case Modification::increment: return " increment";
    case Modification::decrement: return " decrement";
  }
  return "?";
}

// Members with their default value are left out.
inline std::string describe(const Find& find) {
  std::string text = describe(find.comparison) + describe(find.key);
  if (find.limit != 1) text += " limit " + std::to_string(find.limit);
  if (find.offset != 0) text += " offset " + std::to_string(find.offset);
  if (!find.in.values.empty()) {
    text += " in " + std::to_string(find.in.key_part) + describe(find.in.values);
  }
  for (const Filter& filter : find.filters) {
    text += filter.kind == FilterKind::skip ? " skip unless " : " stop unless ";
    text += std::to_string(filter.column) + describe(filter.comparison) + describe(filter.value);
  }
  text += describe(find.modification);
  if (find.rows_before) text += " rows_before";
  if (!find.values.empty()) text += describe(find.values);
  return text;
}

inline std::string describe(const OpenIndex& open) {
  return describe(open.database) + describe(open.table) + describe(open.index) +
         describe(open.columns) + describe(open.filter_columns);
}

inline std::string describe(const Request& request) {
  const std::string id = std::to_string(request.index_id);
  switch (request.kind) {
    case Kind::open_index: return "open " + id + " " + describe(request.open_index);
    case Kind::find: return "find " + id + " " + describe(request.find);
    case Kind::insert: return "insert " + id + " " + describe(request.insert.values);
    case Kind::auth:
      return "auth " +
             (request.auth.way == AuthWay::account ? describe(request.auth.user) : std::string()) +
             describe(request.auth.secret);
  }
  return "?";
}

// The request, or the error if it has one.
inline std::string describe(const Status& status, const Request& request) {
  return status.ok() ? describe(request) : "error " + std::string(status.info().text);
}

}  // namespace hs::protocol
