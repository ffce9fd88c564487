#include "memcached/session/dialogue.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "memcached/protocol/binary_packet.h"
#include "memcached/session/test_containers.h"
#include "store/memory_caller.h"

namespace hs::memcached {
namespace {

class MemcachedDialogueTest : public ::testing::Test {
 protected:
  std::string say(std::string_view bytes) {
    if (client_ == nullptr) {
      server_.start();
      client_ = std::make_unique<TestClient>(server_);
    }
    return client_->send(bytes);
  }
  TestContainers server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(MemcachedDialogueTest, AnItemIsStoredAndFound) {
  EXPECT_EQ(say("get a\r\n"), "END\r\n");
  EXPECT_EQ(say("set a 5 0 3\r\nabc\r\n"), "STORED\r\n");
  EXPECT_EQ(say("get a\r\n"), "VALUE a 5 3\r\nabc\r\nEND\r\n");
  EXPECT_EQ(say("get none a  none a\r\n"), "VALUE a 5 3\r\nabc\r\nVALUE a 5 3\r\nabc\r\nEND\r\n");
  EXPECT_EQ(say("gets a\r\n"), "VALUE a 5 3 1700000000000000\r\nabc\r\nEND\r\n");
  EXPECT_EQ(say("set a 0 0 0\r\n\r\nget a\r\n"), "STORED\r\nVALUE a 0 0\r\n\r\nEND\r\n");
  EXPECT_EQ(say("delete a\r\ndelete a\r\nget a\r\n"), "DELETED\r\nNOT_FOUND\r\nEND\r\n");
}

TEST_F(MemcachedDialogueTest, BytesMayTrickle) {
  std::string replies;
  for (const char byte : std::string("set a 0 0 3\r\na\r\n\r\nget a\r\nmg a v\r\n"))
    replies += say({&byte, 1});
  EXPECT_EQ(replies, "STORED\r\nVALUE a 0 3\r\na\r\n\r\nEND\r\nVA 3\r\na\r\n\r\n");
}

TEST_F(MemcachedDialogueTest, StoresHaveConditions) {
  EXPECT_EQ(say("replace a 0 0 1\r\nx\r\nappend a 0 0 1\r\nx\r\nprepend a 0 0 1\r\nx\r\n"),
            "NOT_STORED\r\nNOT_STORED\r\nNOT_STORED\r\n");
  EXPECT_EQ(say("add a 3 0 1\r\nx\r\nadd a 0 0 1\r\ny\r\n"), "STORED\r\nNOT_STORED\r\n");
  EXPECT_EQ(say("append a 9 9 1\r\ny\r\nprepend a 0 0 1\r\nw\r\nget a\r\n"),
            "STORED\r\nSTORED\r\nVALUE a 3 3\r\nwxy\r\nEND\r\n");
  EXPECT_EQ(say("gets a\r\n"), "VALUE a 3 3 1700000000000002\r\nwxy\r\nEND\r\n");
  EXPECT_EQ(say("cas a 0 0 1 1\r\nz\r\ncas none 0 0 1 1\r\nz\r\n"), "EXISTS\r\nNOT_FOUND\r\n");
  EXPECT_EQ(say("cas a 0 0 1 1700000000000002\r\nz\r\ncas a 0 0 1 1700000000000002\r\nz\r\n"),
            "STORED\r\nEXISTS\r\n");
  EXPECT_EQ(say("replace a 0 0 1\r\nx\r\n"), "STORED\r\n");
}

TEST_F(MemcachedDialogueTest, SumsHave64Bits) {
  EXPECT_EQ(say("incr a 1\r\n"), "NOT_FOUND\r\n");
  EXPECT_EQ(say("set a 7 0 20\r\n18446744073709551615\r\nincr a 2\r\n"), "STORED\r\n1\r\n");
  EXPECT_EQ(say("decr a 5\r\nget a\r\n"), "0\r\nVALUE a 7 1\r\n0\r\nEND\r\n");
  EXPECT_EQ(say("set a 0 0 1\r\nx\r\nincr a 2\r\n"),
            "STORED\r\nCLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
}

TEST_F(MemcachedDialogueTest, ItemsExpire) {
  EXPECT_EQ(say("set a 0 10 1\r\nx\r\nset b 0 -1 1\r\nx\r\nset c 0 1700000005 1\r\nx\r\n"),
            "STORED\r\nSTORED\r\nSTORED\r\n");
  EXPECT_EQ(say("get a b c\r\nmg a t\r\n"),
            "VALUE a 0 1\r\nx\r\nVALUE c 0 1\r\nx\r\nEND\r\nHD t10\r\n");
  TestContainers::now_ms += 5000;
  EXPECT_EQ(say("get a c\r\nmg a t\r\n"), "VALUE a 0 1\r\nx\r\nEND\r\nHD t5\r\n");
  EXPECT_EQ(say("touch a 100\r\ntouch c 1\r\nmg a t c\r\n"),
            "TOUCHED\r\nNOT_FOUND\r\nHD t100 c1700000000000000\r\n");
  EXPECT_EQ(say("gat 0 a c\r\nmg a t\r\n"), "VALUE a 0 1\r\nx\r\nEND\r\nHD t-1\r\n");
  EXPECT_EQ(say("gat -1 a\r\nget a\r\n"), "VALUE a 0 1\r\nx\r\nEND\r\nEND\r\n");
  EXPECT_EQ(say("add c 0 0 1\r\ny\r\nget c\r\n"), "STORED\r\nVALUE c 0 1\r\ny\r\nEND\r\n");
}

TEST_F(MemcachedDialogueTest, NoreplyIsQuiet) {
  EXPECT_EQ(say("set a 0 0 1 noreply\r\n1\r\nincr a 1 noreply\r\nincr a x noreply\r\n"
                "delete none noreply\r\ntouch a 5 noreply\r\nget a\r\n"),
            "VALUE a 0 1\r\n2\r\nEND\r\n");
}

TEST_F(MemcachedDialogueTest, ContainersAreChosenByName) {
  EXPECT_EQ(say("set @@two.k:1 0 0 3\r\nx|y\r\n"), "STORED\r\n");
  EXPECT_EQ(say("get k:1 @@default.k:1\r\n"), "VALUE k:1 0 3\r\nx|y\r\nEND\r\n");
  EXPECT_EQ(say("get k:1\r\n"), "END\r\n");
  EXPECT_EQ(say("get @@two\r\nget k:1\r\n"),
            "VALUE @@two 0 6\r\nhs/two\r\nEND\r\nVALUE k:1 0 3\r\nx|y\r\nEND\r\n");
  EXPECT_EQ(say("set k:1 1 0 1\r\nx\r\n"),
            "CLIENT_ERROR the key's container has no column for flags\r\n");
  EXPECT_EQ(say("set k:1 0 9 1\r\nx\r\n"),
            "CLIENT_ERROR the key's container has no column for the expiry\r\n");
  EXPECT_EQ(say("cas k:1 0 0 1 1\r\nx\r\n"),
            "CLIENT_ERROR the container has no column for cas\r\n");
  EXPECT_EQ(say("get k\r\n"), "CLIENT_ERROR key has too few parts for its index\r\n");
  EXPECT_EQ(say("get @@none.k\r\nset @@two 0 0 1\r\nx\r\n"),
            "CLIENT_ERROR there is no such container\r\n"
            "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(say("set k:1 0 -1 1\r\nx\r\nget k:1\r\n"), "STORED\r\nEND\r\n");
}

TEST_F(MemcachedDialogueTest, RangesOfKeys) {
  for (const char* const key : {"a", "b", "c", "d"})
    EXPECT_EQ(say("set " + std::string(key) + " 0 0 1\r\nx\r\n"), "STORED\r\n");
  say("set c 0 1 1\r\ny\r\n");
  EXPECT_EQ(say("get @>b\r\n"), "VALUE c 0 1\r\ny\r\nVALUE d 0 1\r\nx\r\nEND\r\n");
  TestContainers::now_ms += 2000;
  EXPECT_EQ(say("get @>=b\r\n"), "VALUE b 0 1\r\nx\r\nVALUE d 0 1\r\nx\r\nEND\r\n");
  EXPECT_EQ(say("get @<b @<=b\r\n"),
            "VALUE a 0 1\r\nx\r\nVALUE b 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
  EXPECT_EQ(say("get @>z\r\nmg @>a v\r\n"), "END\r\nEN\r\n");
  say("set @@two.k%3A1:1 0 0 3\r\nx|y\r\n");
  EXPECT_EQ(say("get @>=k:1\r\n"), "VALUE k%3A1:1 0 3\r\nx|y\r\nEND\r\n");
}

TEST_F(MemcachedDialogueTest, MetaCommands) {
  EXPECT_EQ(say("mn\r\nmg a v\r\nmg a v q\r\nmg a k Oz\r\n"), "MN\r\nEN\r\nEN ka Oz\r\n");
  EXPECT_EQ(say("ms a 3 F5 T60 c k s\r\nabc\r\n"), "HD c1700000000000000 ka s3\r\n");
  EXPECT_EQ(say("mg a s v t f c\r\n"), "VA 3 s3 t60 f5 c1700000000000000\r\nabc\r\n");
  EXPECT_EQ(say("ms a 1 C1 k\r\nx\r\nms a 1 ME q\r\nx\r\nms a 1 q\r\nx\r\n"), "EX ka\r\nNS\r\n");
  EXPECT_EQ(say("mg a T100 C1 v t\r\nmg a C1 s\r\n"), "VA 1 t100\r\nx\r\nHD s1\r\n");
  EXPECT_EQ(say("ms YQ== 1 b k\r\ny\r\nmg YQ== b k v\r\n"), "HD kYQ== b\r\nVA 1 kYQ== b\r\ny\r\n");
  EXPECT_EQ(say("ma n N60 J5\r\nma n v t D3\r\nma n MD D9 v\r\n"),
            "HD\r\nVA 1 t60\r\n8\r\nVA 1\r\n0\r\n");
  EXPECT_EQ(say("ms z 1 MA\r\nx\r\nms z 1 MA N9\r\nx\r\nms z 1 MA\r\ny\r\nmg z v t\r\n"),
            "NS\r\nHD\r\nHD\r\nVA 2 t9\r\nxy\r\n");
  EXPECT_EQ(say("ms z 2 MA s\r\nab\r\n"), "HD s4\r\n");
  EXPECT_EQ(say("md z x\r\nmg z v f t\r\nmd z q\r\nmd z\r\n"), "HD\r\nVA 0 f0 t-1\r\n\r\nNF\r\n");
  EXPECT_EQ(say("me a\r\nme none\r\n"),
            "ME a exp=-1 la=0 cas=1700000000000002 fetch=no cls=1 size=1\r\nEN\r\n");
  EXPECT_EQ(say("ms a 1 ME C5\r\nx\r\n"), "NS\r\n");
  EXPECT_EQ(say("mg a t T90\r\nmg a T70 t\r\nma n t T30\r\nma m t N40\r\nma o N40 t\r\n"),
            "HD t-1\r\nHD t70\r\nHD t60\r\nHD t-1\r\nHD t40\r\n");
  EXPECT_EQ(say("md o x T-1\r\nmg o v\r\n"), "HD\r\nEN\r\n");
}

TEST_F(MemcachedDialogueTest, NoValueIsMadeThatNoReplyHolds) {
  server_.max_request_size = std::size_t{100} << 20;
  const std::string half(std::size_t{40} << 20, 'x');
  const std::string bytes = std::to_string(half.size());
  EXPECT_EQ(say("set a 0 0 " + bytes + "\r\n" + half + "\r\n"), "STORED\r\n");
  EXPECT_EQ(say("append a 0 0 " + bytes + "\r\n" + half + "\r\n"),
            "SERVER_ERROR 1153 08S01 The row, the value or the reply is too large\r\n");
  EXPECT_EQ(say("ms a " + bytes + " MP\r\n" + half + "\r\n"),
            "SERVER_ERROR 1153 08S01 The row, the value or the reply is too large\r\n");
  const std::string whole(keys::most_value_bytes + 1, 'x');
  EXPECT_EQ(say("set a 0 0 " + std::to_string(whole.size()) + "\r\n" + whole + "\r\n"),
            "SERVER_ERROR 1153 08S01 The row, the value or the reply is too large\r\n");
  EXPECT_EQ(say("mg a s\r\n"), "HD s" + bytes + "\r\n");
}

TEST_F(MemcachedDialogueTest, TheValueOfARefusedSetIsThrownAway) {
  server_.max_request_size = 10'000;
  const std::string large(20'000, 'x');
  EXPECT_EQ(say("set a 0 0 20000\r\n"), "SERVER_ERROR object too large for cache\r\n");
  EXPECT_EQ(say(large), "");
  EXPECT_EQ(say("\r\nversion\r\n"), "VERSION 1.6.45\r\n");
  EXPECT_EQ(say("set a x 0 3\r\nabc\r\nversion\r\n"),
            "CLIENT_ERROR bad command line format\r\nVERSION 1.6.45\r\n");
}

TEST_F(MemcachedDialogueTest, AGetOfManyKeysGoesOnInLaterTurns) {
  server_.passes.max_pass_steps = 20;
  std::string request = "get";
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key" + std::to_string(i);
    request += " " + key;
    if (i % 3 != 0) continue;
    expected += "VALUE " + key + " 0 1\r\nx\r\n";
    EXPECT_EQ(say("set " + key + " 0 0 1\r\nx\r\n"), "STORED\r\n");
  }
  EXPECT_EQ(say(request + "\r\n"), expected + "END\r\n");
  EXPECT_GT(client_->turns, 5);
  EXPECT_EQ(say("gat 0" + request.substr(3) + "\r\n"), expected + "END\r\n");
}

TEST_F(MemcachedDialogueTest, WhatIsTooLargeForAWorkerIsReadByAStreamer) {
  server_.bounds_of_store.bytes = 1000;
  const std::string value(5000, 'v');
  EXPECT_EQ(say("set a 0 0 5000\r\n" + value + "\r\n"), "STORED\r\n");
  EXPECT_EQ(say("set b 0 0 1\r\nx\r\n"), "STORED\r\n");
  EXPECT_EQ(say("get b a b\r\n"),
            "VALUE b 0 1\r\nx\r\nVALUE a 0 5000\r\n" + value + "\r\nVALUE b 0 1\r\nx\r\nEND\r\n");
}

TEST_F(MemcachedDialogueTest, FlushIsAnOption) {
  EXPECT_EQ(say("set a 0 0 1\r\nx\r\nflush_all\r\n"),
            "STORED\r\nCLIENT_ERROR flush_all not allowed\r\n");
  server_.may_flush = true;
  EXPECT_EQ(say("flush_all 10\r\nflush_all\r\nget a\r\nflush_all noreply\r\n"),
            "CLIENT_ERROR flush_all with a delay is not there\r\nOK\r\nEND\r\n");
}

TEST_F(MemcachedDialogueTest, TheServerTellsOfItself) {
  EXPECT_EQ(say("version\r\nverbosity 1\r\nverbosity 1 noreply\r\nstats reset\r\nstats items\r\n"),
            "VERSION 1.6.45\r\nOK\r\nRESET\r\nEND\r\n");
  EXPECT_EQ(say("stats nothing\r\nstats noreply\r\nshutdown\r\nnothing\r\n"),
            "ERROR\r\nERROR\r\nERROR: shutdown not enabled\r\nERROR\r\n");
  const std::string stats = say("stats\r\n");
  EXPECT_TRUE(stats.starts_with("STAT ") && stats.ends_with("\r\nEND\r\n")) << stats;
  EXPECT_EQ(say("quit\r\nversion\r\n"), "");
  EXPECT_TRUE(client_->closed());
}

TEST_F(MemcachedDialogueTest, AFailedCommitTakesRepliesBack) {
  say("version\r\n");
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  EXPECT_EQ(say("set a 0 0 1\r\nx\r\nset b 0 0 1 noreply\r\nx\r\nget a\r\n"),
            "SERVER_ERROR 1197 HY000 The change is too large for the binary log\r\n"
            "SERVER_ERROR 1197 HY000 The change is too large for the binary log\r\n");
  EXPECT_EQ(say("get a\r\n"), "END\r\n");
}

// What has no reply may have been seen by those behind it.
TEST_F(MemcachedDialogueTest, AFailedCommitTakesBackWhatWasReadBehindAChangeWithoutReply) {
  say("version\r\n");
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  EXPECT_EQ(say("set a 0 0 1 noreply\r\nx\r\nget a\r\nversion\r\n"),
            "SERVER_ERROR 1197 HY000 The change is too large for the binary log\r\n"
            "VERSION 1.6.45\r\n");
  EXPECT_EQ(say("get a\r\n"), "END\r\n");
}

TEST_F(MemcachedDialogueTest, AFailedCommitTakesBackWhatHasWaitedForTooLongWithoutReply) {
  say("version\r\n");
  server_.database.find_table("hs", "two")->set_blocked(true);
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  EXPECT_EQ(say("set a 0 0 1\r\nx\r\nset @@two.k:1 0 0 3 noreply\r\nx,y\r\nversion\r\n"),
            "SERVER_ERROR 1197 HY000 The change is too large for the binary log\r\n"
            "VERSION 1.6.45\r\n");
}

// A part of a reply, once sent, cannot be taken back.
TEST_F(MemcachedDialogueTest, AFailedCommitLeavesNoPartOfALongGetBehindIt) {
  server_.passes.max_pass_steps = 40;
  say("set kept 0 0 1\r\nx\r\n");
  std::string request = "get a";
  std::string kept;
  for (int i = 0; i < 30; ++i) {
    request += " kept";
    kept += "VALUE kept 0 1\r\nx\r\n";
  }
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  EXPECT_EQ(
      say("set a 0 0 1\r\nx\r\n" + request + "\r\n"),
      "SERVER_ERROR 1197 HY000 The change is too large for the binary log\r\n" + kept + "END\r\n");
}

TEST_F(MemcachedDialogueTest, ABrokenPassIsExecutedAgain) {
  say("set n 0 0 1\r\n5\r\n");
  server_.worker_store->faults().broken_in = 2;
  EXPECT_EQ(say("incr n 1\r\nincr n 1\r\nset @@two.a:1 0 0 1\r\nx\r\nget a:1\r\n"),
            "6\r\n7\r\nSTORED\r\nVALUE a:1 0 2\r\nx|\r\nEND\r\n");
}

TEST_F(MemcachedDialogueTest, AClientLogsInWithItsFirstSet) {
  server_.log_in.anonymous = nullptr;
  server_.log_in.secret = "s3cret";
  EXPECT_EQ(say("get a\r\nmn\r\n"),
            "CLIENT_ERROR unauthenticated\r\nCLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(say("set x 0 0 5\r\nwrong\r\n"), "CLIENT_ERROR authentication failure\r\n");
  EXPECT_EQ(say("set x 0 0 6\r\ns3cret\r\nget a\r\n"), "STORED\r\nEND\r\n");
  TestClient other(server_);
  EXPECT_EQ(other.send("set x 0 0 14\r\ndefault s3cret\r\nset x 0 0 1\r\nx\r\nget x\r\n"),
            "STORED\r\nSTORED\r\nVALUE x 0 1\r\nx\r\nEND\r\n");
  TestClient third(server_);
  EXPECT_EQ(third.send("set x 0 0 5000\r\n"), "CLIENT_ERROR unauthenticated\r\n");
  EXPECT_TRUE(third.closed());
}

// Knows one account, which may read one table.
class OneAccount final : public store::Authenticator {
 public:
  store::LogIn log_in(const store::Credentials& who) const override {
    if (who.user != "ann" || who.password != "sesame")
      return {.status = Status(Error::wrong_log_in, 1045), .caller = nullptr};
    return {.status = {}, .caller = caller};
  }
  const std::shared_ptr<store::MemoryCaller> caller = std::make_shared<store::MemoryCaller>();
};

TEST_F(MemcachedDialogueTest, AnAccountHasItsRights) {
  OneAccount accounts;
  accounts.caller->grant("hs", "kv", store::Rights::read);
  server_.log_in.authenticator = &accounts;
  server_.log_in.anonymous = nullptr;
  EXPECT_EQ(say("set x 0 0 10\r\nann sesamX\r\n"), "CLIENT_ERROR authentication failure\r\n");
  EXPECT_EQ(say("set x 0 0 10\r\nann sesame\r\nget a\r\nset a 0 0 1\r\nx\r\n"),
            "STORED\r\nEND\r\n"
            "CLIENT_ERROR the account has no right to do that, or to see the table\r\n");
}

}  // namespace
}  // namespace hs::memcached
