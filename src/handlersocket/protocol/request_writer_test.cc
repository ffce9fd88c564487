// What is written of each request is in the test vectors (vectors_test.cc). These are random
// requests.
#include "handlersocket/protocol/request_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "handlersocket/protocol/parser.h"
#include "handlersocket/protocol/test_describe.h"
#include "handlersocket/protocol/test_written.h"

namespace hs::handlersocket {
namespace {

using store::AssignKind;
using store::Comparison;
using store::Filter;
using store::IndexNames;
using store::Selection;

// A name cannot be escaped. With a TAB or LF in a name, a client could insert tokens or requests.
TEST(RequestWriter, RefusesNamesThatEndTheirToken) {
  Buffer out;
  RequestWriter writer(out);
  for (const std::string_view name : {"a\tb", "a\nb", "a\r"}) {
    for (std::string_view IndexNames::*place :
         {&IndexNames::database, &IndexNames::table, &IndexNames::index, &IndexNames::columns,
          &IndexNames::filter_columns}) {
      IndexNames names;
      names.*place = name;
      EXPECT_FALSE(writer.open_index(1, names));
    }
  }
  EXPECT_TRUE(out.empty());
}

// Requests of every form, from a seed that a failure names.
class RandomRequest {
 public:
  explicit RandomRequest(unsigned seed) : random_(seed) {}

  Request make() {
    Request request;
    request.index_id = number();
    switch (random_() % 8) {
      case 0:
        request.kind = Kind::open_index;
        request.names = {name(), name(), name(), name(), name()};
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
      case 3:
        request.kind = Kind::insert_rows;
        request.insert_rows = insert_rows();
        break;
      case 4:
        request.kind = Kind::list;
        request.listed = static_cast<Listed>(random_() % 3);
        if (request.listed != Listed::databases) request.names.database = name();
        if (request.listed == Listed::indexes) request.names.table = name();
        break;
      case 5:
        request.kind = Kind::echo;
        request.echoed = value();
        break;
      default:
        request.selection = selection();
        if (random_() % 2 == 0) break;
        request.kind = Kind::modify;
        request.change = change();
    }
    return request;
  }

 private:
  store::Change change() {
    store::Change change{.kind = static_cast<store::ChangeKind>(random_() % 5)};
    change.rows_before = random_() % 3 == 0;
    change.rows_after = !change.rows_before && !change.erases() && random_() % 2 == 0;
    if (change.assigns()) {
      change.assignments = assignments();
    } else if (!change.erases()) {
      change.values = values(0);
    }
    return change;
  }
  // Of a modification: none names what an insert would give.
  std::span<const store::Assignment> assignments() {
    static constexpr std::array kinds{
        AssignKind::set,      AssignKind::set_default, AssignKind::set_now, AssignKind::add,
        AssignKind::subtract, AssignKind::append,      AssignKind::prepend, AssignKind::at_least,
        AssignKind::at_most,  AssignKind::bit_and,     AssignKind::bit_or,  AssignKind::bit_xor};
    std::vector<store::Assignment>& assignments = assignments_.emplace_back();
    do {
      store::Assignment& one = assignments.emplace_back();
      one = {static_cast<std::uint32_t>(random_()), kinds[random_() % kinds.size()], value()};
      const bool may_have_bounds = one.kind == AssignKind::add || one.kind == AssignKind::subtract;
      if (!may_have_bounds || random_() % 2 == 0) continue;
      one.bounds = values_.emplace_back(std::vector{value(), value()});
    } while (random_() % 2 == 0);
    return assignments;
  }
  Selection selection() {
    Selection selection;
    selection.range = store::range_of(static_cast<Comparison>(random_() % 5));
    selection.key = values(1);
    if (random_() % 2 == 0) selection.limit = 1 + number() / 2;
    if (random_() % 2 == 0) selection.offset = number();
    if (random_() % 3 == 0) {
      selection.in = {static_cast<std::uint32_t>(random_() % selection.key.size()), values(1)};
    }
    selection.filters = filters(2);
    return selection;
  }
  std::span<const Filter> filters(unsigned kinds) {
    std::vector<Filter>& filters = filters_.emplace_back();
    while (random_() % 2 == 0) {
      filters.push_back({static_cast<store::FilterKind>(random_() % kinds),
                         static_cast<Comparison>(random_() % 6),
                         static_cast<std::uint32_t>(random_()), value()});
    }
    return filters;
  }
  store::InsertRows insert_rows() {
    store::InsertRows rows{.columns = 1 + random_() % 3,
                           .on_duplicate = static_cast<store::OnDuplicate>(random_() % 4)};
    std::vector<Value>& values = values_.emplace_back();
    for (std::size_t left = rows.columns * (1 + random_() % 3); left != 0; --left)
      values.push_back(value());
    rows.values = values;
    if (!rows.updates()) return rows;
    rows.assignments = assignments();
    assignments_.back().push_back({.column = 1, .kind = AssignKind::set_new, .value = value()});
    rows.assignments = assignments_.back();
    rows.condition = filters(1);
    return rows;
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
  // The requests' views point into these: nodes that never move.
  std::deque<std::string> strings_;
  std::deque<std::vector<Value>> values_;
  std::deque<std::vector<Filter>> filters_;
  std::deque<std::vector<store::Assignment>> assignments_;
};

TEST(RequestWriter, ParserReadsBackWhatWasWritten) {
  Parser parser;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    RandomRequest random(seed);
    const Request request = random.make();
    const std::string line = written(request);
    ASSERT_EQ(line.find('\n'), line.size() - 1) << "seed " << seed;
    Request read;
    const Status status = parser.parse(std::string_view(line).substr(0, line.size() - 1), read);
    if (read.kind == Kind::auth) read.index_id = 0;
    ASSERT_EQ(describe(status, read), describe(request)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace hs::handlersocket
