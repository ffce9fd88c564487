// The server's side is a TlsChannel, the client's side the library itself, with a pair of sockets
// between them that never block.
#include "tls/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "tls/test_context.h"

namespace hs::tls {
namespace {

using Progress = net::ByteFilter::Progress;
using Result = net::Transfer::Result;

Context another(const Context& context) {
  SSL_CTX_up_ref(context.get());
  return Context(context.get());
}

class TlsChannelTest : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }  // for the client's library

  TlsChannelTest() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets_.data()), 0);
    client_context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_min_proto_version(client_context_.get(), GetParam());
    SSL_CTX_set_max_proto_version(client_context_.get(), GetParam());
    client_ = SSL_new(client_context_.get());
    SSL_set_mode(client_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_fd(client_, sockets_[1]);
    SSL_set_connect_state(client_);
  }
  ~TlsChannelTest() override {
    channel_.reset();
    SSL_free(client_);
    ::close(sockets_[0]);
    ::close(sockets_[1]);
  }

  // The worker has read the beginning before it makes the channel.
  void begin() {
    SSL_do_handshake(client_);
    std::array<char, 20> read;
    const ssize_t count = ::recv(sockets_[0], read.data(), read.size(), 0);
    ASSERT_GT(count, 0);
    channel_ = std::make_unique<TlsChannel>(
        sockets_[0], std::string_view(read.data(), static_cast<std::size_t>(count)), source_);
  }
  void shake_hands() {
    begin();
    Progress progress = Progress::wants_input;
    bool client_is_done = false;
    for (int i = 0; i < 20 && (progress != Progress::done || !client_is_done); ++i) {
      if (progress != Progress::done) progress = channel_->shake_hands();
      ASSERT_NE(progress, Progress::failed);
      client_is_done = SSL_do_handshake(client_) == 1;
    }
    ASSERT_EQ(progress, Progress::done);
    // TLS 1.3 sends its tickets now.
    client_read();
  }
  std::string client_read() {
    std::string read(100'000, '\0');
    const int count = SSL_read(client_, read.data(), static_cast<int>(read.size()));
    read.resize(static_cast<std::size_t>(std::max(count, 0)));
    ERR_clear_error();
    return read;
  }
  int client_write(std::string_view bytes) {
    const int count = SSL_write(client_, bytes.data(), static_cast<int>(bytes.size()));
    ERR_clear_error();
    return count;
  }

  const Context context_ = make_server_context();
  const ContextSource source_ = [this] { return another(context_); };
  Context client_context_;
  std::array<int, 2> sockets_{};
  SSL* client_ = nullptr;
  std::unique_ptr<TlsChannel> channel_;
};

INSTANTIATE_TEST_SUITE_P(Versions, TlsChannelTest, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

TEST_P(TlsChannelTest, CarriesBytesBothWays) {
  shake_hands();
  EXPECT_STREQ(channel_->protocol(), GetParam() == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3");
  std::vector<char> room(65536);
  EXPECT_EQ(channel_->receive(room).result, Result::would_block);
  for (const std::size_t size : {1, 2, 1000, 16384, 16385, 40'000}) {
    const std::string sent(size, static_cast<char>('a' + size % 26));
    ASSERT_EQ(client_write(sent.substr(0, 16384)),
              static_cast<int>(std::min<std::size_t>(size, 16384)));
    std::size_t written = std::min<std::size_t>(size, 16384);
    while (written < size) written += static_cast<std::size_t>(client_write(sent.substr(written)));
    const net::Transfer read = channel_->receive(room);
    EXPECT_EQ(std::string_view(room.data(), read.bytes), sent);
    EXPECT_TRUE(read.emptied);
    EXPECT_EQ(channel_->send(sent).bytes, size);
    std::string back;
    while (back.size() < size) back += client_read();
    EXPECT_EQ(back, sent);
  }
}

TEST_P(TlsChannelTest, SaysWhetherThereIsMore) {
  shake_hands();
  client_write("0123456789");
  std::array<char, 4> room;
  EXPECT_EQ(channel_->peek(room), 4U);
  net::Transfer read = channel_->receive(room);
  EXPECT_EQ(std::string_view(room.data(), read.bytes), "0123");
  EXPECT_FALSE(read.emptied);
  read = channel_->receive(room);
  EXPECT_FALSE(read.emptied);
  read = channel_->receive(room);
  EXPECT_EQ(std::string_view(room.data(), read.bytes), "89");
  EXPECT_TRUE(read.emptied);
  EXPECT_FALSE(read.ended);
}

TEST_P(TlsChannelTest, ReadsFewRecordsAtOnce) {
  shake_hands();
  const std::string sent(200, 'r');
  for (const char& byte : sent) ASSERT_EQ(SSL_write(client_, &byte, 1), 1);
  std::array<char, 1000> room;
  std::string received;
  unsigned calls = 0;
  for (bool emptied = false; !emptied; ++calls) {
    const net::Transfer read = channel_->receive(room);
    ASSERT_EQ(read.result, Result::done);
    ASSERT_LE(read.bytes, 64U);
    received.append(room.data(), read.bytes);
    emptied = read.emptied;
  }
  EXPECT_EQ(received, sent);
  EXPECT_GE(calls, sent.size() / 64);
}

TEST_P(TlsChannelTest, SendsInPartsFromAnywhere) {
  shake_hands();
  const std::string all(5'000'000, 'r');
  std::size_t sent = 0;
  std::size_t received = 0;
  std::size_t blocked = 0;
  while (received < all.size()) {
    // Each time from another place in memory, as the worker does it.
    const auto rest = std::make_unique<std::string>(all.substr(sent));
    if (!rest->empty()) {
      const net::Transfer part = channel_->send(*rest);
      ASSERT_NE(part.result, Result::failed);
      blocked += static_cast<std::size_t>(part.result == Result::would_block);
      sent += part.bytes;
    }
    received += client_read().size();
  }
  EXPECT_GT(blocked, 0U);
}

TEST_P(TlsChannelTest, ReadsAFarewellAndAnswersIt) {
  shake_hands();
  client_write("last");
  SSL_shutdown(client_);
  std::array<char, 100> room;
  const net::Transfer read = channel_->receive(room);
  EXPECT_EQ(std::string_view(room.data(), read.bytes), "last");
  EXPECT_TRUE(read.ended);
  // The client still reads.
  EXPECT_EQ(channel_->send("reply").bytes, 5U);
  EXPECT_EQ(client_read(), "reply");
  channel_->say_farewell();
  char byte = 0;
  EXPECT_EQ(SSL_get_error(client_, SSL_read(client_, &byte, 1)), SSL_ERROR_ZERO_RETURN);
}

TEST_P(TlsChannelTest, EndsWithoutAFarewell) {
  shake_hands();
  ::shutdown(sockets_[1], SHUT_WR);
  std::array<char, 100> room;
  const net::Transfer read = channel_->receive(room);
  EXPECT_EQ(read.bytes, 0U);
  EXPECT_EQ(read.result, Result::done);
  EXPECT_TRUE(read.ended);
  channel_->say_farewell();
}

// The client has shut down its side of the socket, and still waits for replies.
TEST_P(TlsChannelTest, SendsBehindAnEndWithoutAFarewell) {
  shake_hands();
  ASSERT_EQ(SSL_write(client_, "request", 7), 7);
  ::shutdown(sockets_[1], SHUT_WR);
  std::array<char, 100> room;
  EXPECT_EQ(channel_->receive(room).bytes, 7U);
  const net::Transfer end = channel_->receive(room);
  EXPECT_EQ(end.result, Result::done);
  EXPECT_EQ(end.bytes, 0U);
  EXPECT_TRUE(end.ended);
  EXPECT_EQ(channel_->send("reply").bytes, 5U);
  EXPECT_EQ(client_read(), "reply");
}

TEST_P(TlsChannelTest, EndsAfterGarbage) {
  shake_hands();
  const std::string garbage(1000, '\x17');
  ASSERT_GT(::send(sockets_[1], garbage.data(), garbage.size(), 0), 0);
  std::array<char, 100> room;
  const net::Transfer read = channel_->receive(room);
  EXPECT_EQ(read.bytes, 0U);
  EXPECT_TRUE(read.ended);
  EXPECT_EQ(channel_->receive(room).result, Result::failed);
  EXPECT_EQ(channel_->send("x").result, Result::failed);
}

TEST_P(TlsChannelTest, DoesNothingBeforeHandsAreShaken) {
  begin();
  std::array<char, 100> room;
  EXPECT_EQ(channel_->receive(room).result, Result::failed);
  EXPECT_EQ(channel_->peek(room), 0U);
  EXPECT_EQ(channel_->send("x").result, Result::failed);
  channel_->say_farewell();
}

TEST_P(TlsChannelTest, FailsWithoutAContext) {
  const ContextSource none = [] { return Context(); };
  TlsChannel channel(sockets_[0], "\x16", none);
  EXPECT_EQ(channel.shake_hands(), Progress::unavailable);
}

// A client that sends nothing but new keys must not keep its worker, nor fill its memory.
class Tls13ChannelTest : public TlsChannelTest {};
INSTANTIATE_TEST_SUITE_P(Version, Tls13ChannelTest, testing::Values(TLS1_3_VERSION));

TEST_P(Tls13ChannelTest, ReadsFewKeyUpdatesAtOnce) {
  shake_hands();
  std::array<char, 65536> room;
  std::size_t calls = 0;
  bool wants_output = false;
  for (int round = 0; round < 1000 && !wants_output; ++round) {
    // Until the socket takes no more.
    while (SSL_do_handshake(client_) == 1 &&
           SSL_key_update(client_, SSL_KEY_UPDATE_REQUESTED) == 1) {
    }
    ERR_clear_error();
    const net::Transfer read = channel_->receive(room);
    ASSERT_EQ(read.bytes, 0U);
    ASSERT_FALSE(read.ended);
    ++calls;
    // The client does not read the answers, and the socket is full of them.
    wants_output = read.result == Result::wants_output;
  }
  EXPECT_TRUE(wants_output);
  EXPECT_GT(calls, 10U);
  // When the client reads, everything goes on.
  net::Transfer read;
  for (int i = 0; i < 10'000 && read.bytes == 0; ++i) {
    client_read();
    if (i == 0 || read.emptied) client_write("data");
    read = channel_->receive(room);
    ASSERT_NE(read.result, Result::failed);
  }
  EXPECT_EQ(std::string_view(room.data(), 4), "data");
}

class Tls12ChannelTest : public TlsChannelTest {};
INSTANTIATE_TEST_SUITE_P(Version, Tls12ChannelTest, testing::Values(TLS1_2_VERSION));

TEST_P(Tls12ChannelTest, RefusesToRenegotiate) {
  shake_hands();
  SSL_renegotiate(client_);
  SSL_do_handshake(client_);
  ERR_clear_error();
  std::array<char, 100> room;
  channel_->receive(room);
  EXPECT_NE(SSL_do_handshake(client_), 1);
}

}  // namespace
}  // namespace hs::tls
