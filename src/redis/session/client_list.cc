#include "redis/session/client_list.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "net/server.h"
#include "redis/protocol/errors.h"
#include "redis/protocol/number.h"

namespace hs::redis {
namespace {

using net::ConnectionInfo;

Status say(std::string& said, std::string text) {
  said = std::move(text);
  return status_of(Mistake::said);
}

std::string_view shown_user(const ConnectionInfo& one) {
  return one.user.empty() ? default_user : std::string_view(one.user);
}

// Which connections are meant. What is not given does not matter.
struct Chosen {
  std::vector<std::int64_t> ids{};
  std::optional<std::string_view> address{};
  std::optional<std::string_view> user{};
  bool no_kind = false;  // a kind that no connection has
  bool skips_own = false;
  std::int64_t least_age_s = 0;

  bool has(const ConnectionInfo& one, const Asking& who) const {
    const auto id = static_cast<std::int64_t>(one.id);
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(one.age).count();
    if (one.user != who.account || no_kind || (skips_own && one.id == who.connection)) return false;
    if (!ids.empty() && std::ranges::find(ids, id) == ids.end()) return false;
    if (address && *address != one.peer) return false;
    if (user && *user != shown_user(one)) return false;
    return age >= least_age_s;
  }
};

Status take_kind(std::string_view word, Chosen& chosen, std::string& said) {
  constexpr std::array<std::string_view, 4> others{"master", "replica", "slave", "pubsub"};
  if (is_word(word, "normal")) return {};
  chosen.no_kind = true;
  if (std::ranges::any_of(others, [&](std::string_view one) { return is_word(word, one); }))
    return {};
  return say(said, "ERR Unknown client type '" + std::string(word.substr(0, 128)) + "'");
}

// CLIENT LIST [TYPE kind] [ID id ...]
Status read_list(Words words, Chosen& chosen, std::string& said) {
  if (words.empty()) return {};
  if (is_word(words[0], "type") && words.size() == 2) return take_kind(words[1], chosen, said);
  if (!is_word(words[0], "id") || words.size() < 2) return status_of(Mistake::syntax);
  for (const std::string_view word : words.subspan(1)) {
    if (!read_integer(word, chosen.ids.emplace_back()) || chosen.ids.back() < 1)
      return say(said, "ERR Invalid client ID");
  }
  return {};
}

// CLIENT KILL [ID id] [TYPE kind] [USER name] [ADDR address] [SKIPME yes|no] [MAXAGE seconds]
Status read_kill(Words words, Chosen& chosen, std::string& said) {
  chosen.skips_own = true;
  if (words.size() % 2 != 0) return status_of(Mistake::syntax);
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string_view value = words[i + 1];
    if (is_word(words[i], "id")) {
      if (!read_integer(value, chosen.ids.emplace_back()) || chosen.ids.back() < 1)
        return say(said, "ERR client-id should be greater than 0");
    } else if (is_word(words[i], "type")) {
      if (const Status status = take_kind(value, chosen, said); !status.ok()) return status;
    } else if (is_word(words[i], "addr")) {
      chosen.address = value;
    } else if (is_word(words[i], "laddr")) {
      return say(said, "ERR LADDR is not known here, see docs/redis.md");
    } else if (is_word(words[i], "user")) {
      chosen.user = value;
    } else if (is_word(words[i], "maxage")) {
      if (!read_integer(value, chosen.least_age_s))
        return say(said, "ERR maxage is not an integer or out of range");
      if (chosen.least_age_s < 1) return say(said, "ERR maxage should be greater than 0");
    } else if (is_word(words[i], "skipme") && is_word(value, "yes")) {
      chosen.skips_own = true;
    } else if (is_word(words[i], "skipme") && is_word(value, "no")) {
      chosen.skips_own = false;
    } else {
      return status_of(Mistake::syntax);
    }
  }
  return {};
}

std::string line_of(const ConnectionInfo& one, const ClientName& name) {
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  };
  std::string line = "id=" + std::to_string(one.id);
  const auto add = [&](std::string_view field, std::string_view value) {
    line += ' ';
    line += field;
    line += '=';
    line += value;
  };
  add("addr", one.peer);
  add("name", name.name);
  add("age", seconds(one.age));
  add("idle", seconds(one.idle));
  add("flags", "N");
  add("db", "0");
  add("sub", "0");
  add("psub", "0");
  add("ssub", "0");
  add("tot-mem", std::to_string(one.waiting_bytes));
  add("cmd", one.last_request.empty() ? std::string_view("NULL") : one.last_request);
  add("user", shown_user(one));
  add("resp", std::to_string(static_cast<int>(name.resp)));
  add("lib-name", name.library);
  add("lib-ver", name.library_version);
  add("tot-net-in", std::to_string(one.received));
  add("tot-net-out", std::to_string(one.sent));
  add("tot-cmds", std::to_string(one.requests));
  return line + '\n';
}

}  // namespace

bool asks_for_clients(const CommandInfo& info, Words words) {
  return info.command == Command::client && words.size() >= 2 &&
         (is_word(words[1], "list") || is_word(words[1], "kill"));
}

Status answer_clients(const Config& config, const Asking& who, Words words, Reply& reply,
                      std::string& said) {
  const bool kills = is_word(words[1], "kill");
  const Words rest = words.subspan(2);
  if (kills && rest.empty())
    return say(said, "ERR wrong number of arguments for 'client|kill' command");
  const bool is_old_form = kills && rest.size() == 1;
  Chosen chosen;
  if (is_old_form) {
    chosen.address = rest[0];
  } else {
    const Status status = kills ? read_kill(rest, chosen, said) : read_list(rest, chosen, said);
    if (!status.ok()) return status;
  }
  net::ConnectionList list = config.connections();
  if (!list.is_complete) return say(said, "TRYAGAIN a worker has not answered in time");
  std::erase_if(list.connections, [&](const ConnectionInfo& one) { return !chosen.has(one, who); });
  // A connection that moves from worker to worker may be seen twice. One's own ends last.
  std::ranges::sort(list.connections, [&](const ConnectionInfo& a, const ConnectionInfo& b) {
    const auto rank = [&](const ConnectionInfo& one) {
      return std::pair(kills && one.id == who.connection, one.id);
    };
    return rank(a) < rank(b);
  });
  const auto is_same = [](const ConnectionInfo& a, const ConnectionInfo& b) {
    return a.id == b.id;
  };
  list.connections.erase(std::unique(list.connections.begin(), list.connections.end(), is_same),
                         list.connections.end());
  if (!kills) {
    std::string text;
    for (const ConnectionInfo& one : list.connections)
      text += line_of(one, config.clients.find(one.id));
    reply.verbatim(text);
    return {};
  }
  std::int64_t ended = 0;
  for (const ConnectionInfo& one : list.connections)
    ended += config.close(one.id) == net::Closing::begun ? 1 : 0;
  if (!is_old_form) {
    reply.integer(ended);
  } else if (ended == 0) {
    return say(said, "ERR No such client");
  } else {
    reply.ok();
  }
  return {};
}

void answer_client_help(Reply& reply) {
  constexpr std::array<std::string_view, 24> lines{
      "CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "GETNAME",
      "    The name of this connection.",
      "ID",
      "    The number of this connection.",
      "INFO",
      "    A line about this connection.",
      "KILL <address>",
      "    End a connection of the own account.",
      "KILL <option> <value> [<option> <value> [...]]",
      "    End those that are meant: ADDR, ID, MAXAGE, SKIPME (yes|no), TYPE, USER.",
      "LIST [TYPE <type>] [ID <id> [<id> ...]]",
      "    A line about each connection of the own account.",
      "NO-EVICT (ON|OFF)",
      "    Nothing is evicted here.",
      "NO-TOUCH (ON|OFF)",
      "    Reading changes nothing here.",
      "REPLY (ON|OFF|SKIP)",
      "    Whether replies are sent.",
      "SETNAME <name>, SETINFO (LIB-NAME|LIB-VER) <value>",
      "    Say who this connection is.",
      "HELP",
      "    Print this help.",
      "TRACKING is refused: SQL changes rows, too.",
  };
  reply.array(lines.size());
  for (const std::string_view line : lines) reply.simple(line);
}

}  // namespace hs::redis
