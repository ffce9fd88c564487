// TestContainers: a server with containers, for the tests and the fuzzer of this folder.
//
// `default` has all columns that a container may have. `two` has a key and a value of two columns, and
// nothing else. The key of `odd` may be NULL. The table of `gone` is not there. The clock stands still.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "memcached/session/test_client.h"

namespace hs::memcached {

struct TestContainers : TestServer {
  explicit TestContainers(store::MemoryBounds bounds = {}) : TestServer(bounds) {
    store::MemoryTable& containers = database.add_table({"hs",
                                                         "containers",
                                                         {{.name = "name", .nullable = false},
                                                          {.name = "db_schema"},
                                                          {.name = "db_table"},
                                                          {.name = "key_columns"},
                                                          {.name = "value_columns"},
                                                          {.name = "flags"},
                                                          {.name = "cas_column"},
                                                          {.name = "expire_time_column"},
                                                          {.name = "unique_idx_name_on_key"}},
                                                         {{"PRIMARY", {0}, true}}});
    database.add_table({"hs",
                        "kv",
                        {{.name = "k", .nullable = false},
                         {.name = "v"},
                         {.name = "flags", .integer = true},
                         {.name = "cas", .integer = true, .nullable = false},
                         {.name = "expires", .integer = true}},
                        {{"PRIMARY", {0}, true}}});
    database.add_table({"hs",
                        "two",
                        {{.name = "a", .nullable = false},
                         {.name = "b", .integer = true, .nullable = false},
                         {.name = "x"},
                         {.name = "y"}},
                        {{"PRIMARY", {0, 1}, true}}});
    database.add_table({"hs",
                        "odd",
                        {{.name = "a"}, {.name = "b"}, {.name = "v"}},
                        {{"ab", {0, 1}, true}, {"b", {1}, true}}});
    add_container(containers,
                  {"default", "hs", "kv", "k", "v", "flags", "cas", "expires", "PRIMARY"});
    add_container(containers, {"two", "hs", "two", "a b", "x,y", "0", "0", "0", "PRIMARY"});
    add_container(containers, {"odd", "hs", "odd", "a b", "v", "0", "0", "0", "ab"});
    add_container(containers, {"of_b", "hs", "odd", "b", "v", "0", "0", "0", "b"});
    add_container(containers, {"gone", "hs", "gone", "k", "v", "0", "0", "0", "PRIMARY"});
    const auto source = std::make_shared<keys::ContainerSource>();
    [[maybe_unused]] const bool is_name = keys::read_source("hs.containers", *source);
    assert(is_name);
    config->containers = source;
    now_ms = 1'700'000'000'000;
    config->wall_ms = [] { return now_ms; };
  }

  inline static std::int64_t now_ms = 0;

 private:
  using Texts = std::array<std::string_view, 9>;

  static void add_container(store::MemoryTable& table, const Texts& texts) {
    std::array<std::uint32_t, std::tuple_size_v<Texts>> columns{};
    std::iota(columns.begin(), columns.end(), 0U);
    std::vector<store::Value> values;
    for (const std::string_view text : texts) values.push_back({text});
    store::UndoLog undo;
    std::uint64_t id = 0;
    const Status status = table.insert(columns, values, undo, id);
    assert(status.ok());
    static_cast<void>(status);
  }
};

}  // namespace hs::memcached
