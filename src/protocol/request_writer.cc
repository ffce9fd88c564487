#include "protocol/request_writer.h"

#include <cassert>

#include "protocol/escape.h"
#include "protocol/number.h"

namespace hs::protocol {

namespace {

std::string_view text_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal: return "=";
    case Comparison::greater: return ">";
    case Comparison::greater_equal: return ">=";
    case Comparison::less: return "<";
    case Comparison::less_equal: return "<=";
    case Comparison::not_equal: return "!=";
  }
  return {};
}

std::string_view text_of(Modification modification) {
  switch (modification) {
    case Modification::none: return {};
    case Modification::update: return "U";
    case Modification::erase: return "D";
    case Modification::increment: return "+";
    case Modification::decrement: return "-";
  }
  return {};
}

bool is_name(std::string_view token) {
  return token.find_first_of("\t\n\r") == std::string_view::npos;
}

}  // namespace

bool RequestWriter::open_index(std::uint64_t index_id, const OpenIndex& open_index) {
  const auto& [database, table, index, columns, filter_columns] = open_index;
  for (const std::string_view name : {database, table, index, columns, filter_columns}) {
    if (!is_name(name)) return false;
  }
  out_.append("P\t");
  append_number(out_, index_id);
  for (const std::string_view name : {database, table, index, columns}) token(name);
  if (!filter_columns.empty()) token(filter_columns);
  end_line();
  return true;
}

void RequestWriter::find(std::uint64_t index_id, const Find& find) {
  assert(!find.key.empty() && find.comparison != Comparison::not_equal);
  append_number(out_, index_id);
  token(text_of(find.comparison));
  number(find.key.size());
  for (const Value& part : find.key) value(part);

  const bool has_in = !find.in.values.empty();
  const bool has_modification = find.modification != Modification::none;
  const bool has_clauses = has_in || has_modification || !find.filters.empty();
  // The original expects both numbers before any part that follows them.
  if (find.limit != 1 || find.offset != 0 || has_clauses) number(find.limit);
  if (find.offset != 0 || has_clauses) number(find.offset);
  if (has_in) {
    token("@");
    number(find.in.key_part);
    number(find.in.values.size());
    for (const Value& in_value : find.in.values) value(in_value);
  }
  for (const Filter& filter : find.filters) {
    token(filter.kind == FilterKind::skip ? "F" : "W");
    token(text_of(filter.comparison));
    number(filter.column);
    value(filter.value);
  }
  if (has_modification) {
    token(text_of(find.modification));
    if (find.rows_before) out_.push_back('?');
    for (const Value& new_value : find.values) value(new_value);
  }
  end_line();
}

void RequestWriter::insert(std::uint64_t index_id, const Insert& insert) {
  assert(!insert.values.empty());
  append_number(out_, index_id);
  token("+");
  number(insert.values.size());
  for (const Value& column : insert.values) value(column);
  end_line();
}

void RequestWriter::auth(const Auth& auth) {
  out_.append(auth.way == AuthWay::secret ? "A\t1\t" : "A\t2\t");
  if (auth.way == AuthWay::account) {
    append_escaped(out_, auth.user);
    out_.push_back('\t');
  }
  append_escaped(out_, auth.secret);
  end_line();
}

void RequestWriter::token(std::string_view bytes) {
  out_.push_back('\t');
  out_.append(bytes);
}

void RequestWriter::number(std::uint64_t number) {
  out_.push_back('\t');
  append_number(out_, number);
}

void RequestWriter::value(const Value& value) {
  out_.push_back('\t');
  if (value.null) {
    out_.push_back('\0');
  } else {
    append_escaped(out_, value.bytes);
  }
}

}  // namespace hs::protocol
