#include "store/look_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redis/session/test_client.h"
#include "store/sample_tables.h"

namespace hs::redis {
namespace {

class RedisLookingAhead : public ::testing::Test {
 protected:
  RedisLookingAhead() {
    store::add_container_tables(server_.database);
    auto source = std::make_shared<keys::ContainerSource>();
    EXPECT_TRUE(keys::read_source("handlersocket.containers", *source));
    server_.config->containers = source;
    server_.passes.looks_ahead = true;
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
    for (const char* const used :
         {"GET a", "HGETALL handlersocket.kv:a", "HMGET handlersocket.kv:a v k"})
      told({used});
  }
  // Of how many finds the store was told before they came. The words of a command have a blank between them.
  std::uint64_t told(std::initializer_list<std::string_view> commands) {
    std::string bytes;
    for (std::string_view command : commands) {
      std::vector<std::string_view> words;
      while (!command.empty()) {
        const std::size_t end = std::min(command.find(' '), command.size());
        words.push_back(command.substr(0, end));
        command.remove_prefix(std::min(end + 1, command.size()));
      }
      bytes += TestClient::packed(words);
    }
    const std::uint64_t before = server_.worker_store->expected_finds();
    client_->send(bytes);
    return server_.worker_store->expected_finds() - before;
  }
  TestServer server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(RedisLookingAhead, TheStoreIsToldOfReadsOfOneKey) {
  EXPECT_EQ(told({"GET a", "GET default:b", "GET c:d"}), 3U);
  EXPECT_EQ(told({"GET a", "HMGET handlersocket.kv:b v k", "HGETALL handlersocket.kv:c"}), 3U);
  EXPECT_EQ(told({"GET a"}), 0U) << "one find alone";
  EXPECT_EQ(told({"HMGET handlersocket.kv:b k v", "GET a"}), 0U) << "fields that were not used yet";
}

TEST_F(RedisLookingAhead, TheKeysOfAnMgetAreNamedSomeAtATime) {
  std::string mget = "MGET";
  for (int key = 0; key < 40; ++key) mget += " key" + std::to_string(key);
  EXPECT_EQ(told({mget}), 40U);
  EXPECT_EQ(told({mget, "GET a", "GET b", mget}), 82U);
}

TEST_F(RedisLookingAhead, ItEndsAtACommandOfAnotherKind) {
  EXPECT_EQ(told({"GET a", "GET b", "SET c 1", "GET c", "GET d"}), 2U);
  EXPECT_EQ(told({"GET a", "GET b", "PING", "GET c", "GET d"}), 4U);
}

TEST_F(RedisLookingAhead, WithoutTheSettingNothingIsSaid) {
  server_.passes.looks_ahead = false;
  EXPECT_EQ(told({"MGET a b c d", "GET a", "GET b"}), 0U);
}

}  // namespace
}  // namespace hs::redis
