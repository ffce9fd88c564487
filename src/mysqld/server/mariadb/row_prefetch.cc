// MariaDB's server exports nothing of InnoDB.
#include "mysqld/server/row_prefetch.h"

namespace hs::mysqld::server {

bool can_prefetch_rows() { return false; }
void prefetch_rows(TABLE& /*table*/, const ExpectedKeys& /*keys*/) {}

}  // namespace hs::mysqld::server
