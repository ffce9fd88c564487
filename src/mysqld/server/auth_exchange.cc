#include "mysqld/server/auth_exchange.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>

namespace hs::mysqld::server {
namespace {

constexpr std::size_t header_size = 4;  // of a packet: three bytes of length, and its number
constexpr std::size_t nonce_size = 20;  // of the plugins that put a zero byte behind it
constexpr int most_rounds = 20;

template <auto function>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    function(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Deleter<EVP_PKEY_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;
using Memory = std::unique_ptr<BIO, Deleter<BIO_free>>;

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

void forget(std::string& text) {
  OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

// With a zero byte behind it. The memory is there from the beginning, so that no part of the
// password stays where the text was before it grew.
std::string in_the_clear(std::string_view password) {
  std::string text;
  text.reserve(password.size() + 1);
  text.append(password).push_back('\0');
  return text;
}

std::string hash(const EVP_MD* type, std::initializer_list<std::string_view> parts) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned length = 0;
  const Digest digest(EVP_MD_CTX_new());
  bool done = digest != nullptr && EVP_DigestInit_ex(digest.get(), type, nullptr) == 1;
  for (const std::string_view part : parts)
    done = done && EVP_DigestUpdate(digest.get(), part.data(), part.size()) == 1;
  done = done && EVP_DigestFinal_ex(digest.get(), bytes(out), &length) == 1;
  out.resize(done ? length : 0);
  return out;
}

// `with` is repeated as often as necessary.
std::string exclusive_or(std::string text, std::string_view with) {
  if (with.empty()) return {};
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(text[i] ^ with[i % with.size()]);
  return text;
}

// mysql_native_password: SHA1(p) xor SHA1(nonce, SHA1(SHA1(p)))
std::string scramble_native(std::string_view password, std::string_view nonce) {
  const std::string once = hash(EVP_sha1(), {password});
  return exclusive_or(once, hash(EVP_sha1(), {nonce, hash(EVP_sha1(), {once})}));
}

// caching_sha2_password: SHA256(p) xor SHA256(SHA256(SHA256(p)), nonce)
std::string scramble_sha256(std::string_view password, std::string_view nonce) {
  const std::string once = hash(EVP_sha256(), {password});
  return exclusive_or(once, hash(EVP_sha256(), {hash(EVP_sha256(), {once}), nonce}));
}

// The password for a server that must not get it in the clear: encrypted with its public key.
std::string encrypt(std::string_view pem, std::string_view password, std::string_view nonce) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Key key(memory == nullptr ? nullptr
                                  : PEM_read_bio_PUBKEY(memory.get(), nullptr, nullptr, nullptr));
  const KeyContext context(key == nullptr ? nullptr : EVP_PKEY_CTX_new(key.get(), nullptr));
  if (context == nullptr || EVP_PKEY_encrypt_init(context.get()) != 1 ||
      EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_OAEP_PADDING) != 1)
    return {};
  std::string text = exclusive_or(in_the_clear(password), nonce);
  std::string out(static_cast<std::size_t>(EVP_PKEY_get_size(key.get())), '\0');
  std::size_t length = out.size();
  const bool done =
      EVP_PKEY_encrypt(context.get(), bytes(out), &length, bytes(text), text.size()) == 1;
  forget(text);
  out.resize(done ? length : 0);
  return out;
}

// parsec: an Ed25519 signature of the server's nonce and of one of ours. The key is made from the
// password and a salt: "P", a number of iterations, 18 bytes.
std::string sign_parsec(std::string_view password, std::string_view nonce, std::string_view salt) {
  constexpr std::size_t half = 32;
  constexpr std::size_t signature_size = 64;
  constexpr int iterations = 1024;
  const int doublings = std::clamp<int>(salt[1], 0, 3);
  std::string seed(half, '\0');
  std::string mine(half, '\0');
  std::string signature(signature_size, '\0');
  std::size_t length = signature.size();
  const bool has_seed =
      PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), bytes(salt.substr(2)),
                        static_cast<int>(salt.size() - 2), iterations << doublings, EVP_sha512(),
                        static_cast<int>(half), bytes(seed)) == 1 &&
      RAND_bytes(bytes(mine), static_cast<int>(half)) == 1;
  const Key key(has_seed
                    ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes(seed), half)
                    : nullptr);
  forget(seed);
  const Digest digest(EVP_MD_CTX_new());
  const std::string message = std::string(nonce) + mine;
  if (key == nullptr || digest == nullptr ||
      EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(digest.get(), bytes(signature), &length, bytes(message), message.size()) != 1)
    return {};
  return mine + signature;
}

}  // namespace

AuthExchange::~AuthExchange() { forget(to_server_); }

std::size_t AuthExchange::write(std::span<const unsigned char> from_server) try {
  from_server_.append(reinterpret_cast<const char*>(from_server.data()), from_server.size());
  return from_server.size();
} catch (const std::exception&) {
  return 0;
}

std::size_t AuthExchange::read(std::span<unsigned char> room) try {
  if (!has_more() && !answer()) return 0;
  const std::size_t size = std::min(room.size(), to_server_.size() - position_);
  std::memcpy(room.data(), to_server_.data() + position_, size);
  position_ += size;
  return size;
} catch (const std::exception&) {
  return 0;
}

// Answers the last packet that the server has written. False: there is none, or only a part of it.
bool AuthExchange::answer() {
  std::string packet;
  unsigned char number = 0;
  while (from_server_.size() >= header_size) {
    const unsigned char* const header = bytes(std::string_view(from_server_));
    const std::size_t length = header[0] | header[1] << 8U | header[2] << 16U;
    if (from_server_.size() < header_size + length) return false;
    number = header[3];
    packet = from_server_.substr(header_size, length);
    from_server_.erase(0, header_size + length);
  }
  if (packet.empty() || ++rounds_ > most_rounds) return false;
  std::string reply = reply_to(packet);
  const std::size_t size = reply.size();
  forget(to_server_);
  to_server_ = {static_cast<char>(size), static_cast<char>(size >> 8U),
                static_cast<char>(size >> 16U), static_cast<char>(number + 1)};
  to_server_ += reply;
  forget(reply);
  position_ = 0;
  return true;
}

std::string AuthExchange::reply_to(std::string_view packet) {
  constexpr char greeting = 10;
  constexpr char auth_switch = '\xfe';
  if (packet.front() == greeting) return hello();
  if (packet.front() == auth_switch) return begin_plugin(packet.substr(1));
  return continue_plugin(packet);
}

// The client's first packet.
std::string AuthExchange::hello() const {
  // LONG_PASSWORD, PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, PLUGIN_AUTH_LENENC_CLIENT_DATA
  constexpr unsigned capabilities = 0x1 | 0x200 | 0x8000 | 0x80000 | 0x200000;
  constexpr char utf8mb4 = 45;
  constexpr std::size_t reserved = 23;
  std::string packet{static_cast<char>(capabilities & 0xff),
                     static_cast<char>(capabilities >> 8U & 0xff),
                     static_cast<char>(capabilities >> 16U),
                     0,
                     0,
                     0,
                     0,
                     1,  // 16 MiB: the size of the largest packet
                     utf8mb4};
  packet.append(reserved, '\0');
  packet.append(client_.user).push_back('\0');
  // A proof of one byte: the server reports whether there was a password.
  packet.append(client_.password.empty() ? std::string(1, '\0') : std::string("\1x"));
  packet.append("handlersocket").push_back('\0');
  return packet;
}

// The server has named a plugin, and sends a nonce.
std::string AuthExchange::begin_plugin(std::string_view request) {
  const std::size_t end = std::min(request.find('\0'), request.size());
  plugin_ = request.substr(0, end);
  nonce_ = end == request.size() ? std::string_view() : request.substr(end + 1);
  const std::string_view nonce = std::string_view(nonce_).substr(0, nonce_size);
  const std::string_view password = client_.password;
  if (plugin_ == "mysql_native_password")
    return password.empty() ? std::string() : scramble_native(password, nonce);
  if (plugin_ == "caching_sha2_password")
    return password.empty() ? std::string(1, '\0') : scramble_sha256(password, nonce);
  if (plugin_ == "sha256_password" && !password.empty() && client_.tls == nullptr)
    return "\1";  // asks for the public key
  if (plugin_ == "client_ed25519") return sign_ed25519(password, nonce_);
  if (plugin_ == "parsec") return {};  // asks for the salt
  if (plugin_ == "sha256_password" || plugin_ == "dialog" || plugin_ == "mysql_clear_password")
    return in_the_clear(password);
  return {};
}

// Another packet of the same plugin.
std::string AuthExchange::continue_plugin(std::string_view packet) const {
  constexpr char escape = 1;  // of a packet that could be taken for another one
  constexpr std::size_t salt_size = 20;
  constexpr std::string_view public_key = "-----BEGIN";
  if (packet.front() == escape) packet.remove_prefix(1);
  const std::string_view nonce = std::string_view(nonce_).substr(0, nonce_size);
  if (plugin_ == "parsec")
    return packet.size() == salt_size ? sign_parsec(client_.password, nonce_, packet)
                                      : std::string();
  if (packet.starts_with(public_key)) return encrypt(packet, client_.password, nonce);
  // caching_sha2_password does not know the password yet, and asks for it.
  if (plugin_ == "caching_sha2_password" && !client_.is_safe()) return "\2";
  return in_the_clear(client_.password);
}

}  // namespace hs::mysqld::server
