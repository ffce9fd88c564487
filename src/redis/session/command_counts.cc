#include "redis/session/command_counts.h"

#include "base/give_back.h"

namespace hs::redis {
namespace {

void raise(std::atomic<std::uint64_t>& value) {
  value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

void CommandCounts::add(const CommandNote& note) {
  OfCommand& of_command = commands_[static_cast<std::size_t>(note.command)];
  if (note.end == CommandEnd::refused) {
    raise(of_command.refused);
  } else {
    raise(of_command.calls);
    if (note.end == CommandEnd::failed) raise(of_command.failed);
  }
  raise(errors_[static_cast<std::size_t>(note.code)]);
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

void CommandCounter::give_back() {
  constexpr std::size_t kept = 4096;
  hs::give_back(notes_, kept);
}

}  // namespace hs::redis
