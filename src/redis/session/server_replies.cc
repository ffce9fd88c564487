#include "redis/session/server_replies.h"

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "redis/protocol/errors.h"
#include "redis/protocol/glob.h"
#include "redis/protocol/number.h"
#include "redis/session/command_replies.h"
#include "redis/session/info_reply.h"

namespace hs::redis {
namespace {

using Words = std::span<const std::string_view>;
using std::chrono::microseconds;

std::int64_t now_us() {
  return std::chrono::duration_cast<microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

constexpr std::int64_t us_in_a_second = 1'000'000;

// The parameters that clients and monitors ask for. What they say is true here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> parameters{{
    {"appendonly", "yes"},
    {"bind", "127.0.0.1"},
    {"databases", "1"},
    {"maxmemory", "0"},
    {"maxmemory-policy", "noeviction"},
    {"notify-keyspace-events", ""},
    {"save", ""},
    {"timeout", "0"},
}};

// In upper or lower case. A name is answered as it was asked for, as Redis does.
void answer_parameters(Words patterns, Reply& reply) {
  constexpr std::size_t most_pattern = 32;
  std::vector<std::pair<std::string_view, std::string_view>> found;
  std::array<bool, parameters.size()> is_found{};
  for (const std::string_view pattern : patterns) {
    if (pattern.size() > most_pattern) continue;
    std::string lower(pattern);
    for (char& byte : lower) {
      if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
    }
    const Glob glob(lower);
    const bool is_name = glob.is_literal();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto& [name, value] = parameters[i];
      std::uint64_t effort = 0;
      if (is_found[i] || !glob.matches(name, effort)) continue;
      is_found[i] = true;
      found.emplace_back(is_name ? pattern : name, value);
    }
  }
  reply.map(found.size());
  for (const auto& [name, value] : found) {
    reply.bulk(name);
    reply.bulk(value);
  }
}

Status say(std::string& said, std::string text) {
  said = std::move(text);
  return status_of(Mistake::said);
}

Status unknown_part(std::string_view command, std::string_view part, std::string& said) {
  return say(said, "ERR unknown subcommand '" + std::string(part.substr(0, 128)) + "'. Try " +
                       std::string(command) + " HELP.");
}

Status wrong_arity(std::string_view command, std::string& said) {
  return say(said, "ERR wrong number of arguments for '" + std::string(command) + "' command");
}

void answer_time(Reply& reply) {
  const std::int64_t now = now_us();
  reply.array(2);
  reply.bulk(std::to_string(now / us_in_a_second));
  reply.bulk(std::to_string(now % us_in_a_second));
}

Status check_config(Words words, std::string& said) {
  if (is_word(words[1], "get"))
    return words.size() < 3 ? wrong_arity("config|get", said) : Status{};
  if (is_word(words[1], "set"))
    return words.size() < 4 || words.size() % 2 != 0 ? wrong_arity("config|set", said) : Status{};
  if (is_word(words[1], "rewrite") || is_word(words[1], "resetstat")) {
    const std::string part = is_word(words[1], "rewrite") ? "config|rewrite" : "config|resetstat";
    return words.size() != 2 ? wrong_arity(part, said) : Status{};
  }
  return unknown_part("CONFIG", words[1], said);
}

Status answer_config(Words words, Reply& reply, std::string& said) {
  if (const Status status = check_config(words, said); !status.ok()) return status;
  if (is_word(words[1], "get")) {
    answer_parameters(words.subspan(2), reply);
    return {};
  }
  if (is_word(words[1], "set") || is_word(words[1], "rewrite"))
    return say(said, "ERR settings are changed by SET GLOBAL, see docs/redis.md");
  return say(said, "ERR counters are those of all clients and only grow, see docs/redis.md");
}

Status answer_select(Words words, Reply& reply, std::string& said) {
  std::int64_t number = 0;
  if (!read_integer(words[1], number)) return status_of(Mistake::not_an_integer);
  if (number != 0) return say(said, "ERR DB index is out of range");
  reply.ok();
  return {};
}

Status answer_wait(Words words, Reply& reply, std::string& said) {
  std::int64_t number = 0;
  if (!read_integer(words[1], number)) return status_of(Mistake::not_an_integer);
  if (!read_integer(words[2], number))
    return say(said, "ERR timeout is not an integer or out of range");
  if (number < 0) return say(said, "ERR timeout is negative");
  reply.integer(0);
  return {};
}

}  // namespace

Status check_plain(const CommandInfo& info, Words words, std::string& said) {
  if (info.command == Command::config) return check_config(words, said);
  if (info.command == Command::command) return check_command(words, said);
  return {};
}

Status answer_plain(const Config& config, const CommandInfo& info, Words words, Reply& reply,
                    std::string& said) {
  switch (info.command) {
    case Command::ping:
      if (words.size() > 2) return wrong_arity("ping", said);
      if (words.size() == 2) {
        reply.bulk(words[1]);
      } else {
        reply.simple("PONG");
      }
      return {};
    case Command::unwatch: reply.ok(); return {};
    case Command::echo: reply.bulk(words[1]); return {};
    case Command::select: return answer_select(words, reply, said);
    case Command::time: answer_time(reply); return {};
    case Command::lastsave: reply.integer(now_us() / us_in_a_second); return {};
    case Command::info: answer_info(config, words.subspan(1), reply); return {};
    case Command::config: return answer_config(words, reply, said);
    case Command::command: return answer_command(words, reply, said);
    case Command::wait: return answer_wait(words, reply, said);
    case Command::role:
      reply.array(3);
      reply.bulk("master");
      reply.integer(0);
      reply.array(0);
      return {};
    case Command::hs_reload:
      config.containers->ask();
      reply.ok();
      return {};
    case Command::dbsize:
      return say(said, "ERR nobody knows how many rows all tables have, see docs/redis.md");
    case Command::randomkey:
      return say(said, "ERR no table is named from which a key could be, see docs/redis.md");
    case Command::cluster:
    case Command::readonly:
    case Command::readwrite: return say(said, "ERR This instance has cluster support disabled");
    default: return say(said, "ERR Command not allowed inside a transaction");
  }
}

}  // namespace hs::redis
