#include "handlersocket/protocol/request_writer.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "handlersocket/protocol/change_words.h"
#include "handlersocket/protocol/escape.h"
#include "handlersocket/protocol/number.h"

namespace hs::handlersocket {

namespace {

using store::Comparison;

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

std::string_view text_of(store::Range range) {
  if (range.bound == store::Bound::only) return text_of(Comparison::equal);
  const bool up = range.direction == store::Direction::up;
  if (range.bound == store::Bound::within) return up ? "up" : "down";
  if (range.bound == store::Bound::past)
    return text_of(up ? Comparison::greater : Comparison::less);
  return text_of(up ? Comparison::greater_equal : Comparison::less_equal);
}

bool is_name(std::string_view token) {
  return token.find_first_of("\t\n\r") == std::string_view::npos;
}

}  // namespace

bool RequestWriter::open_index(std::uint64_t index_id, const store::IndexNames& names) {
  const std::array named{names.database, names.table, names.index,
                         names.every_column ? every_column_word : names.columns};
  if (!std::ranges::all_of(named, is_name) || !is_name(names.filter_columns)) return false;
  out_.append("P\t");
  append_number(out_, index_id);
  for (const std::string_view name : named) token(name);
  if (!names.filter_columns.empty()) token(names.filter_columns);
  end_line();
  return true;
}

void RequestWriter::find(std::uint64_t index_id, const store::Selection& selection) {
  this->selection(index_id, selection, 1, false);
  end_line();
}

void RequestWriter::count(std::uint64_t index_id, const store::Selection& selection, bool exists) {
  this->selection(index_id, selection, exists ? 1 : store::no_limit, false);
  token(exists ? "E" : "C");
  end_line();
}

void RequestWriter::modify(std::uint64_t index_id, const store::Selection& selection,
                           const store::Change& change) {
  this->selection(index_id, selection, 1, true);
  assert(!(change.rows_before && change.rows_after));
  token(word_of(change.kind));
  if (change.rows_before) out_.push_back('?');
  if (change.rows_after) out_.push_back('!');
  for (const Value& new_value : change.values) value(new_value);
  if (change.assigns()) assignments(change.assignments);
  end_line();
}

void RequestWriter::assignments(std::span<const store::Assignment> assignments) {
  number(assignments.size());
  for (const store::Assignment& assignment : assignments) {
    assert(assignment.is_valid());
    number(assignment.column);
    token(word_of(assignment));
    value(assignment.value);
    for (const Value& bound : assignment.bounds) value(bound);
  }
}

// `limit` is what the limit is if none is written.
void RequestWriter::selection(std::uint64_t index_id, const store::Selection& selection,
                              std::uint64_t limit, bool has_change) {
  assert(selection.is_valid());
  append_number(out_, index_id);
  token(text_of(selection.range));
  number(selection.key.size());
  for (const Value& part : selection.key) value(part);
  end(selection.lower, ">", ">=");
  end(selection.upper, "<", "<=");

  const bool has_in = !selection.in.values.empty();
  const bool has_clauses = has_in || has_change || !selection.filters.empty();
  // The original expects both numbers before any part that follows them.
  if (selection.limit != limit || selection.offset != 0 || has_clauses)
    number(selection.limit == limit && limit == store::no_limit ? 0 : selection.limit);
  if (selection.offset != 0 || has_clauses) number(selection.offset);
  if (has_in) {
    token("@");
    number(selection.in.key_part);
    number(selection.in.values.size());
    for (const Value& in_value : selection.in.values) value(in_value);
  }
  for (const store::Filter& one : selection.filters) filter(one);
}

void RequestWriter::filter(const store::Filter& filter) {
  token(filter.kind == store::FilterKind::skip ? "F" : "W");
  token(text_of(filter.comparison));
  number(filter.column);
  value(filter.value);
}

// The protocol's ends have one value.
void RequestWriter::end(const store::End& end, std::string_view open, std::string_view closed) {
  if (!end.is_given()) return;
  assert(end.values.size() == 1);
  token(end.begins ? "^" : end.open ? open : closed);
  value(end.values.front());
}

void RequestWriter::insert(std::uint64_t index_id, const store::Insert& insert) {
  assert(!insert.values.empty());
  append_number(out_, index_id);
  token("+");
  number(insert.values.size());
  for (const Value& column : insert.values) value(column);
  end_line();
}

void RequestWriter::insert_rows(std::uint64_t index_id, const store::InsertRows& rows) {
  assert(rows.is_valid());
  append_number(out_, index_id);
  token(insert_word);
  number(rows.rows());
  number(rows.columns);
  for (const Value& column : rows.values) value(column);
  if (rows.on_duplicate != store::OnDuplicate::fail) {
    token(else_word);
    token(word_of(rows.on_duplicate));
    if (rows.updates()) assignments(rows.assignments);
    for (const store::Filter& one : rows.condition) filter(one);
  }
  end_line();
}

void RequestWriter::begin_group(std::uint64_t lines) {
  out_.append(group_begin);
  append_number(out_, lines);
  end_line();
}

void RequestWriter::meets(Meets meets) {
  if (meets == Meets::some) out_.append(some_word);
  if (meets == Meets::none) out_.append(none_word);
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

void RequestWriter::hello(const Hello& hello) {
  out_.append("H");
  if (hello.wants_texts) token(Hello::texts);
  if (hello.escapes_names) token(Hello::names);
  if (hello.wants_warnings) token(Hello::warnings);
  end_line();
}

void RequestWriter::describe(std::uint64_t index_id) {
  out_.append("D");
  number(index_id);
  end_line();
}

bool RequestWriter::list(Listed listed, const store::IndexNames& names) {
  if (!is_name(names.database) || !is_name(names.table)) return false;
  out_.append("L");
  if (listed != Listed::databases) token(names.database);
  if (listed == Listed::indexes) token(names.table);
  end_line();
  return true;
}

void RequestWriter::warnings() { out_.append("W\n"); }

void RequestWriter::echo(const Value& echoed) {
  out_.append(echo_word);
  value(echoed);
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

}  // namespace hs::handlersocket
