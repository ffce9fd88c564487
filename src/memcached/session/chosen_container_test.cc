// Which container a connection has chosen, however the request ends that has named it.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "memcached/protocol/test_packet.h"
#include "memcached/session/test_containers.h"
#include "store/memory_caller.h"

namespace hs::memcached {
namespace {

const std::string failed_commit =
    "SERVER_ERROR 1197 HY000 The change is too large for the binary log\r\n";

class MemcachedChosenContainer : public ::testing::Test {
 protected:
  MemcachedChosenContainer() {
    server_.bounds_of_store.bytes = 1000;
    server_.start();
    connect();
  }
  void connect() { client_ = std::make_unique<TestClient>(server_); }
  std::string say(std::string_view bytes) { return client_->send(bytes); }
  // What is chosen now: a key of one part is none of `two`.
  std::string chosen() {
    const std::string reply = say("get a\r\n");
    if (reply == "END\r\n") return "default";
    return reply == "CLIENT_ERROR key has too few parts for its index\r\n" ? "two" : reply;
  }
  // What is chosen by a new connection that has said this.
  std::string chosen_by(std::string_view bytes) {
    connect();
    say(bytes);
    return chosen();
  }
  void fail_next_commit() {
    server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  }
  TestContainers server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(MemcachedChosenContainer, ItIsChosenByARequestThatFindsNothing) {
  EXPECT_EQ(chosen(), "default");
  for (const char* const request :
       {"get @@two.k:1", "gets @@two.k:1", "delete @@two.k:1", "incr @@two.k:1 5",
        "touch @@two.k:1 5", "gat 0 @@two.k:1", "mg @@two.k:1 v", "md @@two.k:1", "ma @@two.k:1 q",
        "me @@two.k:1", "delete @@two.k:1 noreply", "get @>@@two.k:1 @@two.k:1"})
    EXPECT_EQ(chosen_by(std::string(request) + "\r\n"), "two") << request;
}

// Otherwise a flush_all behind it would empty another container.
TEST_F(MemcachedChosenContainer, ItIsChosenByARequestThatCannotBeRead) {
  server_.max_request_size = 1000;
  for (const std::string& request :
       {"set @@two.k:1 0 0 2000\r\n" + std::string(2000, 'x'), std::string("touch @@two.k:1 abc"),
        std::string("set @@two.k:1 x 0 1\r\nx"), std::string("incr @@two.k:1 abc"),
        std::string("set @@two.k:1 0 0 abc"), std::string("set @@two.k:1 0 0 -1"),
        std::string("set @@two.k:1 0 0 1\r\nxyz"), std::string("mg @@two.k:1 E1"),
        std::string("mg @@two.k:1 t t"), std::string("ms @@two.k:1 1 Z\r\nx")})
    EXPECT_EQ(chosen_by(request + "\r\n"), "two") << request;
}

TEST_F(MemcachedChosenContainer, ItIsChosenByARequestThatIsRefused) {
  for (const char* const request :
       {"set @@two.k:1 7 0 1\r\nx", "set @@two.k:1 0 9 1\r\nx", "cas @@two.k:1 0 0 1 1\r\nx",
        "set @@two.k:1 7 0 1 noreply\r\nx", "set @@two 0 0 1\r\nx", "ms @@two.k:1 1 F7\r\nx",
        "ms @@two.k:1 1 F7 q\r\nx", "replace @@two.k:1 0 0 1\r\nx", "get @@two.k", "delete @@two.k",
        "touch @@two.k 9", "gat 0 @@two.k", "mg @@two.k v", "get @>@@two.k @@two.k"})
    EXPECT_EQ(chosen_by(std::string(request) + "\r\n"), "two") << request;
}

TEST_F(MemcachedChosenContainer, BinaryRequestsChooseInTheSameWay) {
  const std::string get = packet(0x00, "k");
  const std::string in_default = say(get);
  for (const std::string& request :
       {packet(0x00, "@@two.k"), packet(0x09, "@@two.k:1"),
        packet(0x01, "@@two.k:1", std::string("\0\0\0\7\0\0\0\0", 8), "x"),
        packet(0x11, "@@two.k:1", std::string("\0\0\0\7\0\0\0\0", 8), "x"),
        packet(0x04, "@@two.k:1")}) {
    connect();
    say(request);
    EXPECT_NE(say(get), in_default);
    say(packet(0x04, "@@default.none"));
    EXPECT_EQ(say(get), in_default);
  }
}

// The client has meant it for no other one.
TEST_F(MemcachedChosenContainer, WhatCannotBeUsedIsNotChosen) {
  for (const char* const request : {"get @@none.k:1", "set @@none.k:1 0 0 1\r\nx", "get @@gone.k:1",
                                    "set @@gone.k:1 0 0 1\r\nx", "delete @@gone.k:1",
                                    "gat 0 @@gone.k:1", "nothing @@two.k:1", "gat x @@two.k:1"})
    EXPECT_EQ(chosen_by(std::string(request) + "\r\n"), "default") << request;
  say("get @@two.k:1 @@gone.k\r\n");
  EXPECT_EQ(chosen(), "two");
  const auto account = std::make_shared<store::MemoryCaller>();
  account->grant("hs", "kv", store::Rights::read);
  server_.log_in.anonymous = account;
  EXPECT_EQ(chosen_by("get @@two.k:1\r\n"), "default");
  EXPECT_EQ(chosen_by("set @@two.k:1 0 0 1\r\nx\r\n"), "default");
}

TEST_F(MemcachedChosenContainer, OfManyKeysThoseChooseToWhichTheRequestHasCome) {
  EXPECT_EQ(chosen_by("get @@two.k:1 @@none.k @@default.a\r\n"), "two");
  EXPECT_EQ(chosen_by("get @@two.k:1 @@default.a @@none.k @@two.k:1\r\n"), "default");
  EXPECT_EQ(chosen_by("get @@two.k @@default.a\r\n"), "two");
  EXPECT_EQ(chosen_by("gat 0 @@two.k:1 k:2 @@default.a @@two.k\r\n"), "two");
  EXPECT_EQ(chosen_by("gat 0 a @@two.k @@default.a\r\n"), "two");
}

TEST_F(MemcachedChosenContainer, ByARequestOnAStreamer) {
  std::string keys;
  for (int i = 0; i < 100; ++i) keys += " k:1";
  EXPECT_EQ(chosen_by("gat 0 @@two.k:1" + keys + " k\r\n"), "two");
  EXPECT_EQ(client_->runs_of_streamer, 0) << "of the get that has asked";
  connect();
  say("set large 0 0 2000\r\n" + std::string(2000, 'x') + "\r\n");
  EXPECT_EQ(say("get large @@two.k\r\n"), "CLIENT_ERROR key has too few parts for its index\r\n");
  EXPECT_EQ(client_->runs_of_streamer, 1);
  EXPECT_EQ(chosen(), "two");
}

TEST_F(MemcachedChosenContainer, ByARequestThatHasWaitedForTooLong) {
  store::MemoryTable* const table = server_.database.find_table("hs", "two");
  std::string keys;
  for (int i = 0; i < 100; ++i) keys += " k:1";
  for (const std::string& request :
       {std::string("set @@two.k:1 0 0 3 noreply\r\nx|y\r\n"), std::string("get @@two.k:1\r\n"),
        std::string("gat 0 a @@two.k:1 @@default.a\r\n"), "gat 0 @@two.k:1" + keys + "\r\n"}) {
    connect();
    table->set_blocked(true);
    say(request);
    table->set_blocked(false);
    EXPECT_EQ(chosen(), "two") << request;
  }
}

TEST_F(MemcachedChosenContainer, ByARequestWhoseCommitFails) {
  say("version\r\n");
  fail_next_commit();
  EXPECT_EQ(say("set @@two.a:1 0 0 1\r\nx\r\n"), failed_commit);
  EXPECT_EQ(chosen(), "two");
  fail_next_commit();
  EXPECT_EQ(say("set a:1 0 0 1\r\nx\r\nget @@default.a\r\nversion\r\n"),
            failed_commit + failed_commit + "VERSION 1.6.45\r\n");
  EXPECT_EQ(chosen(), "default");
  fail_next_commit();
  EXPECT_EQ(say("set @@two.a:1 0 0 1 noreply\r\nx\r\nget @@none.a\r\n"), failed_commit);
  EXPECT_EQ(chosen(), "two");
}

// What is executed again begins in the container in which it began at first.
TEST_F(MemcachedChosenContainer, ABrokenPassIsExecutedAgainInTheSameContainers) {
  const std::string requests =
      "set a 0 0 1\r\nx\r\nset @@two.k:1 7 0 1\r\nx\r\nset k:2 0 0 3\r\nx|y\r\nget k:2\r\n";
  const std::string replies =
      "STORED\r\nCLIENT_ERROR the key's container has no column for flags\r\nSTORED\r\n"
      "VALUE k:2 0 3\r\nx|y\r\nEND\r\n";
  for (std::uint64_t broken_in = 1; broken_in <= 5; ++broken_in) {
    connect();
    server_.worker_store->faults().broken_in = broken_in;
    EXPECT_EQ(say(requests), replies) << broken_in;
    EXPECT_EQ(chosen(), "two");
    say("delete k:2\r\ndelete @@default.a\r\n");
  }
}

// As in MySQL's plugin, an option says what stands behind the name.
TEST_F(MemcachedChosenContainer, AnotherDelimiterMayStandBehindItsName) {
  store::MemoryTable& options =
      server_.database.add_table({"hs",
                                  "config_options",
                                  {{.name = "name", .nullable = false}, {.name = "value"}},
                                  {{"PRIMARY", {0}, true}}});
  const auto add = [&](std::string_view name, std::string_view value) {
    static constexpr std::array<std::uint32_t, 2> columns{0, 1};
    store::UndoLog undo;
    std::uint64_t id = 0;
    const std::array<store::Value, 2> values{store::Value{name}, store::Value{value}};
    EXPECT_TRUE(options.insert(columns, values, undo, id).ok());
  };
  add("table_map_delimiter", "/-");
  EXPECT_EQ(say("set @@two/-a.b:1 0 0 3\r\nx|y\r\nget a.b:1 @@two/-a.b:1\r\n"),
            "STORED\r\nVALUE a.b:1 0 3\r\nx|y\r\nVALUE @@two/-a.b:1 0 3\r\nx|y\r\nEND\r\n");
  EXPECT_EQ(say("get @@two\r\nget @@two.k:1\r\nget @@two/k:1\r\n"),
            "VALUE @@two 0 6\r\nhs/two\r\nEND\r\n"
            "CLIENT_ERROR there is no such container\r\n"
            "CLIENT_ERROR there is no such container\r\n");
  add("separator", "+");
  TestContainers::now_ms += 1000;
  EXPECT_EQ(say("get @@default/-a @@two/-a.b:1\r\n"), "VALUE @@two/-a.b:1 0 3\r\nx+y\r\nEND\r\n");
}

TEST_F(MemcachedChosenContainer, AGetThatGoesOnInLaterTurnsKeepsWhatItHasChosen) {
  server_.passes.max_pass_steps = 10;
  std::string keys;
  for (int i = 0; i < 100; ++i) keys += " k:1";
  EXPECT_EQ(say("get @@two.k:1" + keys + " k @@default.a\r\n"),
            "CLIENT_ERROR key has too few parts for its index\r\n");
  EXPECT_GT(client_->turns, 5);
  EXPECT_EQ(chosen(), "two");
}

}  // namespace
}  // namespace hs::memcached
