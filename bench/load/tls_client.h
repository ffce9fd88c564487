// TlsClient: what all TLS connections of the program share, and their handshake.
//
// Made once, and then used by all threads. It owns the context: the trusted certificates, and the
// name or address that the server's certificate must have. It checks both, unless the options say
// that it should not.
#pragma once

#include <memory>
#include <string>

using SSL_CTX = struct ssl_ctx_st;
using SSL = struct ssl_st;

namespace hs::bench {

struct Options;

struct SslRelease {
  void operator()(SSL* session) const;
  void operator()(SSL_CTX* context) const;
};
using SslSession = std::unique_ptr<SSL, SslRelease>;

class TlsClient {
 public:
  // Null after a message on stderr.
  static std::shared_ptr<const TlsClient> make(const Options& options);

  // Over a blocking socket, within the time limits of its calls. Null: `why` says what went wrong.
  SslSession shake_hands(int fd, std::string& why) const;

 private:
  TlsClient(SSL_CTX* context, std::string host) : context_(context), host_(std::move(host)) {}

  const std::unique_ptr<SSL_CTX, SslRelease> context_;
  const std::string host_;  // empty: the certificate is not checked
};

}  // namespace hs::bench
