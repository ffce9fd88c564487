#include "load/tls_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "load/options.h"

namespace hs::bench {
namespace {

std::string library_error() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "the server ended the connection";
  std::array<char, 256> text{};
  ERR_error_string_n(error, text.data(), text.size());
  return text.data();
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

bool name_the_server(SSL* session, const std::string& host) {
  if (is_address(host)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1;
  }
  return SSL_set1_host(session, host.c_str()) == 1 &&
         SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

}  // namespace

void SslRelease::operator()(SSL* session) const { SSL_free(session); }
void SslRelease::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

std::shared_ptr<const TlsClient> TlsClient::make(const Options& options) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) {
    std::cerr << "error: TLS: " << library_error() << '\n';
    return nullptr;
  }
  const std::string host = options.tls == Tls::unchecked ? std::string() : options.host;
  std::shared_ptr<const TlsClient> client(new TlsClient(context, host));
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A server that ends a connection does not always say so before.
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (host.empty()) return client;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (options.tls_ca.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else if (SSL_CTX_load_verify_locations(context, options.tls_ca.c_str(), nullptr) != 1) {
    std::cerr << "error: --tls-ca " << options.tls_ca << ": " << library_error() << '\n';
    return nullptr;
  }
  return client;
}

SslSession TlsClient::shake_hands(int fd, std::string& why) const {
  SslSession session(SSL_new(context_.get()));
  if (session == nullptr || SSL_set_fd(session.get(), fd) != 1 ||
      (!host_.empty() && !name_the_server(session.get(), host_))) {
    why = "TLS: " + library_error();
    return nullptr;
  }
  ERR_clear_error();
  errno = 0;
  if (SSL_connect(session.get()) == 1) return session;
  const long verified = SSL_get_verify_result(session.get());
  if (verified != X509_V_OK) {
    why = std::string("the server's certificate: ") + X509_verify_cert_error_string(verified);
  } else if (errno == EAGAIN) {
    why = "TLS: the server does not answer";
  } else {
    why = "TLS: " + library_error();
  }
  ERR_clear_error();
  return nullptr;
}

}  // namespace hs::bench
