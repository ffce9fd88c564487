// System variables: the table of options as the server knows them.
//
// The values are static. The server sets them before the plugin's init. While a port is open, only
// SET GLOBAL changes some of the numbers, and apply_settings() (plugin/ports.h) hands them on. The
// threads of the ports read none of them here.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/options.h"
#include "mysqld/server/types.h"

namespace hs::mysqld {

// For the plugin's declaration. The list ends with a null pointer.
server::SystemVariable** system_variables();

std::string_view text_option(Option option);
std::uint64_t number_option(Option option);
// Replaces a number that is not possible by the one that is used; SHOW VARIABLES shows it. Only
// called while the plugin starts.
void set_number_option(Option option, std::uint64_t number);

}  // namespace hs::mysqld
