#include "redis/session/command_counts.h"

#include "base/give_back.h"

namespace hs::redis {
namespace {

void raise(std::atomic<std::uint64_t>& value, std::uint64_t by) {
  value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

void CommandCounts::add(const CommandNote& note, std::uint64_t times) {
  OfCommand& of_command = commands_[static_cast<std::size_t>(note.command)];
  if (note.end == CommandEnd::refused) {
    raise(of_command.refused, times);
  } else {
    raise(of_command.calls, times);
    if (note.end == CommandEnd::failed) raise(of_command.failed, times);
  }
  raise(errors_[static_cast<std::size_t>(note.code)], times);
}

void CommandCounts::add_to(CommandTotals& totals) const {
  for (std::size_t i = 0; i < totals.commands.size(); ++i) {
    totals.commands[i].calls += commands_[i].calls.load(std::memory_order_relaxed);
    totals.commands[i].refused += commands_[i].refused.load(std::memory_order_relaxed);
    totals.commands[i].failed += commands_[i].failed.load(std::memory_order_relaxed);
  }
  for (std::size_t i = 0; i < totals.errors.size(); ++i)
    totals.errors[i] += errors_[i].load(std::memory_order_relaxed);
}

void CommandCounter::begin_run(std::uint32_t& number, const CommandNote& what) {
  forget_behind(number);
  if (runs_.size() == most_runs) return counts_.add(what);
  runs_.push_back({what, ++number});
}

// What the pass has taken back, and all of a pass that has failed.
void CommandCounter::forget_behind(std::uint32_t number) {
  while (!runs_.empty() && runs_.back().end > number) {
    const std::uint32_t begin = runs_.size() > 1 ? runs_[runs_.size() - 2].end : 0;
    if (begin < number) {
      runs_.back().end = number;
    } else {
      runs_.pop_back();
    }
  }
}

void CommandCounter::publish(std::uint32_t number) {
  forget_behind(number);
  std::uint32_t begin = 0;
  for (const Run& run : runs_) {
    counts_.add(run.what, run.end - begin);
    begin = run.end;
  }
  runs_.clear();
}

void CommandCounter::give_back() {
  constexpr std::size_t kept = 4096;
  hs::give_back(runs_, kept);
}

}  // namespace hs::redis
