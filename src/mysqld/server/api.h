// The server: its private headers, and the layer for what differs between the server families.
//
// Every file of mysqld/ that needs a server type includes this one. So the order of the server's
// includes, and the warnings that they raise, are dealt with in one place. What is the same in
// every family is called directly. What differs is behind an interface of our own: the headers
// of server/ declare it, and the folder of the family, which CMake has chosen, defines it.
#pragma once

// The order matters: the layer uses types of the server's headers.
// clang-format off
#include "family_headers.h"
#include "mysqld/server/types.h"
#include "mysqld/server/fields.h"
#include "mysqld/server/text.h"
#include "mysqld/server/moments.h"
#include "mysqld/server/session.h"
#include "mysqld/server/tables.h"
#include "mysqld/server/variables.h"
// clang-format on

// The types that family_types.h has named are those that the server's headers use.
namespace hs::mysqld::server {
static_assert(std::is_same_v<decltype(TableRequest::table), TABLE*>);
static_assert(std::is_same_v<decltype(KEY::key_part), KeyPart*>);
static_assert(std::is_same_v<decltype(st_mysql_plugin::status_vars), StatusVariable*>);
static_assert(std::is_same_v<decltype(st_mysql_plugin::system_vars), SystemVariable**>);
}  // namespace hs::mysqld::server
