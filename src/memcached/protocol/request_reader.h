// RequestReader: cuts memcached's requests from a client's bytes, and understands them.
//
// A request is a line, perhaps with a value behind it, or a packet of the binary protocol; the first byte
// of a connection says which. It is used by the thread that has the connection's turn. It keeps no bytes
// of a request that has not come as a whole. It executes nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "memcached/protocol/request.h"

namespace hs::memcached {

struct RequestLimits {
  std::size_t most_value_bytes = std::size_t{512} << 20;
  bool must_log_in = false;
  // The request at the front is a get that goes on: its keys were looked at before.
  bool keys_are_known = false;
};

class RequestReader {
 public:
  enum class Found : std::uint8_t {
    request,     // request() says what it is
    incomplete,  // more bytes are needed
    ends,        // nothing that follows can be understood, and there is no answer
  };

  static constexpr unsigned char binary_begin = 0x80;
  // A line of anything else than keys is not longer.
  static constexpr std::size_t most_line_bytes = 2048;
  static constexpr std::size_t most_bytes_of_keys = std::size_t{4} << 20;

  // Looks at the request at the front of `input`; so many bytes of it are known to hold no whole one.
  Found read(std::string_view input, bool is_binary, const RequestLimits& limits,
             std::size_t scanned = 0);

  const Request& request() const { return request_; }
  // So many bytes it has, and so many behind them belong to it, too, and are thrown away.
  std::size_t size() const { return size_; }
  std::size_t thrown_away() const { return thrown_away_; }
  // The connection ends behind its answer.
  bool ends() const { return ends_; }

 private:
  static constexpr std::size_t most_words = 24;
  using Word = std::string_view;

  // text_requests.cc
  Found read_text(std::string_view input, const RequestLimits& limits, std::size_t scanned);
  void read_line(const TextCommand& command, std::string_view rest, bool keys_are_known);
  void read_keys(std::string_view rest, bool are_known);
  void read_other(const TextCommand& command);
  void read_log_in(const RequestLimits& limits);
  Found take_value(std::string_view input, const RequestLimits& limits);
  bool take_size(Word word);
  // meta_requests.cc
  void read_meta(const MetaCommand& command);
  Mistake read_flag(Word flag);
  Mistake read_token(char flag, Word token);
  Mistake read_mode(Word token);
  bool read_meta_key();
  // binary_requests.cc
  Found read_binary(std::string_view input, const RequestLimits& limits);
  void read_extras(std::string_view extras);

  void fail(Mistake mistake) {
    request_.action = Action::mistake;
    request_.mistake = status_of(mistake);
  }

  Request request_;
  std::size_t size_ = 0;
  std::size_t thrown_away_ = 0;
  bool ends_ = false;
  bool has_value_ = false;
  std::size_t value_bytes_ = 0;
  std::array<Word, most_words> words_{};
  std::size_t word_count_ = 0;
  bool has_more_words_ = false;
  bool has_bad_flags_ = false;          // of an item, in a meta command
  Mistake bad_mode_ = Mistake::count_;  // of a meta command; count_: it is none
  std::array<char, most_key_bytes + 2> key_room_{};
};

// The credentials of a log-in: a user with a password, or the port's secret alone.
struct Credentials {
  std::string_view user{};
  std::string_view password{};
  bool is_secret = false;
};
// Who gives the secret, where a user has to be named.
inline constexpr std::string_view user_of_secret = "default";
// False: it has not the form that it has to have.
[[nodiscard]] bool read_credentials(const Request& request, Credentials& credentials);

}  // namespace hs::memcached
