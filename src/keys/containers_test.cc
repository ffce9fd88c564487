#include "keys/containers.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters.h"
#include "store/budget.h"
#include "store/memory_store.h"

namespace hs::keys {
namespace {

constexpr std::array<std::string_view, 9> columns = {
    "name",  "db_schema",  "db_table",           "key_columns",           "value_columns",
    "flags", "cas_column", "expire_time_column", "unique_idx_name_on_key"};

class ContainersTest : public ::testing::Test {
 protected:
  ContainersTest() {
    std::vector<store::MemoryColumn> of_table;
    of_table.reserve(std::size(columns));
    for (const std::string_view name : columns)
      of_table.push_back({.name = std::string(name), .nullable = name != "name"});
    table_ = &database_.add_table({"hs", "containers", of_table, {{"PRIMARY", {0}, true}}});
    EXPECT_TRUE(read_source("hs.containers", source_));
  }

  void declare(std::string_view name) {
    const std::array<std::uint32_t, 6> named = {0, 1, 2, 3, 4, 8};
    const std::array<store::Value, 6> values = {store::Value{name}, {"hs"}, {"kv"}, {"k"}, {"v"},
                                                {"PRIMARY"}};
    store::UndoLog undo;
    std::uint64_t id = 0;
    EXPECT_TRUE(table_->insert(named, values, undo, id).ok());
  }

  // A thread that serves keys.
  struct Server {
    explicit Server(ContainersTest& test)
        : containers(test.source_, clock),
          store(test.database_, store::Access::read, test.counters_) {}
    store::Verdict try_to_look() {
      clock.forget();
      store.begin_pass(store::PassMode::together, budget);
      const store::Outcome looked = containers.look(store, rows);
      EXPECT_TRUE(looked.status().ok());
      EXPECT_TRUE(store.end_pass().ok());
      return looked.verdict();
    }
    void look() { EXPECT_EQ(try_to_look(), store::Verdict::answered); }
    bool knows(std::string_view name) const { return containers.find(name) != nullptr; }

    Clock clock{[] { return now_ms; }};
    OpenRows rows;
    Containers containers;
    store::MemoryStore store;
    store::Budget budget;
  };

  inline static std::int64_t now_ms = 0;

  ContainerSource source_;
  store::MemoryDatabase database_;
  store::MemoryTable* table_ = nullptr;
  CounterBlock counters_;
  Server one_{*this};
  Server other_{*this};
};

TEST_F(ContainersTest, OneThreadReadsNowAndThenForAll) {
  now_ms = 1'700'000'000'000;
  declare("first");
  one_.look();
  other_.look();
  EXPECT_TRUE(one_.knows("first"));
  EXPECT_TRUE(other_.knows("first"));
  declare("second");
  one_.look();
  EXPECT_FALSE(one_.knows("second"));
  now_ms += 1000;
  one_.look();
  other_.look();
  EXPECT_TRUE(one_.knows("second"));
  EXPECT_TRUE(other_.knows("second"));
}

// Whoever has asked for a look may be served by another thread next, and at once.
TEST_F(ContainersTest, WhatWasAskedForIsSeenByAllThreadsAtTheSameTime) {
  now_ms = 1'700'000'000'000;
  declare("first");
  one_.look();
  other_.look();
  declare("second");
  source_.ask();
  one_.look();
  EXPECT_TRUE(one_.knows("second"));
  other_.look();
  EXPECT_TRUE(other_.knows("second"));
}

// Those that were there before are gone then.
TEST_F(ContainersTest, WhatIsFoundIsOfTheNewContainers) {
  now_ms = 1'700'000'000'000;
  declare("first");
  for (Server* const server : {&one_, &other_}) {
    server->look();
    EXPECT_TRUE(server->knows("first"));
    EXPECT_TRUE(server->knows("first"));
    EXPECT_FALSE(server->knows("second"));
  }
  const std::weak_ptr<const Container> before = one_.containers.find("first");
  declare("second");
  now_ms += 1000;
  for (Server* const server : {&one_, &other_}) {
    server->look();
    EXPECT_TRUE(server->knows("first"));
    EXPECT_TRUE(server->knows("second"));
    EXPECT_TRUE(server->knows("first"));
  }
  EXPECT_TRUE(before.expired());
}

// The one who reads first may take its time, and must not leave the others without any container. Without
// knowing them nobody is served.
TEST_F(ContainersTest, EveryThreadReadsAsLongAsNobodyHas) {
  now_ms = 1'700'000'000'000;
  declare("first");
  table_->set_blocked(true);
  EXPECT_EQ(one_.try_to_look(), store::Verdict::blocked);
  table_->set_blocked(false);
  other_.look();
  EXPECT_TRUE(other_.knows("first"));
  one_.look();
  EXPECT_TRUE(one_.knows("first"));
}

TEST_F(ContainersTest, TheFirstOneTooManyIsNamed) {
  now_ms = 1'700'000'000'000;
  for (int i = 0; i <= 1000; ++i) declare("c" + std::to_string(10'000 + i));
  std::vector<std::string> noted;
  source_.note_mistake = [&](const ContainerSource::Judged& judged) {
    if (judged.container == nullptr) noted.push_back(judged.name);
  };
  one_.look();
  EXPECT_TRUE(one_.knows("c10999"));
  EXPECT_FALSE(one_.knows("c11000"));
  EXPECT_EQ(noted, std::vector<std::string>{"c11000"});
}

TEST_F(ContainersTest, WhatWasKnownStaysWhileTheTableIsLocked) {
  now_ms = 1'700'000'000'000;
  declare("first");
  one_.look();
  now_ms += 1000;
  table_->set_blocked(true);
  one_.look();
  EXPECT_TRUE(one_.knows("first"));
}

}  // namespace
}  // namespace hs::keys
