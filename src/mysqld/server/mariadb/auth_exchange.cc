#include "mysqld/server/auth_exchange.h"

#include <dlfcn.h>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {

// The plugin of the server has the function beside the one that checks the signature.
std::string sign_ed25519(std::string_view password, std::string_view nonce) {
  using Sign = int (*)(unsigned char*, const unsigned char*, unsigned long long,
                       const unsigned char*, unsigned long long);
  constexpr std::size_t signature_size = 64;
  constexpr std::string_view plugin_name = "ed25519";
  const LEX_CSTRING name{plugin_name.data(), plugin_name.size()};
  const plugin_ref plugin = my_plugin_lock_by_name(nullptr, &name, MYSQL_AUTHENTICATION_PLUGIN);
  if (plugin == nullptr) return {};
  std::string out(signature_size + nonce.size(), '\0');
  const auto sign = reinterpret_cast<Sign>(dlsym(plugin_dlib(plugin)->handle, "crypto_sign"));
  if (sign != nullptr) {
    sign(reinterpret_cast<unsigned char*>(out.data()),
         reinterpret_cast<const unsigned char*>(nonce.data()), nonce.size(),
         reinterpret_cast<const unsigned char*>(password.data()), password.size());
  }
  plugin_unlock(nullptr, plugin);
  out.resize(sign != nullptr ? signature_size : 0);
  return out;
}

}  // namespace hs::mysqld::server
