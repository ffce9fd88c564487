// HS.FIND and the like, over tables in memory.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redis/session/test_client.h"
#include "store/memory_caller.h"
#include "store/sample_tables.h"

namespace hs::redis {
namespace {

// A reply's bulk strings and numbers, a nil as `-`, without arrays and maps.
std::string flat(std::string_view reply) {
  std::string text;
  while (!reply.empty()) {
    const std::size_t end = reply.find("\r\n");
    const std::string head(reply.substr(0, end));
    reply.remove_prefix(end + 2);
    const bool is_nil = head == "$-1" || head == "_";
    if (head[0] == '*' || head[0] == '%') continue;
    if (!text.empty()) text += ' ';
    if (head[0] != '$' || is_nil) {
      text += is_nil ? "-" : head;
      continue;
    }
    const std::size_t size = std::stoul(head.substr(1));
    text += reply.substr(0, size);
    reply.remove_prefix(size + 2);
  }
  return text;
}

class RedisFindTest : public ::testing::Test {
 protected:
  void start(store::MemoryBounds bounds = {}) {
    server_ = std::make_unique<TestServer>(bounds);
    store::add_golden_tables(server_->database);
    server_->config->default_database = "hst";
    server_->start();
    client_ = std::make_unique<TestClient>(*server_);
  }
  void SetUp() override { start(); }
  std::string say(std::initializer_list<std::string_view> words) {
    return flat(client_->send(words));
  }
  void fill(int rows) {
    for (int i = 1; i <= rows; ++i)
      client_->send({"HSET", "ai:" + std::to_string(i), "v", "v" + std::to_string(i)});
  }
  // The ids that all pages answer together, and how many pages there are.
  std::vector<std::string> pages(const std::vector<std::string>& words, int& count) {
    std::vector<std::string> ids;
    std::string next = "0";
    for (count = 0; next != "-" && count < 1000; ++count) {
      std::vector<std::string> asked = words;
      asked.insert(asked.end(), {"AFTER", next});
      std::string request = "*" + std::to_string(asked.size()) + "\r\n";
      for (const std::string& word : asked)
        request += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
      std::string told = flat(client_->send(request));
      EXPECT_TRUE(told.starts_with("rows")) << told;
      next = told.substr(told.rfind(' ') + 1);
      for (std::size_t at = told.find(" id "); at != std::string::npos;
           at = told.find(" id ", at + 1))
        ids.push_back(told.substr(at + 4, told.find(' ', at + 4) - at - 4));
    }
    return ids;
  }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(RedisFindTest, AnswersMapsOrFlatArrays) {
  EXPECT_EQ(
      client_->send(
          {"HS.FIND", "t", "FIELDS", "2", "id", "a", "FROM", ">=", "3", "TO", "<", "5", "DESC"}),
      "*4\r\n$4\r\nrows\r\n*2\r\n*4\r\n$2\r\nid\r\n$1\r\n4\r\n$1\r\na\r\n$-1\r\n*4\r\n$2\r\nid\r\n"
      "$1\r\n3\r\n$1\r\na\r\n$5\r\nthree\r\n$4\r\nnext\r\n$-1\r\n");
  client_->send({"HELLO", "3"});
  EXPECT_EQ(client_->send({"HS.FIND", "t", "FIELDS", "1", "A", "KEY", "1", "4"}),
            "%2\r\n$4\r\nrows\r\n*1\r\n%1\r\n$1\r\na\r\n_\r\n$4\r\nnext\r\n_\r\n");
  EXPECT_EQ(client_->send({"HS.FIND", "t", "KEY", "1", "99"}),
            "%2\r\n$4\r\nrows\r\n*0\r\n$4\r\nnext\r\n_\r\n");
}

TEST_F(RedisFindTest, SelectsByAnyIndex) {
  EXPECT_EQ(say({"HS.FIND", "t@ib", "FIELDS", "1", "id", "KEY", "1", "5"}),
            "rows id 5 id 6 id 7 next -");
  EXPECT_EQ(say({"HS.FIND", "t@ib", "FIELDS", "1", "id", "KEY", "1", "5", "FILTER", "a",
                 "!=", "six", "OFFSET", "1"}),
            "rows id 7 next -");
  EXPECT_EQ(say({"HS.FIND", "t", "FIELDS", "1", "id", "WHILE", "b", "<", "3"}),
            "rows id 1 id 2 next -");
  EXPECT_EQ(
      say({"HS.FIND", "t@ib", "FIELDS", "1", "id", "IN", "b", "3", "5", "1", "5", "LIMIT", "9"}),
      "rows id 5 id 6 id 7 id 1 next -");
  EXPECT_EQ(say({"HS.FIND", "t@iab", "FIELDS", "1", "id", "KEY", "1", "~", "NULL", "~"}),
            "rows id 4 next -");
  EXPECT_EQ(say({"HS.FIND", "t@iab", "FIELDS", "1", "a", "BEGINS", "t"}),
            "rows a three a two next -");
  EXPECT_EQ(
      say({"HS.FIND", "t@ib", "FIELDS", "1", "id", "FROM", ">=", "5", "THEN", "1"}).substr(0, 4),
      "-ERR");
  EXPECT_EQ(say({"HS.COUNT", "t@ib", "KEY", "1", "5"}), ":3");
  EXPECT_EQ(say({"HS.COUNT", "t", "LIMIT", "4"}), ":4");
}

TEST_F(RedisFindTest, NamesWhatIsWrong) {
  for (const auto& words : std::vector<std::vector<std::string_view>>{
           {"HS.FIND", "t", "FIELDS", "1", "nosuch"},
           {"HS.FIND", "t", "FILTER", "nosuch", "=", "1"},
           {"HS.FIND", "t", "IN", "b", "1", "1"},
           {"HS.FIND", "t@iab", "IN", "b", "1", "1"},
           {"HS.FIND", "t", "KEY", "2", "1", "2"},
           {"HS.FIND", "t", "BEGINS", "1"},
           {"HS.FIND", "t@nosuch"},
           {"HS.FIND", "nosuch"},
           {"HS.FIND", "t", "AFTER", "5"},
           {"HS.COUNT", "t", "FILTER", "nosuch", "=", "1"},
           {"HS.UPDATE", "t", "SET", "1", "nosuch", "1", "KEY", "1", "1"},
           {"HS.UPDATE", "t", "SET", "2", "b", "1", "B", "2", "KEY", "1", "1"}}) {
    std::string request = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words)
      request += "$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
    EXPECT_EQ(client_->send(request).substr(0, 5), "-ERR ") << request;
  }
  EXPECT_EQ(say({"HS.COUNT", "t"}), ":7");
}

TEST_F(RedisFindTest, GoesOnFromAPosition) {
  fill(25);
  int count = 0;
  std::vector<std::string> all;
  for (int i = 1; i <= 25; ++i) all.push_back(std::to_string(i));
  EXPECT_EQ(pages({"HS.FIND", "ai", "LIMIT", "4"}, count), all);
  EXPECT_EQ(count, 7);
  EXPECT_EQ(pages({"HS.FIND", "ai", "LIMIT", "5"}, count), all);
  EXPECT_EQ(count, 5);
  EXPECT_EQ(pages({"HS.FIND", "ai", "LIMIT", "1", "FROM", ">", "22"}, count),
            (std::vector<std::string>{"23", "24", "25"}));
  EXPECT_EQ(pages({"HS.FIND", "ai", "LIMIT", "2", "IN", "id", "4", "3", "1", "3", "2"}, count),
            (std::vector<std::string>{"3", "1", "2"}));
  EXPECT_EQ(pages({"HS.FIND", "ai", "LIMIT", "2", "OFFSET", "22"}, count),
            (std::vector<std::string>{"23", "24", "25"}));
  EXPECT_EQ(pages({"HS.FIND", "t@ib", "LIMIT", "1", "KEY", "1", "5", "DESC"}, count).size(), 3u);
}

TEST_F(RedisFindTest, APositionIsOfOneSelectionAndAccount) {
  fill(5);
  EXPECT_TRUE(say({"HS.FIND", "ai", "LIMIT", "2"}).ends_with(" next more"));
  EXPECT_EQ(server_->config->scans.size(), 0u);
  std::string told = say({"HS.FIND", "ai", "FIELDS", "1", "id", "LIMIT", "2", "AFTER", "0"});
  const std::string next = told.substr(told.rfind(' ') + 1);
  EXPECT_EQ(say({"HS.FIND", "ai", "FIELDS", "1", "v", "LIMIT", "9", "AFTER", next}),
            "rows v v3 v v4 v v5 next -");
  EXPECT_EQ(say({"HS.FIND", "ai", "DESC", "AFTER", next}).substr(0, 21), "-ERR invalid position");
  EXPECT_EQ(say({"HS.FIND", "t", "AFTER", next}).substr(0, 21), "-ERR invalid position");
  EXPECT_EQ(say({"SCAN", next, "MATCH", "ai:*"}).substr(0, 19), "-ERR invalid cursor");
  told = say({"SCAN", "0", "MATCH", "ai:*", "COUNT", "2"});
  EXPECT_EQ(say({"HS.FIND", "ai", "AFTER", told.substr(0, told.find(' '))}).substr(0, 21),
            "-ERR invalid position");
}

TEST_F(RedisFindTest, LargeOnesAreExecutedBesideTheWorker) {
  start({.rows = 3, .bytes = 64, .flush_bytes = 16});
  fill(25);
  int count = 0;
  EXPECT_EQ(pages({"HS.FIND", "ai", "LIMIT", "10"}, count).size(), 25u);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(say({"HS.COUNT", "ai"}), ":25");
  EXPECT_EQ(say({"HS.UPDATE", "ai", "SET", "1", "v", "x", "FROM", ">", "20"}), ":5");
  EXPECT_EQ(say({"HS.DELETE", "ai", "FILTER", "v", "!=", "x"}), ":20");
  EXPECT_EQ(say({"HS.COUNT", "ai"}), ":5");
}

TEST_F(RedisFindTest, Changes) {
  EXPECT_EQ(
      say({"HS.UPDATE", "t@ib", "SET", "2", "a", "x", "b", "~", "KEY", "1", "5", "NULL", "~"}),
      ":3");
  EXPECT_EQ(say({"HS.FIND", "t@ib", "FIELDS", "2", "a", "id", "KEY", "1", "~", "NULL", "~"}),
            "rows a x id 5 a x id 6 a x id 7 next -");
  EXPECT_EQ(say({"HS.DELETE", "t", "FROM", ">=", "6", "LIMIT", "1"}), ":1");
  EXPECT_EQ(say({"HS.DELETE", "t", "IN", "id", "3", "7", "1", "7"}), ":2");
  EXPECT_EQ(say({"HS.COUNT", "t"}), ":4");
}

TEST_F(RedisFindTest, InTransactions) {
  client_->send({"MULTI"});
  client_->send({"HS.UPDATE", "t", "SET", "1", "b", "9", "FROM", ">=", "6"});
  client_->send({"HS.FIND", "t@ib", "FIELDS", "1", "id", "KEY", "1", "9", "LIMIT", "1"});
  client_->send({"HS.DELETE", "t@ib", "KEY", "1", "9"});
  client_->send({"HS.COUNT", "t"});
  const std::string told = say({"EXEC"});
  EXPECT_TRUE(told.starts_with(":2 rows id 6 next ")) << told;
  EXPECT_TRUE(told.ends_with(" :2 :5")) << told;
  client_->send({"MULTI"});
  client_->send({"HS.DELETE", "t", "FROM", ">=", "1"});
  client_->send({"HS.UPDATE", "t", "SET", "1", "nosuch", "9", "LIMIT", "9"});
  EXPECT_EQ(say({"EXEC"}).substr(0, 10), "-EXECABORT");
  EXPECT_EQ(say({"HS.COUNT", "t"}), ":5");
}

TEST_F(RedisFindTest, NeedsRights) {
  const auto caller = std::make_shared<store::MemoryCaller>();
  caller->grant("hst", "t", store::Rights::read);
  server_->log_in.anonymous = caller;
  client_ = std::make_unique<TestClient>(*server_);
  EXPECT_EQ(say({"HS.COUNT", "t"}), ":7");
  EXPECT_EQ(say({"HS.FIND", "ai"}).substr(0, 7), "-NOPERM");
  EXPECT_EQ(say({"HS.FIND", "nosuch"}).substr(0, 7), "-NOPERM");
  EXPECT_EQ(say({"HS.DELETE", "t", "KEY", "1", "1"}).substr(0, 7), "-NOPERM");
  EXPECT_EQ(say({"HS.UPDATE", "t", "SET", "1", "a", "1", "KEY", "1", "1"}).substr(0, 7), "-NOPERM");
  server_->config->writable = false;
  EXPECT_EQ(say({"HS.DELETE", "t", "KEY", "1", "1"}).substr(0, 9), "-READONLY");
}

}  // namespace
}  // namespace hs::redis
