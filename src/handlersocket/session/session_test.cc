// Tests of one session over the in-memory store: what the dialogues of tests/vectors do not show.
#include "handlersocket/session/session.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "store/memory_caller.h"
#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace hs::handlersocket {
namespace {

using namespace std::string_literals;

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() { store::add_golden_tables(database_); }

  // The reply without its LF; lines and replies with `|` for TAB and `~` for NULL.
  std::string say(std::string_view line) { return say(line, session_, workspace_); }
  std::string say(std::string_view line, Session& session) {
    return say(line, session, workspace_);
  }
  std::string say(std::string_view line, Session& session, Workspace& workspace) {
    std::string raw(line);
    for (char& byte : raw) byte = byte == '|' ? '\t' : byte == '~' ? '\0' : byte;
    Buffer out;
    store::Budget budget;
    workspace.store.begin_pass(store::PassMode::together, budget);
    answer_ = session.execute(raw, passes::Runs::all, workspace, changes_, out);
    EXPECT_TRUE(workspace.store.end_pass().ok());
    std::string reply(out.view());
    if (answer_.verdict != store::Verdict::answered) {
      EXPECT_EQ(reply, "");
      return "no answer";
    }
    EXPECT_TRUE(reply.ends_with('\n'));
    EXPECT_EQ(answer_.ok, reply.starts_with("0\t"));
    reply.pop_back();
    for (char& byte : reply) byte = byte == '\t' ? '|' : byte == '\0' ? '~' : byte;
    return reply;
  }

  SessionConfig config_{{}, true};
  store::MemoryDatabase database_;
  CounterBlock counters_;
  store::MemoryStore store_{database_, store::Access::write, counters_};
  Workspace workspace_{store_};
  passes::Changes changes_;
  Session session_{config_};
  Answer answer_;
};

TEST_F(SessionTest, WritesAreMarkedAndCountedByKind) {
  EXPECT_EQ(say("P|1|hst|t||id,a"), "0|1");
  EXPECT_EQ(answer_.counter, Counter::requests_open);
  EXPECT_FALSE(answer_.write);
  EXPECT_EQ(say("1|=|1|1"), "0|2|1|one");
  EXPECT_EQ(answer_.counter, Counter::requests_find);
  EXPECT_FALSE(answer_.write);
  EXPECT_EQ(say("1|=|1|1|1|0|U?|1|uno"), "0|2|1|one");
  EXPECT_EQ(answer_.counter, Counter::requests_update);
  EXPECT_TRUE(answer_.write);
  EXPECT_EQ(say("1|=|1|1|1|0|+|100"), "0|1|1");
  EXPECT_EQ(answer_.counter, Counter::requests_update);
  EXPECT_EQ(say("1|=|1|99|1|0|D"), "0|1|0");
  EXPECT_EQ(answer_.counter, Counter::requests_erase);
  EXPECT_TRUE(answer_.write);
  EXPECT_EQ(say("1|+|2|8|huit"), "0|1");
  EXPECT_EQ(answer_.counter, Counter::requests_insert);
  EXPECT_TRUE(answer_.write);
  EXPECT_EQ(say("7|+|2|8|huit"), "2|1|stmtnum");
  EXPECT_EQ(answer_.counter, Counter::requests_insert);
  EXPECT_EQ(say("nonsense"), "2|1|cmd");
  EXPECT_EQ(answer_.counter, Counter::requests_malformed);
}

TEST_F(SessionTest, ValuesWithoutAColumnAreIgnoredAndCounted) {
  EXPECT_EQ(say("P|1|hst|t||id,a"), "0|1");
  EXPECT_EQ(say("1|+|4|8|huit|x|y"), "0|1");
  EXPECT_EQ(answer_.values_ignored, 2U);
  EXPECT_EQ(say("1|+|2|9|neuf|x"), "0|1");
  EXPECT_EQ(answer_.values_ignored, 1U);
  EXPECT_EQ(say("1|+|3|10|dix|x|y|z"), "0|1");
  EXPECT_EQ(answer_.values_ignored, 3U);
  EXPECT_EQ(say("1|=|1|8|1|0|U?|8|acht|x"), "0|2|8|huit");
  EXPECT_EQ(answer_.values_ignored, 1U);
  EXPECT_EQ(say("1|>=|1|8|9"), "0|2|8|acht|9|neuf|10|dix");
  EXPECT_EQ(answer_.values_ignored, 0U);
  EXPECT_EQ(say("P|2|hst|t||"), "0|1");
  EXPECT_EQ(say("2|=|1|8|1|0|U|x"), "0|1|1");
  EXPECT_EQ(answer_.values_ignored, 1U);
}

TEST_F(SessionTest, HelloIsAnsweredWithWhatIsThere) {
  config_.server = "a server";
  const std::string greeting =
      "0|2|plugin|2.0.0|server|a server|protocol|2|requests|"
      "up down ^ C E set insert else G some none lock within H D * L W echo";
  EXPECT_EQ(say("H"), greeting);
  EXPECT_EQ(answer_.counter, Counter::requests_other);
  EXPECT_EQ(say("H|nothing|names|texts"), greeting + "|texts|1|names|1");
  config_.anonymous = nullptr;
  Session stranger(config_);
  EXPECT_EQ(say("H|texts", stranger), "3|1|unauth");
}

TEST_F(SessionTest, ErrorsHaveTextsForWhoWantsThem) {
  EXPECT_EQ(say("P|1|hst|t||id,a"), "0|1");
  EXPECT_EQ(say("H|texts").substr(0, 4), "0|2|");
  EXPECT_EQ(say("X"), "2|4|cmd|1149|42000|This is no request, or none that may stand here");
  EXPECT_EQ(say("P|2|hst|nosuch||id"),
            "1|4|open_table|1146|42S02|There is no such table, or it cannot be used here");
  EXPECT_EQ(say("1|+|2|1|x"), "1|4|121|1062|23000|Duplicate entry for a unique index");
  changes_.keep();
  // A pass that is executed again: the client had not said hello yet.
  EXPECT_EQ(say("H").substr(0, 4), "0|2|");
  EXPECT_EQ(say("X"), "2|1|cmd");
  changes_.undo();
  EXPECT_EQ(say("X").substr(0, 8), "2|4|cmd|");
}

TEST_F(SessionTest, AnOpenIndexIsDescribed) {
  EXPECT_EQ(say("P|1|hst|t|ua|a,id|b"), "0|1");
  EXPECT_EQ(say("D|1"),
            "0|7|column|a|text|1|0|0|~|column|id|bigint|0|0|0|~|filter|b|bigint|1|0|0|~|"
            "key|c|text|0|0|0|~|key|id|bigint|0|0|0|~");
  EXPECT_EQ(answer_.counter, Counter::requests_other);
  EXPECT_EQ(say("P|1|hst|t||"), "0|1");
  EXPECT_EQ(say("D|1"), "0|7|key|id|bigint|0|0|0|~");
  EXPECT_EQ(say("P|1|hst|t|2|"), "0|1");
  EXPECT_EQ(say("D|1"), "0|7|key|b|bigint|1|0|0|~");
  EXPECT_EQ(say("D|7"), "2|1|stmtnum");
  EXPECT_EQ(say("D"), "2|1|stmtnum");
  EXPECT_EQ(say("D|1|x"), "2|1|cmd");
}

TEST_F(SessionTest, TheIndexesOfATableAreListed) {
  EXPECT_EQ(say("L|hst|t"),
            "0|6|PRIMARY|1|1|id|0|0|ua|1|1|c|0|0|ua|1|1|id|0|0|ib|0|1|b|0|0|"
            "iab|0|1|a|0|0|iab|0|1|b|0|0");
  EXPECT_EQ(answer_.counter, Counter::requests_other);
  EXPECT_EQ(say("L|hst|nosuch"), "1|1|open_table");
}

TEST_F(SessionTest, AWorkerListsNoNames) {
  for (const char* const line : {"L", "L|hst"}) {
    EXPECT_EQ(say(line), "no answer");
    EXPECT_EQ(answer_.verdict, store::Verdict::oversized) << line;
    EXPECT_TRUE(answer_.read) << line;
  }
}

TEST_F(SessionTest, AnEchoIsWhatTheClientHasSaid) {
  EXPECT_EQ(say("echo|one\x01Itwo"), "0|1|one\x01Itwo");
  EXPECT_EQ(answer_.counter, Counter::requests_other);
  EXPECT_EQ(say("echo|~"), "0|1|~");
  EXPECT_EQ(say("echo"), "2|1|cmd");
}

TEST_F(SessionTest, WarningsAreKeptForWhoWantsThem) {
  EXPECT_EQ(say("W"), "2|1|cmd");
  EXPECT_EQ(say("H|warnings").substr(0, 4), "0|2|");
  EXPECT_EQ(say("W"), "0|3");
  EXPECT_EQ(say("X"), "2|1|cmd");  // it wants no texts
}

TEST_F(SessionTest, AStarOpensAllColumns) {
  EXPECT_EQ(say("P|1|hst|t||*|id"), "0|1");
  EXPECT_EQ(say("1|=|1|1").substr(0, 10), "0|4|1|one|");
  EXPECT_EQ(say("P|1|hst|nosuch||*"), "1|1|open_table");
  EXPECT_EQ(say("P|1|hst|t||*,id"), "2|1|fld");
  EXPECT_EQ(say("P|1|hst|t||id|*"), "2|1|fld");
}

TEST_F(SessionTest, ASecretIsNeededForEverythingButA) {
  config_.secret = "open\x02sesame";
  config_.anonymous = nullptr;
  Session session(config_);
  EXPECT_EQ(say("nonsense", session), "2|1|cmd");
  for (const char* line : {"P|1|hst|t||id", "1|=|1|1", "99|=|1|1", "1|XX", "1|+|1|1", "P|x", "A|1|",
                           "A|1", "A|1|open", "A|1|open\x02sesam", "A|1|open\x02sesame1",
                           "A|1|open\x02sesamE", "A|1|open\x01Bsesameopen\x01Bsesame"}) {
    EXPECT_EQ(say(line, session), "3|1|unauth") << line;
  }
  EXPECT_EQ(say("A|2|x", session), "3|1|authtype");
  EXPECT_EQ(say("A|1|open\x01"
                "Bsesame",
                session),
            "0|1");
  EXPECT_EQ(answer_.counter, Counter::requests_log_in);
  EXPECT_EQ(say("P|1|hst|t||id", session), "0|1");
  EXPECT_EQ(say("A|1|wrong", session), "3|1|unauth");
  EXPECT_EQ(say("1|=|1|1", session), "0|1|1");  // a failed login does not undo the earlier one
}

TEST_F(SessionTest, OpenIndexesAreBoundedInNumber) {
  for (std::size_t i = 0; i < config_.max_open_indexes.get(); ++i) {
    ASSERT_EQ(say("P|" + std::to_string(i) + "|hst|t||id"), "0|1");
  }
  EXPECT_EQ(say("P|999999|hst|t||id"), "2|1|stmtnum");
  EXPECT_EQ(say("999999|=|1|1"), "2|1|stmtnum");
  EXPECT_EQ(say("P|4095|hst|t||a"), "0|1");  // an index that is open may still be replaced
  EXPECT_EQ(say("4095|=|1|1"), "0|1|one");
}

TEST_F(SessionTest, OpenIndexesAreBoundedInBytes) {
  std::string columns = "id";
  while (columns.size() < OpenIndexes::max_names_bytes / 2) columns += ",id";
  EXPECT_EQ(say("P|1|hst|t||" + columns), "0|1");
  EXPECT_EQ(say("P|2|hst|t||" + columns), "2|1|stmtnum");
  EXPECT_EQ(say("P|1|hst|t||" + columns), "0|1");
  EXPECT_EQ(say("P|1|hst|t||id"), "0|1");
  EXPECT_EQ(say("P|2|hst|t||" + columns), "0|1");
}

TEST_F(SessionTest, ABlockedRequestLeavesNothingBehind) {
  EXPECT_EQ(say("P|1|hst|t||id"), "0|1");
  database_.find_table("hst", "t")->set_blocked(true);
  EXPECT_EQ(say("1|=|1|1"), "no answer");
  EXPECT_EQ(answer_.verdict, store::Verdict::blocked);
  EXPECT_EQ(say("P|1|hst|t||a"), "no answer");
  EXPECT_EQ(say("P|2|hst|t||a"), "no answer");
  database_.find_table("hst", "t")->set_blocked(false);
  EXPECT_EQ(say("1|=|1|1"), "0|1|1");
  EXPECT_EQ(say("2|=|1|1"), "2|1|stmtnum");
}

// The other store has another table of that name. So the test notices if the wrong store's index is
// used.
TEST_F(SessionTest, MovedToAnotherStoreItOpensItsIndexesAgain) {
  store::MemoryDatabase other_database;
  other_database.add_table(
      {"hst", "t", {{.name = "a"}, {.name = "id", .integer = true}}, {{"PRIMARY", {1}, true}}});
  store::MemoryStore other_store(other_database, store::Access::write, counters_);
  Workspace other(other_store);
  EXPECT_EQ(say("P|1|hst|t||a,id"), "0|1");
  EXPECT_EQ(say("P|100|hst|t||b"), "0|1");
  EXPECT_EQ(say("1|=|1|1", session_, other), "0|2");
  EXPECT_EQ(say("1|+|2|there|1", session_, other), "0|1");
  EXPECT_EQ(say("1|=|1|1", session_, other), "0|2|there|1");
  EXPECT_EQ(say("100|=|1|1", session_, other), "2|1|fld");  // that table has no b
  EXPECT_EQ(say("100|=|1|1"), "0|1|1");
  EXPECT_EQ(say("1|=|1|1"), "0|2|one|1");
}

// Which error comes first must not depend on whether the connection has moved.
TEST_F(SessionTest, MovedToAnotherStoreItStillKnowsTheNumberOfKeyParts) {
  store::MemoryStore other_store(database_, store::Access::write, counters_);
  Workspace other(other_store);
  EXPECT_EQ(say("P|1|hst|t||a,id"), "0|1");
  EXPECT_EQ(say("1|=|3|1"), "2|1|kpnum");
  EXPECT_EQ(say("1|=|3|1", session_, other), "2|1|kpnum");
  EXPECT_EQ(say("1|=|1", session_, other), "2|1|klen");
}

TEST_F(SessionTest, UndoTakesPAndABack) {
  config_.secret = "s";
  config_.anonymous = nullptr;
  Session session(config_);
  EXPECT_EQ(say("A|1|s", session), "0|1");
  EXPECT_EQ(say("P|1|hst|t||id", session), "0|1");
  changes_.keep();
  EXPECT_EQ(say("P|1|hst|t||a", session), "0|1");
  EXPECT_EQ(say("P|2|hst|t||a", session), "0|1");
  EXPECT_EQ(say("P|1|hst|t||id,a", session), "0|1");
  EXPECT_EQ(say("P|100|hst|t||a", session), "0|1");
  changes_.undo();
  EXPECT_EQ(say("1|=|1|1", session), "0|1|1");
  EXPECT_EQ(say("2|=|1|1", session), "2|1|stmtnum");
  EXPECT_EQ(say("100|=|1|1", session), "2|1|stmtnum");

  Session fresh(config_);
  EXPECT_EQ(fresh.most_waiting, Session::most_waiting_before_login);
  EXPECT_EQ(say("A|1|s", fresh), "0|1");
  EXPECT_EQ(fresh.most_waiting, net::Dialogue::no_limit);
  changes_.undo();
  EXPECT_EQ(say("1|=|1|1", fresh), "3|1|unauth");
  EXPECT_EQ(fresh.most_waiting, Session::most_waiting_before_login);
}

// A pass that is executed again begins as the caller whom it began with.
TEST_F(SessionTest, UndoTakesTheCallerBack) {
  const auto guest = std::make_shared<store::MemoryCaller>();
  guest->grant("hst", "t", store::Rights::read);
  config_.secret = "s";
  config_.anonymous = guest;
  Session session(config_);
  EXPECT_EQ(say("P|1|hst|t||id", session), "0|1");
  changes_.keep();
  EXPECT_EQ(say("A|1|s", session), "0|1");
  EXPECT_EQ(say("1|+|1|77", session), "0|1");
  EXPECT_EQ(say("P|1|hst|t||a", session), "0|1");
  changes_.undo();
  EXPECT_EQ(session.caller(), guest);
  EXPECT_EQ(say("1|=|1|1", session), "0|1|1");
  EXPECT_EQ(say("1|+|1|78", session), "1|1|1142");
}

// Also if it has come back by itself, and an index was used as the other caller meanwhile.
TEST_F(SessionTest, UndoLeavesNoIndexOfAnotherCaller) {
  const auto guest = std::make_shared<store::MemoryCaller>();
  guest->grant("hst", "t", store::Rights::read);
  config_.secret = "s";
  config_.anonymous = guest;
  Session session(config_);
  EXPECT_EQ(say("P|1|hst|t||id", session), "0|1");
  changes_.keep();
  EXPECT_EQ(say("A|1|s", session), "0|1");
  EXPECT_EQ(say("1|=|1|1", session), "0|1|1");
  EXPECT_EQ(say("P|1|hst|t||a", session), "0|1");
  config_.trusted = guest;
  EXPECT_EQ(say("A|1|s", session), "0|1");
  EXPECT_EQ(session.caller(), guest);
  changes_.undo();
  EXPECT_EQ(say("1|+|1|78", session), "1|1|1142");
}

TEST(NamesTest, JoinAndSplitAreInverse) {
  const store::IndexNames request{"db", "table", "", "a,b", ""};
  const std::string names = join_names(request);
  const store::IndexNames split = split_names(names);
  EXPECT_EQ(split.database, "db");
  EXPECT_EQ(split.table, "table");
  EXPECT_EQ(split.index, "");
  EXPECT_EQ(split.columns, "a,b");
  EXPECT_EQ(split.filter_columns, "");
  EXPECT_FALSE(join_names({}).empty());
}

}  // namespace
}  // namespace hs::handlersocket
