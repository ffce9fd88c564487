// Reply: writes memcached's replies, in the form in which the client has asked.
//
// It appends to a buffer that belongs to somebody else, on the thread that has the turn. It leaves out
// what a quiet request leaves out, and writes nothing at all for a text command with `noreply`. It
// executes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/status.h"
#include "memcached/protocol/request.h"

namespace hs::memcached {

inline constexpr std::string_view memcached_version = "1.6.45";

// How a change has ended that is no error.
enum class Result : std::uint8_t {
  done,
  not_stored,  // an item is there that must not be there, or the other way round
  exists,      // it has another cas
  not_found,
};

// What is shown of an item.
struct Shown {
  std::uint32_t flags = 0;
  std::uint64_t cas = 0;
  std::int64_t seconds_left = -1;
  std::int64_t seconds_left_before = -1;  // of a meta request: before it
  bool is_new = false;                    // of a meta request: it has created the item
  std::string_view value{};
};
struct Done {
  Result result = Result::done;
  std::uint64_t number = 0;  // of a sum
  std::uint64_t value_size = 0;
  Shown item{};
};

class Reply {
 public:
  explicit Reply(Buffer& out) : out_(out) {}

  // Of an item that was asked for; behind the last one of a text command comes end_of_items().
  void item(const Request& request, std::string_view key, const Shown& shown);
  void no_item(const Request& request, std::string_view key);
  void end_of_items(const Asked& asked);
  void change(const Request& request, const Done& done);

  void ok(const Asked& asked);
  void version(const Asked& asked);
  void noop(const Asked& asked);
  // Of a log-in.
  void logged_in(const Asked& asked);
  void ways_to_log_in(const Asked& asked);
  void stat(const Asked& asked, std::string_view name, std::string_view value);
  void end_of_stats(const Asked& asked);
  void reset(const Asked& asked);

  void error(const Asked& asked, Status status);

 private:
  void line(std::string_view text);
  void number(std::uint64_t number);
  void meta(std::string_view code, const Request& request, const Done* done);
  void packet(const Asked& asked, Code code, std::string_view extras, std::string_view key,
              std::string_view value, std::uint64_t cas = 0);
  void text_item(const Request& request, std::string_view key, const Shown& shown);
  void text_change(const Request& request, const Done& done);
  void meta_change(const Request& request, const Done& done);
  void binary_change(const Request& request, const Done& done);

  Buffer& out_;
};

}  // namespace hs::memcached
