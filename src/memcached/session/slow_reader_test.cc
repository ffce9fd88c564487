// Gets that a streamer executes, whose client reads slowly or not at all.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "memcached/session/test_containers.h"

namespace hs::memcached {
namespace {

class MemcachedSlowReader : public ::testing::Test {
 protected:
  MemcachedSlowReader() {
    server_.bounds_of_store.bytes = 1000;
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
  }
  std::string say(std::string_view bytes) { return client_->send(bytes); }
  std::string item(const std::string& key, std::size_t size) {
    return "VALUE " + key + " 0 " + std::to_string(size) + "\r\n" + std::string(size, key.back()) +
           "\r\n";
  }
  void store(const std::string& key, std::size_t size) {
    say("set " + key + " 0 0 " + std::to_string(size) + "\r\n" + std::string(size, key.back()) +
        "\r\n");
  }

  static constexpr std::size_t large = 100'000;
  TestContainers server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(MemcachedSlowReader, AGetOfManyKeysIsLeftBetweenKeysAndGoesOn) {
  std::string request = "get none";
  std::string expected;
  for (char key = 'a'; key <= 'j'; ++key) {
    store({key}, large);
    request += std::string(" ") + key + " none";
    expected += item({key}, large);
  }
  for (const std::size_t most : {0, 1, 1000, 262'144, 300'000, 500'000}) {
    server_.reading.most_bytes = most;
    EXPECT_TRUE(say(request + "\r\nversion\r\n") == expected + "END\r\nVERSION 1.6.45\r\n") << most;
    EXPECT_GT(client_->runs_of_streamer, 1) << most;
    EXPECT_EQ(client_->left(), 0U);
  }
  server_.reading = {};
  EXPECT_TRUE(say(request + "\r\n") == expected + "END\r\n");
  EXPECT_EQ(client_->runs_of_streamer, 1);
}

TEST_F(MemcachedSlowReader, TheLastItemIsNotWaitedFor) {
  store("a", 10 * large);
  server_.reading.most_bytes = 0;
  EXPECT_TRUE(say("get a\r\n") == item("a", 10 * large) + "END\r\n");
  EXPECT_TRUE(say("get none none a\r\n") == item("a", 10 * large) + "END\r\n");
  EXPECT_EQ(client_->runs_of_streamer, 1);
  EXPECT_TRUE(say("get @>0 @>0\r\n") == item("a", 10 * large) + item("a", 10 * large) + "END\r\n");
  EXPECT_EQ(client_->runs_of_streamer, 2);
}

TEST_F(MemcachedSlowReader, TheContainerIsThatOfTheKeysBefore) {
  store("a", 3 * large);
  say("set @@two.a:1 0 0 300001\r\n" + std::string(3 * large, 'a') + "|\r\n");
  say("get @@default.none\r\n");
  server_.reading.most_bytes = 10;
  EXPECT_TRUE(say("get a @@two.none:1 a:1 b:1 @@two.a:1 a:1 @@default.a a\r\nget a\r\n") ==
              item("a", 3 * large) + "VALUE a:1 0 300001\r\n" + std::string(3 * large, 'a') +
                  "|\r\nVALUE @@two.a:1 0 300001\r\n" + std::string(3 * large, 'a') +
                  "|\r\nVALUE a:1 0 300001\r\n" + std::string(3 * large, 'a') + "|\r\n" +
                  "VALUE @@default.a 0 300000\r\n" + std::string(3 * large, 'a') + "\r\n" +
                  item("a", 3 * large) + "END\r\n" + item("a", 3 * large) + "END\r\n");
}

TEST_F(MemcachedSlowReader, AStreamerIsLeftToOthersAlsoWhileNothingIsFound) {
  store("a", large);
  std::string keys = "get a";
  for (int i = 0; i < 10'000; ++i) keys += " none";
  server_.reading.others_wait = true;
  EXPECT_TRUE(say(keys + " a\r\n") == item("a", large) + item("a", large) + "END\r\n");
  EXPECT_GT(client_->runs_of_streamer, 5);
}

// As after items that a worker has found.
TEST_F(MemcachedSlowReader, AnErrorBehindAPartOfTheReplyStandsInPlaceOfItsEnd) {
  store("a", 3 * large);
  const std::string whole = item("a", 3 * large);
  for (const std::size_t most : {0, 10, 300'000, 1'000'000}) {
    server_.reading.most_bytes = most;
    EXPECT_TRUE(say("get a @@none.a a\r\nversion\r\n") ==
                whole + "CLIENT_ERROR there is no such container\r\nVERSION 1.6.45\r\n")
        << most;
    EXPECT_EQ(client_->left(), 0U);
    EXPECT_FALSE(client_->closed());
  }
}

// Nobody asks for the rest of its keys behind the error.
TEST_F(MemcachedSlowReader, AGetThatIsTakenBackFromTheQueueForStreamersEndsWithAnError) {
  store("a", 3 * large);
  server_.reading.most_bytes = 0;
  client_->late_behind_part = true;
  const std::string replies = say("get a none a none\r\nget none\r\n");
  const std::string whole = item("a", 3 * large);
  EXPECT_TRUE(replies.starts_with(whole + "SERVER_ERROR ")) << replies.substr(whole.size(), 100);
  EXPECT_TRUE(replies.ends_with("\r\nEND\r\n"));
  EXPECT_LT(replies.size(), whole.size() + 200);
  EXPECT_FALSE(client_->closed());
}

}  // namespace
}  // namespace hs::memcached
