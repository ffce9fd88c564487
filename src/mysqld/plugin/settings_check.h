// Settings that cannot be meant, and settings that mean nothing beside the others.
//
// It owns nothing. Called when the plugin starts, on the thread that has made the StartReport.
#pragma once

#include <cstddef>
#include <string_view>

namespace hs::mysqld {

// False if the plugin must not start with these settings. Each reason is logged as an error.
bool settings_can_be_meant();

// Logs a warning for each setting that was given and does nothing here.
void name_settings_without_effect();

// Why the text cannot be the name of an account. Empty: it can, or there is none.
std::string_view mistake_of_account(std::string_view text);

// Whether the port has a TCP port or a Unix socket, and whether any port has.
bool listens_on(std::size_t port);
bool listens_anywhere();

}  // namespace hs::mysqld
