#include "tls/channel.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>

namespace hs::tls {
namespace {

// What one call may read of the socket besides the bytes that it was asked for: a record, and its
// frame.
constexpr std::size_t largest_record = std::size_t{17} << 10;
// New keys cost some microseconds, and a client may send nothing else.
constexpr unsigned most_other_messages = 16;
// A record costs more than its bytes, and a client may send a byte in each.
constexpr unsigned most_records = 64;
// A handshake needs some kilobytes, and more with a client's chain of certificates.
constexpr std::size_t largest_flight = std::size_t{256} << 10;
// A session takes 17 KB or 34 KB, by the version of the library.
constexpr std::size_t session_memory = std::size_t{24} << 10;

bool may_try_again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

TlsChannel& channel_of(BIO* bio) { return *static_cast<TlsChannel*>(BIO_get_data(bio)); }

int read_bio(BIO* bio, char* to, int size) {
  BIO_clear_retry_flags(bio);
  const int count = channel_of(bio).read_socket(to, size);
  if (count < 0 && may_try_again(errno)) BIO_set_retry_read(bio);
  return count;
}

int write_bio(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  const int count = channel_of(bio).write_socket(from, size);
  if (count < 0 && may_try_again(errno)) BIO_set_retry_write(bio);
  return count;
}

long control_bio(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// The library's idea of a socket: ours, through the channel. Made once, and kept as long as the
// process runs.
BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (made != nullptr) {
      BIO_meth_set_read(made, read_bio);
      BIO_meth_set_write(made, write_bio);
      BIO_meth_set_ctrl(made, control_bio);
    }
    return made;
  }();
  return method;
}

int length(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

void ContextRelease::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

TlsChannel::TlsChannel(int socket, std::string_view begin, const ContextSource& source)
    : socket_(socket), source_(source), kept_(begin), rest_(kept_) {}

TlsChannel::~TlsChannel() { SSL_free(session_); }

// Gets the session. That takes too long for a worker, so the constructor does not do it.
TlsChannel::Progress TlsChannel::open() {
  const Context context = source_();
  if (context == nullptr) return Progress::unavailable;
  session_ = SSL_new(context.get());
  if (session_ == nullptr) return Progress::failed;
  BIO* const socket = BIO_new(socket_method());
  if (socket == nullptr) return Progress::failed;
  BIO_set_data(socket, this);
  BIO_set_init(socket, 1);
  SSL_set_bio(session_, socket, socket);
  SSL_set_accept_state(session_);
  // An idle connection keeps no buffers. A write may end after a part of its bytes, and go on from
  // another place in memory. A read returns after each message that is no data, so that a client
  // that sends nothing else cannot keep the thread.
  SSL_set_mode(session_, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                             SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_clear_mode(session_, SSL_MODE_AUTO_RETRY);
  SSL_set_options(session_, SSL_OP_NO_RENEGOTIATION);
  return Progress::wants_input;
}

// One call that may read the socket, and so many bytes at most. What the library has not looked at
// in the end is kept for the next call. The library's own read-ahead is not used: it would look at
// all that it has read, which can be hundreds of messages.
class TlsChannel::Reading {
 public:
  Reading(TlsChannel& channel, std::size_t most) : channel_(channel) {
    channel_.room_ = room_;
    channel_.may_read_ = most;
    channel_.emptied_ = false;
    ERR_clear_error();
  }
  ~Reading() {
    channel_.room_ = {};
    channel_.may_read_ = 0;
    ERR_clear_error();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  void keep_rest() {
    const std::string_view rest = channel_.rest_;
    if (rest.empty()) {
      if (!channel_.kept_.empty()) channel_.kept_ = {};
    } else if (rest.data() + rest.size() == channel_.kept_.data() + channel_.kept_.size()) {
      channel_.kept_.erase(0, channel_.kept_.size() - rest.size());
    } else {
      channel_.kept_.assign(rest);
    }
    channel_.rest_ = channel_.kept_;
  }

 private:
  TlsChannel& channel_;
  std::array<char, largest_record> room_;
};

int TlsChannel::read_socket(char* to, int size) {
  if (rest_.empty()) {
    // When the socket is empty, more bytes are an event for the worker.
    const std::size_t most = std::min(room_.size(), may_read_);
    if (most == 0 || emptied_) {
      errno = EAGAIN;
      return -1;
    }
    const ssize_t count = ::recv(socket_, room_.data(), most, 0);
    emptied_ = count < 0 || static_cast<std::size_t>(count) < most;
    at_end_ = at_end_ || count == 0;
    if (count <= 0) return static_cast<int>(count);
    may_read_ -= static_cast<std::size_t>(count);
    rest_ = std::string_view(room_.data(), static_cast<std::size_t>(count));
  }
  const std::size_t count = std::min(rest_.size(), static_cast<std::size_t>(size));
  std::copy_n(rest_.begin(), count, to);
  rest_.remove_prefix(count);
  return static_cast<int>(count);
}

int TlsChannel::write_socket(const char* from, int size) {
  return static_cast<int>(::send(socket_, from, static_cast<std::size_t>(size), MSG_NOSIGNAL));
}

TlsChannel::Progress TlsChannel::shake_hands() {
  Progress progress = session_ == nullptr ? open() : Progress::wants_input;
  if (progress != Progress::wants_input) return progress;
  Reading reading(*this, largest_flight);
  while (progress == Progress::wants_input) {
    const int result = SSL_do_handshake(session_);
    if (result == 1) {
      is_open_ = true;
      progress = Progress::done;
    } else if (const int error = SSL_get_error(session_, result); error == SSL_ERROR_WANT_WRITE) {
      progress = Progress::wants_output;
    } else if (error != SSL_ERROR_WANT_READ || may_read_ == 0) {
      progress = Progress::failed;
    } else if (emptied_ && rest_.empty()) {
      break;
    }
  }
  has_failed_ = progress == Progress::failed;
  reading.keep_rest();
  return progress;
}

net::Transfer TlsChannel::receive(std::span<char> room) {
  using Result = net::Transfer::Result;
  net::Transfer read;
  if (!is_open_ || has_failed_) return {.result = Result::failed};
  Reading reading(*this, room.size() + largest_record);
  unsigned other_messages = 0;
  for (unsigned records = 0; read.bytes < room.size() && records < most_records; ++records) {
    const int count =
        SSL_read(session_, room.data() + read.bytes, length(room.size() - read.bytes));
    if (count > 0) {
      read.bytes += static_cast<std::size_t>(count);
      continue;
    }
    const int error = SSL_get_error(session_, count);
    if (error == SSL_ERROR_WANT_READ) {
      // Either a message was read that is no data, or there is nothing more to read.
      const bool was_message = !rest_.empty() || (!emptied_ && may_read_ != 0);
      if (was_message && ++other_messages < most_other_messages) continue;
      read.emptied = emptied_ && rest_.empty();
      if (read.bytes == 0) read.result = Result::would_block;
    } else if (error == SSL_ERROR_WANT_WRITE) {
      if (read.bytes == 0) read.result = Result::wants_output;
    } else {
      // An end without a farewell cannot cut off a request, because a line ends with LF. The client
      // may still wait for replies.
      has_failed_ = error != SSL_ERROR_ZERO_RETURN && !(error == SSL_ERROR_SYSCALL && at_end_);
      read.emptied = read.ended = true;
    }
    break;
  }
  reading.keep_rest();
  return read;
}

std::size_t TlsChannel::peek(std::span<char> room) {
  if (!is_open_ || has_failed_) return 0;
  Reading reading(*this, largest_record);
  const int count = SSL_peek(session_, room.data(), length(room.size()));
  reading.keep_rest();
  return static_cast<std::size_t>(std::max(count, 0));
}

net::Transfer TlsChannel::send(std::string_view bytes) {
  using Result = net::Transfer::Result;
  if (!is_open_ || has_failed_) return {.result = Result::failed};
  net::Transfer sent;
  ERR_clear_error();
  while (sent.bytes < bytes.size()) {
    const int count =
        SSL_write(session_, bytes.data() + sent.bytes, length(bytes.size() - sent.bytes));
    if (count > 0) {
      sent.bytes += static_cast<std::size_t>(count);
      continue;
    }
    const int error = SSL_get_error(session_, count);
    if (error != SSL_ERROR_WANT_WRITE) {
      has_failed_ = true;
      sent.result = Result::failed;
    } else if (sent.bytes == 0) {
      sent.result = Result::would_block;
    }
    break;
  }
  ERR_clear_error();
  return sent;
}

void TlsChannel::say_farewell() {
  if (!is_open_ || has_failed_) return;
  SSL_shutdown(session_);
  ERR_clear_error();
}

std::size_t TlsChannel::memory() const { return session_memory; }

const char* TlsChannel::protocol() const { return SSL_get_version(session_); }

}  // namespace hs::tls
