// MySQL's context for TLS, of the main port. ALTER INSTANCE RELOAD TLS replaces it.
#include "mysqld/server/tls_context.h"

#include <openssl/ssl.h>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {

SSL_CTX* tls_context() {
  if (mysql_main == nullptr) return nullptr;
  Lock_and_access_ssl_acceptor_context access(mysql_main);
  SSL_CTX* const context = access.have_ssl() ? static_cast<SSL_CTX*>(access) : nullptr;
  if (context != nullptr) SSL_CTX_up_ref(context);
  return context;
}

bool requires_secure_transport() { return opt_require_secure_transport; }

}  // namespace hs::mysqld::server
