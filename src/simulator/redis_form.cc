#include "simulator/redis_form.h"

#include <charconv>

namespace hs::simulator {
namespace {

// Behind the first byte.
std::int64_t number_in(std::string_view line) {
  std::int64_t number = 0;
  std::from_chars(line.data() + 1, line.data() + line.size(), number);
  return number;
}

}  // namespace

std::size_t RedisForm::reply_size(std::string_view received) {
  const std::size_t line_end = received.find("\r\n");
  if (line_end == received.npos) return 0;
  const std::size_t head = line_end + 2;
  const std::int64_t number = number_in(received.substr(0, line_end));
  const char kind = received[0];
  if ((kind == '$' || kind == '=') && number >= 0) {
    const std::size_t size = head + static_cast<std::size_t>(number) + 2;
    return received.size() < size ? 0 : size;
  }
  const bool is_map = kind == '%';
  if (!is_map && kind != '*') return head;
  std::size_t size = head;
  for (std::int64_t left = is_map ? 2 * number : number; left > 0; --left) {
    const std::size_t element = reply_size(received.substr(size));
    if (element == 0) return 0;
    size += element;
  }
  return size;
}

std::vector<std::string> RedisForm::bulks_of(std::string_view reply) {
  std::vector<std::string> bulks;
  while (!reply.empty()) {
    const std::size_t line_end = reply.find("\r\n");
    const std::int64_t number = number_in(reply.substr(0, line_end));
    const bool is_bulk = reply[0] == '$' && number >= 0;
    reply.remove_prefix(line_end + 2);
    if (!is_bulk) continue;
    const auto size = static_cast<std::size_t>(number);
    bulks.emplace_back(reply.substr(0, size));
    reply.remove_prefix(size + 2);
  }
  return bulks;
}

}  // namespace hs::simulator
