// The test vectors in tests/vectors: what they say about bytes holds for the parser, for both
// writers and for the reader of replies. tests/vectors/README.md explains their format.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/escape.h"
#include "handlersocket/protocol/parser.h"
#include "handlersocket/protocol/reply.h"
#include "handlersocket/protocol/reply_reader.h"
#include "handlersocket/protocol/request_writer.h"
#include "handlersocket/protocol/test_describe.h"
#include "handlersocket/protocol/test_values_row.h"
#include "handlersocket/protocol/test_written.h"
#include "protocol_vectors.h"

namespace hs::handlersocket {
namespace {

using vectors::Lines;

std::string_view without_lf(std::string_view line) {
  EXPECT_TRUE(line.ends_with('\n'));
  return line.substr(0, line.size() - 1);
}

// All lines go through one parser, as in a worker.
void parse(std::span<const vectors::RequestVector> requests) {
  Parser parser;
  for (const vectors::RequestVector& vector : requests) {
    for (const Lines* lines : {&vector.writes, &vector.accepts}) {
      for (const std::string_view line : *lines) {
        Request request;
        const Status status = parser.parse(without_lf(line), request);
        EXPECT_EQ(describe(status, request), describe(vector.request))
            << vector.why << ": " << describe(line);
      }
    }
  }
}

// Of the forms that a client may write, ours is the shortest.
void write(std::span<const vectors::RequestVector> requests) {
  for (const vectors::RequestVector& vector : requests) {
    if (vector.writes.empty()) continue;
    EXPECT_EQ(describe(written(vector.request)), describe(vector.writes.front())) << vector.why;
  }
}

TEST(Vectors, RequestsAreParsed) { parse(vectors::requests); }
TEST(Vectors, RequestsAreWritten) { write(vectors::requests); }
TEST(Vectors, NewRequestsAreParsed) { parse(vectors::new_requests); }
TEST(Vectors, NewRequestsAreWritten) { write(vectors::new_requests); }

TEST(Vectors, MalformedRequestsAreErrors) {
  Parser parser;
  for (const vectors::MalformedVector& vector : vectors::malformed) {
    for (const std::string_view line : vector.lines) {
      Request request;
      const Status status = parser.parse(without_lf(line), request);
      EXPECT_EQ(describe(status, request), "error " + std::string(vector.text))
          << vector.why << ": " << describe(line);
      EXPECT_EQ(reply_of(status).code, vector.code) << describe(line);
    }
  }
}

TEST(Vectors, Values) {
  ReplyReader reader;
  Reply reply;
  const auto read = [&](std::string_view token) {
    return reader.read("0\t1\t" + std::string(token), reply) ? describe(reply.values[0]) : "none";
  };
  for (const vectors::ValueVector& vector : vectors::values) {
    Buffer out;
    if (vector.is_wrong) {
      out.append("before");
      EXPECT_FALSE(append_unescaped(out, vector.token)) << vector.why;
      EXPECT_EQ(out.view(), "before");
      EXPECT_EQ(read(vector.token), "none");
      continue;
    }
    const Value& value = vector.value;
    EXPECT_EQ(read(vector.token), describe(value)) << vector.why;
    for (const std::string_view token : vector.accepts) {
      EXPECT_EQ(read(token), describe(value)) << vector.why;
    }
    if (value.null) continue;
    append_escaped(out, value.bytes);
    EXPECT_EQ(describe(out.view()), describe(vector.token)) << vector.why;
  }
}

void read(std::span<const vectors::ReplyVector> replies) {
  ReplyReader reader;
  Reply reply;
  for (const vectors::ReplyVector& vector : replies) {
    // What a reply without rows must contain, only the client knows.
    if (vector.no_reply && vector.to != "find") continue;
    ASSERT_EQ(reader.read(without_lf(vector.line), reply), !vector.no_reply) << vector.why;
    if (vector.no_reply) continue;
    EXPECT_EQ(reply.code, vector.code) << vector.why;
    EXPECT_EQ(reply.ok(), vector.code == 0) << vector.why;
    EXPECT_EQ(reply.columns, vector.columns) << vector.why;
    EXPECT_EQ(describe(reply.values), describe(vector.values)) << vector.why;
    if (!reply.ok()) {
      EXPECT_EQ(reply.error(), vector.values.empty() ? "" : vector.values[0].bytes) << vector.why;
    }
    if (reply.columns == 0) continue;
    EXPECT_EQ(reply.rows(), vector.values.size() / reply.columns) << vector.why;
    for (std::size_t row = 0; row < reply.rows(); ++row) {
      EXPECT_EQ(reply.row(row).data(), reply.values.data() + row * reply.columns);
    }
  }
}

TEST(Vectors, RepliesAreRead) { read(vectors::replies); }
TEST(Vectors, NewRepliesAreRead) { read(vectors::new_replies); }

void write(std::span<const vectors::ReplyVector> replies) {
  for (const vectors::ReplyVector& vector : replies) {
    if (vector.no_reply || vector.code != 0) continue;
    Buffer out;
    ReplyWriter writer(out);
    writer.begin_rows(vector.columns);
    append_values(vector.values, out);
    writer.end_rows();
    EXPECT_EQ(describe(out.view()), describe(vector.line)) << vector.why;
  }
}

TEST(Vectors, RepliesAreWritten) { write(vectors::replies); }
TEST(Vectors, NewRepliesAreWritten) { write(vectors::new_replies); }

// Whole, and in two pieces cut at every byte.
TEST(Vectors, StreamsAreCutIntoReplies) {
  for (const vectors::StreamVector& vector : vectors::streams) {
    for (std::size_t cut = 0; cut < vector.stream.size(); ++cut) {
      ReplySplitter splitter(1000);
      std::vector<std::string> lines;
      const std::string_view stream = vector.stream;
      for (const std::string_view piece : {stream.substr(0, cut), stream.substr(cut)}) {
        splitter.append(piece);
        std::string_view line;
        while (splitter.next(line) == ReplySplitter::Result::line) {
          lines.push_back(std::string(line) + "\n");
        }
      }
      EXPECT_TRUE(std::ranges::equal(lines, vector.lines)) << vector.why << ", cut at " << cut;
      EXPECT_EQ(splitter.pending(), vector.rest.size()) << vector.why;
    }
  }
}

}  // namespace
}  // namespace hs::handlersocket
