#include "store/sample_tables.h"

#include <cassert>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/operation.h"

namespace hs::store {
namespace {

// Inserts rows whose values come in the order of the table's columns.
class Loader {
 public:
  explicit Loader(MemoryTable& table) : table_(table) {
    for (std::uint32_t i = 0; i < table.spec().columns.size(); ++i) columns_.push_back(i);
  }
  void add(std::initializer_list<Value> values) {
    std::uint64_t id = 0;
    const Status status = table_.insert(columns_, {values.begin(), values.size()}, undo_, id);
    assert(status.ok());
    static_cast<void>(status);
    undo_.clear();
  }

 private:
  MemoryTable& table_;
  std::vector<std::uint32_t> columns_;
  UndoLog undo_;
};

}  // namespace

void add_user_table(MemoryDatabase& database, std::uint64_t rows) {
  MemoryTable& table = database.add_table({"test",
                                           "user",
                                           {{.name = "user_id", .integer = true, .nullable = false},
                                            {.name = "user_name"},
                                            {.name = "user_email"},
                                            {.name = "created"}},
                                           {{"PRIMARY", {0}, true}}});
  Loader loader(table);
  for (std::uint64_t i = 1; i <= rows; ++i) {
    const std::string id = std::to_string(i);
    const std::string name = "user" + id;
    const std::string email = name + "@example.com";
    loader.add({{id}, {name}, {email}, {"2024-01-02 03:04:05"}});
  }
}

void add_golden_tables(MemoryDatabase& database) {
  Loader t(database.add_table(
      {"hst",
       "t",
       {{.name = "id", .integer = true, .nullable = false},
        {.name = "a"},
        {.name = "b", .integer = true},
        {.name = "c", .nullable = false}},
       {{"PRIMARY", {0}, true}, {"ua", {3, 0}, true}, {"ib", {2}}, {"iab", {1, 2}}}}));
  t.add({{"1"}, {"one"}, {"1"}, {"x"}});
  t.add({{"2"}, {"two"}, {"2"}, {"x"}});
  t.add({{"3"}, {"three"}, {"3"}, {"x"}});
  t.add({{"4"}, {{}, true}, {"4"}, {"x"}});
  t.add({{"5"}, {"five"}, {"5"}, {""}});
  t.add({{"6"}, {"six"}, {"5"}, {"x"}});
  t.add({{"7"}, {"sev"}, {"5"}, {"x"}});
  database.add_table(
      {"hst",
       "ai",
       {{.name = "id", .integer = true, .nullable = false, .auto_increment = true}, {.name = "v"}},
       {{"PRIMARY", {0}, true}}});
  database.add_table({"hst", "nokey", {{.name = "a", .integer = true}}, {}});
  database.add_table({"hst",
                      "k3",
                      {{.name = "a", .integer = true}, {.name = "b"}, {.name = "c"}},
                      {{"abc", {0, 1, 2}, true}}});
}

void add_container_tables(MemoryDatabase& database) {
  Loader containers(database.add_table({"handlersocket",
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
                                        {{"PRIMARY", {0}, true}}}));
  containers.add({{"default"},
                  {"handlersocket"},
                  {"kv"},
                  {"k"},
                  {"v"},
                  {"flags"},
                  {"cas"},
                  {"expires"},
                  {"PRIMARY"}});
  database.add_table({"handlersocket",
                      "kv",
                      {{.name = "k", .nullable = false},
                       {.name = "v"},
                       {.name = "flags", .integer = true},
                       {.name = "cas", .integer = true, .nullable = false},
                       {.name = "expires", .integer = true}},
                      {{"PRIMARY", {0}, true}}});
}

}  // namespace hs::store
