// Tests of one session over the in-memory store: what is answered to each line.
#include "session/session.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace hs::session {
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
    workspace.store.begin_pass(store::PassMode::together);
    answer_ = session.execute(raw, workspace, out);
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

  SessionConfig config_{.writable = true, .secret = {}};
  SessionConfig readonly_config_;
  store::MemoryDatabase database_;
  CounterBlock counters_;
  store::MemoryStore store_{database_, store::Access::write, counters_};
  Workspace workspace_{store_};
  Session session_{config_};
  Session reader_{readonly_config_};
  Answer answer_;
};

struct Exchange {
  const char* line;
  const char* reply;
};

// Of the golden dialogues: what hangs on the syntax and on the session alone,
// and where the project differs on purpose, its own answer.
constexpr Exchange golden[] = {
    {"P|1|hst|t|PRIMARY|id,a,b,c|b,c,a", "0|1"},
    {"P|2|hst|t||id", "0|1"},
    {"P|3|hst|t|1|id,b", "0|1"},
    {"P|4|hst|t|9|id", "2|1|idxnum"},
    {"P|4|hst|t|nosuch|id", "2|1|idxnum"},
    {"P|4|hst|t|primary|id", "2|1|idxnum"},
    {"P|4|hst|t|PRIMARY|ID", "2|1|fld"},
    {"P|4|hst|t|PRIMARY|id, a", "2|1|fld"},
    {"P|4|hst|t|PRIMARY|id,", "2|1|fld"},
    {"4|=|1|1", "2|1|stmtnum"},
    {"P|4|hst|t|PRIMARY|", "0|1"},
    {"P|4|hst|t|PRIMARY", "0|1"},
    {"P|4|hst|t", "0|1"},
    {"4|=|1|1", "0|0"},
    {"P|4|hst", "1|1|open_table"},
    {"P|4", "1|1|open_table"},
    {"P", "1|1|open_table"},
    {"P|4|nodb|t|PRIMARY|id", "1|1|open_table"},
    {"P|4|hst|notbl|PRIMARY|id", "1|1|open_table"},
    {"P|4|hst|nokey||a", "2|1|idxnum"},
    {"P|x|hst|t|PRIMARY|id", "2|1|stmtnum"},  // the original reads x as 0
    {"P|5|hst|t|PRIMARY|id,a|nofld", "2|1|fld"},
    {"P|5|hst|t|PRIMARY|id,a|b,c", "0|1"},
    {"", "2|1|cmd"},
    {"X", "2|1|cmd"},
    {"PP", "2|1|cmd"},
    {"Q", "2|1|cmd"},  // the original shuts its listener down
    {"/", "2|1|cmd"},  // the original closes the connection
    {"hello", "2|1|cmd"},
    {"|", "2|1|cmd"},
    {"99|=|1|1", "2|1|stmtnum"},
    {"99", "2|1|stmtnum"},
    {"1x|=|1|1", "2|1|stmtnum"},  // the original reads 1
    {"1|=|1|1", "0|4|1|one|1|x"},
    {"1", "2|1|op"},
    {"1|", "2|1|op"},
    {"1|=", "2|1|klen"},
    {"1|=|0", "2|1|klen"},
    {"1|=|1", "2|1|klen"},  // the original takes a missing value as empty
    {"1|=|5|1|1|1|1|1", "2|1|kpnum"},
    {"1|=|5|1", "2|1|kpnum"},
    {"1|XX|1|1", "2|1|op"},
    {"1|==|1|1", "2|1|op"},
    {"1|!=|1|1", "2|1|op"},
    {"1|S|1|select", "2|1|notimpl"},
    {"1|S|0", "2|1|klen"},
    {"1|=|4294967296|1", "2|1|kpnum"},  // the original crashes
    {"A|1|foo", "3|1|unauth"},
    {"A|2|foo", "3|1|authtype"},
    {"A", "3|1|authtype"},
    {"P|9999999|hst", "1|1|open_table"},
    {"1|=|1|99999999999999", "0|4"},
    {"1|=|1|~", "0|4"},
    {"1|>=|1|5|10|1", "0|4|6|six|5|x|7|sev|5|x"},
    {"1|=|1||10|0|@|0|0", "2|1|invalueslen"},
    {"1|=|1||10|0|@|0|2|1", "2|1|invalueslen"},  // the original takes a missing value as empty
    {"1|=|1||10|0|@|0|3|1|99|3", "0|4|1|one|1|x|3|three|3|x"},
    {"1|=|1||10|0|@|5|2|1|2", "2|1|icol"},  // the original finds nothing
    {"1|>=|1|1|10|0|F|=|9|3", "2|1|filterfld"},
    {"1|>=|1|1|10|0|FF|=|0|3", "2|1|filtertype"},
    {"1|>=|1|1|10|0|F|LIKE|0|3", "2|1|filterop"},  // the original ignores the filter
    {"1|>=|1|1|10|0|Z", "2|1|modop"},
    {"1|=|1|1|10|0|U", "0|1|1"},
    {"1|=|1|1", "0|4|1|one|1|x"},  // the original has set every column to nothing
    {"1|>=|1|3|2|0|F|<|0|5|", "0|4|3|three|3|x|4|~|4|x"},
};

TEST_F(SessionTest, AnswersGoldenLines) {
  for (const Exchange& exchange : golden)
    EXPECT_EQ(say(exchange.line), exchange.reply) << exchange.line;
}

TEST_F(SessionTest, ReadPortAnswersReadonlyBeforeOtherMistakesButAfterStmtnum) {
  EXPECT_EQ(say("1|+|1|99", reader_), "2|1|stmtnum");
  EXPECT_EQ(say("P|1|hst|t||id,a", reader_), "0|1");
  for (const char* line :
       {"1|+|1|99", "1|+|0", "1|+", "1|+|9|1", "1|=|1|1|1|0|U|5", "1|=|1|1|1|0|D",
        "1|=|9|1|2|3|4|5|6|7|8|9|1|0|D?", "1|=|1|1|1|0|Z", "1|=|1|1|1|0|-|x\x01!"}) {
    EXPECT_EQ(say(line, reader_), "2|1|readonly") << line;
    EXPECT_FALSE(answer_.write);
  }
  EXPECT_EQ(say("1|=|1|1", reader_), "0|2|1|one");
}

TEST_F(SessionTest, WritesAreMarkedAndCountedByKind) {
  EXPECT_EQ(say("P|1|hst|t||id,a"), "0|1");
  EXPECT_EQ(answer_.counter, Counter::requests_open_index);
  EXPECT_FALSE(answer_.write);
  EXPECT_EQ(say("1|=|1|1"), "0|2|1|one");
  EXPECT_EQ(answer_.counter, Counter::requests_find);
  EXPECT_FALSE(answer_.write);
  EXPECT_EQ(say("1|=|1|1|1|0|U?|1|uno"), "0|2|1|one");
  EXPECT_EQ(answer_.counter, Counter::requests_find_modify);
  EXPECT_TRUE(answer_.write);
  EXPECT_EQ(say("1|+|2|8|huit"), "0|1");
  EXPECT_EQ(answer_.counter, Counter::requests_insert);
  EXPECT_TRUE(answer_.write);
  EXPECT_EQ(say("7|+|2|8|huit"), "2|1|stmtnum");
  EXPECT_EQ(answer_.counter, Counter::requests_insert);
  EXPECT_EQ(say("nonsense"), "2|1|cmd");
  EXPECT_EQ(answer_.counter, Counter::requests_malformed);
}

TEST_F(SessionTest, ASecretIsNeededForEverythingButA) {
  config_.secret = "open\x02sesame";
  EXPECT_EQ(say("nonsense"), "2|1|cmd");
  for (const char* line : {"P|1|hst|t||id", "1|=|1|1", "99|=|1|1", "1|XX", "1|+|1|1", "P|x", "A|1|",
                           "A|1", "A|1|open", "A|1|open\x02sesam", "A|1|open\x02sesame1",
                           "A|1|open\x02sesamE", "A|1|open\x01Bsesameopen\x01Bsesame"}) {
    EXPECT_EQ(say(line), "3|1|unauth") << line;
  }
  EXPECT_EQ(say("A|2|x"), "3|1|authtype");
  EXPECT_EQ(say("A|1|open\x01"
                "Bsesame"),
            "0|1");
  EXPECT_EQ(answer_.counter, Counter::requests_auth);
  EXPECT_EQ(say("P|1|hst|t||id"), "0|1");
  EXPECT_EQ(say("A|1|wrong"), "3|1|unauth");
  EXPECT_EQ(say("1|=|1|1"), "0|1|1");  // a later mistake takes nothing away
}

TEST_F(SessionTest, PReplacesAndAFailedPDoesNot) {
  EXPECT_EQ(say("P|1|hst|t||id"), "0|1");
  EXPECT_EQ(say("P|1|hst|t||b"), "0|1");
  EXPECT_EQ(say("P|1|hst|t||nope"), "2|1|fld");
  EXPECT_EQ(say("P|1|hst|nope||id"), "1|1|open_table");
  EXPECT_EQ(say("1|=|1|3"), "0|1|3");
  EXPECT_EQ(say("P|1|hst|t||a"), "0|1");
  EXPECT_EQ(say("1|=|1|3"), "0|1|three");
}

TEST_F(SessionTest, IdsMayBeSparse) {
  for (const char* id : {"0", "1", "63", "64", "9999999", "18446744073709551615"}) {
    EXPECT_EQ(say(id + "|=|1|2"s), "2|1|stmtnum") << id;
    EXPECT_EQ(say("P|"s + id + "|hst|t||a"), "0|1") << id;
    EXPECT_EQ(say(id + "|=|1|2"s), "0|1|two") << id;
  }
  EXPECT_EQ(say("62|=|1|2"), "2|1|stmtnum");
  EXPECT_EQ(say("18446744073709551616|=|1|2"), "2|1|stmtnum");
}

TEST_F(SessionTest, OpenIndexesAreBoundedInNumber) {
  for (std::size_t i = 0; i < OpenIndexes::max_count; ++i) {
    ASSERT_EQ(say("P|" + std::to_string(i) + "|hst|t||id"), "0|1");
  }
  EXPECT_EQ(say("P|999999|hst|t||id"), "2|1|stmtnum");
  EXPECT_EQ(say("999999|=|1|1"), "2|1|stmtnum");
  EXPECT_EQ(say("P|4095|hst|t||a"), "0|1");  // one that is open may still be replaced
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

// The other store has another table of that name, so that using the wrong store's index shows.
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

TEST_F(SessionTest, UndoTakesPAndABack) {
  config_.secret = "s";
  EXPECT_EQ(say("A|1|s"), "0|1");
  EXPECT_EQ(say("P|1|hst|t||id"), "0|1");
  workspace_.changes.clear();
  EXPECT_EQ(say("P|1|hst|t||a"), "0|1");
  EXPECT_EQ(say("P|2|hst|t||a"), "0|1");
  EXPECT_EQ(say("P|100|hst|t||a"), "0|1");
  ASSERT_EQ(workspace_.changes.size(), 3u);
  for (int i = 2; i >= 0; --i) session_.undo(workspace_.changes[i]);
  EXPECT_EQ(say("1|=|1|1"), "0|1|1");
  EXPECT_EQ(say("2|=|1|1"), "2|1|stmtnum");
  EXPECT_EQ(say("100|=|1|1"), "2|1|stmtnum");

  Session fresh(config_);
  workspace_.changes.clear();
  EXPECT_EQ(say("A|1|s", fresh), "0|1");
  ASSERT_EQ(workspace_.changes.size(), 1u);
  fresh.undo(workspace_.changes[0]);
  EXPECT_EQ(say("1|=|1|1", fresh), "3|1|unauth");
}

TEST(NamesTest, JoinAndSplitAreInverse) {
  const protocol::OpenIndex request{"db", "table", "", "a,b", ""};
  const std::string names = join_names(request);
  const protocol::OpenIndex split = split_names(names);
  EXPECT_EQ(split.database, "db");
  EXPECT_EQ(split.table, "table");
  EXPECT_EQ(split.index, "");
  EXPECT_EQ(split.columns, "a,b");
  EXPECT_EQ(split.filter_columns, "");
  EXPECT_FALSE(join_names({}).empty());
}

}  // namespace
}  // namespace hs::session
