// The commands that answer every column, on tables whose names are written in advance and on others.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "redis/session/test_client.h"

namespace hs::redis {
namespace {

// A table `db.t` with a key `id` and some more columns, and its row 1. Every third column is NULL in it.
class EveryRow : public ::testing::Test {
 protected:
  void create(std::size_t columns, std::size_t name_size) {
    std::vector<store::MemoryColumn> of_table{{.name = "id", .integer = true, .nullable = false}};
    names_.emplace_back("id");
    for (std::size_t i = 1; i < columns; ++i) {
      std::string name = "c" + std::to_string(i);
      name.resize(std::max(name.size(), name_size), 'x');
      of_table.push_back({.name = name});
      names_.push_back(std::move(name));
    }
    server_.database.add_table({"db", "t", of_table, {{"PRIMARY", {0}, true}}});
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
    fill();
  }

  void check() {
    std::string pairs;
    std::string names;
    std::string values;
    std::size_t present = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (is_null(i)) continue;
      ++present;
      names += bulk(names_[i]);
      values += bulk(value(i));
      pairs += bulk(names_[i]) + bulk(value(i));
    }
    const std::string count = std::to_string(present) + "\r\n";
    pairs.insert(0, count);
    names.insert(0, "*" + count);
    values.insert(0, "*" + count);
    const std::string flat = "*" + std::to_string(2 * present) + pairs.substr(count.size() - 2);
    // Once more, when the index is open.
    for (int times = 0; times < 2; ++times) {
      EXPECT_EQ(client_->send({"HGETALL", "db.t:1"}), flat);
      EXPECT_EQ(client_->send({"HKEYS", "db.t:1"}), names);
      EXPECT_EQ(client_->send({"HVALS", "db.t:1"}), values);
    }
    client_->send({"HELLO", "3"});
    EXPECT_EQ(client_->send({"HGETALL", "db.t:1"}), "%" + pairs);
  }

 private:
  static bool is_null(std::size_t column) { return column % 3 == 2; }
  static std::string value(std::size_t column) {
    return column == 0 ? "1" : std::string(column % 50, 'v');
  }
  static std::string bulk(std::string_view bytes) {
    return "$" + std::to_string(bytes.size()) + "\r\n" + std::string(bytes) + "\r\n";
  }
  void fill() {
    for (std::size_t i = 1; i < names_.size(); ++i) {
      if (is_null(i)) continue;
      EXPECT_EQ(client_->send({"HSET", "db.t:1", names_[i], value(i)}), ":1\r\n");
    }
  }

  TestServer server_;
  std::unique_ptr<TestClient> client_;
  std::vector<std::string> names_;
};

TEST_F(EveryRow, HasTheNamesThatWereWritten) {
  create(20, 0);
  check();
}

TEST_F(EveryRow, HasNamesOfAnySize) {
  create(40, 64);
  check();
}

// The names are more than are kept.
TEST_F(EveryRow, HasManyNames) {
  create(300, 60);
  check();
}

}  // namespace
}  // namespace hs::redis
