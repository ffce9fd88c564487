// Logging in: what is the same in every family.
#include "mysqld/server/log_in.h"

#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/auth_exchange.h"
#include "mysqld/server/log_in_thd.h"
#include "mysqld/server/worker_thd.h"

namespace hs::mysqld::server {
namespace {

// Of the log-in that this thread is at.
thread_local AuthExchange* exchange = nullptr;

// The server takes the client's addresses and its peer from the real socket, and may look at the
// real TLS session. All bytes come from the exchange and go there. Nothing changes the socket.
Vio* make_vio(const Client& client) {
  // bool, or the family's own type for it.
  using Truth = decltype(std::declval<Vio&>().has_data(nullptr));
  Vio* const vio = vio_new(client.socket, client.is_unix_socket ? VIO_TYPE_SOCKET : VIO_TYPE_TCPIP,
                           client.is_unix_socket ? VIO_LOCALHOST : 0);
  if (vio == nullptr) return nullptr;
  if (client.tls != nullptr) {
    vio->type = VIO_TYPE_SSL;
    vio->ssl_arg = client.tls;
  }
  vio->read = [](Vio*, uchar* to, size_t size) -> size_t { return exchange->read({to, size}); };
  vio->write = [](Vio*, const uchar* from, size_t size) -> size_t {
    return exchange->write({from, size});
  };
  vio->has_data = [](Vio*) -> Truth { return exchange->has_more(); };
  vio->timeout = [](Vio*, uint, Truth) { return 0; };
  vio->viokeepalive = [](Vio*, Truth) { return 0; };
  vio->fastsend = [](Vio*) { return 0; };
  vio->is_connected = [](Vio*) -> Truth { return true; };
  vio->should_retry = [](Vio*) -> Truth { return false; };
  vio->was_timeout = [](Vio*) -> Truth { return false; };
  keep_open(*vio);
  return vio;
}

}  // namespace

// A log-in that began after the server has begun to shut down would find its plugins gone.
LogInResult log_in(const Client& client) {
  if (is_shutting_down()) return {ER_SERVER_SHUTDOWN, nullptr};
  AuthExchange answers(client);
  Vio* const vio = make_vio(client);
  if (vio == nullptr) return {ER_OUT_OF_RESOURCES, nullptr};
  exchange = &answers;
  LogInThd thd(client, vio);
  if (!thd.let_in() || is_killed(thd.get())) {
    const std::uint32_t error = raised_error(thd.get());
    return {error != 0 ? error : std::uint32_t{ER_HANDSHAKE_ERROR}, nullptr};
  }
  if (thd.password_has_expired()) return {ER_MUST_CHANGE_PASSWORD, nullptr};
  return {0, thd.take_account()};
}

}  // namespace hs::mysqld::server
