// System variables: the table of options as the server knows them.
//
// The values are static, filled by the server before the plugin's init and never
// changed afterwards, so any thread may read them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/options.h"
#include "mysqld/server/types.h"

namespace hs::mysqld {

// For the plugin's declaration; ends with a null pointer.
server::SystemVariable** system_variables();

std::string_view text_option(Option option);
std::uint64_t number_option(Option option);

}  // namespace hs::mysqld
