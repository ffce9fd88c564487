// What tests of passes share: a worker and a streamer on one in-memory database, and passes of
// turns that a test chooses itself.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "handlersocket/session/test_connection.h"
#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace hs::handlersocket {

// When a turn is said to have been blocked.
inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// A database with a worker, a streamer and connections.
struct World {
  // A runner and the store that it runs on.
  template <class R>
  struct Runner {
    Runner(const RunnerConfig& config, store::MemoryDatabase& database, store::MemoryBounds bounds)
        : Runner(config, std::make_unique<store::MemoryStore>(database, store::Access::write,
                                                              counters, bounds)) {}
    Runner(const RunnerConfig& config, std::unique_ptr<store::MemoryStore> made)
        : faults(made->faults()), runner(config, std::move(made), counters) {}
    CounterBlock counters;
    store::MemoryFaults& faults;
    R runner;
  };

  World() {
    config_.session.writable = true;
    store::add_golden_tables(database_);
    store::add_user_table(database_, 1000);
  }

  // The turns of the next pass, one for each connection.
  void set_inputs(std::vector<std::string> inputs) {
    inputs_ = std::move(inputs);
    while (dialogues_.size() < inputs_.size())
      dialogues_.push_back(worker_.runner.open_dialogue(0));
    turns_.assign(inputs_.size(), {});
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      turns_[i].dialogue = dialogues_[i].get();
      turns_[i].input = inputs_[i];
      turns_[i].blocked_since = blocked_since_;
      turns_[i].peer = peer_;
    }
  }
  // Runs one pass over `inputs`, one turn each.
  void run(std::vector<std::string> inputs) {
    set_inputs(std::move(inputs));
    const std::vector<std::uint64_t> counted_before = requests_counted();
    out_.clear();
    out_.append(earlier_);
    execute(turns_);
    worker_.runner.end_pass(turns_, out_);
    worker_.runner.release();
    EXPECT_TRUE(out_.view().starts_with(earlier_));
    // Each request that is counted is one of its turn's.
    std::vector<std::uint64_t> of_turns = counted_before;
    for (const net::Turn& turn : turns_) {
      for (std::size_t i = 0; i < of_turns.size(); ++i) of_turns[i] += turn.answered.of_kind[i];
    }
    EXPECT_EQ(of_turns, requests_counted());
    // No two replies share a byte.
    std::vector<std::pair<std::size_t, std::size_t>> ranges;
    for (const net::Turn& turn : turns_) {
      EXPECT_LE(turn.reply_begin, turn.reply_end);
      if (turn.reply_begin != turn.reply_end) ranges.emplace_back(turn.reply_begin, turn.reply_end);
    }
    std::ranges::sort(ranges);
    std::size_t end = earlier_.size();
    for (const auto& [reply_begin, reply_end] : ranges) {
      EXPECT_GE(reply_begin, end);
      end = reply_end;
    }
    EXPECT_LE(end, out_.size());
  }
  // All turns at once, or each turn when those before it have been executed.
  void execute(std::span<net::Turn> turns) {
    std::size_t end = joining_ ? 1 : turns.size();
    if (!worker_.runner.read_first(turns.first(end), out_)) return;
    worker_.runner.execute(turns.first(end), 0, out_);
    for (; end < turns.size(); ++end) worker_.runner.execute(turns.first(end + 1), end, out_);
  }
  std::string reply(std::size_t turn) {
    return std::string(out_.view(turns_[turn].reply_begin, turns_[turn].reply_end));
  }
  std::string left(std::size_t turn) { return inputs_[turn].substr(turns_[turn].consumed); }
  // By kind.
  std::vector<std::uint64_t> requests_counted() {
    std::vector<std::uint64_t> counts;
    for (std::size_t i = 0; i < request_kind_count; ++i) {
      counts.push_back(counted(static_cast<Counter>(first_request_counter + i)));
    }
    return counts;
  }
  std::uint64_t counted(Counter counter) { return worker_.counters.get(counter); }
  store::MemoryTable& table(std::string_view name) { return *database_.find_table("hst", name); }

  RunnerConfig config_;
  store::MemoryDatabase database_;
  Runner<PassRunner> worker_{config_, database_, {.rows = 500}};
  Runner<StreamRunner> streamer_{config_, database_, {.rows = 500, .flush_bytes = 1000}};
  std::string earlier_ = "earlier";
  std::uint64_t blocked_since_ = 0;
  const net::PeerAddress* peer_ = nullptr;
  bool joining_ = false;
  std::vector<std::string> inputs_;
  std::deque<std::unique_ptr<net::Dialogue>> dialogues_;
  std::vector<net::Turn> turns_;
  Buffer out_;
};

inline const std::string open_ai = "P\t2\thst\tai\t\tv\n";
inline const std::string open_user = "P\t3\ttest\tuser\t\tuser_id\n";

}  // namespace hs::handlersocket
