#include "redis/protocol/errors.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include "base/sql_errors.h"
#include "keys/key.h"

namespace hs::redis {
namespace {

struct MistakeText {
  Mistake mistake;
  std::string_view text;
};

constexpr std::array mistake_table{
    MistakeText{Mistake::said, ""},
    MistakeText{Mistake::not_an_integer, "ERR value is not an integer or out of range"},
    MistakeText{Mistake::not_a_float, "ERR value is not a valid float"},
    MistakeText{Mistake::hash_not_an_integer, "ERR hash value is not an integer"},
    MistakeText{Mistake::hash_not_a_float, "ERR hash value is not a float"},
    MistakeText{Mistake::overflow, "ERR increment or decrement would overflow"},
    MistakeText{Mistake::not_finite, "ERR value is NaN or Infinity"},
    MistakeText{Mistake::not_a_number, "ERR increment would produce NaN or Infinity"},
    MistakeText{Mistake::syntax, "ERR syntax error"},
    MistakeText{Mistake::no_auth, "NOAUTH Authentication required."},
    MistakeText{
        Mistake::hello_no_auth,
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
        "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and "
        "select the RESP protocol version at the same time"},
    MistakeText{Mistake::wrong_pass,
                "WRONGPASS invalid username-password pair or user is disabled."},
    MistakeText{Mistake::no_secret,
                "ERR AUTH <password> called without any password configured for the default user. "
                "Are you sure your configuration is correct?"},
    MistakeText{Mistake::no_accounts,
                "WRONGPASS invalid username-password pair or user is disabled."},
    MistakeText{Mistake::needs_tls,
                "WRONGPASS a password is only taken over TLS, a Unix socket, or from this machine"},
    MistakeText{Mistake::multi_in_multi, "ERR MULTI calls can not be nested"},
    MistakeText{Mistake::watch_in_multi, "ERR WATCH inside MULTI is not allowed"},
    MistakeText{Mistake::too_many_watched, "ERR too many keys are watched"},
    MistakeText{Mistake::watched_has_changed, ""},
    MistakeText{Mistake::exec_without_multi, "ERR EXEC without MULTI"},
    MistakeText{Mistake::discard_without_multi, "ERR DISCARD without MULTI"},
    MistakeText{Mistake::exec_abort, "EXECABORT Transaction discarded because of previous errors."},
    MistakeText{Mistake::transaction_size, "ERR transaction is too large"},
    MistakeText{Mistake::read_only_port, "READONLY this port is for reading"},
    MistakeText{Mistake::request_size,
                "ERR request is larger than handlersocket_max_request_size allows"},
    MistakeText{Mistake::no_room, "ERR too many bytes wait to be read or sent"},
    MistakeText{Mistake::tls_only, "ERR this port is for TLS only"},
    MistakeText{Mistake::foreign, "ERR this is no request of Redis's protocol"},
};

constexpr bool table_is_in_order() {
  for (std::size_t i = 0; i < mistake_table.size(); ++i) {
    if (static_cast<std::size_t>(mistake_table[i].mistake) != i) return false;
  }
  return mistake_table.size() == static_cast<std::size_t>(Mistake::count_);
}
static_assert(table_is_in_order());

std::string_view text_of(keys::KeyMistake mistake) {
  using enum keys::KeyMistake;
  switch (mistake) {
    case no_name: return "ERR key names no row of a table: it is db.table:value, see docs/redis.md";
    case no_database:
      return "ERR key names no database, and handlersocket_default_database is not set";
    case bad_escape: return "ERR key has a % without two hexadecimal digits behind it";
    case too_few_parts: return "ERR key has too few parts for its index";
    case not_one_spelling:
      return "ERR key part is not the one spelling of a number, a date or a time";
    case not_unique: return "ERR index of the key is not unique";
    case is_item:
    case is_row: return "WRONGTYPE Operation against a key holding the wrong kind of value";
    case no_container: return "ERR there is no container for strings, see docs/redis.md";
    case unusable_container:
      return "ERR the columns of the key's container are not those of its table";
    case small_column:
      return "ERR the key's container cannot be used: its column for flags, cas or expiry is too "
             "small";
    case no_flags: return "ERR the key's container has no column for flags";
    case no_expiry: return "ERR the key's container has no column for the expiry";
    case zero_asks_for_id: return "ERR 0 in an AUTO_INCREMENT column asks for a new number";
    case none:
    case count_: break;
  }
  return {};
}

// Of the kinds for which Redis has a code. Empty: of the others.
std::string_view redis_error_of(Error kind) {
  switch (kind) {
    case Error::row_locked: return "TRYAGAIN the row is locked by another session";
    case Error::table_locked: return "TRYAGAIN the table is locked by another session";
    case Error::deadlock: return "TRYAGAIN a deadlock with another session was ended";
    case Error::conflict: return "TRYAGAIN another transaction has changed the row";
    case Error::not_ready: return "TRYAGAIN the node is not ready";
    case Error::denied: return "NOPERM the account has no right to do that, or to see the table";
    case Error::wrong_log_in: return text_of(Mistake::wrong_pass);
    case Error::read_only: return "READONLY the server or the table is read only";
    default: return {};
  }
}

}  // namespace

std::string_view text_of(Mistake mistake) {
  return mistake_table[static_cast<std::size_t>(mistake)].text;
}

void append_text(Status status, std::string_view said, std::string& text) {
  if (const auto of_key = keys::key_mistake_of(status); of_key != keys::KeyMistake::none) {
    text += text_of(of_key);
    return;
  }
  if (status.kind() == Error::protocol) {
    assert(status.number() >= 1 && status.number() <= mistake_table.size());
    const auto mistake = static_cast<Mistake>(status.number() - 1);
    text += mistake == Mistake::said ? said : text_of(mistake);
    return;
  }
  if (const std::string_view word = redis_error_of(status.kind()); !word.empty()) {
    text += word;
    return;
  }
  text += "ERR ";
  append_sql_error(status, text);
}

ErrorCode code_of(std::string_view text) {
  const std::string_view code = text.substr(0, text.find(' '));
  const auto found = std::ranges::find(error_codes, code);
  if (found == error_codes.end()) return ErrorCode::general;
  return static_cast<ErrorCode>(found - error_codes.begin());
}

}  // namespace hs::redis
