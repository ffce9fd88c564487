#include "handlersocket/protocol/reply.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "handlersocket/protocol/errors.h"

namespace hs::protocol {
namespace {

std::string written(const std::function<void(ReplyWriter&)>& write) {
  Buffer out;
  ReplyWriter writer(out);
  write(writer);
  return std::string(out.view());
}

TEST(ReplyWriter, Success) {
  EXPECT_EQ(written([](auto& reply) { reply.ok(); }), "0\t1\n");
  EXPECT_EQ(written([](auto& reply) { reply.ok(0); }), "0\t1\t0\n");
  constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(written([](auto& reply) { reply.ok(greatest); }), "0\t1\t18446744073709551615\n");
  EXPECT_EQ(written([](auto& reply) { reply.inserted(7, false); }), "0\t1\t7\n");
  EXPECT_EQ(written([](auto& reply) { reply.inserted(7, true); }), "0\t1\t-7\n");
}

TEST(ReplyWriter, EveryErrorOfTheTables) {
  const auto check = [](Status status, unsigned code, std::string_view text) {
    if (text.empty()) return;
    EXPECT_EQ(written([&](auto& reply) { reply.error(status); }),
              std::to_string(code) + "\t1\t" + std::string(text) + "\n");
  };
  for (const auto& info : error_table) check(info.error, info.code, info.text);
  for (const auto& info : mistake_table) check(status_of(info.error), info.code, info.text);
  check(status_of(Mistake::klen), 2, "klen");
  check(Error::no_table, 1, "open_table");
}

TEST(ReplyWriter, ServerErrorsAreNumbers) {
  EXPECT_EQ(written([](auto& reply) { reply.error(Status::server(121)); }), "1\t1\t121\n");
  EXPECT_EQ(written([](auto& reply) { reply.error(Status::server(4025)); }), "1\t1\t4025\n");
}

TEST(ReplyWriter, BeginsAndEndsRows) {
  for (const std::uint32_t columns : {0U, 9U, 10U, 4096U}) {
    const std::string reply = written([&](auto& writer) {
      writer.begin_rows(columns);
      writer.end_rows();
    });
    EXPECT_EQ(reply, "0\t" + std::to_string(columns) + "\n");
  }
}

}  // namespace
}  // namespace hs::protocol
