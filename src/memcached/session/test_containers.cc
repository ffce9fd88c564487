#include "memcached/session/test_containers.h"

#include <array>
#include <cassert>
#include <numeric>
#include <string_view>
#include <vector>

namespace hs::memcached {
namespace {

using Texts = std::array<std::string_view, 9>;

void add_container(store::MemoryTable& table, const Texts& texts) {
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

}  // namespace

std::int64_t TestContainers::now_ms = 0;

TestContainers::TestContainers(store::MemoryBounds bounds) : TestServer(bounds) {
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
  add_container(containers,
                {"default", "hs", "kv", "k", "v", "flags", "cas", "expires", "PRIMARY"});
  add_container(containers, {"two", "hs", "two", "a b", "x,y", "0", "0", "0", "PRIMARY"});
  const auto source = std::make_shared<keys::ContainerSource>();
  [[maybe_unused]] const bool is_name = keys::read_source("hs.containers", *source);
  assert(is_name);
  config->containers = source;
  now_ms = 1'700'000'000'000;
  config->wall_ms = [] { return now_ms; };
}

}  // namespace hs::memcached
