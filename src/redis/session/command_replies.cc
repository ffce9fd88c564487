#include "redis/session/command_replies.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "redis/protocol/commands.h"
#include "redis/protocol/errors.h"

namespace hs::redis {
namespace {

using Words = std::span<const std::string_view>;

std::vector<std::string_view> flags_of(const CommandInfo& info) {
  std::vector<std::string_view> flags;
  if (info.effect != Effect::none) flags.emplace_back(writes(info.effect) ? "write" : "readonly");
  if (info.has_flag(CommandFlags::fast)) flags.emplace_back("fast");
  if (info.has_flag(CommandFlags::before_log_in)) flags.emplace_back("no_auth");
  if (info.has_flag(CommandFlags::refused_in_multi)) flags.emplace_back("no_multi");
  return flags;
}

std::vector<std::string_view> categories_of(const CommandInfo& info) {
  std::vector<std::string_view> categories;
  if (info.effect != Effect::none) {
    categories.emplace_back("@keyspace");
    categories.emplace_back(writes(info.effect) ? "@write" : "@read");
  }
  switch (info.group) {
    case Group::hash: categories.emplace_back("@hash"); break;
    case Group::string: categories.emplace_back("@string"); break;
    case Group::connection: categories.emplace_back("@connection"); break;
    case Group::transactions: categories.emplace_back("@transaction"); break;
    case Group::server:
    case Group::generic: break;
  }
  categories.emplace_back(info.has_flag(CommandFlags::fast) ? "@fast" : "@slow");
  return categories;
}

void list(Reply& reply, const std::vector<std::string_view>& words) {
  reply.set(words.size());
  for (const std::string_view word : words) reply.simple(word);
}

// In the form of Redis 7 and later. No command has parts with entries of their own.
void describe(Reply& reply, const CommandInfo& info) {
  reply.array(10);
  reply.bulk(info.name);
  reply.integer(info.arity);
  list(reply, flags_of(info));
  reply.integer(info.first_key);
  reply.integer(info.last_key);
  reply.integer(info.key_step);
  list(reply, categories_of(info));
  for (int i = 0; i < 3; ++i) reply.array(0);  // tips, key specifications, subcommands
}

void describe_all(Reply& reply) {
  reply.array(all_commands().size());
  for (const CommandInfo& info : all_commands()) describe(reply, info);
}

void document(Reply& reply, const CommandInfo& info) {
  reply.bulk(info.name);
  reply.map(4);
  for (const std::string_view word :
       std::array{std::string_view("summary"), info.summary, std::string_view("since"), info.since,
                  std::string_view("group"), name_of(info.group), std::string_view("complexity"),
                  std::string_view("O(1) for each row and column")}) {
    reply.bulk(word);
  }
}

// Of these commands, or of all if there is none.
std::vector<const CommandInfo*> chosen(Words names) {
  std::vector<const CommandInfo*> commands;
  for (const std::string_view name : names) {
    if (const CommandInfo* const info = find_command(name)) commands.push_back(info);
  }
  if (!names.empty()) return commands;
  for (const CommandInfo& info : all_commands()) commands.push_back(&info);
  return commands;
}

Status say(std::string& said, std::string text) {
  said = std::move(text);
  return status_of(Mistake::said);
}

Status wrong_arity(std::string_view part, std::string& said) {
  return say(said, "ERR wrong number of arguments for 'command|" + std::string(part) + "' command");
}

void answer_infos(Words names, Reply& reply) {
  if (names.empty()) return describe_all(reply);
  reply.array(names.size());
  for (const std::string_view name : names) {
    if (const CommandInfo* const info = find_command(name)) {
      describe(reply, *info);
    } else {
      reply.null_array();
    }
  }
}

Status answer_keys(Words words, Reply& reply, std::string& said) {
  const CommandInfo* const info = find_command(words[0]);
  if (info == nullptr) return say(said, "ERR Invalid command specified");
  if (!info->takes(words.size()))
    return say(said, "ERR Invalid number of arguments specified for command");
  const KeyPlaces keys = keys_of(*info, words.size());
  if (keys.count == 0) return say(said, "ERR The command has no key arguments");
  reply.array(keys.count);
  for (std::size_t i = 0; i < keys.count; ++i)
    reply.bulk(words[keys.first + i * static_cast<std::size_t>(info->key_step)]);
  return {};
}

}  // namespace

Status check_command(Words words, std::string& said) {
  if (words.size() == 1) return {};
  const std::string_view what = words[1];
  const bool is_alone = words.size() == 2;
  if (is_word(what, "count")) return is_alone ? Status{} : wrong_arity("count", said);
  if (is_word(what, "list")) return is_alone ? Status{} : wrong_arity("list", said);
  if (is_word(what, "getkeys")) return is_alone ? wrong_arity("getkeys", said) : Status{};
  if (is_word(what, "info") || is_word(what, "docs")) return {};
  return say(
      said, "ERR unknown subcommand '" + std::string(what.substr(0, 128)) + "'. Try COMMAND HELP.");
}

Status answer_command(Words words, Reply& reply, std::string& said) {
  if (const Status status = check_command(words, said); !status.ok()) return status;
  if (words.size() == 1) {
    describe_all(reply);
    return {};
  }
  const std::string_view what = words[1];
  const Words names = words.subspan(2);
  if (is_word(what, "count")) {
    reply.integer(static_cast<std::int64_t>(all_commands().size()));
  } else if (is_word(what, "list")) {
    reply.array(all_commands().size());
    for (const CommandInfo& info : all_commands()) reply.bulk(info.name);
  } else if (is_word(what, "info")) {
    answer_infos(names, reply);
  } else if (is_word(what, "docs")) {
    const std::vector<const CommandInfo*> commands = chosen(names);
    reply.map(commands.size());
    for (const CommandInfo* const info : commands) document(reply, *info);
  } else {
    return answer_keys(names, reply, said);
  }
  return {};
}

}  // namespace hs::redis
