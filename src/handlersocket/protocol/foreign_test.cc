#include "handlersocket/protocol/foreign.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol_vectors.h"

namespace hs::handlersocket {
namespace {

using std::string_literals::operator""s;

TEST(ForeignProtocol, IsKnownByItsBeginning) {
  EXPECT_EQ(foreign_protocol("GET / HTTP/1.1\r\nHost: db:9998\r\n\r\n"), "HTTP");
  EXPECT_EQ(foreign_protocol("POST /a%20b?x=1 HTTP/1.0\n"), "HTTP");
  EXPECT_EQ(foreign_protocol("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "HTTP");
  EXPECT_EQ(foreign_protocol("*1\r\n$4\r\nPING\r\n"), "the protocol of Redis");
  EXPECT_EQ(foreign_protocol("*12\r\n"), "the protocol of Redis");
  EXPECT_EQ(foreign_protocol("\0\0\0\x08\x04\xd2\x16\x2f"s), "the protocol of PostgreSQL");
  EXPECT_EQ(foreign_protocol("\0\0\0\x22\0\3\0\0user\0me\0"s), "the protocol of PostgreSQL");
  EXPECT_EQ(foreign_protocol("\1\0\0\0\1"s), "the X protocol of MySQL");
  EXPECT_EQ(foreign_protocol("\x16\3\1\2\0\1"s), "TLS, which is switched off,");
}

TEST(ForeignProtocol, NeedsItsWholeFirstLine) {
  const std::string request = "GET /a HTTP/1.1\r\n";
  for (std::size_t size = 0; size < request.size(); ++size)
    EXPECT_EQ(foreign_protocol(request.substr(0, size)), "") << size;
  const std::string redis = "*10\r\n";
  for (std::size_t size = 0; size < redis.size(); ++size)
    EXPECT_EQ(foreign_protocol(redis.substr(0, size)), "") << size;
  EXPECT_EQ(foreign_protocol("GET /" + std::string(8000, 'a') + " HTTP/1.1\n"), "HTTP");
  EXPECT_EQ(foreign_protocol("GET /" + std::string(9000, 'a') + " HTTP/1.1\n"), "");
}

TEST(ForeignProtocol, IsNoneOfTheVectors) {
  const auto expect_none = [](vectors::Lines lines) {
    for (const std::string_view line : lines) EXPECT_EQ(foreign_protocol(line), "") << line;
  };
  for (const vectors::RequestVector& vector : vectors::requests) {
    expect_none(vector.writes);
    expect_none(vector.accepts);
  }
  for (const vectors::MalformedVector& vector : vectors::malformed) expect_none(vector.lines);
}

TEST(ForeignProtocol, IsNothingThatSomebodyMayHaveMeant) {
  for (const char* line :
       {"P\t1\tdb\tt\tPRIMARY\tid\n", "A\t1\tHTTP/1.1\n", "1\t=\t1\t42\n", "?\n", "\n", "*\n",
        "*\t3\r\n", "*3\n", "*3\r\nPING\r\n", "PING\r\n", "GET key\r\n", "get HTTP/1.1\n",
        " HTTP/1.1\n", "GET HTTP/1.1\n", "HELP\n"}) {
    EXPECT_EQ(foreign_protocol(line), "") << line;
  }
  EXPECT_EQ(foreign_protocol("\0\n"s), "");
  EXPECT_EQ(foreign_protocol("\0\0\0\x08\0\0\0\0"s), "");
  EXPECT_EQ(foreign_protocol("\1@\n"), "");
}

}  // namespace
}  // namespace hs::handlersocket
