// Commands: what a client may ask for, each declared once: by its word in text, and by its number in the
// binary protocol.
//
// Plain data, for any thread. What a request does is an Action, which is the same whatever the form of
// the request is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hs::memcached {

enum class Action : std::uint8_t {
  mistake,  // it cannot be executed: the request says why
  // connection and server
  log_in,
  log_ins,      // which ways there are
  log_in_step,  // there is no way that has several
  noop,
  quit,
  version,
  verbosity,
  stats,
  shutdown,
  // items
  get,
  touch_and_get,
  touch,
  set,
  add,
  replace,
  append,
  prepend,
  increment,
  decrement,
  erase,
  describe,
  flush,
};

constexpr bool touches_items(Action action) { return action >= Action::get; }
constexpr bool only_reads(Action action) {
  return action == Action::get || action == Action::describe;
}
constexpr bool stores_value(Action action) {
  return action >= Action::set && action <= Action::prepend;
}

// A word of a text command, and of a meta command.
struct TextCommand {
  // How its line is understood.
  enum class Line : std::uint8_t { keys, exptime_and_keys, store, cas, delta, key, exptime, other };

  std::string_view word;
  Action action;
  Line line;
  std::uint8_t least_words;  // with its own
  bool shows_cas = false;
};
std::span<const TextCommand> text_commands();
// Null: there is no such command.
const TextCommand* find_text_command(std::string_view word);

struct MetaCommand {
  char letter;  // behind the m
  Action action;
  bool has_value;
};
const MetaCommand* find_meta_command(std::string_view word);

struct BinaryCommand {
  // What has to be there.
  enum class Has : std::uint8_t { nothing, key, key_and_value, perhaps_key, perhaps_exptime };

  std::uint8_t opcode;
  Action action;
  Has has;
  std::uint8_t extras;  // so many bytes
  bool is_quiet;
  bool shows_key = false;
};
std::span<const BinaryCommand> binary_commands();
const BinaryCommand* find_binary_command(std::uint8_t opcode);

}  // namespace hs::memcached
