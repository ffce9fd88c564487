// Command counts: how often each command was executed, refused and has failed, and how often each code
// of an error was answered. INFO tells them.
//
// Each thread has its own block for each port and is its only writer, so counting is a plain addition.
// Any thread may read. What a pass has executed may be executed again, so a pass only takes notes, equal
// ones in one, and counts them when it has ended. Commands and codes are those of two tables: no client adds to them. A
// reply that a failed commit has made an error afterwards stays counted as what it was before.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/block_set.h"
#include "redis/protocol/commands.h"
#include "redis/protocol/errors.h"

namespace hs::redis {

// How a command has ended.
enum class CommandEnd : std::uint8_t {
  done,
  failed,
  refused,  // before it was executed or queued
};

struct CommandNote {
  Command command = Command::count_;  // count_: no command that there is
  CommandEnd end = CommandEnd::done;
  ErrorCode code = ErrorCode::count_;  // count_: no error was answered

  bool operator==(const CommandNote&) const = default;
};

struct CommandTotals {
  struct OfCommand {
    std::uint64_t calls = 0;  // also those that have failed
    std::uint64_t refused = 0;
    std::uint64_t failed = 0;
  };
  std::array<OfCommand, static_cast<std::size_t>(Command::count_)> commands{};
  std::array<std::uint64_t, static_cast<std::size_t>(ErrorCode::count_)> errors{};
};

class alignas(64) CommandCounts {
 public:
  // Only the thread that owns the block.
  void add(const CommandNote& note, std::uint64_t times = 1);
  void add_to(CommandTotals& totals) const;

 private:
  using Count = std::atomic<std::uint64_t>;
  struct OfCommand {
    Count calls{0};
    Count refused{0};
    Count failed{0};
  };
  // The last one of each is for what is not counted.
  std::array<OfCommand, static_cast<std::size_t>(Command::count_) + 1> commands_{};
  std::array<Count, static_cast<std::size_t>(ErrorCode::count_) + 1> errors_{};
};

// Those of all threads of a port.
class CommandCountSet : public BlockSet<CommandCounts> {
 public:
  CommandTotals sum() const {
    CommandTotals totals;
    for_each([&](const CommandCounts& block) { block.add_to(totals); });
    return totals;
  }
};

// One thread's block, and the notes of its pass.
class CommandCounter {
 public:
  explicit CommandCounter(CommandCountSet& set) : set_(set), counts_(set.new_block()) {}
  CommandCounter(const CommandCounter&) = delete;
  CommandCounter& operator=(const CommandCounter&) = delete;
  ~CommandCounter() { set_.give_back(counts_); }

  // The pass has taken `number` notes, and this is one more.
  void note(std::uint32_t& number, const CommandNote& what) {
    if (!runs_.empty() && runs_.back().end == number && runs_.back().what == what) [[likely]] {
      runs_.back().end = ++number;
    } else {
      begin_run(number, what);
    }
  }
  // Counts them.
  void publish(std::uint32_t number);
  // Of a command that is never executed again.
  void count(const CommandNote& what) { counts_.add(what); }
  void give_back();

 private:
  // Equal notes, one behind the other. They begin where the run before ends.
  struct Run {
    CommandNote what;
    std::uint32_t end;
  };
  // More than a pass has requests. Only the commands of a large transaction are more: they are counted at
  // once, and twice if their pass is executed again.
  static constexpr std::size_t most_runs = 32'768;

  void begin_run(std::uint32_t& number, const CommandNote& what);
  void forget_behind(std::uint32_t number);

  CommandCountSet& set_;
  CommandCounts& counts_;
  std::vector<Run> runs_;  // some of them are perhaps of a pass before, or taken back
};

}  // namespace hs::redis
