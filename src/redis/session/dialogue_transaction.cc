// MULTI, what follows it, and EXEC.
#include <utility>

#include "passes/requests.h"
#include "redis/protocol/errors.h"
#include "redis/session/dialogue.h"
#include "redis/session/redis.h"
#include "redis/session/row_replies.h"
#include "redis/session/server_replies.h"

namespace hs::redis {
namespace {

using passes::Answer;
using store::Outcome;
using store::Verdict;

// Its answer stays as it is: whoever executes the transaction tells by it that it can be tried again.
bool may_succeed_later(Error kind) {
  return kind == Error::row_locked || kind == Error::table_locked || kind == Error::deadlock ||
         kind == Error::conflict;
}

}  // namespace

void Dialogue::end_transaction(passes::Changes& changes) {
  forget_watched(changes);
  state_.transaction = nullptr;
  state_.is_spoiled = state_.was_refused = false;
}

void Dialogue::forget_watched(passes::Changes& changes) {
  begin_change(changes).watched.set(nullptr);
}

void Dialogue::note_watched(passes::Requests& requests, std::shared_ptr<const Watched> watched) {
  auto& known = begin_change(requests.changes()).watched;
  if (requests.is_part_final()) return known.set(std::move(watched));
  known.set_until_commit(std::move(watched));
}

bool Dialogue::queue(passes::Requests& requests, const CommandInfo& info, Words words,
                     std::size_t end_offset) {
  Status status;
  if (info.has_flag(CommandFlags::refused_in_multi)) {
    status = info.command == Command::watch ? status_of(Mistake::watch_in_multi)
                                            : say("ERR Command not allowed inside a transaction");
  } else if (status = check_plain(info, words, said_); status.ok()) {
    State& state = begin_change(requests.changes());
    // What is known to fail need not be kept.
    if (!state.is_spoiled && !state.transaction->add(info, words))
      status = status_of(Mistake::transaction_size);
  }
  if (!status.ok()) {
    spoil(requests.changes());
    return refuse_request(requests, status, end_offset,
                          {.command = info.command, .end = CommandEnd::refused});
  }
  const std::size_t begin = requests.out().size();
  reply_to(requests.out()).simple("QUEUED");
  return end(requests, {.ok = true, .counter = Counter::requests_other}, begin, end_offset, {});
}

bool Dialogue::execute_transaction(passes::Requests& requests, Redis& front,
                                   std::size_t end_offset) {
  const CommandNote note{.command = Command::exec};
  if (!is_queueing())
    return refuse_request(requests, status_of(Mistake::exec_without_multi), end_offset, note);
  if (state_.is_spoiled) {
    end_transaction(requests.changes());
    return refuse_request(requests, status_of(Mistake::exec_abort), end_offset, note);
  }
  const Transaction& transaction = *state_.transaction;
  const bool is_write = is_locking();
  const Watched* const watched = state_.watched.get().get();
  const std::size_t keys = transaction.keys() + (watched != nullptr ? watched->size() : 0);
  // What tells of the server takes about as long as a row, and what is left less, but may be very much.
  constexpr std::size_t most_commands_of_worker = 1024;
  const bool is_long = keys + transaction.slow_commands() > most_keys_of_worker ||
                       transaction.size() > most_commands_of_worker;
  Answer answered{.write = is_write,
                  .read = !is_write && (keys != 0 || is_long),
                  .counter = is_write ? Counter::requests_update : Counter::requests_find};
  if (keys == 0) answered.counter = Counter::requests_other;
  const std::size_t begin = requests.out().size();
  if (!answered.may_run(requests.runs())) return end(requests, answered, begin, end_offset, note);
  if (is_long) {
    answered.verdict = Verdict::oversized;
    return end(requests, answered, begin, end_offset, note);
  }
  Reply reply = reply_to(requests.out());
  Work work = work_for(requests.store(), front, reply, true, nullptr);
  Outcome outcome = front.look(requests.store());
  if (outcome.ok()) outcome = run_transaction(work);
  if (answered.note_outcome(outcome)) answer(outcome.status(), requests.out());
  const bool goes_on = end(requests, answered, begin, end_offset, note);
  if (requests.turn().consumed == end_offset) {
    if (answered.ok)
      count_queued([&](const CommandNote& one) { front.commands().note(requests.notes(), one); });
    end_transaction(requests.changes());
  }
  return goes_on;
}

// The list is a new one, so that a pass that is executed again finds the old one.
Outcome Dialogue::watch(Work& work, Words keys, std::shared_ptr<const Watched>& watched) const {
  const Watched* const before = state_.watched.get().get();
  auto rows = before != nullptr ? std::make_shared<Watched>(*before) : std::make_shared<Watched>();
  const Outcome outcome = rows->add(work, keys);
  if (!outcome.ok()) return outcome;
  watched = std::move(rows);
  work.reply.ok();
  return outcome;
}

// All of its commands, or none if one fails.
Outcome Dialogue::run_transaction(Work& work) {
  work.is_in_unit = true;
  has_run_queued_ = false;
  if (is_locking()) {
    work.locks_reads = true;
    const Outcome outcome = store::run_unit(work.store, work.out(), [&] {
      const Watched* const watched = state_.watched.get().get();
      const Outcome checked = watched != nullptr ? watched->check(work) : Outcome();
      return checked.ok() ? run_queued(work) : checked;
    });
    if (!outcome.answered() || outcome.status() != status_of(Mistake::watched_has_changed))
      return outcome;
    work.reply.null_array();
    return {};
  }
  const std::size_t begin = work.out().size();
  const Outcome outcome = run_queued(work);
  if (!outcome.ok()) work.out().truncate(begin);
  return outcome;
}

Outcome Dialogue::run_queued(Work& work) {
  const Transaction& transaction = *state_.transaction;
  const std::size_t begin = work.out().size();
  work.reply.array(transaction.size());
  Outcome outcome;
  std::size_t number = 0;
  transaction.for_each(work.scratch.words, [&](const CommandInfo& info, Words words) {
    ++number;
    outcome = info.effect == Effect::none
                  ? Outcome(answer_plain(config_, info, words, work.reply, said_))
                  : execute_on_rows(work, info, words);
    // Each reply is within its bounds, but there may be many.
    if (outcome.ok() && work.out().size() - begin > most_reply_bytes) outcome = Error::too_large;
    if (outcome.ok()) return true;
    if (outcome.answered()) {
      if (!may_succeed_later(outcome.status().kind())) {
        std::string text;
        append_text(outcome.status(), said_, text);
        outcome = say("EXECABORT Transaction discarded because of command " +
                      std::to_string(number) + ", '" + std::string(info.name) + "': " + text);
      }
    }
    return false;
  });
  has_run_queued_ = outcome.ok();
  return outcome;
}

}  // namespace hs::redis
