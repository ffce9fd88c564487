// Single replies are in the test vectors (vectors_test.cc). These are streams and random replies.
#include "handlersocket/protocol/reply_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "handlersocket/protocol/reply.h"
#include "handlersocket/protocol/test_describe.h"
#include "handlersocket/protocol/test_values_row.h"

namespace hs::handlersocket {
namespace {

using Result = ReplySplitter::Result;

constexpr std::size_t plenty = 1 << 20;

std::vector<std::string> lines_of(ReplySplitter& splitter) {
  std::vector<std::string> lines;
  std::string_view line;
  while (splitter.next(line) == Result::line) lines.emplace_back(line);
  return lines;
}

TEST(ReplySplitter, CutsLines) {
  ReplySplitter splitter(plenty);
  std::string_view line;
  EXPECT_EQ(splitter.next(line), Result::incomplete);
  splitter.append("0\t1\n\n2\t1\tcmd\n0\t");
  EXPECT_EQ(lines_of(splitter), (std::vector<std::string>{"0\t1", "", "2\t1\tcmd"}));
  EXPECT_EQ(splitter.pending(), 2U);
  splitter.append("2");
  EXPECT_EQ(splitter.next(line), Result::incomplete);
  splitter.append("\n");
  EXPECT_EQ(lines_of(splitter), std::vector<std::string>{"0\t2"});
  EXPECT_EQ(splitter.pending(), 0U);
}

// The lines of a stream are the same, however it is delivered.
TEST(ReplySplitter, CutsAnyDeliveryAlike) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> expected;
    std::string stream;
    for (int reply = 0; reply < 50; ++reply) {
      expected.emplace_back(random() % 8 == 0 ? random() % 2000 : random() % 20, 'x');
      stream += expected.back() + "\n";
    }
    ReplySplitter splitter(plenty);
    std::vector<std::string> lines;
    const std::size_t most = 1 + random() % 700;
    for (std::size_t begin = 0; begin < stream.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random() % most, stream.size() - begin);
      std::memcpy(splitter.reserve(count), stream.data() + begin, count);
      splitter.advance(count);
      begin += count;
      // A client need not read a reply each time that bytes come.
      if (random() % 3 == 0) continue;
      std::string_view line;
      for (std::size_t taken = random() % 30; taken > 0; --taken) {
        if (splitter.next(line) != Result::line) break;
        lines.emplace_back(line);
      }
    }
    for (const std::string& line : lines_of(splitter)) lines.push_back(line);
    ASSERT_EQ(lines, expected) << "round " << round;
  }
}

TEST(ReplySplitter, RefusesWhatIsTooLong) {
  std::string_view line;
  ReplySplitter whole(4);
  whole.append("1234\n12345\n");
  EXPECT_EQ(whole.next(line), Result::line);
  EXPECT_EQ(whole.next(line), Result::oversized);
  EXPECT_EQ(whole.next(line), Result::oversized);
  ReplySplitter endless(4);
  endless.append("1234");
  EXPECT_EQ(endless.next(line), Result::incomplete);
  endless.append("5");
  EXPECT_EQ(endless.next(line), Result::oversized);
}

// Numbers of 32 bits are enough. The protocol has no limit for them.
TEST(ReplyReader, RefusesGreaterNumbers) {
  ReplyReader reader;
  Reply reply;
  EXPECT_TRUE(reader.read("4294967295\t4294967295", reply));
  EXPECT_FALSE(reader.read("4294967296\t1", reply));
  EXPECT_FALSE(reader.read("0\t4294967296", reply));
}

TEST(ReplyReader, ReadsBackWhatReplyWriterWrote) {
  std::mt19937 random(5);
  ReplyReader reader;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> strings(random() % 20);
    for (std::string& text : strings) {
      text.resize(random() % 40);
      for (char& byte : text) {
        byte = static_cast<char>(random() % 5 == 0 ? random() % 16 : random());
      }
    }
    Buffer out;
    ReplyWriter writer(out);
    writer.begin_rows(1);
    std::vector<Value> values;
    for (const std::string& text : strings) {
      const bool null = random() % 4 == 0;
      values.push_back({null ? std::string_view{} : text, null});
    }
    append_values(values, out);
    writer.end_rows();

    ReplySplitter splitter(plenty);
    splitter.append(out.view());
    std::string_view line;
    ASSERT_EQ(splitter.next(line), Result::line);
    Reply reply;
    ASSERT_TRUE(reader.read(line, reply));
    ASSERT_EQ(describe(reply.values), describe(values));
    ASSERT_EQ(splitter.pending(), 0U);
  }
}

}  // namespace
}  // namespace hs::handlersocket
