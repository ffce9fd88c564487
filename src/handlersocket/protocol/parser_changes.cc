// The parser's part that reads what becomes of rows.
#include "handlersocket/protocol/change_words.h"
#include "handlersocket/protocol/number.h"
#include "handlersocket/protocol/parser.h"

namespace hs::handlersocket {

Mistake Parser::read_change(std::string_view modop, TokenScanner& tokens, store::Change& change) {
  is_modification_ = true;
  const std::optional<Modop> known = modop_of(modop);
  if (!known) return Mistake::modop;
  change = {
      .kind = known->kind, .rows_before = known->rows_before, .rows_after = known->rows_after};
  if (change.erases()) return Mistake::none;
  if (change.only_locks()) return tokens.done() ? Mistake::none : Mistake::cmd;
  if (change.assigns()) {
    const Mistake error = read_assignments(tokens, false);
    change.assignments = assignments_;
    if (error != Mistake::none) return error;
    return tokens.done() ? Mistake::none : Mistake::cmd;
  }
  while (!tokens.done()) {
    if (values_.size() == max_values) return Mistake::request_size;
    const std::string_view token = tokens.next();
    if (!values_.add(token, tokens.saw_escape())) return Mistake::escape;
  }
  return Mistake::none;
}

Mistake Parser::parse_insert_rows(TokenScanner& tokens, store::InsertRows& rows) {
  is_modification_ = true;
  rows = {};
  std::uint64_t count = 0;
  std::uint64_t columns = 0;
  for (std::uint64_t* number : {&count, &columns}) {
    if (tokens.done() || !read_number(tokens.next(), *number) || *number == 0) return Mistake::klen;
  }
  if (count > tokens.most_left() / columns) return Mistake::klen;
  const Mistake error = read_counted_values(count * columns, Mistake::klen, tokens);
  if (error != Mistake::none) return error;
  rows.values = values_.span(0, count * columns);
  rows.columns = columns;
  if (tokens.done()) return Mistake::none;
  return tokens.next() == else_word ? read_else(tokens, rows) : Mistake::cmd;
}

Mistake Parser::read_else(TokenScanner& tokens, store::InsertRows& rows) {
  const std::optional<store::OnDuplicate> known =
      tokens.done() ? std::nullopt : on_duplicate_of(tokens.next());
  if (!known) return Mistake::modop;
  rows.on_duplicate = *known;
  if (rows.updates()) {
    const Mistake error = read_assignments(tokens, true);
    if (error != Mistake::none) return error;
    rows.assignments = assignments_;
  }
  while (!tokens.done()) {
    const std::string_view token = tokens.next();
    const bool begins_filter = !token.empty() && (token.front() == 'F' || token.front() == 'W');
    if (!rows.updates() || !begins_filter) return Mistake::cmd;
    // There is no search that a W could end.
    if (token != "F") return Mistake::filtertype;
    if (const Mistake error = read_filter(token, tokens); error != Mistake::none) return error;
  }
  rows.condition = filters_;
  return Mistake::none;
}

// Neither list grows beyond what is reserved for it, so views of the bounds stay valid.
Mistake Parser::read_assignments(TokenScanner& tokens, bool may_name_new) {
  assignments_.clear();
  bounds_.clear();
  std::uint64_t count = 0;
  if (tokens.done() || !read_number(tokens.next(), count) || count == 0) return Mistake::klen;
  if (count > tokens.most_left()) return Mistake::klen;
  if (count > max_assignments) return Mistake::request_size;
  assignments_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    store::Assignment& assignment = assignments_.emplace_back();
    if (tokens.done()) return Mistake::klen;
    if (!read_number(tokens.next(), assignment.column)) return Mistake::fld;
    if (tokens.done()) return Mistake::klen;
    const How* const how = how_of(tokens.next());
    const bool is_known =
        how != nullptr && (may_name_new || how->kind != store::AssignKind::set_new);
    if (!is_known) return Mistake::modop;
    assignment.kind = how->kind;
    if (const Mistake error = read_value(tokens, assignment.value); error != Mistake::none)
      return error;
    if (!how->has_bounds) continue;
    if (bounds_.empty()) bounds_.reserve(count);
    auto& bounds = bounds_.emplace_back();
    for (Value& bound : bounds) {
      if (const Mistake error = read_value(tokens, bound); error != Mistake::none) return error;
    }
    assignment.bounds = bounds;
  }
  return Mistake::none;
}

Mistake Parser::read_value(TokenScanner& tokens, Value& value) {
  if (tokens.done()) return Mistake::klen;
  const std::string_view token = tokens.next();
  return values_.read(token, tokens.saw_escape(), value) ? Mistake::none : Mistake::escape;
}

}  // namespace hs::handlersocket
