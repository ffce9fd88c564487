#include "protocol/request_writer.h"

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "protocol/describe.h"
#include "protocol/parser.h"

namespace hs::protocol {
namespace {

using namespace std::string_view_literals;

const std::vector<Value> key{{"k", false}};

std::string line_of(const Find& find) {
  Buffer out;
  RequestWriter(out).find(1, find);
  return std::string(out.view());
}

TEST(RequestWriter, ShortestForm) {
  EXPECT_EQ(line_of({.key = key}), "1\t=\t1\tk\n");
  EXPECT_EQ(line_of({.key = key, .limit = 5}), "1\t=\t1\tk\t5\n");
  EXPECT_EQ(line_of({.key = key, .offset = 5}), "1\t=\t1\tk\t1\t5\n");
  EXPECT_EQ(line_of({.comparison = Comparison::less_equal, .key = key}), "1\t<=\t1\tk\n");
}

TEST(RequestWriter, Clauses) {
  const std::vector<Value> values{{"a", false}, {"", true}, {"", false}};
  const std::vector<Filter> filters{
      {FilterKind::skip, Comparison::not_equal, 0, {"x", false}},
      {FilterKind::stop, Comparison::less, 1, {"", true}},
  };
  EXPECT_EQ(line_of({.key = key, .in = {.key_part = 0, .values = values}}),
            "1\t=\t1\tk\t1\t0\t@\t0\t3\ta\t\0\t\n"sv);
  EXPECT_EQ(line_of({.key = key, .filters = filters}),
            "1\t=\t1\tk\t1\t0\tF\t!=\t0\tx\tW\t<\t1\t\0\n"sv);
  EXPECT_EQ(line_of({.key = key, .modification = Modification::erase}), "1\t=\t1\tk\t1\t0\tD\n");
  EXPECT_EQ(line_of({.key = key,
                     .modification = Modification::increment,
                     .rows_before = true,
                     .values = key}),
            "1\t=\t1\tk\t1\t0\t+?\tk\n");
}

TEST(RequestWriter, OtherRequests) {
  Buffer out;
  RequestWriter writer(out);
  EXPECT_TRUE(writer.open_index(3, {"db", "t", "", "a,b", ""}));
  EXPECT_TRUE(writer.open_index(4, {"db", "t", "i", "a", "f"}));
  writer.insert(3, {.values = key});
  writer.auth({.secret = "a\tb"});
  EXPECT_EQ(out.view(),
            "P\t3\tdb\tt\t\ta,b\n"
            "P\t4\tdb\tt\ti\ta\tf\n"
            "3\t+\t1\tk\n"
            "A\t1\ta\x01\x49"
            "b\n");
}

// A name cannot be escaped: one with a TAB or LF would smuggle tokens or requests in.
TEST(RequestWriter, RefusesNamesThatEndTheirToken) {
  Buffer out;
  RequestWriter writer(out);
  for (const std::string_view name : {"a\tb", "a\nb", "a\r"}) {
    for (std::string_view OpenIndex::*place :
         {&OpenIndex::database, &OpenIndex::table, &OpenIndex::index, &OpenIndex::columns,
          &OpenIndex::filter_columns}) {
      OpenIndex open;
      open.*place = name;
      EXPECT_FALSE(writer.open_index(1, open));
    }
  }
  EXPECT_TRUE(out.empty());
}

// Requests of every shape, from a seed that a failure names.
class RandomRequest {
 public:
  explicit RandomRequest(unsigned seed) : random_(seed) {}

  Request make() {
    Request request;
    request.index_id = number();
    switch (random_() % 5) {
      case 0:
        request.kind = Kind::open_index;
        request.open_index = {name(), name(), name(), name(), name()};
        break;
      case 1:
        request.kind = Kind::insert;
        request.insert.values = values(1);
        break;
      case 2:
        request.kind = Kind::auth;
        request.index_id = 0;
        request.auth.secret = bytes();
        break;
      default: request.find = find();
    }
    return request;
  }

 private:
  Find find() {
    Find find;
    find.comparison = static_cast<Comparison>(random_() % 5);
    find.key = values(1);
    if (random_() % 2 == 0) find.limit = 1 + number() / 2;
    if (random_() % 2 == 0) find.offset = number();
    if (random_() % 3 == 0) {
      find.in = {static_cast<std::uint32_t>(random_() % find.key.size()), values(1)};
    }
    std::vector<Filter>& filters = filters_.emplace_back();
    while (random_() % 2 == 0) {
      filters.push_back({static_cast<FilterKind>(random_() % 2),
                         static_cast<Comparison>(random_() % 6),
                         static_cast<std::uint32_t>(random_()), value()});
    }
    find.filters = filters;
    if (random_() % 2 == 0) {
      find.modification = static_cast<Modification>(1 + random_() % 4);
      find.rows_before = random_() % 2 == 0;
      if (find.modification != Modification::erase) find.values = values(0);
    }
    return find;
  }
  std::span<const Value> values(std::size_t least) {
    std::vector<Value>& values = values_.emplace_back();
    const std::size_t count = least + random_() % 6;
    while (values.size() < count) values.push_back(value());
    return values;
  }
  Value value() {
    if (random_() % 6 == 0) return {.bytes = {}, .null = true};
    return {.bytes = bytes(), .null = false};
  }
  std::string_view bytes() {
    const unsigned special_in = random_() % 2 == 0 ? 1000 : 4;
    std::string& text = strings_.emplace_back(random_() % 40, '\0');
    for (char& byte : text) {
      byte = static_cast<char>(random_() % special_in == 0 ? random_() % 16 : random_());
    }
    return text;
  }
  std::string_view name() {
    std::string& text = strings_.emplace_back(random_() % 10, '\0');
    for (char& byte : text) byte = static_cast<char>('a' + random_() % 26);
    return text;
  }
  std::uint64_t number() {
    const std::uint64_t any = std::uint64_t{random_()} << 32 | random_();
    return random_() % 4 == 0 ? std::numeric_limits<std::uint64_t>::max() : any >> random_() % 64;
  }

  std::mt19937 random_;
  // What the requests' views point into: nodes that never move.
  std::deque<std::string> strings_;
  std::deque<std::vector<Value>> values_;
  std::deque<std::vector<Filter>> filters_;
};

TEST(RequestWriter, ParserReadsBackWhatWasWritten) {
  Parser parser;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    RandomRequest random(seed);
    const Request request = random.make();
    Buffer out;
    RequestWriter writer(out);
    switch (request.kind) {
      case Kind::open_index:
        ASSERT_TRUE(writer.open_index(request.index_id, request.open_index));
        break;
      case Kind::find: writer.find(request.index_id, request.find); break;
      case Kind::insert: writer.insert(request.index_id, request.insert); break;
      case Kind::auth: writer.auth(request.auth); break;
    }
    const std::string_view line = out.view();
    ASSERT_EQ(line.find('\n'), line.size() - 1) << "seed " << seed;
    Request read;
    const Status status = parser.parse(line.substr(0, line.size() - 1), read);
    if (read.kind == Kind::auth) read.index_id = 0;
    ASSERT_EQ(describe(status, read), describe(request)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace hs::protocol
