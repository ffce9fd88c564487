// Fails to compile if the server's private headers do not belong to the server's binary. A plugin
// that was built with wrong headers would write to wrong places in memory.
#include <mysql_version.h>

#include <string_view>

#include "mysqld/server/api.h"

static_assert(std::string_view(MYSQL_SERVER_VERSION).starts_with(HS_SERVER_VERSION),
              "the private headers are of another version than the server: remove var/servers and "
              "build again");
static_assert(
    sizeof(THD) == HS_SERVER_THD_SIZE,
    "sizeof(THD) differs from the server's own: headers or defines do not fit the binary");
