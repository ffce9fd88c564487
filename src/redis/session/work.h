// Work: what a command is executed with, wherever that is: in a worker's pass, alone on another thread,
// or as a part of a transaction.
//
// It lives for one request, on the thread that executes it. The functions below execute the commands
// that touch rows. Each appends its reply if it returns ok, and leaves the buffer as it was if not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "keys/row_work.h"
#include "redis/protocol/commands.h"
#include "redis/protocol/errors.h"
#include "redis/protocol/reply.h"
#include "redis/session/scan_positions.h"
#include "store/store.h"

namespace hs::redis {

using keys::Asks;
using keys::KeyedRow;
using keys::RowAccess;
using keys::Words;

struct Work : keys::RowWork {
  Work(const keys::RowWork& rows, Reply& to, std::string& text, ScanPositions& of_port)
      : RowWork(rows), reply(to), said(text), scans(of_port) {}

  Reply& reply;
  std::string& said;  // the text of Mistake::said
  ScanPositions& scans;
};

// The text of an error that names something of the request.
Status say(Work& work, std::string text);

// hash_reads.cc, hash_samples.cc, hash_writes.cc, hash_takes.cc, hash_sums.cc
store::Outcome read_hash(Work& work, Command command, Words words);
store::Outcome sample_hash(Work& work, Command command, Words words);
store::Outcome change_hash(Work& work, Command command, Words words);
store::Outcome take_from_hash(Work& work, Words words);
store::Outcome add_to_hash(Work& work, Command command, Words words);
// string_reads.cc, string_writes.cc, string_sums.cc
store::Outcome read_string(Work& work, Command command, Words words);
store::Outcome change_string(Work& work, Command command, Words words);
store::Outcome add_to_string(Work& work, Command command, Words words);
// expiry_commands.cc
store::Outcome execute_expiry(Work& work, const CommandInfo& info, Words words);
// find_commands.cc. Beside the workers, `work.sink` is the store's own: a find and a count may be parked.
store::Outcome execute_find(Work& work, const CommandInfo& info, Words words);
// describe_command.cc
store::Outcome describe_table(Work& work, Words words);
// key_commands.cc: of one key; `rows` is how many rows or live items there are, or were.
store::Outcome count_key(Work& work, std::string_view key, std::uint64_t& rows);
store::Outcome delete_key(Work& work, std::string_view key, std::uint64_t& rows);
store::Outcome execute_on_keys(Work& work, Command command, Words words);

// Any of them.
store::Outcome execute_on_rows(Work& work, const CommandInfo& info, Words words);

Status wrong_arity(Work& work, std::string_view name);

}  // namespace hs::redis
