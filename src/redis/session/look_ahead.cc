// The keys that a client's next commands read, named before they are executed.
#include "passes/look_ahead.h"

#include <algorithm>
#include <array>

#include "redis/protocol/commands.h"
#include "redis/protocol/plain_command.h"
#include "redis/session/dialogue.h"
#include "redis/session/look_ahead.h"

namespace hs::redis {
namespace {

using Entry = keys::RememberedRows::Entry;

// A command with more words is not looked at.
constexpr std::size_t most_words = 16;

// The values of a key's parts, without reading an escape. Returns how many there are, 0 if there are too
// few or too many.
std::size_t plain_parts(std::string_view parts, std::size_t count, std::span<store::Value> to) {
  if (count > to.size()) return 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::size_t colon = parts.find(':');
    if (colon == std::string_view::npos) return 0;
    to[i] = {.bytes = parts.substr(0, colon)};
    if (to[i].bytes.find('%') != std::string_view::npos) return 0;
    parts.remove_prefix(colon + 1);
  }
  to[count - 1] = {.bytes = parts};
  return count;
}

bool name(const Entry* entry, std::string_view parts, passes::LookAhead& ahead) {
  if (entry == nullptr) return false;
  const std::size_t count = plain_parts(parts, entry->access->shape->key.size(), ahead.next_key());
  if (count == 0) return false;
  ahead.add(*entry->access->index, count);
  return true;
}

}  // namespace

bool name_item(keys::RememberedRows& rows, const keys::ItemKey& item, passes::LookAhead& ahead) {
  if (item.container == nullptr) return false;
  return name(rows.find(*item.container, Asks::value), item.key, ahead);
}

namespace {

// As Containers::resolve(), of what the connection has used lately.
bool name_item(keys::RememberedRows& rows, std::string_view key, passes::LookAhead& ahead) {
  const keys::SplitKey split = keys::split_key(key);
  if (split.has_parts) {
    if (const Entry* const entry = rows.find(split.name, Asks::value, {}); entry != nullptr)
      return name(entry, split.parts, ahead);
  }
  return name(rows.find(keys::Container::default_name, Asks::value, {}), key, ahead);
}

bool name_row(keys::RememberedRows& rows, Words words, Asks asks, passes::LookAhead& ahead) {
  const keys::SplitKey split = keys::split_key(words[1]);
  if (!split.has_parts) return false;
  return name(rows.find(split.name, asks, words.subspan(2)), split.parts, ahead);
}

// Whether all keys of the command were named, or as many as there is room for.
bool name_keys(keys::RememberedRows& rows, Words words, passes::LookAhead& ahead) {
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
                                 passes::LookAhead& ahead) {
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
