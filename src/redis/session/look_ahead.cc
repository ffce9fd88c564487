// The keys that a client's next commands read, named before they are executed.
#include <array>

#include "keys/keys_ahead.h"
#include "redis/protocol/commands.h"
#include "redis/protocol/plain_command.h"
#include "redis/session/dialogue.h"

namespace hs::redis {
namespace {

using Entry = keys::RememberedRows::Entry;

// A command with more words is not looked at.
constexpr std::size_t most_words = 16;

// As Containers::resolve(), but it knows only the containers that the connection has used lately. A key of another
// one may be named as the default container's, which does no harm.
bool name_item(keys::RememberedRows& rows, std::string_view key, store::LookAhead& ahead) {
  const keys::SplitKey split = keys::split_key(key);
  if (split.has_parts && split.name != keys::Container::default_name) {
    if (const Entry* const entry = rows.find(split.name, Asks::value, {}); entry != nullptr)
      return keys::name_key(entry, split.parts, ahead);
    if (keys::has_database_or_index(split.name)) return false;
  }
  return keys::name_key(rows.find(keys::Container::default_name, Asks::value, {}), key, ahead);
}

bool name_row(keys::RememberedRows& rows, Words words, Asks asks, store::LookAhead& ahead) {
  const keys::SplitKey split = keys::split_key(words[1]);
  if (!split.has_parts) return false;
  return keys::name_key(rows.find(split.name, asks, words.subspan(2)), split.parts, ahead);
}

// Whether all keys of the command were named, or as many as there is room for.
bool name_keys(keys::RememberedRows& rows, Words words, store::LookAhead& ahead) {
  if (words.size() < 2) return false;
  const CommandInfo* const info = find_command(words[0]);
  if (info == nullptr) return false;
  switch (info->command) {
    case Command::get: return words.size() == 2 && name_item(rows, words[1], ahead);
    case Command::hget: return words.size() == 3 && name_row(rows, words, Asks::fields, ahead);
    case Command::hmget: return words.size() > 2 && name_row(rows, words, Asks::fields, ahead);
    case Command::hgetall: return words.size() == 2 && name_row(rows, words, Asks::every, ahead);
    default: return false;
  }
}

}  // namespace

std::size_t Dialogue::look_ahead(std::string_view input, const store::Store& /*store*/,
                                 store::LookAhead& ahead) {
  // What was used on another worker's store was forgotten by depart().
  if (caller() == nullptr || is_queueing()) return 0;
  std::size_t taken = 0;
  std::array<std::string_view, most_words> words;
  while (!ahead.is_full()) {
    const PlainCommand command = plain_command(input.substr(taken), words);
    if (command.words == 0 || !name_keys(remembered_, Words(words).first(command.words), ahead))
      break;
    taken += command.size;
  }
  return taken;
}

}  // namespace hs::redis
