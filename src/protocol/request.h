// Requests: what a client asks for, as plain data.
//
// They own nothing: every view points into the parsed line or into the parser's scratch memory, and
// is valid until the next parse. They know no I/O and no table; the store checks the numbers of
// columns and key parts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hs::protocol {

// NULL or a string, unescaped.
struct Value {
  std::string_view bytes;
  bool null = false;

  friend bool operator==(const Value&, const Value&) = default;
};

enum class Comparison : std::uint8_t { equal, greater, greater_equal, less, less_equal, not_equal };

struct OpenIndex {
  std::string_view database;
  std::string_view table;
  std::string_view index;           // empty means PRIMARY; a leading digit makes it a number
  std::string_view columns;         // separated by commas; empty for none
  std::string_view filter_columns;  // the same
};

// `IN`: one key part takes each of `values` in turn.
struct In {
  std::uint32_t key_part = 0;
  std::span<const Value> values{};  // empty: the request has no IN
};

enum class FilterKind : std::uint8_t { skip, stop };  // F, W

struct Filter {
  FilterKind kind;
  Comparison comparison;
  std::uint32_t column;  // its position among the filter columns of the open index
  Value value;
};

enum class Modification : std::uint8_t { none, update, erase, increment, decrement };

// A find; with a `modification`, a find_modify.
struct Find {
  Comparison comparison = Comparison::equal;  // never not_equal
  std::span<const Value> key{};               // at least one
  std::uint64_t limit = 1;                    // at least one
  std::uint64_t offset = 0;
  In in{};
  std::span<const Filter> filters{};
  Modification modification = Modification::none;
  bool rows_before = false;  // the `?` forms: the reply contains the rows as they were before
  std::span<const Value> values{};  // of U, + and -: for the first columns of the open index
};

struct Insert {
  std::span<const Value> values;  // at least one: for the first columns of the open index
  std::uint32_t surplus = 0;      // tokens behind the values, which have no meaning
};

enum class AuthWay : std::uint8_t {
  secret,   // A 1: that of the port
  account,  // A 2: a user and a password of the server
};

struct Auth {
  AuthWay way = AuthWay::secret;
  std::string_view user{};    // of an account
  std::string_view secret{};  // the port's secret, or the account's password
};

enum class Kind : std::uint8_t { open_index, find, insert, auth };

// One parsed request. `kind` says which of the last four members is valid.
struct Request {
  Kind kind = Kind::find;
  std::uint64_t index_id = 0;  // of open_index, find and insert
  OpenIndex open_index;
  Find find;
  Insert insert;
  Auth auth;
};

}  // namespace hs::protocol
