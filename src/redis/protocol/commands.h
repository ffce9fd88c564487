// Commands: what a client may ask for, each declared once in a table.
//
// Plain data, for any thread. From it come the number of arguments that a command takes, where its keys
// stand, what is counted, what may be queued, and what COMMAND answers. It executes nothing. A second
// list has the names of Redis's commands that are not here, so that they get an answer of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hs::redis {

enum class Command : std::uint8_t {
  // connection
  auth,
  client,
  echo,
  hello,
  ping,
  quit,
  reset,
  select,
  // server
  cluster,
  command,
  config,
  dbsize,
  hs_reload,
  info,
  lastsave,
  readonly,
  readwrite,
  role,
  time,
  wait,
  // transactions
  discard,
  exec,
  multi,
  unwatch,
  watch,
  // keys
  copy,
  del,
  exists,
  expire,
  expireat,
  expiretime,
  keys,
  persist,
  pexpire,
  pexpireat,
  pexpiretime,
  pttl,
  randomkey,
  rename,
  renamenx,
  scan,
  touch,
  ttl,
  type,
  unlink,
  // hashes
  hdel,
  hexists,
  hget,
  hgetall,
  hgetdel,
  hincrby,
  hincrbyfloat,
  hkeys,
  hlen,
  hmget,
  hmset,
  hrandfield,
  hscan,
  hset,
  hsetnx,
  hstrlen,
  hvals,
  // every index
  hs_count,
  hs_delete,
  hs_describe,
  hs_find,
  hs_update,
  // strings
  append,
  decr,
  decrby,
  get,
  getdel,
  getex,
  getrange,
  getset,
  incr,
  incrby,
  incrbyfloat,
  mget,
  mset,
  msetnx,
  psetex,
  set,
  setex,
  setnx,
  setrange,
  strlen,
  substr,
  count_,
};

// What it does with the store. It decides where a command is executed and how it is counted.
enum class Effect : std::uint8_t {
  none,  // it touches no table
  find,
  count,
  update,
  erase,
};
constexpr bool writes(Effect effect) { return effect == Effect::update || effect == Effect::erase; }

enum class Group : std::uint8_t { connection, server, transactions, generic, hash, string };

// What else is said of it. A set is the sum of its members.
struct CommandFlags {
  static constexpr unsigned fast = 1;
  static constexpr unsigned before_log_in = 2;  // also for a client that has to log in
  static constexpr unsigned not_queued = 4;     // executed at once between MULTI and EXEC
  static constexpr unsigned refused_in_multi = 8;
};

struct CommandInfo {
  Command command;
  std::string_view name;  // in lower case
  // How many words it has, with its name; if negative, at least so many.
  std::int8_t arity;
  // Where keys stand among the words: the first, the last (counted from the end if negative), and how
  // far one is from the next. 0: it has none.
  std::int8_t first_key;
  std::int8_t last_key;
  std::int8_t key_step;
  Effect effect;
  Group group;
  unsigned flags;
  std::string_view since;  // of Redis
  std::string_view summary;

  constexpr bool has_flag(unsigned flag) const { return (flags & flag) != 0; }
  constexpr bool takes(std::size_t words) const {
    return arity < 0 ? words >= static_cast<std::size_t>(-arity)
                     : words == static_cast<std::size_t>(arity);
  }
};

std::span<const CommandInfo> all_commands();

// In upper or lower case. Null: there is no such command.
const CommandInfo* find_command(std::string_view name);
// Whether Redis has a command of this name that is not here.
bool is_of_redis_only(std::string_view name);

// Whether the word is this one, which is in lower case, whatever its case.
bool is_word(std::string_view word, std::string_view lower);

// How many keys the command has among so many words, and where the first stands.
struct KeyPlaces {
  std::size_t first = 0;
  std::size_t count = 0;
};
KeyPlaces keys_of(const CommandInfo& info, std::size_t words);
// Whether it only reads, and its second word is its only key, or the name that it searches by. Whatever such a command opens
// by that word, it opens with fields that depend on its other words alone: see keys::RowWork::repeated.
constexpr bool reads_one_key(const CommandInfo& info) {
  return info.effect == Effect::find && info.first_key == 1 && info.last_key == 1;
}

std::string_view name_of(Group group);

}  // namespace hs::redis
