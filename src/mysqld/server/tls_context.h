// The server's own certificates, keys and ciphers for TLS.
//
// Any thread may ask. What FLUSH SSL or ALTER INSTANCE RELOAD TLS has loaded is what the next asker
// gets.
#pragma once

using SSL_CTX = struct ssl_ctx_st;

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

// A reference of the caller's own, which it gives back with SSL_CTX_free(). Null if the server has
// no TLS.
SSL_CTX* tls_context();

// What require_secure_transport says at this moment.
bool requires_secure_transport();

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
