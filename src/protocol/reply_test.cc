#include "protocol/reply.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace hs::protocol {
namespace {

using namespace std::string_literals;

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
}

TEST(ReplyWriter, EveryErrorOfTheTable) {
  for (const ErrorInfo& info : error_table) {
    if (info.error == Error::none || info.error == Error::server) continue;
    EXPECT_EQ(written([&](auto& reply) { reply.error(info.error); }),
              std::to_string(info.code) + "\t1\t" + std::string(info.text) + "\n");
  }
  EXPECT_EQ(written([](auto& reply) { reply.error(Error::klen); }), "2\t1\tklen\n");
}

TEST(ReplyWriter, ServerErrorsAreNumbers) {
  EXPECT_EQ(written([](auto& reply) { reply.error(Status::server(121)); }), "1\t1\t121\n");
  EXPECT_EQ(written([](auto& reply) { reply.error(Status::server(4025)); }), "1\t1\t4025\n");
}

// Each writer of a value reserves its own room.
TEST(ReplyWriter, GrowsAnywhere) {
  for (std::size_t filled = 240; filled < 270; ++filled) {
    const std::string row = written([&](auto& reply) {
      reply.plain(std::string(filled, 'x'));
      reply.null();
      reply.text("text");
      reply.end_rows();
    });
    EXPECT_EQ(row, "\t" + std::string(filled, 'x') + "\t\0\ttext\n"s);
  }
}

}  // namespace
}  // namespace hs::protocol
