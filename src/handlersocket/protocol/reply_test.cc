#include "handlersocket/protocol/reply.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "handlersocket/protocol/errors.h"

namespace hs::handlersocket {
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
  EXPECT_EQ(written([](auto& reply) { reply.error(Status(Error::duplicate_key, 121)); }),
            "1\t1\t121\n");
  EXPECT_EQ(written([](auto& reply) { reply.error(Status(Error::check_failed, 4025)); }),
            "1\t1\t4025\n");
}

// Clients of HandlerSocket know these by their numbers, also if no server has raised them.
TEST(ReplyWriter, KindsWithoutAWordAreNumbers) {
  const auto number_of = [](Error kind) {
    const std::string reply = written([&](auto& writer) { writer.error(kind); });
    EXPECT_TRUE(reply.starts_with("1\t1\t")) << reply;
    return reply.substr(4, reply.size() - 5);
  };
  EXPECT_EQ(number_of(Error::duplicate_key), "121");
  EXPECT_EQ(number_of(Error::row_locked), "146");
  EXPECT_EQ(number_of(Error::deadlock), "149");
  EXPECT_EQ(number_of(Error::wrong_log_in), "1045");
  EXPECT_EQ(number_of(Error::null_not_allowed), "1048");
  EXPECT_EQ(number_of(Error::denied), "1142");
  EXPECT_EQ(number_of(Error::commit_failed), "1180");
  EXPECT_EQ(number_of(Error::table_locked), "1205");
  EXPECT_EQ(number_of(Error::not_supported), "1235");
  EXPECT_EQ(number_of(Error::out_of_range), "1264");
  EXPECT_EQ(number_of(Error::killed), "1317");
  EXPECT_EQ(number_of(Error::wrong_value), "1366");
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
}  // namespace hs::handlersocket
