#include "mysqld/server/auth_exchange.h"

namespace hs::mysqld::server {

// This server has no such plugin.
std::string sign_ed25519(std::string_view /*password*/, std::string_view /*nonce*/) { return {}; }

}  // namespace hs::mysqld::server
