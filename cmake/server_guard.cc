// Fails to compile when the server's private headers are not those of the
// server's binary: a plugin built so would write to the wrong places of its memory.
#include <mysql_version.h>

#include <string_view>

#include "mysqld/server_api.h"

static_assert(std::string_view(MYSQL_SERVER_VERSION).starts_with(HS_SERVER_VERSION),
              "the private headers are of another version than the server: remove var/servers and "
              "build again");
static_assert(
    sizeof(THD) == HS_SERVER_THD_SIZE,
    "sizeof(THD) differs from the server's own: headers or defines do not fit the binary");
