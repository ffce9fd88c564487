// The prefix that bounds the time of a request.
#include "handlersocket/protocol/within.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace hs::handlersocket {
namespace {

TEST(Within, StandsBeforeARequest) {
  for (const std::string request : {"1\t=\t1\tv", "12\tup\t0", "1\t+\t1\tx", "G\t3", "G\tx", "1"}) {
    for (const auto& [word, ms] : {std::pair("1", 1ULL), std::pair("0100", 100ULL),
                                   std::pair("2147483648", 2147483648ULL)}) {
      const std::string line = std::string("within\t") + word + "\t" + request;
      const Within within = within_of(line);
      EXPECT_EQ(within.ms, ms) << line;
      EXPECT_EQ(within.request, request) << line;
      EXPECT_FALSE(within.hides_group) << line;
    }
  }
}

TEST(Within, IsNothingElse) {
  for (const std::string line : {"",
                                 "w",
                                 "within",
                                 "within\t",
                                 "within\t100",
                                 "within\t100\t",
                                 "within\t100\t\t",
                                 "within\t0\t1\t=\t1\tv",
                                 "within\t\t1\t=\t1\tv",
                                 "within\t-1\t1\t=\t1\tv",
                                 "within\t1.5\t1\t=\t1\tv",
                                 "within\t2147483649\t1\t=\t1\tv",
                                 "within\t99999999999999999999999\t1\t=\t1\tv",
                                 "within \t100\t1\t=\t1\tv",
                                 "Within\t100\t1\t=\t1\tv",
                                 "within\t100\tP\t1\tdb\tt",
                                 "within\t100\tA\t1\tsecret",
                                 "within\t100\tH",
                                 "within\t100\tD\t1",
                                 "within\t100\tsome\t1\t=\t1\tv",
                                 "within\t100\twithin\t100\t1\t=\t1\tv",
                                 "within\t100\tG",
                                 "1\t=\t1\tv",
                                 "G\t3"}) {
    const Within within = within_of(line);
    EXPECT_EQ(within.ms, 0U) << line;
    EXPECT_EQ(within.request, line);
    EXPECT_FALSE(within.hides_group) << line;
  }
}

// Nobody may execute the lines of such a group as if they stood alone.
TEST(Within, AGroupBehindAWrongTimeIsNotOverlooked) {
  for (const std::string line :
       {"within\tG\t3", "within\t\tG\t3", "within\tx\tG\t3", "within\t0\tG\t3",
        "within\t2147483649\tG\t3", "within\t-1\tG\t", "within\t5\twithin\t5\tG\t2",
        "within\t5\tsome\tG\t2", "within\t0\tnone\twithin\tG\t2"}) {
    const Within within = within_of(line);
    EXPECT_EQ(within.ms, 0U) << line;
    EXPECT_TRUE(within.hides_group) << line;
  }
}

}  // namespace
}  // namespace hs::handlersocket
