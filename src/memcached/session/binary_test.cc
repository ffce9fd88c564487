#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "memcached/protocol/binary_packet.h"
#include "memcached/protocol/test_packet.h"
#include "memcached/session/test_containers.h"

namespace hs::memcached {
namespace {

// A packet as a client sends it.
std::string ask(std::uint8_t opcode, std::string_view key = {}, std::string_view extras = {},
                std::string_view value = {}, std::uint64_t cas = 0) {
  return packet(opcode, key, extras, value, cas, 77);
}

std::string numbers(std::initializer_list<std::uint32_t> all) {
  std::string text;
  for (const std::uint32_t number : all) {
    char room[sizeof number];
    write_big(room, number);
    text.append(room, sizeof room);
  }
  return text;
}

// Packets in words: opcode, status, key, value, and the cas if there is one.
std::string told(std::string_view replies) {
  std::string text;
  while (replies.size() >= BinaryHeader::size) {
    EXPECT_EQ(replies[0], '\x81');
    const BinaryHeader header = read_header(replies);
    EXPECT_EQ(header.opaque, 77U);
    replies.remove_prefix(BinaryHeader::size + header.extras);
    text += std::to_string(header.opcode) + ' ' + std::to_string(header.status) + ' ';
    text += replies.substr(0, header.key);
    text += '=';
    text += replies.substr(header.key, header.body - header.extras - header.key);
    if (header.cas != 0) text += " #" + std::to_string(header.cas - 1'700'000'000'000'000);
    text += '\n';
    replies.remove_prefix(header.body - header.extras);
  }
  EXPECT_EQ(replies, "");
  return text;
}

class MemcachedBinaryTest : public ::testing::Test {
 protected:
  MemcachedBinaryTest() {
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
  }
  std::string say(std::string_view bytes) { return told(client_->send(bytes)); }

  const std::string plain_ = numbers({5, 0});
  TestContainers server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(MemcachedBinaryTest, GetsAndTheirQuietForms) {
  EXPECT_EQ(say(ask(0x01, "a", plain_, "abc")), "1 0 = #0\n");
  EXPECT_EQ(say(ask(0x00, "a") + ask(0x09, "a") + ask(0x0c, "a") + ask(0x0d, "a")),
            "0 0 =abc #0\n9 0 =abc #0\n12 0 a=abc #0\n13 0 a=abc #0\n");
  EXPECT_EQ(say(ask(0x00, "x") + ask(0x09, "x") + ask(0x0c, "x") + ask(0x0d, "x") + ask(0x0a)),
            "0 1 =Not found\n12 1 x=\n10 0 =\n");
}

TEST_F(MemcachedBinaryTest, StoresAndTheirQuietForms) {
  EXPECT_EQ(say(ask(0x12, "a", plain_, "1") + ask(0x02, "a", plain_, "2")),
            "2 2 =Data exists for key.\n");
  EXPECT_EQ(say(ask(0x03, "x", plain_, "1") + ask(0x13, "x", plain_, "1")),
            "3 1 =Not found\n19 1 =Not found\n");
  EXPECT_EQ(say(ask(0x0e, "x", "", "1") + ask(0x19, "a", "", "2") + ask(0x0f, "a", "", "0")),
            "14 5 =Not stored.\n15 0 = #2\n");
  EXPECT_EQ(say(ask(0x01, "a", plain_, "v", 5) + ask(0x01, "x", plain_, "v", 5)),
            "1 2 =Data exists for key.\n1 1 =Not found\n");
  EXPECT_EQ(say(ask(0x01, "a", plain_, "v", 1'700'000'000'000'002)), "1 0 = #3\n");
  EXPECT_EQ(say(ask(0x04, "a", "", "", 5) + ask(0x14, "a") + ask(0x04, "a") + ask(0x14, "a")),
            "4 2 =Data exists for key.\n4 1 =Not found\n20 1 =Not found\n");
}

TEST_F(MemcachedBinaryTest, Sums) {
  const std::string by_two = numbers({0, 2, 0, 40, 0});
  const std::string no_new = numbers({0, 2, 0, 40, 0xffffffff});
  const auto eight = [](char last) { return std::string(7, '\0') + last; };
  EXPECT_EQ(say(ask(0x05, "n", no_new) + ask(0x15, "n", no_new)),
            "5 1 =Not found\n21 1 =Not found\n");
  EXPECT_EQ(say(ask(0x05, "n", by_two) + ask(0x15, "n", by_two) + ask(0x06, "n", by_two)),
            "5 0 =" + eight(40) + " #0\n6 0 =" + eight(40) + " #2\n");
  EXPECT_EQ(say(ask(0x01, "n", plain_, "x") + ask(0x05, "n", by_two)),
            "1 0 = #3\n5 6 =Non-numeric server-side value for incr or decr\n");
}

TEST_F(MemcachedBinaryTest, Touches) {
  say(ask(0x01, "a", plain_, "abc"));
  EXPECT_EQ(say(ask(0x1c, "a", numbers({10})) + ask(0x1d, "a", numbers({10})) +
                ask(0x1e, "x", numbers({10})) + ask(0x23, "a", numbers({10})) +
                ask(0x1c, "x", numbers({10}))),
            "28 0 = #0\n29 0 =abc #0\n35 0 a=abc #0\n28 1 =Not found\n");
  TestContainers::now_ms += 10'000;
  EXPECT_EQ(say(ask(0x00, "a")), "0 1 =Not found\n");
}

// With a cas, memcached stores by the cas alone. A touch compares none.
TEST_F(MemcachedBinaryTest, ACasIsComparedByWhatStores) {
  EXPECT_EQ(say(ask(0x01, "a", plain_, "abc")), "1 0 = #0\n");
  EXPECT_EQ(say(ask(0x1c, "a", numbers({10}), {}, 1) + ask(0x1d, "a", numbers({10}), {}, 1)),
            "28 0 = #0\n29 0 =abc #0\n");
  EXPECT_EQ(say(ask(0x02, "a", plain_, "new", 1'700'000'000'000'000)), "2 0 = #1\n");
  EXPECT_EQ(say(ask(0x02, "a", plain_, "x", 1) + ask(0x12, "none", plain_, "x", 1)),
            "2 2 =Data exists for key.\n18 1 =Not found\n");
  EXPECT_EQ(say(ask(0x00, "a")), "0 0 =new #1\n");
}

TEST_F(MemcachedBinaryTest, TheConnection) {
  EXPECT_EQ(say(ask(0x0b) + ask(0x1b, "", numbers({1})) + ask(0x77, "key") + ask(0x10, "reset")),
            "11 0 =1.6.45\n27 0 =\n119 129 =Unknown command\n16 0 =\n");
  EXPECT_EQ(say(ask(0x08) + ask(0x18)),
            "8 131 =flush_all not allowed\n24 131 =flush_all not allowed\n");
  EXPECT_EQ(say(ask(0x00)), "0 4 =Invalid arguments\n");
  EXPECT_TRUE(client_->closed());
}

TEST_F(MemcachedBinaryTest, AFailedCommitNamesItsRequests) {
  say(ask(0x0a));
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  EXPECT_EQ(say(ask(0x05, "n", numbers({0, 2, 0, 40, 0})) + ask(0x01, "a", plain_, "x")),
            "5 3 =1197 HY000 The change is too large for the binary log\n"
            "1 3 =1197 HY000 The change is too large for the binary log\n");
}

// Their success would have had no reply, so a client knows by the error alone that they were not done.
TEST_F(MemcachedBinaryTest, AFailedCommitNamesItsQuietRequests) {
  say(ask(0x0a));
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  EXPECT_EQ(say(ask(0x11, "a", plain_, "x") + ask(0x14, "a") + ask(0x0a)),
            "17 3 =1197 HY000 The change is too large for the binary log\n"
            "20 3 =1197 HY000 The change is too large for the binary log\n10 0 =\n");
}

TEST_F(MemcachedBinaryTest, PlainLogsIn) {
  server_.log_in.secret = "s3cret";
  server_.log_in.anonymous = nullptr;
  client_ = std::make_unique<TestClient>(server_);
  EXPECT_EQ(say(ask(0x20) + ask(0x0b)), "32 0 =PLAIN\n11 0 =1.6.45\n");
  EXPECT_EQ(say(ask(0x21, "PLAIN", "", std::string("\0default\0wrong", 14))),
            "33 32 =Auth failure.\n");
  EXPECT_EQ(say(ask(0x22, "PLAIN", "", "x")), "34 32 =Auth failure.\n");
  EXPECT_EQ(say(ask(0x21, "PLAIN", "", std::string("\0default\0s3cret", 15)) + ask(0x00, "a")),
            "33 0 =Authenticated\n0 1 =Not found\n");
  TestClient stranger(server_);
  EXPECT_EQ(told(stranger.send(ask(0x00, "a"))), "0 32 =Auth failure.\n");
  EXPECT_TRUE(stranger.closed());
}

}  // namespace
}  // namespace hs::memcached
