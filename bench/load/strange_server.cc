#include "load/strange_server.h"

#include <algorithm>
#include <cstddef>

namespace hs::bench {
namespace {

constexpr std::size_t most_shown = 40;

bool is_printable(char byte) { return byte >= ' ' && byte <= '~'; }

// Up to the first byte that cannot be shown.
std::string shown(std::string_view bytes) {
  const auto end = std::ranges::find_if_not(bytes, is_printable);
  return std::string(bytes.begin(), end).substr(0, most_shown);
}

// A packet with the number 0 that holds version 10 of the protocol and the server's version, or an
// error: the server turns the client away.
bool is_sql(std::string_view begin) {
  return begin.size() >= 5 && begin[2] == 0 && begin[3] == 0 &&
         (begin[4] == '\n' || begin[4] == '\xff');
}

}  // namespace

std::string strange_server(std::string_view begin, Protocol protocol) {
  constexpr std::size_t text_of_greeting = 5;
  constexpr std::size_t text_of_error = 7;
  if (is_sql(begin)) {
    const std::size_t text = begin[4] == '\n' ? text_of_greeting : text_of_error;
    return "this is a port of SQL, which begins with \"" +
           shown(begin.substr(std::min(text, begin.size()))) +
           "\": give the port of the protocol that is to be measured";
  }
  // A reply begins with a digit.
  const bool is_reply = !begin.empty() && begin.front() >= '0' && begin.front() <= '9';
  if (protocol == Protocol::handlersocket && !is_reply)
    return "the server does not speak the protocol of HandlerSocket: it says \"" + shown(begin) +
           '"';
  return {};
}

}  // namespace hs::bench
