#include "redis/protocol/commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "redis/protocol/errors.h"
#include "redis/protocol/number.h"

namespace hs::redis {
namespace {

TEST(CommandsTest, FindsACommandInAnyCase) {
  EXPECT_EQ(find_command("hget")->command, Command::hget);
  EXPECT_EQ(find_command("HgEtAll")->command, Command::hgetall);
  EXPECT_EQ(find_command("HS\x0e"
                         "FIND"),
            nullptr);  // only letters have two cases
  EXPECT_EQ(find_command(""), nullptr);
  EXPECT_EQ(find_command("hgetx"), nullptr);
  EXPECT_EQ(find_command(std::string(1000, 'h')), nullptr);
  EXPECT_TRUE(is_of_redis_only("LPUSH"));
  EXPECT_FALSE(is_of_redis_only("hget"));
  EXPECT_FALSE(is_of_redis_only("nonsense"));
}

TEST(CommandsTest, EachCommandIsFoundAndIsNotInTheOtherList) {
  for (const CommandInfo& info : all_commands()) {
    EXPECT_EQ(find_command(info.name), &info);
    std::string upper(info.name);
    std::ranges::transform(upper, upper.begin(),
                           [](char byte) { return static_cast<char>(std::toupper(byte)); });
    EXPECT_EQ(find_command(upper), &info);
    upper.back() = info.name.back();
    EXPECT_EQ(find_command(upper), &info) << upper;
    EXPECT_FALSE(is_of_redis_only(info.name)) << info.name;
    // Their pattern names a table, and is no key.
    const bool has_pattern = info.command == Command::scan || info.command == Command::keys;
    EXPECT_EQ(info.first_key != 0 || has_pattern, info.effect != Effect::none) << info.name;
    EXPECT_FALSE(info.summary.empty() || info.since.empty()) << info.name;
  }
}

TEST(CommandsTest, KnowsWhereKeysStand) {
  EXPECT_EQ(keys_of(*find_command("del"), 4).count, 3u);
  EXPECT_EQ(keys_of(*find_command("hmget"), 5).count, 1u);
  EXPECT_EQ(keys_of(*find_command("ping"), 1).count, 0u);
}

TEST(CommandsTest, CountsWords) {
  EXPECT_TRUE(find_command("hget")->takes(3));
  EXPECT_FALSE(find_command("hget")->takes(4));
  EXPECT_TRUE(find_command("hmget")->takes(30));
  EXPECT_FALSE(find_command("hmget")->takes(2));
}

TEST(ErrorsTest, HasRedissCodesAndSqlsNumbers) {
  const auto text = [](Status status) {
    std::string text;
    append_text(status, "SAID it", text);
    return text;
  };
  EXPECT_EQ(text(status_of(Mistake::said)), "SAID it");
  EXPECT_EQ(text(Error::row_locked).substr(0, 9), "TRYAGAIN ");
  EXPECT_EQ(text(Status(Error::denied, 1142)).substr(0, 7), "NOPERM ");
  EXPECT_EQ(text(Status(Error::read_only, 1290)).substr(0, 9), "READONLY ");
  EXPECT_EQ(text(Status(Error::duplicate_key, 121)).substr(0, 15), "ERR 1062 23000 ");
  EXPECT_EQ(text(Status(Error::null_not_allowed, 1048)).substr(0, 15), "ERR 1048 23000 ");
  EXPECT_EQ(text(Status(Error::null_not_allowed, 1364)).substr(0, 15), "ERR 1364 HY000 ");
  EXPECT_EQ(text(Status(Error::out_of_range, 1264)).substr(0, 15), "ERR 1264 22003 ");
  EXPECT_EQ(text(Status(Error::out_of_range, 1406)).substr(0, 15), "ERR 1406 22001 ");
  EXPECT_EQ(text(Status(Error::other, 1644)).substr(0, 15), "ERR 1644 HY000 ");
}

TEST(ErrorsTest, EachTextBeginsWithACode) {
  const auto begins_with_one = [](Status status) {
    std::string text;
    append_text(status, "ERR it", text);
    const std::string_view code = error_codes[static_cast<std::size_t>(code_of(text))];
    return text.substr(0, text.find(' ')) == code;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(Mistake::count_); ++i) {
    const auto mistake = static_cast<Mistake>(i);
    if (mistake == Mistake::watched_has_changed) continue;  // EXEC answers nil
    EXPECT_TRUE(begins_with_one(status_of(mistake))) << i;
  }
  for (const Error kind : {Error::row_locked, Error::denied, Error::read_only, Error::not_ready,
                           Error::wrong_log_in, Error::duplicate_key, Error::other})
    EXPECT_TRUE(begins_with_one(kind)) << static_cast<int>(kind);
  EXPECT_EQ(code_of("WRONGTYPE Operation"), ErrorCode::wrong_type);
  EXPECT_EQ(code_of("EXECABORT"), ErrorCode::exec_abort);
  EXPECT_EQ(code_of("OTHER words"), ErrorCode::general);
}

TEST(NumberTest, ReadsIntegersAsRedisDoes) {
  std::int64_t number = 0;
  EXPECT_TRUE(read_integer("-9223372036854775808", number));
  EXPECT_EQ(number, std::numeric_limits<std::int64_t>::min());
  for (const std::string_view text : {"", "-", "+1", "01", "1 ", "9223372036854775808", "1.0"})
    EXPECT_FALSE(read_integer(text, number)) << text;
}

TEST(NumberTest, KnowsFloats) {
  for (const std::string_view text : {"1", "-1.5", "1e10", "+2", ".5", "5."})
    EXPECT_TRUE(is_float(text)) << text;
  for (const std::string_view text : {"", " 1", "1 ", "nan", "inf", "1x", "+-1", "1e999"})
    EXPECT_FALSE(is_float(text)) << text;
}

}  // namespace
}  // namespace hs::redis
