// OptionInfo: how one option is declared, whichever table it stands in.
//
// Plain data, for any thread. base/options.h has the table of all options. Those of a port are
// declared in the port's entry in base/ports.h.
#pragma once

#include <cstdint>

namespace hs {

enum class Option : std::uint8_t;  // see base/options.h

enum class OptionType : std::uint8_t {
  live_switch,  // ON or OFF, which SET GLOBAL may change
  text,
  live_text,  // a text that SET GLOBAL may change
  secret,     // text that SHOW VARIABLES does not show
  number,
  live_number,  // a number that SET GLOBAL may change
  ignored,      // a number of the original's that has no effect here; setting it is logged
};

struct OptionInfo {
  Option option;
  const char* name;  // the part after `handlersocket_`
  OptionType type;
  const char* default_text;      // for a text
  std::uint64_t default_number;  // for a number, which also has bounds
  std::uint64_t least;
  std::uint64_t most;
  const char* help;
};

constexpr bool is_number(const OptionInfo& info) {
  return info.type == OptionType::number || info.type == OptionType::live_number ||
         info.type == OptionType::ignored;
}

}  // namespace hs
