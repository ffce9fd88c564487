// check(): what lines mean, as a table. For the tests of the parser only.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "protocol/describe.h"
#include "protocol/parser.h"

namespace hs::protocol {

struct Case {
  std::string_view line;
  std::string_view expected;  // see describe()
};

// All lines go through one parser, as a worker's do.
inline void check(std::initializer_list<Case> cases) {
  Parser parser;
  for (const Case& each : cases) {
    Request request;
    const Status status = parser.parse(each.line, request);
    EXPECT_EQ(describe(status, request), each.expected) << describe(each.line);
  }
}

}  // namespace hs::protocol
