// What a client sends in place of TLS, before and after a handshake that succeeds, cut into pieces.
//
// The channel must come to an end of each piece within bounds, answer for no more bytes than it was
// asked for, and stay failed once it has failed.
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tls/channel.h"
#include "tls/test_context.h"

namespace {

using hs::net::Transfer;
using hs::tls::TlsChannel;
using Progress = TlsChannel::Progress;

void require(bool holds) {
  if (!holds) std::abort();
}

// Whether both sides have shaken hands.
bool shake_hands(TlsChannel& channel, int socket, SSL_CTX* context) {
  SSL* const client = SSL_new(context);
  SSL_set_fd(client, socket);
  SSL_set_connect_state(client);
  Progress progress = Progress::wants_input;
  for (int i = 0; i < 20 && progress == Progress::wants_input; ++i) {
    SSL_do_handshake(client);
    progress = channel.shake_hands();
  }
  ERR_clear_error();
  // The socket stays open.
  SSL_free(client);
  return progress == Progress::done;
}

void read_all(TlsChannel& channel) {
  std::array<char, 5000> room;
  Transfer read{.emptied = false};
  for (int i = 0; !read.emptied && read.result != Transfer::Result::failed &&
                  read.result != Transfer::Result::wants_output;
       ++i) {
    require(i < 10'000);
    const std::size_t there = channel.peek(room);
    require(there <= room.size());
    read = channel.receive(room);
    require(read.bytes <= room.size());
    if (read.result == Transfer::Result::done) channel.send({room.data(), read.bytes});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const hs::tls::Context server = hs::tls::make_server_context();
  static const hs::tls::Context client(SSL_CTX_new(TLS_client_method()));
  static const hs::tls::ContextSource source = [] {
    SSL_CTX_up_ref(server.get());
    return hs::tls::Context(server.get());
  };
  std::signal(SIGPIPE, SIG_IGN);
  if (size < 2) return 0;
  const bool after_handshake = (data[0] & 1) != 0;
  const std::size_t piece = 1 + static_cast<std::size_t>(data[1]) * 8;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);

  std::array<int, 2> sockets{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets.data()) == 0);
  {
    TlsChannel channel(sockets[0], {}, source);
    bool is_open = after_handshake && shake_hands(channel, sockets[1], client.get());
    require(is_open == after_handshake);
    Progress progress = Progress::wants_input;
    while (!bytes.empty()) {
      const std::string_view sent = bytes.substr(0, piece);
      bytes.remove_prefix(sent.size());
      ::send(sockets[1], sent.data(), sent.size(), MSG_NOSIGNAL);
      if (!is_open && progress != Progress::failed) {
        progress = channel.shake_hands();
        is_open = progress == Progress::done;
      }
      if (is_open || progress == Progress::failed) read_all(channel);
    }
    channel.say_farewell();
  }
  ::close(sockets[0]);
  ::close(sockets[1]);
  return 0;
}
