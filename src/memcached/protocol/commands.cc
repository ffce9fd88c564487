#include "memcached/protocol/commands.h"

#include <algorithm>
#include <array>

#include "base/short_bytes.h"

namespace hs::memcached {
namespace {

using Line = TextCommand::Line;
using Has = BinaryCommand::Has;

constexpr std::array text_table{
    TextCommand{"get", Action::get, Line::keys, 2},
    TextCommand{"gets", Action::get, Line::keys, 2, true},
    TextCommand{"gat", Action::touch_and_get, Line::exptime_and_keys, 3},
    TextCommand{"gats", Action::touch_and_get, Line::exptime_and_keys, 3, true},
    TextCommand{"set", Action::set, Line::store, 5},
    TextCommand{"add", Action::add, Line::store, 5},
    TextCommand{"replace", Action::replace, Line::store, 5},
    TextCommand{"append", Action::append, Line::store, 5},
    TextCommand{"prepend", Action::prepend, Line::store, 5},
    TextCommand{"cas", Action::set, Line::cas, 6},
    TextCommand{"incr", Action::increment, Line::delta, 3},
    TextCommand{"decr", Action::decrement, Line::delta, 3},
    TextCommand{"delete", Action::erase, Line::key, 2},
    TextCommand{"touch", Action::touch, Line::exptime, 3},
    TextCommand{"flush_all", Action::flush, Line::other, 1},
    TextCommand{"version", Action::version, Line::other, 1},
    TextCommand{"verbosity", Action::verbosity, Line::other, 2},
    TextCommand{"stats", Action::stats, Line::other, 1},
    TextCommand{"shutdown", Action::shutdown, Line::other, 1},
    TextCommand{"quit", Action::quit, Line::other, 1},
};

constexpr std::array meta_table{
    MetaCommand{'g', Action::get, false},      MetaCommand{'s', Action::set, true},
    MetaCommand{'d', Action::erase, false},    MetaCommand{'a', Action::increment, false},
    MetaCommand{'e', Action::describe, false}, MetaCommand{'n', Action::noop, false},
};

constexpr std::array binary_table{
    BinaryCommand{0x00, Action::get, Has::key, 0, false},
    BinaryCommand{0x01, Action::set, Has::key_and_value, 8, false},
    BinaryCommand{0x02, Action::add, Has::key_and_value, 8, false},
    BinaryCommand{0x03, Action::replace, Has::key_and_value, 8, false},
    BinaryCommand{0x04, Action::erase, Has::key, 0, false},
    BinaryCommand{0x05, Action::increment, Has::key, 20, false},
    BinaryCommand{0x06, Action::decrement, Has::key, 20, false},
    BinaryCommand{0x07, Action::quit, Has::nothing, 0, false},
    BinaryCommand{0x08, Action::flush, Has::perhaps_exptime, 0, false},
    BinaryCommand{0x09, Action::get, Has::key, 0, true},
    BinaryCommand{0x0a, Action::noop, Has::nothing, 0, false},
    BinaryCommand{0x0b, Action::version, Has::nothing, 0, false},
    BinaryCommand{0x0c, Action::get, Has::key, 0, false, true},
    BinaryCommand{0x0d, Action::get, Has::key, 0, true, true},
    BinaryCommand{0x0e, Action::append, Has::key_and_value, 0, false},
    BinaryCommand{0x0f, Action::prepend, Has::key_and_value, 0, false},
    BinaryCommand{0x10, Action::stats, Has::perhaps_key, 0, false},
    BinaryCommand{0x11, Action::set, Has::key_and_value, 8, true},
    BinaryCommand{0x12, Action::add, Has::key_and_value, 8, true},
    BinaryCommand{0x13, Action::replace, Has::key_and_value, 8, true},
    BinaryCommand{0x14, Action::erase, Has::key, 0, true},
    BinaryCommand{0x15, Action::increment, Has::key, 20, true},
    BinaryCommand{0x16, Action::decrement, Has::key, 20, true},
    BinaryCommand{0x17, Action::quit, Has::nothing, 0, true},
    BinaryCommand{0x18, Action::flush, Has::perhaps_exptime, 0, true},
    BinaryCommand{0x19, Action::append, Has::key_and_value, 0, true},
    BinaryCommand{0x1a, Action::prepend, Has::key_and_value, 0, true},
    BinaryCommand{0x1b, Action::verbosity, Has::nothing, 4, false},
    BinaryCommand{0x1c, Action::touch, Has::key, 4, false},
    BinaryCommand{0x1d, Action::touch_and_get, Has::key, 4, false},
    BinaryCommand{0x1e, Action::touch_and_get, Has::key, 4, true},
    BinaryCommand{0x20, Action::log_ins, Has::nothing, 0, false},
    BinaryCommand{0x21, Action::log_in, Has::key_and_value, 0, false},
    BinaryCommand{0x22, Action::log_in_step, Has::key_and_value, 0, false},
    BinaryCommand{0x23, Action::touch_and_get, Has::key, 4, false, true},
    BinaryCommand{0x24, Action::touch_and_get, Has::key, 4, true, true},
};

constexpr std::size_t opcodes = 0x25;
constexpr std::uint8_t no_command = 0xff;

// Of each opcode, its place in the table.
constexpr std::array<std::uint8_t, opcodes> places = [] {
  std::array<std::uint8_t, opcodes> all{};
  all.fill(no_command);
  for (std::size_t i = 0; i < binary_table.size(); ++i)
    all[binary_table[i].opcode] = static_cast<std::uint8_t>(i);
  return all;
}();

}  // namespace

std::span<const TextCommand> text_commands() { return text_table; }
std::span<const BinaryCommand> binary_commands() { return binary_table; }

const TextCommand* find_text_command(std::string_view word) {
  const auto* const found = std::ranges::find_if(text_table, [&](const TextCommand& command) {
    return command.word.size() == word.size() &&
           are_equal(command.word.data(), word.data(), word.size());
  });
  return found == text_table.end() ? nullptr : found;
}

const MetaCommand* find_meta_command(std::string_view word) {
  if (word.size() != 2 || word[0] != 'm') return nullptr;
  const auto* const found = std::ranges::find(meta_table, word[1], &MetaCommand::letter);
  return found == meta_table.end() ? nullptr : found;
}

const BinaryCommand* find_binary_command(std::uint8_t opcode) {
  if (opcode >= opcodes || places[opcode] == no_command) return nullptr;
  return &binary_table[places[opcode]];
}

}  // namespace hs::memcached
