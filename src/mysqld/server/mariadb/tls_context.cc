// MariaDB's context for TLS. FLUSH SSL replaces it under a lock.
#include "mysqld/server/tls_context.h"

#include <openssl/ssl.h>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {

SSL_CTX* tls_context() {
  SSL_CTX* context = nullptr;
  mysql_rwlock_rdlock(&LOCK_ssl_refresh);
  if (ssl_acceptor_fd != nullptr) context = ssl_acceptor_fd->ssl_context;
  if (context != nullptr) SSL_CTX_up_ref(context);
  mysql_rwlock_unlock(&LOCK_ssl_refresh);
  return context;
}

bool requires_secure_transport() { return opt_require_secure_transport != 0; }

}  // namespace hs::mysqld::server
