#include "load/strange_server.h"

#include <gtest/gtest.h>

#include <string>

namespace hs::bench {
namespace {

using std::string_literals::operator""s;

TEST(StrangeServer, IsAServerOfSql) {
  const std::string greeting = "\x64\0\0\0\n10.11.14-MariaDB\0abc"s;
  const std::string words =
      "this is a port of SQL, which begins with \"10.11.14-MariaDB\": give the port of the "
      "protocol "
      "that is to be measured";
  for (const Protocol protocol : {Protocol::handlersocket, Protocol::redis, Protocol::mysqlx})
    EXPECT_EQ(strange_server(greeting, protocol), words);
  const std::string full = "\x17\0\0\0\xff\x10\x04Too many connections"s;
  EXPECT_NE(strange_server(full, Protocol::handlersocket).find("\"Too many connections\""),
            std::string::npos);
  EXPECT_NE(strange_server("\x64\0\0\0\n"s, Protocol::handlersocket), "");
}

TEST(StrangeServer, AnswersOtherwise) {
  EXPECT_EQ(
      strange_server("-ERR unknown command 'P'\r\n", Protocol::handlersocket),
      "the server does not speak the protocol of HandlerSocket: it says \"-ERR unknown command "
      "'P'\"");
  EXPECT_EQ(strange_server("ERROR\r\n", Protocol::memcached), "");
}

TEST(StrangeServer, IsNoneThatAnswers) {
  EXPECT_EQ(strange_server("0\t1\n", Protocol::handlersocket), "");
  EXPECT_EQ(strange_server("2\t1\tcmd\n", Protocol::handlersocket), "");
  EXPECT_EQ(strange_server("+OK\r\n", Protocol::redis), "");
  EXPECT_EQ(strange_server("\x01\0\0\0\x04"s, Protocol::mysqlx), "");
}

}  // namespace
}  // namespace hs::bench
