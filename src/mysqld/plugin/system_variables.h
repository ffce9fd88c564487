// System variables: the table of options as the server knows them.
//
// The values are static. The server sets them before the plugin's init. Later only SET GLOBAL
// changes some of them, which plugin.h hands on. The threads of the ports read none of them here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/options.h"
#include "mysqld/server/types.h"

namespace hs::mysqld {

// For the plugin's declaration. The list ends with a null pointer.
server::SystemVariable** system_variables();

// Of a text that never changes.
std::string_view text_option(Option option);
// Of one that SET GLOBAL may change.
std::string live_text_option(Option option);
// Of a live_switch.
bool switch_option(Option option);
std::uint64_t number_option(Option option);
// Replaces a number that is not possible by the one that is used; SHOW VARIABLES shows it. Only
// called while the plugin starts.
void set_number_option(Option option, std::uint64_t number);

}  // namespace hs::mysqld
