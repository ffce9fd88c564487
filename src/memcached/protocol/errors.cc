#include "memcached/protocol/errors.h"

#include <array>
#include <cassert>
#include <cstddef>

#include "base/sql_errors.h"
#include "keys/key.h"

namespace hs::memcached {
namespace {

struct MistakeInfo {
  Mistake mistake;
  Code code;
  std::string_view text;
};

constexpr std::array mistake_table{
    MistakeInfo{Mistake::unknown, Code::unknown_command, "ERROR"},
    MistakeInfo{Mistake::bad_line, Code::bad_arguments, "CLIENT_ERROR bad command line format"},
    MistakeInfo{Mistake::bad_chunk, Code::bad_arguments, "CLIENT_ERROR bad data chunk"},
    MistakeInfo{Mistake::bad_delta, Code::bad_arguments,
                "CLIENT_ERROR invalid numeric delta argument"},
    MistakeInfo{Mistake::bad_exptime, Code::bad_arguments, "CLIENT_ERROR invalid exptime argument"},
    MistakeInfo{Mistake::bad_key, Code::bad_arguments, "CLIENT_ERROR error decoding key"},
    MistakeInfo{Mistake::bad_token, Code::bad_arguments,
                "CLIENT_ERROR bad token in command line format"},
    MistakeInfo{Mistake::duplicate_flag, Code::bad_arguments, "CLIENT_ERROR duplicate flag"},
    MistakeInfo{Mistake::invalid_flag, Code::bad_arguments, "CLIENT_ERROR invalid flag"},
    MistakeInfo{Mistake::invalid_or_duplicate_flag, Code::bad_arguments,
                "CLIENT_ERROR invalid or duplicate flag"},
    MistakeInfo{Mistake::long_opaque, Code::bad_arguments, "CLIENT_ERROR opaque token too long"},
    MistakeInfo{Mistake::too_many_flags, Code::bad_arguments,
                "CLIENT_ERROR options flags are too long"},
    MistakeInfo{Mistake::bad_set_mode, Code::bad_arguments,
                "CLIENT_ERROR invalid mode for ms M token"},
    MistakeInfo{Mistake::bad_sum_mode, Code::bad_arguments,
                "CLIENT_ERROR invalid mode for ma M token"},
    MistakeInfo{Mistake::bad_arguments, Code::bad_arguments, "CLIENT_ERROR Invalid arguments"},
    MistakeInfo{Mistake::bad_stats, Code::not_found, "ERROR"},
    MistakeInfo{Mistake::value_size, Code::too_large, "SERVER_ERROR object too large for cache"},
    MistakeInfo{Mistake::not_numeric, Code::not_numeric,
                "CLIENT_ERROR cannot increment or decrement non-numeric value"},
    MistakeInfo{Mistake::no_shutdown, Code::not_supported, "ERROR: shutdown not enabled"},
    MistakeInfo{Mistake::flush_is_off, Code::not_supported, "CLIENT_ERROR flush_all not allowed"},
    MistakeInfo{Mistake::flush_has_delay, Code::not_supported,
                "CLIENT_ERROR flush_all with a delay is not there"},
    MistakeInfo{Mistake::no_such_container, Code::bad_arguments,
                "CLIENT_ERROR there is no such container"},
    MistakeInfo{Mistake::no_cas, Code::not_supported,
                "CLIENT_ERROR the container has no column for cas"},
    MistakeInfo{Mistake::read_only_port, Code::not_supported,
                "SERVER_ERROR this port is for reading"},
    MistakeInfo{Mistake::unauthenticated, Code::no_rights, "CLIENT_ERROR unauthenticated"},
    MistakeInfo{Mistake::bad_log_in, Code::no_rights,
                "CLIENT_ERROR bad authentication token format"},
    MistakeInfo{Mistake::wrong_log_in, Code::no_rights, "CLIENT_ERROR authentication failure"},
    MistakeInfo{
        Mistake::needs_tls, Code::no_rights,
        "CLIENT_ERROR a password is only taken over TLS, a Unix socket, or from this machine"},
    MistakeInfo{Mistake::no_log_ins, Code::unknown_command, "ERROR"},
    MistakeInfo{Mistake::request_size, Code::too_large,
                "SERVER_ERROR request is larger than handlersocket_max_request_size allows"},
    MistakeInfo{Mistake::no_room, Code::no_memory,
                "SERVER_ERROR too many bytes wait to be read or sent"},
    MistakeInfo{Mistake::tls_only, Code::no_rights, "CLIENT_ERROR this port is for TLS only"},
    MistakeInfo{Mistake::foreign, Code::unknown_command,
                "CLIENT_ERROR this is no request of memcached's protocol"},
};

constexpr bool table_is_in_order() {
  for (std::size_t i = 0; i < mistake_table.size(); ++i) {
    if (static_cast<std::size_t>(mistake_table[i].mistake) != i) return false;
  }
  return mistake_table.size() == static_cast<std::size_t>(Mistake::count_);
}
static_assert(table_is_in_order());

const MistakeInfo& info_of(Status status) {
  assert(status.number() >= 1 && status.number() <= mistake_table.size());
  return mistake_table[status.number() - 1];
}

std::string_view text_of(keys::KeyMistake mistake) {
  using enum keys::KeyMistake;
  switch (mistake) {
    case bad_escape: return "CLIENT_ERROR key has a % without two hexadecimal digits behind it";
    case too_few_parts: return "CLIENT_ERROR key has too few parts for its index";
    case not_one_spelling:
      return "CLIENT_ERROR key part is not the one spelling of a number, a date or a time";
    case not_unique: return "SERVER_ERROR index of the key's container is not unique";
    case unusable_container:
      return "SERVER_ERROR the columns of the key's container are not those of its table";
    case small_column:
      return "SERVER_ERROR the key's container cannot be used: its column for flags, cas or expiry "
             "is too "
             "small";
    case no_flags: return "CLIENT_ERROR the key's container has no column for flags";
    case no_expiry: return "CLIENT_ERROR the key's container has no column for the expiry";
    case zero_asks_for_id:
      return "CLIENT_ERROR 0 in an AUTO_INCREMENT column asks for a new number";
    default: return "SERVER_ERROR there is no container, see docs/memcached.md";
  }
}

// Of the kinds for which SQL's words would say less. Empty: of the others.
std::string_view text_of(Error kind) {
  switch (kind) {
    case Error::row_locked: return "SERVER_ERROR try again: the row is locked by another session";
    case Error::table_locked:
      return "SERVER_ERROR try again: the table is locked by another session";
    case Error::deadlock:
      return "SERVER_ERROR try again: a deadlock with another session was ended";
    case Error::conflict: return "SERVER_ERROR try again: another transaction has changed the row";
    case Error::not_ready: return "SERVER_ERROR try again: the node is not ready";
    case Error::denied:
      return "CLIENT_ERROR the account has no right to do that, or to see the table";
    case Error::wrong_log_in: return "CLIENT_ERROR authentication failure";
    case Error::read_only: return "SERVER_ERROR the server or the table is read only";
    default: return {};
  }
}

}  // namespace

void append_text(Status status, std::string& text) {
  if (const auto of_key = keys::key_mistake_of(status); of_key != keys::KeyMistake::none) {
    text += text_of(of_key);
  } else if (status.kind() == Error::protocol) {
    text += info_of(status).text;
  } else if (const std::string_view words = text_of(status.kind()); !words.empty()) {
    text += words;
  } else {
    text += "SERVER_ERROR ";
    append_sql_error(status, text);
  }
}

Code code_of(Status status) {
  if (keys::key_mistake_of(status) != keys::KeyMistake::none) return Code::bad_arguments;
  switch (status.kind()) {
    case Error::protocol: return info_of(status).code;
    case Error::row_locked:
    case Error::table_locked:
    case Error::deadlock:
    case Error::conflict:
    case Error::not_ready: return Code::try_again;
    case Error::denied:
    case Error::wrong_log_in:
    case Error::log_in_refused: return Code::no_rights;
    case Error::too_large: return Code::too_large;
    case Error::no_memory: return Code::no_memory;
    case Error::not_supported:
    case Error::read_only: return Code::not_supported;
    default: return Code::internal;
  }
}

}  // namespace hs::memcached
