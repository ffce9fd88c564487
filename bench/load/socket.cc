#include "load/socket.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>

namespace hs::bench {
namespace {

// What a failed call of the library means: 0 for the end, or -1 with errno set.
ssize_t failure(const SSL* session, int result) {
  const int error = SSL_get_error(session, result);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: errno = EAGAIN; return -1;
    case SSL_ERROR_SYSCALL: return errno == 0 ? 0 : -1;
    default: errno = EPROTO; return -1;
  }
}

}  // namespace

ssize_t Socket::receive(std::span<char> room) {
  if (session_ == nullptr) return ::recv(get(), room.data(), room.size(), MSG_DONTWAIT);
  std::size_t total = 0;
  while (total < room.size()) {
    std::size_t count = 0;
    errno = 0;
    const int result =
        SSL_read_ex(session_.get(), room.data() + total, room.size() - total, &count);
    if (result != 1) {
      const ssize_t failed = failure(session_.get(), result);
      return total != 0 ? static_cast<ssize_t>(total) : failed;
    }
    total += count;
  }
  return static_cast<ssize_t>(total);
}

ssize_t Socket::send(std::string_view bytes) {
  if (session_ == nullptr)
    return ::send(get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  std::size_t total = 0;
  while (total < bytes.size()) {
    std::size_t count = 0;
    errno = 0;
    const int result =
        SSL_write_ex(session_.get(), bytes.data() + total, bytes.size() - total, &count);
    if (result != 1) {
      const ssize_t failed = failure(session_.get(), result);
      return total != 0 ? static_cast<ssize_t>(total) : failed;
    }
    total += count;
  }
  return static_cast<ssize_t>(total);
}

}  // namespace hs::bench
