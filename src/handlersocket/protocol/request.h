// Requests: what a client asks for, as plain data.
//
// They own nothing: every view points into the parsed line or into the parser's scratch memory, and
// is valid until the next parse. What a request asks of a store is said in the store's own terms
// (store/operation.h). Only what HandlerSocket adds to them stands here.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/operation.h"

namespace hs::handlersocket {

using store::Value;

enum class AuthWay : std::uint8_t {
  secret,   // A 1: that of the port
  account,  // A 2: a user and a password of the server
};

// In place of the names of columns in an `open_index`.
inline constexpr std::string_view every_column_word = "*";

struct Auth {
  AuthWay way = AuthWay::secret;
  std::string_view user{};    // of an account
  std::string_view secret{};  // the port's secret, or the account's password
};

// What a client wants from now on that the original does not have.
struct Hello {
  static constexpr std::string_view texts = "texts";
  static constexpr std::string_view names = "names";
  static constexpr std::string_view warnings = "warnings";

  bool wants_texts = false;     // errors with SQL's number, SQLSTATE and message
  bool escapes_names = false;   // the names of an index are escaped as values are
  bool wants_warnings = false;  // the warnings of a write are kept until the next one
};

inline constexpr std::string_view echo_word = "echo";

// What is listed: the databases, the tables of one, or the indexes of a table.
enum class Listed : std::uint8_t { databases, tables, indexes };

enum class Kind : std::uint8_t {
  open_index,
  find,
  count,
  modify,
  insert,
  insert_rows,
  auth,
  hello,
  describe,
  list,
  warnings,
  echo
};

// Whether a request is about rows of an open index.
constexpr bool is_about_rows(Kind kind) { return kind >= Kind::find && kind <= Kind::insert_rows; }

// One parsed request. `kind` says which of the members below `index_id` are valid.
struct Request {
  Kind kind = Kind::find;
  std::uint64_t index_id = 0;    // of open_index, describe, and what is about rows
  store::IndexNames names{};     // of open_index; of list, the database and the table
  Listed listed{};               // of list
  Value echoed{};                // of echo
  store::Selection selection{};  // of find, count and modify
  bool exists = false;           // of count: only whether there is a row
  store::Change change{};        // of modify
  store::Insert insert{};        // of insert: at least one value
  std::uint32_t surplus = 0;     // of insert: tokens behind the values, which have no meaning
  store::InsertRows insert_rows{};
  Auth auth{};
  Hello hello{};
};

}  // namespace hs::handlersocket
