// AuthExchange: a client's half of the server's authentication, in memory.
//
// The server writes packets to it and reads the answers from it, as if it were a client of SQL with
// the password at hand. It names a plugin that does not exist, so the server asks for the account's
// own plugin, and then for the next one if the account has several. Made for one log-in, on its
// thread. It writes over the passwords that it has held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mysqld/server/log_in.h"

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

class AuthExchange {
 public:
  explicit AuthExchange(const Client& client) : client_(client) {}
  ~AuthExchange();
  AuthExchange(const AuthExchange&) = delete;
  AuthExchange& operator=(const AuthExchange&) = delete;

  // For the server: as send() and recv() of a socket. 0 read means the end, so the log-in fails.
  // They throw nothing.
  std::size_t write(std::span<const unsigned char> from_server);
  std::size_t read(std::span<unsigned char> room);
  bool has_more() const { return position_ < to_server_.size(); }

 private:
  bool answer();
  std::string reply_to(std::string_view packet);
  std::string hello() const;
  std::string begin_plugin(std::string_view request);
  std::string continue_plugin(std::string_view packet) const;

  const Client& client_;
  std::string from_server_;
  std::string to_server_;
  std::size_t position_ = 0;  // so much of to_server_ has been read
  std::string plugin_;
  std::string nonce_;
  int rounds_ = 0;
};

// The signature that the plugin `client_ed25519` asks for. Empty if this server has no such plugin.
std::string sign_ed25519(std::string_view password, std::string_view nonce);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
