// Status: how an operation ended.
//
// It is a plain value of one word, which any thread may copy. It owns nothing. How a status is told
// to a client is a matter of its protocol, which also has errors of its own. Malformed input and
// failed operations are both ordinary Status values. A bug of our own is an assert instead.
#pragma once

#include <cstdint>

namespace hs {

enum class Error : std::uint8_t {
  none,
  server,    // an error number of the server or its storage engine: Status::number
  protocol,  // an error of the client's protocol: Status::number says which
  // the names of an index
  no_table,
  locked_table,  // the engine cannot lock it
  no_index,
  no_column,
  // an operation on an open index
  too_many_key_parts,
  no_filter_column,
  unfilterable_column,  // no value of a request compares with its type
  max_request_time,
  count_,
};

// It takes one word because every request passes several of them on. If a result were written in
// parts and then read as a whole, the processor would stall.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Status(Error error) : word_(static_cast<std::uint32_t>(error)) {}

  // A number of the storage engine (below 1000) or of the server (1000 and up); at most 24 bits.
  static constexpr Status server(std::uint32_t number) { return {Error::server, number}; }
  // A number to which a protocol gives a meaning.
  static constexpr Status protocol(std::uint32_t number) { return {Error::protocol, number}; }

  constexpr bool ok() const { return word_ == 0; }
  constexpr Error error() const { return static_cast<Error>(word_ & ((1U << error_bits) - 1)); }
  constexpr std::uint32_t number() const { return word_ >> error_bits; }

  friend constexpr bool operator==(const Status&, const Status&) = default;

 private:
  constexpr Status(Error error, std::uint32_t number)
      : word_(static_cast<std::uint32_t>(error) | number << error_bits) {}

  static constexpr unsigned error_bits = 8;
  std::uint32_t word_ = 0;  // the error, and above it the number
};

}  // namespace hs
