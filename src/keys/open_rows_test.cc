#include "keys/open_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/counters.h"
#include "store/budget.h"
#include "store/memory_store.h"

namespace hs::keys {
namespace {

class OpenRowsTest : public ::testing::Test {
 protected:
  OpenRowsTest() {
    add_table("few", 3, "column");
    add_table("many", 200, "another column of a table that has many");
  }
  void add_table(std::string name, int columns, const std::string& column) {
    std::vector<store::MemoryColumn> of_table{{.name = "id", .integer = true, .nullable = false}};
    for (int i = 1; i < columns; ++i) of_table.push_back({.name = column + std::to_string(i)});
    database_.add_table({"db", std::move(name), of_table, {{"PRIMARY", {0}, true}}});
  }

  std::vector<std::string> written_names(OpenRows& rows, std::string_view table, Asks asks) {
    store::MemoryStore store(database_, store::Access::read, counters_);
    store::Budget budget;
    store.begin_pass(store::PassMode::together, budget);
    std::shared_ptr<const RowAccess> opened;
    rows.text_of(table, asks, {});
    EXPECT_TRUE(rows.open(store, store::Caller::unlimited(), table, "", asks, {}, opened).ok());
    EXPECT_TRUE(store.end_pass().ok());
    return opened->written_names;
  }
  static std::string in_brackets(std::string_view name) { return "<" + std::string(name) + ">"; }

 private:
  store::MemoryDatabase database_;
  CounterBlock counters_;
};

TEST_F(OpenRowsTest, WritesTheNamesOfEveryColumn) {
  OpenRows rows(&in_brackets);
  EXPECT_EQ(written_names(rows, "db.few", Asks::every),
            (std::vector<std::string>{"<id>", "<column1>", "<column2>"}));
  EXPECT_EQ(written_names(rows, "db.few", Asks::nothing), std::vector<std::string>());
  OpenRows of_other_protocol;
  EXPECT_EQ(written_names(of_other_protocol, "db.few", Asks::every), std::vector<std::string>());
}

// A client may open one table by a thousand spellings of its name.
TEST_F(OpenRowsTest, KeepsNoLargeNames) {
  OpenRows rows(&in_brackets);
  EXPECT_EQ(written_names(rows, "db.many", Asks::every), std::vector<std::string>());
}

}  // namespace
}  // namespace hs::keys
