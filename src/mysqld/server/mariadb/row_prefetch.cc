// MariaDB's server exports nothing of InnoDB.
#include "mysqld/server/row_prefetch.h"

namespace hs::mysqld::server {

bool can_prefetch_rows() { return false; }
Prefetched prefetch_rows(TABLE& /*table*/, const ExpectedKeys& /*keys*/, KeyHashes& /*hashes*/) {
  return Prefetched::never;
}

}  // namespace hs::mysqld::server
