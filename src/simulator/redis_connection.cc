// What a Redis client asks about its connection: RESP2 or RESP3, and replies that are left out.
#include <utility>

#include "simulator/redis_script.h"

namespace hs::simulator {
namespace {

constexpr std::size_t most_silent = 3;

}  // namespace

void RedisScript::ask_hello() {
  form_ = RedisForm(!form_.is_three());
  const std::string version = form_.is_three() ? "3" : "2";
  const auto check = [begin = form_.map(7), version](std::string_view reply) {
    const std::string proto = bulk("proto") + ":" + version + "\r\n";
    require(reply.starts_with(begin) && reply.find(proto) != reply.npos,
            "HELLO was answered " + std::string(reply));
  };
  ask_words({"HELLO", version}, {.on_reply = check, .touches_rows = false});
}

// Changes without replies, and reads that tell what has become of them.
void RedisScript::ask_silently() {
  const bool is_off = world_.chance(60);
  silent_ = is_off ? until_told : 2;  // its own reply is left out, too
  ask_words({"CLIENT", "REPLY", is_off ? "OFF" : "SKIP"}, {.touches_rows = false});
  for (std::size_t i = is_off ? 1 + world_.below(most_silent) : 1; i != 0; --i) {
    switch (world_.below(5)) {
      case 0: ask_hash(); break;
      case 1: ask_string(); break;
      case 2: ask_many(); break;
      case 3: ask_changed(); break;
      default: ask_transaction(); break;
    }
  }
  if (is_off) {
    silent_ = 0;
    ask_plain({"CLIENT", "REPLY", "ON"}, ok);
  }
  switch (world_.below(3)) {
    case 0: return ask_hash();
    case 1: return ask_string();
    default: return ask_very_many();
  }
}

}  // namespace hs::simulator
