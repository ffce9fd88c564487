// Work: what a command is executed with, wherever that is: in a worker's pass, alone on another thread,
// or as a part of a transaction.
//
// It lives for one request, on the thread that executes it. The functions below execute the commands
// that touch rows. Each appends its reply if it returns ok, and leaves the buffer as it was if not.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/commands.h"
#include "redis/protocol/errors.h"
#include "redis/protocol/reply.h"
#include "redis/session/open_rows.h"
#include "store/store.h"

namespace hs::redis {

// Memory that requests use one after the other. Each thread has one for its port.
struct Scratch {
  std::string key;                   // the parts of a key without their escapes
  std::vector<store::Value> parts;   // of a key
  std::vector<store::Value> values;  // of columns
  std::vector<std::string_view> fields;
  std::vector<std::string_view> words;  // of a queued command

  void give_back();
};

struct Work {
  store::Store& store;
  const std::shared_ptr<const store::Caller>& caller;
  OpenRows& rows;
  RememberedRows* remembered;  // null: not on the connection's worker
  store::Sink* sink;           // as the store wants it
  bool is_in_unit;             // somebody else undoes what was done if it fails
  Reply& reply;
  std::string_view default_database;
  Scratch& scratch;
  std::string& said;  // the text of Mistake::said

  Buffer& out() const { return reply.out(); }
};

using Words = std::span<const std::string_view>;

// The text of an error that names something of the request.
Status say(Work& work, std::string text);

// A row that a key names, as a command has opened it.
struct KeyedRow {
  const RowAccess* access = nullptr;
  store::IndexUse* use = nullptr;

  store::Selection selection(const Work& work) const { return {.key = work.scratch.parts}; }
};

store::Outcome open_row(Work& work, std::string_view key, Asks asks, Words fields,
                        std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                        KeyedRow& row);
void forget_row(Work& work, const RowAccess& access);

// Before a change: whether the table is as it was when the row was opened. It stays so for the rest of
// the pass, because the pass has it open.
store::Outcome check_current(Work& work, const KeyedRow& row);

// Calls `execute(row)` with the row of the key. If the table's definition has changed since the row was
// opened, what was read is thrown away, and it is called again. A change is asked for once only.
template <class Execute>
store::Outcome with_row(Work& work, std::string_view key, Asks asks, Words fields,
                        Execute execute) {
  constexpr int most_tries = 3;
  const std::size_t begin = work.out().size();
  store::Outcome outcome;
  for (int tries = 0; tries < most_tries; ++tries) {
    std::shared_ptr<const RowAccess> access;
    store::IndexUse own;
    KeyedRow row;
    outcome = open_row(work, key, asks, fields, access, own, row);
    if (!outcome.ok()) return outcome;
    const bool changes = asks == Asks::changes || asks == Asks::erases;
    if (changes) outcome = check_current(work, row);
    const bool was_current = outcome.ok();
    if (was_current) outcome = execute(row);
    const bool is_old = changes ? !was_current : !access->is_current();
    const bool has_changed = is_old || outcome.status().kind() == Error::no_column;
    if (!has_changed || !outcome.answered()) [[likely]]
      return outcome;
    forget_row(work, *access);
    work.out().truncate(begin);
    if (outcome.ok()) outcome = Error::table_changed;
  }
  return outcome;
}

// hash_reads.cc, hash_writes.cc, hash_sums.cc
store::Outcome read_hash(Work& work, Command command, Words words);
store::Outcome change_hash(Work& work, Command command, Words words);
store::Outcome add_to_hash(Work& work, Command command, Words words);
// key_commands.cc: of one key; `rows` is how many rows there are, or were.
store::Outcome count_row(Work& work, std::string_view key, std::uint64_t& rows);
store::Outcome delete_row(Work& work, std::string_view key, std::uint64_t& rows);
// All keys of the command.
store::Outcome execute_on_keys(Work& work, Command command, Words keys);

// Any of them.
store::Outcome execute_on_rows(Work& work, const CommandInfo& info, Words words);

Status wrong_arity(Work& work, std::string_view name);

}  // namespace hs::redis
