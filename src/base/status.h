// Status: how an operation ended, as it is reported to the client.
//
// It is a plain value of one word, which any thread may copy. It owns nothing. The table of errors
// below declares each reply text once. Clients compare these texts, so an old text is never
// changed. Malformed input and failed operations are both ordinary Status values. A bug of our own
// is an assert instead.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hs {

enum class Error : std::uint8_t {
  none,
  server,  // an error number of the server or its storage engine: Status::number
  open_table,
  lock_tables,
  cmd,
  stmtnum,
  op,
  klen,
  kpnum,
  idxnum,
  fld,
  modop,
  readonly,
  limit,
  offset,
  icol,
  invalueslen,
  filtertype,
  filterfld,
  filterblob,
  filterop,
  escape,
  notimpl,
  request_size,
  max_waiting_bytes,
  max_request_time,
  tls,
  unauth,
  authtype,
  count_,
};

struct ErrorInfo {
  Error error;
  std::uint8_t code;  // the first token of the reply
  std::string_view text;
};

inline constexpr std::array error_table{
    ErrorInfo{Error::none, 0, ""},
    ErrorInfo{Error::server, 1, ""},
    ErrorInfo{Error::open_table, 1, "open_table"},
    ErrorInfo{Error::lock_tables, 1, "lock_tables"},
    ErrorInfo{Error::cmd, 2, "cmd"},
    ErrorInfo{Error::stmtnum, 2, "stmtnum"},
    ErrorInfo{Error::op, 2, "op"},
    ErrorInfo{Error::klen, 2, "klen"},
    ErrorInfo{Error::kpnum, 2, "kpnum"},
    ErrorInfo{Error::idxnum, 2, "idxnum"},
    ErrorInfo{Error::fld, 2, "fld"},
    ErrorInfo{Error::modop, 2, "modop"},
    ErrorInfo{Error::readonly, 2, "readonly"},
    ErrorInfo{Error::limit, 2, "limit"},
    ErrorInfo{Error::offset, 2, "offset"},
    ErrorInfo{Error::icol, 2, "icol"},
    ErrorInfo{Error::invalueslen, 2, "invalueslen"},
    ErrorInfo{Error::filtertype, 2, "filtertype"},
    ErrorInfo{Error::filterfld, 2, "filterfld"},
    ErrorInfo{Error::filterblob, 2, "filterblob"},
    ErrorInfo{Error::filterop, 2, "filterop"},
    ErrorInfo{Error::escape, 2, "escape"},
    ErrorInfo{Error::notimpl, 2, "notimpl"},
    ErrorInfo{Error::request_size, 2, "request_size"},
    ErrorInfo{Error::max_waiting_bytes, 1, "max_waiting_bytes"},
    ErrorInfo{Error::max_request_time, 1, "max_request_time"},
    ErrorInfo{Error::tls, 3, "tls"},
    ErrorInfo{Error::unauth, 3, "unauth"},
    ErrorInfo{Error::authtype, 3, "authtype"},
};

// It takes one word because every request passes several of them on. If a result were written in
// parts and then read as a whole, the processor would stall.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Status(Error error) : word_(static_cast<std::uint32_t>(error)) {}

  // A number of the storage engine (below 1000) or of the server (1000 and up); at most 24 bits.
  static constexpr Status server(std::uint32_t number) {
    Status status{Error::server};
    status.word_ |= number << error_bits;
    return status;
  }

  constexpr bool ok() const { return word_ == 0; }
  constexpr Error error() const { return static_cast<Error>(word_ & ((1U << error_bits) - 1)); }
  constexpr std::uint32_t number() const { return word_ >> error_bits; }
  constexpr const ErrorInfo& info() const { return error_table[static_cast<std::size_t>(error())]; }

  friend constexpr bool operator==(const Status&, const Status&) = default;

 private:
  static constexpr unsigned error_bits = 8;
  std::uint32_t word_ = 0;  // the error, and above it the number
};

namespace detail {
constexpr bool error_table_is_in_order() {
  for (std::size_t i = 0; i < error_table.size(); ++i) {
    if (static_cast<std::size_t>(error_table[i].error) != i) return false;
  }
  return error_table.size() == static_cast<std::size_t>(Error::count_);
}
}  // namespace detail
static_assert(detail::error_table_is_in_order());

}  // namespace hs
