// TlsChannel: TLS between a client's socket and its connection.
//
// A ByteFilter (net/byte_filter.h says who calls it), on the library that the database server has
// loaded. It takes the context of certificates and ciphers when the handshake begins, so
// certificates that the server has loaded since then count for the next client. It owns the
// session, not the socket. Renegotiation is refused. What the client sends besides data (new keys,
// alerts) is read within bounds, too.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/byte_filter.h"

using SSL_CTX = struct ssl_ctx_st;
using SSL = struct ssl_st;
using BIO = struct bio_st;

namespace hs::tls {

struct ContextRelease {
  void operator()(SSL_CTX* context) const;
};
using Context = std::unique_ptr<SSL_CTX, ContextRelease>;

// A reference to the context for the next client. Null: there is none. Any thread.
using ContextSource = std::function<Context()>;

class TlsChannel final : public net::ByteFilter {
 public:
  // `source` outlives the channel. `begin` has been read from the socket already.
  TlsChannel(int socket, std::string_view begin, const ContextSource& source);
  ~TlsChannel() override;
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  Progress shake_hands() override;
  net::Transfer receive(std::span<char> room) override;
  std::size_t peek(std::span<char> room) override;
  net::Transfer send(std::string_view bytes) override;
  void say_farewell() override;
  std::size_t memory() const override;
  const char* protocol() const override;
  void* session() override { return session_; }

  // For the library: as recv() and send().
  int read_socket(char* to, int size);
  int write_socket(const char* from, int size);

 private:
  class Reading;

  Progress open();

  const int socket_;
  const ContextSource& source_;
  std::string kept_;       // read from the socket, and not looked at yet
  std::string_view rest_;  // the same, or during a call the rest of what was read last
  std::span<char> room_;   // during a call: where to read to
  SSL* session_ = nullptr;
  bool is_open_ = false;      // hands are shaken
  bool has_failed_ = false;   // the session must not be used any more
  bool at_end_ = false;       // the client has shut down its side of the socket
  bool emptied_ = false;      // the socket had no more to read
  std::size_t may_read_ = 0;  // so many bytes more in this call
};

}  // namespace hs::tls
