#include "store/look_ahead.h"

#include <gtest/gtest.h>

#include <string>

#include "handlersocket/session/test_scripted_store.h"

namespace hs::handlersocket {
namespace {

std::string find(int key) { return "1\t=\t1\t" + std::to_string(key) + "\n"; }

class LookingAhead : public PassOfSeveral {
 protected:
  LookingAhead() { config_.looks_ahead = true; }
};

TEST_F(LookingAhead, TheStoreIsToldOfTheFindsOfATurn) {
  open(1);
  run({find(7) + find(8)});
  EXPECT_EQ(store_.calls, "begin expect:7,|8,| find find expect: end release ");
}

TEST_F(LookingAhead, ItIsToldOfTheFindsOfOtherConnections) {
  open(3);
  run({find(7), find(8), find(9)});
  EXPECT_EQ(store_.calls, "begin expect:7,|8,|9,| find find find expect: end release ");
}

TEST_F(LookingAhead, ItIsToldOfSoManyAtATime) {
  open(1);
  std::string input;
  for (int key = 0; key < 20; ++key) input += find(key);
  run({input});
  EXPECT_NE(store_.calls.find("expect:0,|1,|2,|3,|4,|5,|6,|7,|8,|9,|10,|11,|12,|13,|14,|15,| "),
            std::string::npos);
  EXPECT_NE(store_.calls.find("expect:16,|17,|18,|19,| "), std::string::npos);
}

// Before it writes, the pass gives back the input of those that are over.
TEST_F(LookingAhead, NothingIsExpectedWhenTheReadsAreOver) {
  open(2);
  store_.outcome = store::Verdict::oversized;
  store_.times = 1;
  run({find(7) + find(8), find(9)});
  EXPECT_EQ(store_.calls, "begin expect:7,|8,|9,| find find expect: end release ");
}

// What comes behind another request may have another meaning when that is done.
TEST_F(LookingAhead, ItEndsAtARequestOfAnotherKind) {
  open(2);
  run({find(7) + find(8) + "1\t>\t1\t1\n" + find(5) + find(6), find(9)});
  EXPECT_EQ(store_.calls,
            "begin expect:7,|8,| find find expect: find expect:5,|6,|9,| find find find expect: "
            "end release ");
}

TEST_F(LookingAhead, OfOneFindAloneNothingIsSaid) {
  open(2);
  run({find(7), "1\t>\t1\t1\n"});
  EXPECT_EQ(store_.calls, "begin find find end release ");
}

TEST_F(LookingAhead, AnIndexThatIsNotOpenIsNotNamed) {
  open(1);
  run({find(7) + "2\t=\t1\t8\n" + find(9)});
  EXPECT_EQ(store_.calls, "begin find find end release ");
}

TEST_F(LookingAhead, APassThatIsExecutedAgainLooksAgain) {
  open(1);
  store_.outcome = store::Verdict::broken;
  store_.times = 1;
  run({find(7) + find(8)});
  EXPECT_EQ(store_.calls,
            "begin expect:7,|8,| find abandon begin-alone expect:7,|8,| find find "
            "expect: end release ");
}

TEST_F(LookingAhead, SoManyRequestsArePassedOverAsTheStoreSays) {
  open(1);
  store_.without_look = 2;
  run({find(6) + find(7) + find(8) + find(9)});
  EXPECT_EQ(store_.calls, "begin find find expect:8,|9,| find find expect: end release ");
}

TEST_F(LookingAhead, WithoutTheSettingNothingIsSaid) {
  open(1);
  config_.looks_ahead = false;
  run({find(7) + find(8)});
  EXPECT_EQ(store_.calls, "begin look-no-more find find end release ");
}

}  // namespace
}  // namespace hs::handlersocket
