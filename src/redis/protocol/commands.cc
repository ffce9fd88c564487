#include "redis/protocol/commands.h"

#include <algorithm>
#include <array>

#include "base/short_bytes.h"

namespace hs::redis {
namespace {

using Flags = CommandFlags;

constexpr std::array command_table{
    CommandInfo{Command::auth, "auth", -2, 0, 0, 0, Effect::none, Group::connection,
                Flags::fast | Flags::before_log_in | Flags::refused_in_multi, "1.0.0",
                "Logs in: with the port's secret, or as an account of the server."},
    CommandInfo{Command::client, "client", -2, 0, 0, 0, Effect::none, Group::connection,
                Flags::refused_in_multi, "2.4.0",
                "Tells of this connection, and sets what belongs to it."},
    CommandInfo{Command::echo, "echo", 2, 0, 0, 0, Effect::none, Group::connection, Flags::fast,
                "1.0.0", "Answers what it was given."},
    CommandInfo{Command::hello, "hello", -1, 0, 0, 0, Effect::none, Group::connection,
                Flags::fast | Flags::before_log_in | Flags::refused_in_multi, "6.0.0",
                "Chooses RESP2 or RESP3, and may log in."},
    CommandInfo{Command::ping, "ping", -1, 0, 0, 0, Effect::none, Group::connection, Flags::fast,
                "1.0.0", "Answers PONG, or what it was given."},
    CommandInfo{Command::quit, "quit", -1, 0, 0, 0, Effect::none, Group::connection,
                Flags::fast | Flags::before_log_in | Flags::not_queued, "1.0.0",
                "Ends the connection."},
    CommandInfo{Command::reset, "reset", 1, 0, 0, 0, Effect::none, Group::connection,
                Flags::fast | Flags::before_log_in | Flags::not_queued, "6.2.0",
                "Makes the connection as it was at its beginning."},
    CommandInfo{Command::select, "select", 2, 0, 0, 0, Effect::none, Group::connection, Flags::fast,
                "1.0.0", "Chooses database 0, the only one."},
    CommandInfo{Command::cluster, "cluster", -2, 0, 0, 0, Effect::none, Group::server, 0, "3.0.0",
                "Answers as a server without a cluster."},
    CommandInfo{Command::command, "command", -1, 0, 0, 0, Effect::none, Group::server, 0, "2.8.13",
                "Tells of the commands that there are."},
    CommandInfo{Command::config, "config", -2, 0, 0, 0, Effect::none, Group::server, 0, "2.0.0",
                "Tells of a few settings that clients ask for."},
    CommandInfo{Command::dbsize, "dbsize", 1, 0, 0, 0, Effect::none, Group::server, Flags::fast,
                "1.0.0", "Is refused: nobody knows how many rows all tables have."},
    CommandInfo{Command::hs_reload, "hs.reload", 1, 0, 0, 0, Effect::none, Group::server, 0,
                "8.0.0", "Has the table of containers read at once."},
    CommandInfo{Command::info, "info", -1, 0, 0, 0, Effect::none, Group::server, 0, "1.0.0",
                "Tells of the server, in sections."},
    CommandInfo{
        Command::lastsave, "lastsave", 1, 0, 0, 0, Effect::none, Group::server, Flags::fast,
        "1.0.0",
        "Answers the present time: what is acknowledged is saved as the server's settings say."},
    CommandInfo{Command::readonly, "readonly", 1, 0, 0, 0, Effect::none, Group::server, Flags::fast,
                "3.0.0", "Answers as a server without a cluster."},
    CommandInfo{Command::readwrite, "readwrite", 1, 0, 0, 0, Effect::none, Group::server,
                Flags::fast, "3.0.0", "Answers as a server without a cluster."},
    CommandInfo{Command::role, "role", 1, 0, 0, 0, Effect::none, Group::server, Flags::fast,
                "2.8.12", "Answers as a master without replicas that speak Redis's protocol."},
    CommandInfo{Command::time, "time", 1, 0, 0, 0, Effect::none, Group::server, Flags::fast,
                "2.6.0", "Answers the server's time: seconds, and microseconds of the second."},
    CommandInfo{Command::wait, "wait", 3, 0, 0, 0, Effect::none, Group::generic, 0, "3.0.0",
                "Answers 0: no replica tells this connection what it has."},
    CommandInfo{Command::discard, "discard", 1, 0, 0, 0, Effect::none, Group::transactions,
                Flags::fast | Flags::not_queued, "2.0.0", "Forgets the commands since MULTI."},
    CommandInfo{Command::exec, "exec", 1, 0, 0, 0, Effect::none, Group::transactions,
                Flags::not_queued, "1.2.0",
                "Executes the commands since MULTI: all of them, or none if one fails."},
    CommandInfo{Command::multi, "multi", 1, 0, 0, 0, Effect::none, Group::transactions,
                Flags::fast | Flags::not_queued | Flags::refused_in_multi, "1.2.0",
                "Begins a transaction: what follows is queued until EXEC."},
    CommandInfo{Command::unwatch, "unwatch", 1, 0, 0, 0, Effect::none, Group::transactions,
                Flags::fast, "2.2.0", "Forgets what WATCH has seen."},
    CommandInfo{Command::watch, "watch", -2, 1, -1, 1, Effect::find, Group::transactions,
                Flags::fast | Flags::refused_in_multi, "2.2.0",
                "Has EXEC do nothing if one of the rows is another one then."},
    CommandInfo{Command::copy, "copy", -3, 1, 2, 1, Effect::update, Group::generic, 0, "6.2.0",
                "Puts a copy of an item in the place of another key."},
    CommandInfo{Command::del, "del", -2, 1, -1, 1, Effect::erase, Group::generic, 0, "1.0.0",
                "Deletes rows."},
    CommandInfo{Command::exists, "exists", -2, 1, -1, 1, Effect::count, Group::generic, Flags::fast,
                "1.0.0", "Counts which of the rows are there."},
    CommandInfo{Command::expire, "expire", -3, 1, 1, 1, Effect::update, Group::generic, Flags::fast,
                "1.0.0", "Has an item expire after so many seconds."},
    CommandInfo{Command::expireat, "expireat", -3, 1, 1, 1, Effect::update, Group::generic,
                Flags::fast, "1.2.0", "Has an item expire at a time, in seconds since 1970."},
    CommandInfo{Command::expiretime, "expiretime", 2, 1, 1, 1, Effect::find, Group::generic,
                Flags::fast, "7.0.0", "Answers when an item expires, in seconds since 1970."},
    CommandInfo{Command::keys, "keys", 2, 0, 0, 0, Effect::find, Group::generic,
                Flags::refused_in_multi, "1.0.0",
                "Lists the keys of a table that a pattern allows, up to 100,000."},
    CommandInfo{Command::persist, "persist", 2, 1, 1, 1, Effect::update, Group::generic,
                Flags::fast, "2.2.0", "Has an item never expire."},
    CommandInfo{Command::pexpire, "pexpire", -3, 1, 1, 1, Effect::update, Group::generic,
                Flags::fast, "2.6.0", "Has an item expire after so many milliseconds."},
    CommandInfo{Command::pexpireat, "pexpireat", -3, 1, 1, 1, Effect::update, Group::generic,
                Flags::fast, "2.6.0", "Has an item expire at a time, in milliseconds since 1970."},
    CommandInfo{Command::pexpiretime, "pexpiretime", 2, 1, 1, 1, Effect::find, Group::generic,
                Flags::fast, "7.0.0", "Answers when an item expires, in milliseconds since 1970."},
    CommandInfo{Command::pttl, "pttl", 2, 1, 1, 1, Effect::find, Group::generic, Flags::fast,
                "2.6.0", "Answers in how many milliseconds an item expires."},
    CommandInfo{Command::randomkey, "randomkey", 1, 0, 0, 0, Effect::none, Group::generic, 0,
                "1.0.0", "Is refused: it names no table."},
    CommandInfo{Command::rename, "rename", 3, 1, 2, 1, Effect::update, Group::generic, 0, "1.0.0",
                "Moves an item to another key."},
    CommandInfo{Command::renamenx, "renamenx", 3, 1, 2, 1, Effect::update, Group::generic,
                Flags::fast, "1.0.0", "Moves an item to another key that is free."},
    CommandInfo{Command::scan, "scan", -2, 0, 0, 0, Effect::find, Group::generic, 0, "2.8.0",
                "Goes through the keys of a table that a pattern allows."},
    CommandInfo{Command::touch, "touch", -2, 1, -1, 1, Effect::count, Group::generic, Flags::fast,
                "3.2.1", "Counts which of the rows are there, and changes nothing."},
    CommandInfo{Command::ttl, "ttl", 2, 1, 1, 1, Effect::find, Group::generic, Flags::fast, "1.0.0",
                "Answers in how many seconds an item expires."},
    CommandInfo{Command::type, "type", 2, 1, 1, 1, Effect::count, Group::generic, Flags::fast,
                "1.0.0", "Answers hash for a row that is there."},
    CommandInfo{Command::unlink, "unlink", -2, 1, -1, 1, Effect::erase, Group::generic, Flags::fast,
                "4.0.0", "Deletes rows."},
    CommandInfo{Command::hdel, "hdel", -3, 1, 1, 1, Effect::update, Group::hash, Flags::fast,
                "2.0.0", "Sets columns to NULL. The row stays."},
    CommandInfo{Command::hexists, "hexists", 3, 1, 1, 1, Effect::find, Group::hash, Flags::fast,
                "2.0.0", "Answers whether a column is not NULL."},
    CommandInfo{Command::hget, "hget", 3, 1, 1, 1, Effect::find, Group::hash, Flags::fast, "2.0.0",
                "Reads a column of a row."},
    CommandInfo{Command::hgetall, "hgetall", 2, 1, 1, 1, Effect::find, Group::hash, 0, "2.0.0",
                "Reads all columns of a row that are not NULL."},
    CommandInfo{Command::hgetdel, "hgetdel", -5, 1, 1, 1, Effect::update, Group::hash, Flags::fast,
                "8.0.0", "Reads columns of a row and sets them to NULL."},
    CommandInfo{Command::hincrby, "hincrby", 4, 1, 1, 1, Effect::update, Group::hash, Flags::fast,
                "2.0.0", "Adds a whole number to a column."},
    CommandInfo{Command::hincrbyfloat, "hincrbyfloat", 4, 1, 1, 1, Effect::update, Group::hash,
                Flags::fast, "2.6.0", "Adds a number to a column."},
    CommandInfo{Command::hkeys, "hkeys", 2, 1, 1, 1, Effect::find, Group::hash, 0, "2.0.0",
                "Answers the names of the columns of a row that are not NULL."},
    CommandInfo{Command::hlen, "hlen", 2, 1, 1, 1, Effect::find, Group::hash, Flags::fast, "2.0.0",
                "Counts the columns of a row that are not NULL."},
    CommandInfo{Command::hmget, "hmget", -3, 1, 1, 1, Effect::find, Group::hash, Flags::fast,
                "2.0.0", "Reads columns of a row."},
    CommandInfo{Command::hmset, "hmset", -4, 1, 1, 1, Effect::update, Group::hash, Flags::fast,
                "2.0.0", "Sets columns of a row, which is inserted if it is not there."},
    CommandInfo{Command::hrandfield, "hrandfield", -2, 1, 1, 1, Effect::find, Group::hash, 0,
                "6.2.0", "Chooses columns of a row that are not NULL by chance."},
    CommandInfo{Command::hscan, "hscan", -3, 1, 1, 1, Effect::find, Group::hash, 0, "2.8.0",
                "Reads the columns of a row whose names a pattern allows, all at once."},
    CommandInfo{Command::hset, "hset", -4, 1, 1, 1, Effect::update, Group::hash, Flags::fast,
                "2.0.0",
                "Sets columns of a row, which is inserted if it is not there, and counts those "
                "that were NULL."},
    CommandInfo{Command::hsetnx, "hsetnx", 4, 1, 1, 1, Effect::update, Group::hash, Flags::fast,
                "2.0.0", "Sets a column that is NULL."},
    CommandInfo{Command::hstrlen, "hstrlen", 3, 1, 1, 1, Effect::find, Group::hash, Flags::fast,
                "3.2.0", "Answers how many bytes a column has."},
    CommandInfo{Command::hvals, "hvals", 2, 1, 1, 1, Effect::find, Group::hash, 0, "2.0.0",
                "Reads all columns of a row that are not NULL, without their names."},
    CommandInfo{Command::hs_count, "hs.count", -2, 1, 1, 1, Effect::count, Group::hash, 0, "8.0.0",
                "Counts the rows that are selected by an index."},
    CommandInfo{Command::hs_delete, "hs.delete", -3, 1, 1, 1, Effect::erase, Group::hash, 0,
                "8.0.0", "Deletes the rows that are selected by an index."},
    CommandInfo{Command::hs_describe, "hs.describe", 2, 1, 1, 1, Effect::find, Group::hash, 0,
                "8.0.0", "Tells of the columns and indexes of a table that the account may see."},
    CommandInfo{Command::hs_find, "hs.find", -2, 1, 1, 1, Effect::find, Group::hash, 0, "8.0.0",
                "Reads the rows that are selected by an index, and says where to go on."},
    CommandInfo{Command::hs_update, "hs.update", -6, 1, 1, 1, Effect::update, Group::hash, 0,
                "8.0.0", "Sets columns of the rows that are selected by an index."},
    CommandInfo{Command::append, "append", 3, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "2.0.0", "Adds bytes at the end of an item."},
    CommandInfo{Command::decr, "decr", 2, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "1.0.0", "Subtracts 1 from an item."},
    CommandInfo{Command::decrby, "decrby", 3, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "1.0.0", "Subtracts a whole number from an item."},
    CommandInfo{Command::get, "get", 2, 1, 1, 1, Effect::find, Group::string, Flags::fast, "1.0.0",
                "Reads an item."},
    CommandInfo{Command::getdel, "getdel", 2, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "6.2.0", "Reads an item and deletes it."},
    CommandInfo{Command::getex, "getex", -2, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "6.2.0", "Reads an item and sets when it expires."},
    CommandInfo{Command::getrange, "getrange", 4, 1, 1, 1, Effect::find, Group::string, 0, "2.4.0",
                "Reads a part of an item."},
    CommandInfo{Command::getset, "getset", 3, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "1.0.0", "Sets an item and answers what it was."},
    CommandInfo{Command::incr, "incr", 2, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "1.0.0", "Adds 1 to an item."},
    CommandInfo{Command::incrby, "incrby", 3, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "1.0.0", "Adds a whole number to an item."},
    CommandInfo{Command::incrbyfloat, "incrbyfloat", 3, 1, 1, 1, Effect::update, Group::string,
                Flags::fast, "2.6.0", "Adds a number to an item."},
    CommandInfo{Command::mget, "mget", -2, 1, -1, 1, Effect::find, Group::string, Flags::fast,
                "1.0.0", "Reads items."},
    CommandInfo{Command::mset, "mset", -3, 1, -1, 2, Effect::update, Group::string, 0, "1.0.1",
                "Sets items: all of them or none."},
    CommandInfo{Command::msetnx, "msetnx", -3, 1, -1, 2, Effect::update, Group::string, 0, "1.0.1",
                "Sets items if none of them is there."},
    CommandInfo{Command::psetex, "psetex", 4, 1, 1, 1, Effect::update, Group::string, 0, "2.6.0",
                "Sets an item that expires after so many milliseconds."},
    CommandInfo{Command::set, "set", -3, 1, 1, 1, Effect::update, Group::string, 0, "1.0.0",
                "Sets an item."},
    CommandInfo{Command::setex, "setex", 4, 1, 1, 1, Effect::update, Group::string, 0, "2.0.0",
                "Sets an item that expires after so many seconds."},
    CommandInfo{Command::setnx, "setnx", 3, 1, 1, 1, Effect::update, Group::string, Flags::fast,
                "1.0.0", "Sets an item that is not there."},
    CommandInfo{Command::setrange, "setrange", 4, 1, 1, 1, Effect::update, Group::string, 0,
                "2.2.0", "Writes over a part of an item."},
    CommandInfo{Command::strlen, "strlen", 2, 1, 1, 1, Effect::find, Group::string, Flags::fast,
                "2.2.0", "Answers how many bytes an item has."},
    CommandInfo{Command::substr, "substr", 4, 1, 1, 1, Effect::find, Group::string, 0, "1.0.0",
                "Reads a part of an item."},
};

constexpr bool table_is_in_order() {
  for (std::size_t i = 0; i < command_table.size(); ++i) {
    if (static_cast<std::size_t>(command_table[i].command) != i) return false;
  }
  return command_table.size() == static_cast<std::size_t>(Command::count_);
}
static_assert(table_is_in_order());

// Names of Redis 8, in the order of the alphabet.
constexpr auto names_of_redis_only = std::to_array<std::string_view>({"acl",
                                                                      "asking",
                                                                      "bgrewriteaof",
                                                                      "bgsave",
                                                                      "bitcount",
                                                                      "bitfield",
                                                                      "bitfield_ro",
                                                                      "bitop",
                                                                      "bitpos",
                                                                      "blmove",
                                                                      "blmpop",
                                                                      "blpop",
                                                                      "brpop",
                                                                      "brpoplpush",
                                                                      "bzmpop",
                                                                      "bzpopmax",
                                                                      "bzpopmin",
                                                                      "debug",
                                                                      "dump",
                                                                      "eval",
                                                                      "eval_ro",
                                                                      "evalsha",
                                                                      "evalsha_ro",
                                                                      "failover",
                                                                      "fcall",
                                                                      "fcall_ro",
                                                                      "flushall",
                                                                      "flushdb",
                                                                      "function",
                                                                      "geoadd",
                                                                      "geodist",
                                                                      "geohash",
                                                                      "geopos",
                                                                      "georadius",
                                                                      "georadius_ro",
                                                                      "georadiusbymember",
                                                                      "georadiusbymember_ro",
                                                                      "geosearch",
                                                                      "geosearchstore",
                                                                      "getbit",
                                                                      "hexpire",
                                                                      "hexpireat",
                                                                      "hexpiretime",
                                                                      "hgetex",
                                                                      "hpersist",
                                                                      "hpexpire",
                                                                      "hpexpireat",
                                                                      "hpexpiretime",
                                                                      "hpttl",
                                                                      "hsetex",
                                                                      "httl",
                                                                      "latency",
                                                                      "lcs",
                                                                      "lindex",
                                                                      "linsert",
                                                                      "llen",
                                                                      "lmove",
                                                                      "lmpop",
                                                                      "lolwut",
                                                                      "lpop",
                                                                      "lpos",
                                                                      "lpush",
                                                                      "lpushx",
                                                                      "lrange",
                                                                      "lrem",
                                                                      "lset",
                                                                      "ltrim",
                                                                      "memory",
                                                                      "migrate",
                                                                      "module",
                                                                      "monitor",
                                                                      "move",
                                                                      "object",
                                                                      "pfadd",
                                                                      "pfcount",
                                                                      "pfdebug",
                                                                      "pfmerge",
                                                                      "pfselftest",
                                                                      "psubscribe",
                                                                      "psync",
                                                                      "publish",
                                                                      "pubsub",
                                                                      "punsubscribe",
                                                                      "replconf",
                                                                      "replicaof",
                                                                      "restore",
                                                                      "restore-asking",
                                                                      "rpop",
                                                                      "rpoplpush",
                                                                      "rpush",
                                                                      "rpushx",
                                                                      "sadd",
                                                                      "save",
                                                                      "scard",
                                                                      "script",
                                                                      "sdiff",
                                                                      "sdiffstore",
                                                                      "setbit",
                                                                      "shutdown",
                                                                      "sinter",
                                                                      "sintercard",
                                                                      "sinterstore",
                                                                      "sismember",
                                                                      "slaveof",
                                                                      "slowlog",
                                                                      "smembers",
                                                                      "smismember",
                                                                      "smove",
                                                                      "sort",
                                                                      "sort_ro",
                                                                      "spop",
                                                                      "spublish",
                                                                      "srandmember",
                                                                      "srem",
                                                                      "sscan",
                                                                      "ssubscribe",
                                                                      "subscribe",
                                                                      "sunion",
                                                                      "sunionstore",
                                                                      "sunsubscribe",
                                                                      "swapdb",
                                                                      "sync",
                                                                      "unsubscribe",
                                                                      "waitaof",
                                                                      "xack",
                                                                      "xackdel",
                                                                      "xadd",
                                                                      "xautoclaim",
                                                                      "xclaim",
                                                                      "xdel",
                                                                      "xdelex",
                                                                      "xgroup",
                                                                      "xinfo",
                                                                      "xlen",
                                                                      "xpending",
                                                                      "xrange",
                                                                      "xread",
                                                                      "xreadgroup",
                                                                      "xrevrange",
                                                                      "xsetid",
                                                                      "xtrim",
                                                                      "zadd",
                                                                      "zcard",
                                                                      "zcount",
                                                                      "zdiff",
                                                                      "zdiffstore",
                                                                      "zincrby",
                                                                      "zinter",
                                                                      "zintercard",
                                                                      "zinterstore",
                                                                      "zlexcount",
                                                                      "zmpop",
                                                                      "zmscore",
                                                                      "zpopmax",
                                                                      "zpopmin",
                                                                      "zrandmember",
                                                                      "zrange",
                                                                      "zrangebylex",
                                                                      "zrangebyscore",
                                                                      "zrangestore",
                                                                      "zrank",
                                                                      "zrem",
                                                                      "zremrangebylex",
                                                                      "zremrangebyrank",
                                                                      "zremrangebyscore",
                                                                      "zrevrange",
                                                                      "zrevrangebylex",
                                                                      "zrevrangebyscore",
                                                                      "zrevrank",
                                                                      "zscan",
                                                                      "zscore",
                                                                      "zunion",
                                                                      "zunionstore"});
static_assert(std::ranges::is_sorted(names_of_redis_only));

constexpr std::size_t longest_name = 24;
constexpr unsigned case_bit = 'a' - 'A';

// Longer names are those of no command, and stay empty.
struct LowerCase {
  explicit LowerCase(std::string_view name) {
    if (name.size() > room.size()) return;
    std::ranges::transform(name, room.begin(), lower);
    text = {room.data(), name.size()};
  }
  static char lower(char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
  }
  std::array<char, longest_name> room;
  std::string_view text;
};

// A hash table of the commands by their names, made by the compiler. A slot that is taken leads to the next. A
// letter has the same place in upper and lower case, so nothing is copied to find one.
constexpr std::size_t slot_count = 256;
constexpr std::uint8_t no_command = 255;
static_assert(command_table.size() < slot_count / 2);

constexpr std::size_t first_slot(std::string_view name) {
  const auto at = [&](std::size_t place) -> std::size_t {
    return static_cast<unsigned char>(name[place]) | case_bit;
  };
  const std::size_t size = name.size();
  return (size * 7 + at(0) * 31 + at(size / 2) * 17 + at(size - 1) * 131) % slot_count;
}
constexpr std::size_t next_slot(std::size_t slot) { return (slot + 1) % slot_count; }

constexpr std::array slots = [] {
  std::array<std::uint8_t, slot_count> made{};
  made.fill(no_command);
  for (std::size_t i = 0; i < command_table.size(); ++i) {
    std::size_t slot = first_slot(command_table[i].name);
    while (made[slot] != no_command) slot = next_slot(slot);
    made[slot] = static_cast<std::uint8_t>(i);
  }
  return made;
}();

// The names in upper case, in the order of the table.
constexpr std::array upper_names = [] {
  std::array<std::array<char, longest_name>, command_table.size()> made{};
  for (std::size_t i = 0; i < command_table.size(); ++i) {
    std::ranges::transform(command_table[i].name, made[i].begin(), [](char byte) {
      return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - case_bit) : byte;
    });
  }
  return made;
}();

// Clients write a name either in upper or in lower case, and few in both.
bool is_name_of(std::size_t command, std::string_view name) {
  const std::string_view lower = command_table[command].name;
  if (name.size() != lower.size()) return false;
  return are_equal(name.data(), upper_names[command].data(), name.size()) ||
         are_equal(name.data(), lower.data(), name.size()) || is_word(name, lower);
}

}  // namespace

std::span<const CommandInfo> all_commands() { return command_table; }

const CommandInfo* find_command(std::string_view name) {
  if (name.empty()) return nullptr;
  for (std::size_t slot = first_slot(name); slots[slot] != no_command; slot = next_slot(slot)) {
    if (is_name_of(slots[slot], name)) return &command_table[slots[slot]];
  }
  return nullptr;
}

bool is_of_redis_only(std::string_view name) {
  const LowerCase asked(name);
  return !asked.text.empty() && std::ranges::binary_search(names_of_redis_only, asked.text);
}

bool is_word(std::string_view word, std::string_view lower) {
  return word.size() == lower.size() && std::ranges::equal(word, lower, {}, &LowerCase::lower);
}

KeyPlaces keys_of(const CommandInfo& info, std::size_t words) {
  if (info.first_key == 0) return {};
  const std::size_t first = static_cast<unsigned char>(info.first_key);
  const std::size_t last = info.last_key < 0 ? words - static_cast<std::size_t>(-info.last_key)
                                             : static_cast<std::size_t>(info.last_key);
  return {first, last < first ? 0 : (last - first) / static_cast<std::size_t>(info.key_step) + 1};
}

std::string_view name_of(Group group) {
  switch (group) {
    case Group::connection: return "connection";
    case Group::server: return "server";
    case Group::transactions: return "transactions";
    case Group::generic: return "generic";
    case Group::hash: return "hash";
    case Group::string: return "string";
  }
  return {};
}

}  // namespace hs::redis
