// RedisForm: how Redis's protocol spells what a reply says, in RESP2 or RESP3.
//
// Pure, for any thread. It knows no request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/tables.h"

namespace hs::simulator {

// These are the same in both.
inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
inline std::string integer(std::uint64_t number) { return ":" + std::to_string(number) + "\r\n"; }
inline std::string array(std::size_t size) { return "*" + std::to_string(size) + "\r\n"; }

class RedisForm {
 public:
  RedisForm() = default;
  explicit RedisForm(bool is_three) : is_three_(is_three) {}

  bool is_three() const { return is_three_; }
  std::string null() const { return is_three_ ? "_\r\n" : "$-1\r\n"; }
  // In place of an array.
  std::string null_array() const { return is_three_ ? "_\r\n" : "*-1\r\n"; }
  std::string map(std::size_t pairs) const {
    return (is_three_ ? '%' : '*') + std::to_string(is_three_ ? pairs : 2 * pairs) + "\r\n";
  }
  std::string bulk_of(const Cell& cell) const { return cell ? bulk(*cell) : null(); }

  // How many bytes the first reply has. 0: it is not complete.
  static std::size_t reply_size(std::string_view received);
  // All bulk strings of a reply, whatever they are nested in, in their order.
  static std::vector<std::string> bulks_of(std::string_view reply);

 private:
  bool is_three_ = false;
};

}  // namespace hs::simulator
