// What a memcached client asks of several items at once: gets of very many, and series of quiet requests.
#include <algorithm>
#include <utility>

#include "memcached/protocol/errors.h"
#include "simulator/memcached_script.h"
#include "simulator/memcached_texts.h"

namespace hs::simulator {
namespace {

using memcached::Code;

constexpr std::size_t longest_series = 5;
constexpr std::string_view of_no_container = "@@none.key";
constexpr std::string_view no_container = "CLIENT_ERROR there is no such container\r\n";

enum Opcode : std::uint8_t {
  get_quietly = 0x09,
  no_operation = 0x0a,
  get_key_quietly = 0x0d,
  set_quietly = 0x11,
};

// Appends the block of an item if it is there. The request takes turns with others, so the item may have
// expired before, or since it was touched by the same request: the reply says so, if there is one.
bool append_block(std::string& blocks, OwnState& state, const std::string& key,
                  const Executed& how) {
  const auto item = state.items.find(key);
  if (item == state.items.end()) return false;
  const std::string one = block(key, item->second, "");
  const std::string_view rest = how.reply.substr(std::min(blocks.size(), how.reply.size()));
  const bool is_missing = !how.reply.empty() && !rest.starts_with(one);
  if (is_missing && may_expire(item->second, how)) {
    state.items.erase(item);
    return false;
  }
  blocks += one;
  return true;
}

}  // namespace

// Behind a change that may fail, with an answer of its own or without.
void MemcachedScript::ask_for_very_many() {
  const std::string changed = item_key();
  const std::string value = std::to_string(world_.below(1000));
  const bool is_quiet = world_.chance(60);
  if (world_.chance(80)) {
    ask("set " + changed + " 0 0 " + std::to_string(value.size()) + (is_quiet ? " noreply" : "") +
            "\r\n" + value + "\r\n",
        {.own =
             [=](OwnState& state, const Executed&) {
               set_item(state, changed, value, 0);
               return std::string("STORED\r\n");
             },
         .is_quiet = is_quiet});
  }
  std::vector<std::string> keys{changed};
  std::string line = "get " + changed;
  for (std::size_t i = world_.below(most_keys(false)); i != 0; --i) {
    keys.emplace_back(world_.chance(1) ? of_no_container : item_key());
    line += ' ' + keys.back();
  }
  const bool has_wrong = std::ranges::find(keys, of_no_container) != keys.end();
  ask_own(line, [=](OwnState& state, const Executed& how) {
    // What was not sent before the error is not answered.
    const bool is_short = has_wrong && how.reply.ends_with(no_container);
    const std::size_t most = how.reply.size() - (is_short ? no_container.size() : 0);
    std::string blocks;
    for (const std::string& key : keys) {
      if (key == of_no_container || (is_short && blocks.size() >= most))
        return blocks.append(no_container);
      append_block(blocks, state, key, how);
    }
    return blocks + "END\r\n";
  });
}

// A worker touches few items in one request. With more of them it is somebody else who does it.
void MemcachedScript::ask_to_touch() {
  const std::uint64_t seconds = world_.chance(50) ? 1 + world_.below(2) : 0;
  std::vector<std::string> keys;
  std::string line = "gat " + std::to_string(seconds);
  for (std::size_t i = 1 + world_.below(most_keys(true)); i != 0; --i) {
    keys.push_back(item_key());
    line += ' ' + keys.back();
  }
  ask_own(line, [=](OwnState& state, const Executed& how) {
    std::string blocks;
    for (const std::string& key : keys) {
      if (append_block(blocks, state, key, how)) expire_item(state.items.at(key), seconds, how);
    }
    return blocks + "END\r\n";
  });
}

// Quiet meta requests, whose silence says that a change was made or that nothing was found, and the one behind
// them that is answered.
void MemcachedScript::ask_series() {
  const auto ask_quiet = [this](const std::string& line, const std::string& rest,
                                OwnThings::Execute execute) {
    ask(line + std::to_string(last_opaque_) + "\r\n" + rest, {.own = std::move(execute),
                                                              .is_quiet = true,
                                                              .tells_by_silence = true,
                                                              .opaque = last_opaque_});
  };
  for (std::size_t i = 1 + world_.below(longest_series); i != 0; --i) {
    const std::string key = item_key();
    const std::string value = std::to_string(world_.below(1000));
    const std::string opaque = " O" + std::to_string(++last_opaque_) + "\r\n";
    switch (world_.below(5)) {
      case 0:
        ask_quiet("ms " + key + ' ' + std::to_string(value.size()) + " q O", value + "\r\n",
                  [=](OwnState& state, const Executed&) {
                    set_item(state, key, value, 0);
                    return std::string();
                  });
        break;
      case 1:
        ask_quiet("md " + key + " q O", "", [=](OwnState& state, const Executed&) {
          return state.items.erase(key) != 0 ? "" : "NF" + opaque;
        });
        break;
      default:
        ask_quiet("mg " + key + " v q O", "", [=](OwnState& state, const Executed&) {
          const auto item = state.items.find(key);
          if (item == state.items.end()) return std::string();
          const std::string& text = item->second.value;
          std::string answer = "VA " + std::to_string(text.size());
          answer.append(opaque).append(text);
          return answer += "\r\n";
        });
    }
  }
  ask("mn\r\n", {.on_reply =
                     [](std::string_view reply) {
                       require(reply == "MN\r\n", "mn was answered " + std::string(reply));
                     },
                 .touches_rows = false});
}

// The same in binary.
void MemcachedScript::ask_packet_series() {
  for (std::size_t i = 1 + world_.below(longest_series); i != 0; --i) {
    const std::string key = item_key();
    if (world_.chance(20)) {
      const std::string value = std::to_string(world_.below(1000));
      ask_packet({set_quietly, key, std::string(8, '\0'), value},
                 {.own =
                      [=](OwnState& state, const Executed&) {
                        state.items[key] = {.value = value};
                        return std::string();
                      },
                  .is_quiet = true,
                  .tells_by_silence = true});
      continue;
    }
    const bool shows_key = world_.chance(50);
    ask_packet({.opcode = shows_key ? get_key_quietly : get_quietly, .key = key},
               {.own =
                    [=](OwnState& state, const Executed& how) {
                      const auto item = state.items.find(key);
                      if (item == state.items.end()) return std::string();
                      const std::string& value = item->second.value;
                      return in_bytes(digest(Code::ok, shows_key ? key + value : value), how);
                    },
                .is_quiet = true,
                .tells_by_silence = true});
  }
  ask_packet({.opcode = no_operation}, {.on_reply =
                                            [](std::string_view reply) {
                                              require(digest_of(reply) == digest(Code::ok),
                                                      "a noop was answered " + digest_of(reply));
                                            },
                                        .touches_rows = false});
}

}  // namespace hs::simulator
