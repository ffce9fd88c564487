#include "handlersocket/protocol/parser.h"

#include <utility>

#include "handlersocket/protocol/change_words.h"
#include "handlersocket/protocol/number.h"

namespace hs::handlersocket {

// Small results are returned by value for speed. If one function writes a result of several fields
// in parts and another reads it as a whole, that costs more than the rest of a typical line.
namespace {

using store::Comparison;

// The same as token == "X", but without the call of memcmp into which that is compiled.
bool is(std::string_view token, char byte) { return token.size() == 1 && token.front() == byte; }

bool read_comparison(std::string_view token, Comparison& comparison) {
  const bool or_equal = token.size() == 2 && token[1] == '=';
  if (token.size() != 1 && !or_equal) return false;
  switch (token.front()) {
    case '=': comparison = Comparison::equal; return !or_equal;
    case '>': comparison = or_equal ? Comparison::greater_equal : Comparison::greater; return true;
    case '<': comparison = or_equal ? Comparison::less_equal : Comparison::less; return true;
    case '!': comparison = Comparison::not_equal; return or_equal;
    default: return false;
  }
}

bool is_count(std::string_view token) { return is(token, 'C') || is(token, 'E'); }

// The way of a range. Nothing if the token is no such word.
std::optional<store::Direction> direction_of(std::string_view token) {
  if (token == "up") return store::Direction::up;
  if (token == "down") return store::Direction::down;
  return std::nullopt;
}

// Whether a limit or an offset is not given although there is a token in its place: an empty string
// or NULL, which clients send for a number that they do not have.
bool is_not_given(std::string_view token) { return token.empty() || is(token, '\0'); }

// Whether a token in the place of a limit or an offset belongs to the part behind them.
// Most tokens there are numbers, so a digit is looked for first.
bool begins_clause(std::string_view token) {
  if (!token.empty() && is_digit(token.front())) return false;
  return is(token, '@') || is(token, 'F') || is(token, 'W') || is_count(token) || modop_of(token);
}

}  // namespace

[[gnu::flatten]] Status Parser::parse(std::string_view line, Request& request) {
  has_index_id_ = false;
  is_modification_ = false;
  key_count_ = 0;
  values_.begin(line);
  filters_.clear();

  TokenScanner tokens(line);
  const std::string_view first = tokens.next();
  if (first.empty()) return status_of(Mistake::cmd);
  if (is_digit(first.front())) [[likely]]
    return status_of(parse_find_or_insert(first, tokens, request));
  if (is(first, 'P')) return status_of(parse_open_index(tokens, request));
  if (is(first, 'A')) return status_of(parse_auth(tokens, request));
  if (is(first, 'H')) return status_of(parse_hello(tokens, request));
  if (is(first, 'D')) return status_of(parse_describe(tokens, request));
  if (is(first, 'L')) return status_of(parse_list(tokens, request));
  if (is(first, 'W')) {
    request.kind = Kind::warnings;
    return status_of(tokens.done() ? Mistake::none : Mistake::cmd);
  }
  if (first == echo_word) return status_of(parse_echo(tokens, request));
  return status_of(Mistake::cmd);
}

Status Parser::parse_in_group(std::string_view line, Request& request, Meets& meets) {
  meets = Meets::anything;
  if (line.starts_with(some_word)) meets = Meets::some;
  if (line.starts_with(none_word)) meets = Meets::none;
  if (meets != Meets::anything) line.remove_prefix(some_word.size());
  const Status parsed = parse(line, request);
  if (!parsed.ok()) return parsed;
  const bool may_stand =
      is_about_rows(request.kind) && (meets == Meets::anything || request.kind == Kind::modify);
  return may_stand ? parsed : status_of(Mistake::cmd);
}

Mistake Parser::parse_open_index(TokenScanner& tokens, Request& request) {
  request.kind = Kind::open_index;
  request.index_id = 0;
  request.names = {};
  if (tokens.done()) return Mistake::none;  // the store will not find a table without a name
  if (!read_number(tokens.next(), request.index_id)) return Mistake::stmtnum;
  store::IndexNames& names = request.names;
  for (std::string_view* name :
       {&names.database, &names.table, &names.index, &names.columns, &names.filter_columns}) {
    if (tokens.done()) break;
    if (const Mistake error = read_name(tokens, *name); error != Mistake::none) return error;
  }
  if (names.columns == every_column_word) {
    names.columns = {};
    names.every_column = true;
  }
  return Mistake::none;
}

Mistake Parser::read_name(TokenScanner& tokens, std::string_view& name) {
  name = tokens.next();
  if (!escapes_names_) return Mistake::none;
  Value value{};
  if (!values_.read(name, tokens.saw_escape(), value)) return Mistake::escape;
  if (!value.null) name = value.bytes;
  return Mistake::none;
}

Mistake Parser::parse_hello(TokenScanner& tokens, Request& request) {
  request.kind = Kind::hello;
  request.hello = {};
  while (!tokens.done()) {
    const std::string_view option = tokens.next();
    if (option == Hello::texts) request.hello.wants_texts = true;
    if (option == Hello::names) request.hello.escapes_names = true;
    if (option == Hello::warnings) request.hello.wants_warnings = true;
  }
  return Mistake::none;
}

Mistake Parser::parse_auth(TokenScanner& tokens, Request& request) {
  request.kind = Kind::auth;
  Auth& auth = request.auth = {};
  const std::string_view way = tokens.done() ? std::string_view() : tokens.next();
  if (is(way, '2')) {
    auth.way = AuthWay::account;
    if (const Mistake error = read_text(tokens, auth.user); error != Mistake::none) return error;
  } else if (!is(way, '1')) {
    return Mistake::authtype;
  }
  return read_text(tokens, auth.secret);
}

Mistake Parser::parse_describe(TokenScanner& tokens, Request& request) {
  request.kind = Kind::describe;
  if (tokens.done() || !read_number(tokens.next(), request.index_id)) return Mistake::stmtnum;
  has_index_id_ = true;
  return tokens.done() ? Mistake::none : Mistake::cmd;
}

Mistake Parser::parse_list(TokenScanner& tokens, Request& request) {
  request.kind = Kind::list;
  request.listed = Listed::databases;
  request.names = {};
  for (const auto& [name, listed] : {std::pair{&request.names.database, Listed::tables},
                                     std::pair{&request.names.table, Listed::indexes}}) {
    if (tokens.done()) return Mistake::none;
    request.listed = listed;
    if (const Mistake error = read_name(tokens, *name); error != Mistake::none) return error;
  }
  return tokens.done() ? Mistake::none : Mistake::cmd;
}

Mistake Parser::parse_echo(TokenScanner& tokens, Request& request) {
  request.kind = Kind::echo;
  if (tokens.done()) return Mistake::cmd;
  if (const Mistake error = read_value(tokens, request.echoed); error != Mistake::none)
    return error;
  return tokens.done() ? Mistake::none : Mistake::cmd;
}

// A missing text is empty.
Mistake Parser::read_text(TokenScanner& tokens, std::string_view& text) {
  if (tokens.done()) return Mistake::none;
  const std::string_view token = tokens.next();
  Value value;
  if (!values_.read(token, tokens.saw_escape(), value)) return Mistake::escape;
  // NULL is not an empty text: it stays the byte that was sent.
  text = value.null ? token : value.bytes;
  return Mistake::none;
}

Mistake Parser::parse_find_or_insert(std::string_view id, TokenScanner& tokens, Request& request) {
  request.kind = Kind::find;
  if (!read_number(id, request.index_id)) return Mistake::stmtnum;
  has_index_id_ = true;

  if (tokens.done()) return Mistake::op;
  const std::string_view op = tokens.next();
  Comparison comparison{};
  const bool is_find = read_comparison(op, comparison) && comparison != Comparison::not_equal;
  if (is(op, '+')) {
    request.kind = Kind::insert;
    is_modification_ = true;
  } else if (!is_find && !is(op, 'S')) {
    if (op == insert_word) {
      request.kind = Kind::insert_rows;
      return parse_insert_rows(tokens, request.insert_rows);
    }
    const std::optional<store::Direction> direction = direction_of(op);
    return direction ? parse_range(*direction, tokens, request) : Mistake::op;
  }

  std::uint64_t count = 0;
  if (tokens.done() || !read_number(tokens.next(), count) || count == 0) return Mistake::klen;
  key_count_ = count;
  const Mistake error = read_counted_values(count, Mistake::klen, tokens);
  if (error != Mistake::none) return error;
  if (request.kind == Kind::insert) {
    request.insert.values = values_.span(0, count);
    request.surplus = 0;
    for (; !tokens.done(); ++request.surplus) static_cast<void>(tokens.next());
    return Mistake::none;
  }
  if (!is_find) return Mistake::notimpl;
  request.selection = {};
  request.selection.range = store::range_of(comparison);
  if (tokens.done()) {
    request.selection.key = values_.span(0, count);
    return Mistake::none;
  }
  return read_clauses(tokens.next(), count, tokens, request);
}

Mistake Parser::parse_range(store::Direction direction, TokenScanner& tokens, Request& request) {
  std::uint64_t count = 0;
  if (tokens.done() || !read_number(tokens.next(), count)) return Mistake::klen;
  key_count_ = count;
  Mistake error = read_counted_values(count, Mistake::klen, tokens);
  if (error != Mistake::none) return error;
  store::Selection& selection = request.selection = {};
  selection.range = {store::Bound::within, direction};

  std::string_view token;
  bool more = false;
  std::size_t of_lower = 0;
  std::size_t of_upper = 0;
  Comparison comparison{};
  while ((more = !tokens.done())) {
    token = tokens.next();
    const bool is_prefix = is(token, '^');
    if (!is_prefix && !read_comparison(token, comparison)) break;
    const store::Range range = store::range_of(comparison);
    const bool is_lower = is_prefix || range.direction == store::Direction::up;
    if ((!is_prefix && range.bound == store::Bound::only) || selection.lower.begins ||
        of_upper != 0 || (is_lower && of_lower != 0)) {
      return Mistake::op;
    }
    if (error = read_counted_values(1, Mistake::klen, tokens); error != Mistake::none) return error;
    (is_lower ? of_lower : of_upper) = 1;
    (is_lower ? selection.lower : selection.upper).open =
        !is_prefix && range.bound == store::Bound::past;
    selection.lower.begins = is_prefix;
  }
  if (more) error = read_clauses(token, count, tokens, request);
  selection.key = values_.span(0, count);
  selection.lower.values = values_.span(count, of_lower);
  selection.upper.values = values_.span(count + of_lower, of_upper);
  return error;
}

Mistake Parser::read_counted_values(std::uint64_t count, Mistake missing, TokenScanner& tokens) {
  if (count > tokens.most_left()) return missing;
  if (count > max_values - values_.size()) return Mistake::request_size;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (tokens.done()) return missing;
    const std::string_view token = tokens.next();
    if (!values_.add(token, tokens.saw_escape())) return Mistake::escape;
  }
  return Mistake::none;
}

// `first` is the first token behind what was read.
Mistake Parser::read_clauses(std::string_view first, std::size_t key_parts, TokenScanner& tokens,
                             Request& request) {
  store::Selection& selection = request.selection;
  const std::size_t in_begin = values_.size();
  std::uint64_t limit = 0;
  std::string_view token = first;
  bool more = true;  // whether `token` is one that has not been understood yet
  const auto advance = [&] {
    more = !tokens.done();
    if (more) token = tokens.next();
  };

  if (!begins_clause(token)) {
    if (!read_number(token, limit) && !is_not_given(token)) return Mistake::limit;
    if (limit != 0) selection.limit = limit;
    advance();
    if (more && !begins_clause(token)) {
      if (!read_number(token, selection.offset) && !is_not_given(token)) return Mistake::offset;
      advance();
    }
  }
  if (more && is(token, '@')) {
    const Mistake error = read_in(key_parts, tokens, selection.in);
    if (error != Mistake::none) return error;
    advance();
  }
  const std::size_t in_end = values_.size();
  while (more && !token.empty() && (token.front() == 'F' || token.front() == 'W')) {
    const Mistake error = read_filter(token, tokens);
    if (error != Mistake::none) return error;
    advance();
  }
  if (more && !token.empty()) {
    if (is_count(token)) {
      const Mistake error = read_count(token, limit, tokens, request);
      if (error != Mistake::none) return error;
    } else {
      request.kind = Kind::modify;
      const Mistake error = read_change(token, tokens, request.change);
      if (error != Mistake::none) return error;
    }
  }

  // Views are made only now, when the list does not grow any more.
  selection.key = values_.span(0, key_parts);
  selection.in.values = values_.span(in_begin, in_end - in_begin);
  selection.filters = filters_;
  if (request.kind == Kind::modify)
    request.change.values = values_.span(in_end, values_.size() - in_end);
  return Mistake::none;
}

Mistake Parser::read_in(std::size_t key_parts, TokenScanner& tokens, store::In& in) {
  if (tokens.done() || !read_number(tokens.next(), in.key_part)) return Mistake::icol;
  if (in.key_part >= key_parts) return Mistake::icol;
  std::uint64_t count = 0;
  if (tokens.done() || !read_number(tokens.next(), count) || count == 0)
    return Mistake::invalueslen;
  return read_counted_values(count, Mistake::invalueslen, tokens);
}

Mistake Parser::read_filter(std::string_view type, TokenScanner& tokens) {
  if (type.size() != 1) return Mistake::filtertype;
  if (filters_.size() == max_filters) return Mistake::request_size;
  store::Filter& filter = filters_.emplace_back();
  filter.kind = is(type, 'F') ? store::FilterKind::skip : store::FilterKind::stop;
  if (tokens.done() || !read_comparison(tokens.next(), filter.comparison)) return Mistake::filterop;
  if (tokens.done() || !read_number(tokens.next(), filter.column)) return Mistake::filterfld;
  if (tokens.done()) return Mistake::filterfld;
  const std::string_view token = tokens.next();
  return values_.read(token, tokens.saw_escape(), filter.value) ? Mistake::none : Mistake::escape;
}

// A limit of 0 is none.
Mistake Parser::read_count(std::string_view word, std::uint64_t limit, const TokenScanner& tokens,
                           Request& request) {
  if (!tokens.done()) return Mistake::modop;
  request.kind = Kind::count;
  request.exists = is(word, 'E');
  if (request.exists) {
    request.selection.limit = 1;
  } else if (limit == 0) {
    request.selection.limit = store::no_limit;
  }
  return Mistake::none;
}

}  // namespace hs::handlersocket
