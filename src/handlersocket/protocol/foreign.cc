#include "handlersocket/protocol/foreign.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hs::handlersocket {
namespace {

using std::string_view_literals::operator""sv;

// A longer first line is not looked at to its end. Web servers accept no longer one, either.
constexpr std::size_t longest_first_line = 8192;

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_capital(char byte) { return byte >= 'A' && byte <= 'Z'; }

// A method, a blank, a path, a blank and a version: "GET / HTTP/1.1". The line has to be whole.
bool is_http(std::string_view begin) {
  const auto method_end = std::ranges::find_if_not(begin, is_capital);
  if (method_end == begin.begin() || method_end == begin.end() || *method_end != ' ') return false;
  const std::string_view line = begin.substr(0, begin.find('\n'));
  if (line.size() == begin.size()) return false;
  const std::size_t version = line.rfind(" HTTP/"sv);
  return version != line.npos && version > static_cast<std::size_t>(method_end - begin.begin());
}

// An array of strings in RESP: "*1\r\n$4\r\nPING\r\n".
bool is_redis(std::string_view begin) {
  if (!begin.starts_with('*')) return false;
  const auto count_end = std::find_if_not(begin.begin() + 1, begin.end(), is_digit);
  const std::string_view rest(count_end, begin.end());
  return count_end != begin.begin() + 1 && rest.starts_with("\r\n"sv) &&
         (rest.size() == 2 || rest[2] == '$');
}

// A length of four bytes, and a version or a wish for encryption in its place.
bool is_postgresql(std::string_view begin) {
  constexpr std::array versions{"\0\3\0\0"sv, "\x04\xd2\x16\x2f"sv, "\x04\xd2\x16\x30"sv};
  return begin.starts_with("\0\0"sv) && begin.size() >= 8 &&
         std::ranges::find(versions, begin.substr(4, 4)) != versions.end();
}

// A length of four bytes, the lowest first, and one of the messages that a client may send first:
// it asks for capabilities, sets some, or logs in.
bool is_mysql_x(std::string_view begin) {
  return begin.size() >= 5 && begin.substr(1, 3) == "\0\0\0"sv &&
         (begin[4] == 1 || begin[4] == 2 || begin[4] == 4);
}

// A handshake's first record, and the first byte of its version. Nobody asks where TLS is served.
bool is_tls(std::string_view begin) { return begin.starts_with("\x16\x03"sv); }

}  // namespace

std::string_view foreign_protocol(std::string_view begin) {
  begin = begin.substr(0, longest_first_line);
  if (is_http(begin)) return "HTTP";
  if (is_redis(begin)) return "the protocol of Redis";
  if (is_postgresql(begin)) return "the protocol of PostgreSQL";
  if (is_mysql_x(begin)) return "the X protocol of MySQL";
  if (is_tls(begin)) return "TLS, which is switched off,";
  return {};
}

}  // namespace hs::handlersocket
