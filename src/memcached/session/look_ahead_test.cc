#include "store/look_ahead.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "memcached/protocol/test_packet.h"
#include "memcached/session/test_containers.h"

namespace hs::memcached {
namespace {

class MemcachedLookingAhead : public ::testing::Test {
 protected:
  MemcachedLookingAhead() {
    server_.passes.looks_ahead = true;
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
    for (const std::string_view used : {"get a\r\n", "gets a\r\n", "get @@two.a:1\r\n"}) say(used);
    client_ = std::make_unique<TestClient>(server_);
  }
  std::string say(std::string_view bytes) { return client_->send(bytes); }
  // Of how many finds the store was told before they came.
  std::uint64_t told(std::string_view bytes) {
    const std::uint64_t before = server_.worker_store->expected_finds();
    say(bytes);
    return server_.worker_store->expected_finds() - before;
  }
  TestContainers server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(MemcachedLookingAhead, TheStoreIsToldOfGetsOfOneKey) {
  say("get a\r\n");
  EXPECT_EQ(told("get a\r\nget b\r\nget none\r\n"), 3U);
  EXPECT_EQ(told("get a\r\n"), 0U) << "one find alone";
  EXPECT_EQ(told("get a\r\nmg b v\r\nmg c f v\r\nmn\r\n"), 3U);
}

TEST_F(MemcachedLookingAhead, OfColumnsThatTheConnectionHasNotUsedItIsNot) {
  EXPECT_EQ(told("get a\r\nget b\r\n"), 0U) << "when the first was executed, the second is alone";
  EXPECT_EQ(told("gets a\r\ngets b\r\n"), 0U);
  EXPECT_EQ(told("get a\r\ngets b\r\nmg c v\r\nmg d c v\r\n"), 4U);
}

TEST_F(MemcachedLookingAhead, TheKeysOfAGetOfManyAreNamedSomeAtATime) {
  say("get a\r\n");
  std::string keys;
  for (int key = 0; key < 40; ++key) keys += " key" + std::to_string(key);
  EXPECT_EQ(told("get" + keys + "\r\n"), 40U);
  EXPECT_EQ(told("get" + keys + "\r\nget a\r\nget b\r\nget" + keys + "\r\n"), 82U);
  EXPECT_EQ(told("get  a  b \r\n"), 2U);
}

// However many keys before it could not be named.
TEST_F(MemcachedLookingAhead, EachKeyIsNamedOnce) {
  say("get @@two.a:1\r\n");
  std::string keys;
  for (int key = 0; key < 100; ++key)
    keys += key % 5 == 0 ? " a:" + std::to_string(key) : std::string(" a%3A:1");
  const std::uint64_t before = server_.worker_store->told();
  EXPECT_EQ(told("get" + keys + "\r\n"), 20U);
  EXPECT_EQ(server_.worker_store->told() - before, 20U);
}

TEST_F(MemcachedLookingAhead, KeysThatTheStorePassesOverAreCountedOnce) {
  say("get a\r\n");
  std::string keys;
  for (int key = 0; key < 40; ++key) keys += " key" + std::to_string(key);
  server_.worker_store->faults().passed_over = 45;
  EXPECT_EQ(told("get" + keys + "\r\n"), 0U);
  EXPECT_EQ(told("get a\r\nget b\r\nget c\r\n"), 3U);
}

TEST_F(MemcachedLookingAhead, AGetOfManyThatGoesOnInALaterTurnIsLookedAtThere) {
  say("get a\r\n");
  server_.passes.max_pass_steps = 3;
  EXPECT_EQ(told("get a b c d e f g h i j\r\n"), 10U);
  EXPECT_GT(client_->turns, 1);
}

TEST_F(MemcachedLookingAhead, AKeyChoosesTheContainerOfThoseBehindIt) {
  say("get a @@two.a:1\r\n");
  EXPECT_EQ(told("get a:1\r\nget b:2\r\nget @@default.a\r\nget b\r\n"), 4U);
  EXPECT_EQ(told("get @@two.a:1 b:2 @@default.a b\r\n"), 4U);
  EXPECT_EQ(told("get @@two a:1 b:2 @@default a b\r\n"), 4U);
  EXPECT_EQ(told("get @@none.a b\r\n"), 0U);
}

TEST_F(MemcachedLookingAhead, WhatIsNoPlainKeyIsNotNamed) {
  say("get a @@two.a:1\r\n");
  EXPECT_EQ(told("get a%3A:1 b:1 c:1\r\n"), 2U) << "an escape";
  EXPECT_EQ(told("get a b:1 c:1\r\n"), 0U) << "too few parts, so nothing is looked up";
  say("get @@default.a\r\n");
  EXPECT_EQ(told("get @>a b c\r\n"), 2U) << "a range";
  EXPECT_EQ(told("mg YQ== b v\r\nmg YQ== b v\r\n"), 0U) << "a key in base64";
}

TEST_F(MemcachedLookingAhead, ItEndsAtARequestOfAnotherKind) {
  say("get a\r\n");
  EXPECT_EQ(told("get a\r\nget b\r\nset c 0 0 1\r\nx\r\nget c\r\nget d\r\n"), 2U);
  EXPECT_EQ(told("get a\r\nget b\r\nmg c v T30\r\nget c\r\nget d\r\n"), 2U);
  EXPECT_EQ(told("get a\r\nget b\r\nnonsense\r\nget c\r\nget d\r\n"), 4U);
  EXPECT_EQ(told("get a\r\nget b\r\nget c"), 2U) << "an incomplete one";
}

TEST_F(MemcachedLookingAhead, PacketsAreNamed) {
  const std::string get = packet(0x00, "a");
  say(get);
  EXPECT_EQ(told(get + get + packet(0x0d, "c")), 3U);
}

TEST_F(MemcachedLookingAhead, WithoutTheSettingNothingIsSaid) {
  say("get a\r\n");
  server_.passes.looks_ahead = false;
  EXPECT_EQ(told("get a b c d\r\nget a\r\nget b\r\n"), 0U);
}

}  // namespace
}  // namespace hs::memcached
