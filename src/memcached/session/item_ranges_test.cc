// Gets of ranges: which rows they show, with which keys.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "memcached/session/test_containers.h"

namespace hs::memcached {
namespace {

class MemcachedRanges : public ::testing::Test {
 protected:
  MemcachedRanges() {
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
  }
  std::string say(std::string_view bytes) { return client_->send(bytes); }
  // As SQL adds a row. No value: NULL.
  void add(const std::optional<std::string>& a, const std::optional<std::string>& b) {
    static constexpr std::array<std::uint32_t, 3> columns{0, 1, 2};
    const auto value_of = [](const std::optional<std::string>& text) {
      return text ? store::Value{*text} : store::Value{{}, true};
    };
    store::UndoLog undo;
    std::uint64_t id = 0;
    const Status status =
        server_.database.find_table("hs", "odd")
            ->insert(columns, std::array{value_of(a), value_of(b), store::Value{"x"}}, undo, id);
    EXPECT_TRUE(status.ok());
  }
  TestContainers server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(MemcachedRanges, RowsWhoseKeyNoClientCanWriteAreLeftOut) {
  for (const std::string_view key : {"a", "b", "\xc3\xa9", "c:d%"}) add("-", std::string(key));
  for (const std::string& key :
       {std::string("a b"), std::string("a\r\nEND"), std::string("\n"), std::string("a\tb"),
        std::string("a\0b", 3), std::string("\x7f"), std::string(), std::string(251, 'k')})
    add("-", key);
  add("-", std::nullopt);
  add("-", std::string(250, 'l'));
  EXPECT_EQ(
      say("get @@of_b.none @<~\r\n"),
      "VALUE " + std::string(250, 'l') +
          " 0 1\r\nx\r\nVALUE c:d% 0 1\r\nx\r\nVALUE b 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
  EXPECT_EQ(say("get @>=~\r\n"), "VALUE \xc3\xa9 0 1\r\nx\r\nEND\r\n");
}

// In front of the last part a client writes such a byte with %.
TEST_F(MemcachedRanges, OfAKeyWithSeveralPartsTheLastOneAloneStandsAsItIs) {
  add("a b", "1");
  add("a\r\nb", "2");
  add("c", "3 4");
  add("d:%", "5");
  add(std::nullopt, "6");
  add("e", std::nullopt);
  add(std::string(300, ' '), "7");
  EXPECT_EQ(say("get @@odd.none:1 @<~:z\r\n"),
            "VALUE d%3A%25:5 0 1\r\nx\r\nVALUE a%20b:1 0 1\r\nx\r\n"
            "VALUE a%0D%0Ab:2 0 1\r\nx\r\nEND\r\n");
  EXPECT_EQ(say("get d%3A%25:5 a%20b:1 a%0D%0Ab:2\r\n"),
            "VALUE d%3A%25:5 0 1\r\nx\r\nVALUE a%20b:1 0 1\r\nx\r\n"
            "VALUE a%0D%0Ab:2 0 1\r\nx\r\nEND\r\n");
}

}  // namespace
}  // namespace hs::memcached
