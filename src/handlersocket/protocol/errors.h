// Errors: how HandlerSocket tells a status to its clients, and its own errors.
//
// Clients get the server's number of an error if it has one, and otherwise the word or number that
// its kind has here. The tables declare each of them once. Clients compare them, so an old one is
// never changed. Pure functions, for any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace hs::handlersocket {

// What is wrong with a request, or with who sends it.
enum class Mistake : std::uint8_t {
  none,
  cmd,
  stmtnum,
  op,
  klen,
  modop,
  readonly,
  limit,
  offset,
  icol,
  invalueslen,
  filtertype,
  filterfld,
  filterop,
  fld,
  escape,
  notimpl,
  request_size,
  max_waiting_bytes,
  tls,
  foreign,
  unauth,
  authtype,
  unmet,
  undone,
  count_,
};

template <class Kind>
struct ErrorInfo {
  Kind error;
  std::uint8_t code;  // the first token of the reply
  std::string_view text;
  std::uint32_t number = 0;  // instead of a text
};
// clang 14 does not deduce the argument of an aggregate by itself.
template <class Kind>
ErrorInfo(Kind, int, std::string_view) -> ErrorInfo<Kind>;

// An error for which clients get a number of the storage engine or of the server.
constexpr ErrorInfo<Error> as_number(Error kind, std::uint32_t number) {
  return {kind, 1, "", number};
}

inline constexpr std::array error_table{
    ErrorInfo{Error::none, 0, ""},
    ErrorInfo{Error::protocol, 2, ""},
    as_number(Error::other, 0),
    ErrorInfo{Error::no_table, 1, "open_table"},
    ErrorInfo{Error::locked_table, 1, "lock_tables"},
    ErrorInfo{Error::no_index, 2, "idxnum"},
    ErrorInfo{Error::no_column, 2, "fld"},
    ErrorInfo{Error::too_many_key_parts, 2, "kpnum"},
    ErrorInfo{Error::no_filter_column, 2, "filterfld"},
    ErrorInfo{Error::unfilterable_column, 2, "filterblob"},
    ErrorInfo{Error::max_request_time, 1, "max_request_time"},
    as_number(Error::duplicate_key, 121),
    as_number(Error::no_row, 120),
    as_number(Error::missing_parent, 151),
    as_number(Error::has_children, 152),
    as_number(Error::check_failed, 4025),
    as_number(Error::trigger_refused, 1644),
    as_number(Error::null_not_allowed, 1048),
    as_number(Error::out_of_range, 1264),
    as_number(Error::wrong_value, 1366),
    as_number(Error::too_large, 1153),
    as_number(Error::row_locked, 146),
    as_number(Error::table_locked, 1205),
    as_number(Error::deadlock, 149),
    as_number(Error::conflict, 1213),
    as_number(Error::table_changed, 1412),
    as_number(Error::denied, 1142),
    as_number(Error::wrong_log_in, 1045),
    as_number(Error::log_in_refused, 1045),
    as_number(Error::limit_reached, 1226),
    as_number(Error::read_only, 1290),
    as_number(Error::not_supported, 1235),
    as_number(Error::killed, 1317),
    as_number(Error::shutting_down, 1053),
    as_number(Error::not_ready, 1047),
    as_number(Error::unreachable, 1429),
    as_number(Error::no_memory, 128),
    as_number(Error::no_room, 1114),
    as_number(Error::damaged, 1194),
    as_number(Error::commit_failed, 1180),
};

inline constexpr std::array mistake_table{
    ErrorInfo{Mistake::none, 0, ""},
    ErrorInfo{Mistake::cmd, 2, "cmd"},
    ErrorInfo{Mistake::stmtnum, 2, "stmtnum"},
    ErrorInfo{Mistake::op, 2, "op"},
    ErrorInfo{Mistake::klen, 2, "klen"},
    ErrorInfo{Mistake::modop, 2, "modop"},
    ErrorInfo{Mistake::readonly, 2, "readonly"},
    ErrorInfo{Mistake::limit, 2, "limit"},
    ErrorInfo{Mistake::offset, 2, "offset"},
    ErrorInfo{Mistake::icol, 2, "icol"},
    ErrorInfo{Mistake::invalueslen, 2, "invalueslen"},
    ErrorInfo{Mistake::filtertype, 2, "filtertype"},
    ErrorInfo{Mistake::filterfld, 2, "filterfld"},
    ErrorInfo{Mistake::filterop, 2, "filterop"},
    ErrorInfo{Mistake::fld, 2, "fld"},
    ErrorInfo{Mistake::escape, 2, "escape"},
    ErrorInfo{Mistake::notimpl, 2, "notimpl"},
    ErrorInfo{Mistake::request_size, 2, "request_size"},
    ErrorInfo{Mistake::max_waiting_bytes, 1, "max_waiting_bytes"},
    ErrorInfo{Mistake::tls, 3, "tls"},
    ErrorInfo{Mistake::foreign, 2, "this_is_a_handlersocket_port"},
    ErrorInfo{Mistake::unauth, 3, "unauth"},
    ErrorInfo{Mistake::authtype, 3, "authtype"},
    ErrorInfo{Mistake::unmet, 1, "unmet"},
    ErrorInfo{Mistake::undone, 1, "undone"},
};

constexpr Status status_of(Mistake mistake) {
  return mistake == Mistake::none ? Status{}
                                  : Status(Error::protocol, static_cast<std::uint32_t>(mistake));
}

struct ErrorReply {
  std::uint8_t code;
  std::string_view text;  // empty: the number
  std::uint32_t number = 0;
};

constexpr ErrorReply reply_of(Status status) {
  if (status.kind() == Error::protocol) {
    const auto& mistake = mistake_table[status.number()];
    return {mistake.code, mistake.text};
  }
  if (status.number() != 0) return {1, "", status.number()};
  const auto& error = error_table[static_cast<std::size_t>(status.kind())];
  return {error.code, error.text, error.number};
}

namespace detail {
template <class Table>
constexpr bool is_in_order(const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].error) != i) return false;
  }
  return true;
}
}  // namespace detail
static_assert(error_table.size() == static_cast<std::size_t>(Error::count_));
static_assert(mistake_table.size() == static_cast<std::size_t>(Mistake::count_));
static_assert(detail::is_in_order(error_table) && detail::is_in_order(mistake_table));

}  // namespace hs::handlersocket
