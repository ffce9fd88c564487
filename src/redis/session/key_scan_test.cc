#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/session/test_client.h"
#include "store/memory_caller.h"

namespace hs::redis {
namespace {

// A reply of bulk strings in arrays, without its arrays.
std::vector<std::string> bulks_of(std::string_view reply) {
  std::vector<std::string> bulks;
  while (!reply.empty()) {
    const std::size_t end = reply.find("\r\n");
    const std::string head(reply.substr(0, end));
    reply.remove_prefix(end + 2);
    if (head[0] != '$') continue;
    const std::size_t size = std::stoul(head.substr(1));
    bulks.emplace_back(reply.substr(0, size));
    reply.remove_prefix(size + 2);
  }
  return bulks;
}

class RedisScanTest : public ::testing::Test {
 protected:
  RedisScanTest() {
    server_.database.add_table({"db",
                                "n",
                                {{.name = "id", .integer = true, .nullable = false}, {.name = "u"}},
                                {{"PRIMARY", {0}, true}, {"by_u", {1}, true}}});
    server_.database.add_table({"db",
                                "k2",
                                {{.name = "x", .nullable = false},
                                 {.name = "y", .integer = true, .nullable = false},
                                 {.name = "v"}},
                                {{"PRIMARY", {0, 1}, true}}});
    server_.database.add_table(
        {"db", "s", {{.name = "k", .nullable = false}, {.name = "v"}}, {{"PRIMARY", {0}, true}}});
    server_.config->default_database = "db";
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
  }
  std::string say(std::initializer_list<std::string_view> words) { return client_->send(words); }
  void fill(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) EXPECT_EQ(say({"HSET", key, "v", "1"})[0], ':') << key;
  }
  void fill_numbers(int rows) {
    for (int i = 1; i <= rows; ++i)
      say({"HSET", "db.n:" + std::to_string(i), "u", "u" + std::to_string(i)});
  }
  // All keys that a scan answers, and how many calls it took.
  std::pair<std::vector<std::string>, int> scan(std::string_view pattern, std::string_view count) {
    std::vector<std::string> keys;
    std::string cursor = "0";
    for (int calls = 1; calls < 1000; ++calls) {
      std::vector<std::string> page =
          bulks_of(say({"SCAN", cursor, "MATCH", pattern, "COUNT", count}));
      if (page.empty()) return {{"no reply"}, calls};
      cursor = page[0];
      keys.insert(keys.end(), page.begin() + 1, page.end());
      if (cursor == "0") return {keys, calls};
    }
    return {{"no end"}, 0};
  }
  using Keys = std::vector<std::string>;

  TestServer server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(RedisScanTest, GoesThroughATable) {
  fill_numbers(25);
  const auto [keys, calls] = scan("db.n:*", "10");
  EXPECT_EQ(keys.size(), 25u);
  EXPECT_EQ(keys[0], "db.n:1");
  EXPECT_EQ(keys[24], "db.n:25");
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(scan("n:*", "1").first.size(), 25u);
  EXPECT_EQ(scan("n:*", "1000000").second, 1);
  EXPECT_EQ(scan("n:2?", "4").first.size(), 6u);
  EXPECT_EQ(scan("n:[12]", "4").first, (Keys{"n:1", "n:2"}));
  EXPECT_EQ(scan("n:7", "4"), (std::pair<Keys, int>({"n:7"}, 1)));
  EXPECT_EQ(scan("n:77", "4"), (std::pair<Keys, int>({}, 1)));
  EXPECT_EQ(scan("n:07", "4"), (std::pair<Keys, int>({}, 1)));
  EXPECT_EQ(scan("n@by_u:u1*", "2").first.size(), 11u);
  EXPECT_EQ(bulks_of(say({"SCAN", "0", "MATCH", "n:*", "TYPE", "string"})), (Keys{"0"}));
  EXPECT_EQ(bulks_of(say({"SCAN", "0", "MATCH", "n:3", "TYPE", "HASH"})), (Keys{"0", "n:3"}));
}

TEST_F(RedisScanTest, AFixedFrontNarrowsTheRange) {
  fill({"s:a1", "s:b1", "s:b2", "s:b3", "s:c1"});
  EXPECT_EQ(scan("s:b*", "3"), (std::pair<Keys, int>({"s:b1", "s:b2", "s:b3"}, 2)));
  EXPECT_EQ(scan("s:b*", "1").first, (Keys{"s:b1", "s:b2", "s:b3"}));
  EXPECT_EQ(scan("s:b*", "4").second, 1);
  EXPECT_EQ(scan("s:*1", "2").first, (Keys{"s:a1", "s:b1", "s:c1"}));
  EXPECT_EQ(scan("s:d*", "4"), (std::pair<Keys, int>({}, 1)));
}

TEST_F(RedisScanTest, PartsHaveTheSpellingThatHgetTakes) {
  fill({"k2:a%3Ab:1", "k2:a%25:2", "k2:a:3", "k2:a:4", "k2:b:5"});
  const auto [keys, calls] = scan("k2:*", "2");
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()),
            (std::set<std::string>{"k2:a%3Ab:1", "k2:a%25:2", "k2:a:3", "k2:a:4", "k2:b:5"}));
  for (const std::string& key : keys) EXPECT_EQ(say({"HGET", key, "v"}), "$1\r\n1\r\n") << key;
  EXPECT_EQ(scan("k2:a:*", "1").first, (Keys{"k2:a:3", "k2:a:4"}));
  EXPECT_EQ(scan("k2:a:*", "3").second, 1);
  EXPECT_EQ(scan("k2:a:4*", "1").first, (Keys{"k2:a:4"}));
  EXPECT_EQ(scan("k2:a%3A*", "1").first, (Keys{"k2:a%3Ab:1"}));
  EXPECT_EQ(scan("k2:a%2*", "1").first, (Keys{"k2:a%25:2"}));
  EXPECT_EQ(scan("k2:a:3", "1").first, (Keys{"k2:a:3"}));
  EXPECT_EQ(scan("k2:a", "1").first, Keys{});
  EXPECT_EQ(scan("k2:a:x", "1").first, Keys{});
  EXPECT_EQ(scan("k2:%zz:*", "1").first, Keys{});
}

TEST_F(RedisScanTest, RowsWithoutAKeyAreLeftOut) {
  fill_numbers(3);
  say({"HDEL", "n:2", "u"});
  EXPECT_EQ(scan("n@by_u:*", "1"), (std::pair<Keys, int>({"n@by_u:u1", "n@by_u:u3"}, 3)));
}

TEST_F(RedisScanTest, SeesWhatIsThereAllTheTime) {
  fill_numbers(20);
  std::vector<std::string> page = bulks_of(say({"SCAN", "0", "MATCH", "n:*", "COUNT", "10"}));
  say({"DEL", "n:10"});  // the row of the position
  say({"DEL", "n:11"});
  page = bulks_of(say({"SCAN", page[0], "MATCH", "n:*", "COUNT", "100"}));
  EXPECT_EQ(page.size(), 10u);
  EXPECT_EQ(page[1], "n:12");
}

TEST_F(RedisScanTest, ACursorIsOfAnAccountAndAPattern) {
  const auto bob = std::make_shared<store::MemoryCaller>();
  fill_numbers(20);
  const std::string cursor = bulks_of(say({"SCAN", "0", "MATCH", "n:*"}))[0];
  TestClient other(server_);
  EXPECT_EQ(bulks_of(other.send({"SCAN", cursor, "MATCH", "n:*", "COUNT", "3"})).size(), 4u);
  // A client may ask again.
  EXPECT_EQ(bulks_of(say({"SCAN", cursor, "MATCH", "n:*", "COUNT", "3"})).size(), 4u);
  EXPECT_EQ(say({"SCAN", cursor, "MATCH", "n:1*"}).substr(0, 20), "-ERR invalid cursor:");
  EXPECT_EQ(say({"SCAN", "12345", "MATCH", "n:*"}).substr(0, 20), "-ERR invalid cursor:");
  EXPECT_EQ(say({"SCAN", "x", "MATCH", "n:*"}), "-ERR invalid cursor\r\n");
  EXPECT_FALSE(server_.config->scans.find(std::stoull(cursor), "bob"));
}

TEST_F(RedisScanTest, APatternNamesATable) {
  const std::string_view refused = "-ERR pattern has to begin with the name of a table";
  for (const std::string_view pattern : {"*", "", "n*:1", "[n]:1", "n"}) {
    EXPECT_EQ(say({"SCAN", "0", "MATCH", pattern}).substr(0, refused.size()), refused) << pattern;
    EXPECT_EQ(say({"KEYS", pattern}).substr(0, refused.size()), refused) << pattern;
  }
  EXPECT_EQ(say({"SCAN", "0"}).substr(0, refused.size()), refused);
  EXPECT_EQ(say({"SCAN", "0", "COUNT", "0"}), "-ERR syntax error\r\n");
  EXPECT_EQ(say({"SCAN", "0", "NOVALUES"}), "-ERR NOVALUES option can only be used in HSCAN\r\n");
  EXPECT_EQ(say({"SCAN", "0", "MATCH", "db.none:*"}).substr(0, 15), "-ERR 1146 42S02");
  EXPECT_EQ(say({"RANDOMKEY"}).substr(0, 22), "-ERR no table is named");
}

TEST_F(RedisScanTest, KeysGoesAside) {
  fill_numbers(2500);
  EXPECT_EQ(bulks_of(say({"KEYS", "n:*"})).size(), 2500u);
  EXPECT_GT(client_->turns, 1);
  EXPECT_EQ(bulks_of(say({"KEYS", "n:*7"})).size(), 250u);
  EXPECT_EQ(say({"KEYS", "n:17"}), "*1\r\n$4\r\nn:17\r\n");
  EXPECT_EQ(client_->turns, 1);
  EXPECT_EQ(say({"KEYS", "n:x"}), "*0\r\n");
}

TEST_F(RedisScanTest, ScanIsAPartOfATransaction) {
  fill_numbers(3);
  say({"MULTI"});
  EXPECT_EQ(say({"SCAN", "0", "MATCH", "n:*"}), "+QUEUED\r\n");
  EXPECT_EQ(bulks_of(say({"EXEC"})), (Keys{"0", "n:1", "n:2", "n:3"}));
  say({"MULTI"});
  EXPECT_EQ(say({"KEYS", "n:*"}), "-ERR Command not allowed inside a transaction\r\n");
  EXPECT_EQ(say({"EXEC"}).substr(0, 10), "-EXECABORT");
}

}  // namespace
}  // namespace hs::redis
