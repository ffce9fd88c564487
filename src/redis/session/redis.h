// Redis: the protocol's part of a worker, streamer or log-in thread, for one port.
//
// Each of these threads has one for each port that speaks it, and every call comes from that thread. It
// makes the dialogues of the port's connections, and owns what they share while they work: the reader of
// requests, scratch memory, and the indexes that commands have opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "keys/row_work.h"
#include "passes/dialogue.h"
#include "redis/protocol/commands.h"
#include "redis/protocol/request_reader.h"
#include "redis/session/command_counts.h"
#include "redis/session/config.h"
#include "redis/session/work.h"

namespace hs::redis {

class Redis final : public passes::Protocol {
 public:
  Redis(std::shared_ptr<const Config> config, CounterBlock& counters)
      : config_(std::move(config)),
        counters_(counters),
        commands_(config_->command_counts),
        clock_(config_->wall_ms),
        containers_(*config_->containers, clock_) {}

  const Config& config() const { return *config_; }
  // Those of the thread for the port. What a pass counts, it counts by itself.
  CounterBlock& counters() { return counters_; }
  CommandCounter& commands() { return commands_; }
  RequestReader& reader() { return reader_; }
  // Of the request that was read; null: there is none of this name.
  const CommandInfo* command() {
    if (reader_.repeated() != 0 && reader_.repeated() == repeated_) [[likely]]
      return command_;
    command_ = find_command(reader_.words()[0]);
    if (command_ != nullptr && reads_one_key(*command_)) reader_.keep_if_repeated();
    repeated_ = reader_.repeated();
    return command_;
  }
  keys::Scratch& scratch() { return scratch_; }
  keys::OpenRows& rows() { return rows_; }
  keys::Clock& clock() { return clock_; }
  keys::Containers& containers() { return containers_; }

  store::Outcome look(store::Store& store) { return containers_.look(store, rows_); }

  std::unique_ptr<passes::Dialogue> open_dialogue() override;
  bool writes() const override { return config_->writable; }
  void give_back() override {
    reader_.give_back();
    scratch_.give_back();
    rows_.give_back();
    commands_.give_back();
  }
  void publish(std::uint32_t notes) override { commands_.publish(notes); }

 private:
  const std::shared_ptr<const Config> config_;
  CounterBlock& counters_;
  CommandCounter commands_;
  RequestReader reader_;
  // The command of the requests of this number.
  const CommandInfo* command_ = nullptr;
  std::uint64_t repeated_ = 0;
  keys::Scratch scratch_;
  keys::OpenRows rows_{&Reply::written};
  keys::Clock clock_;
  keys::Containers containers_;
};

// For passes::PassRunner and passes::StreamRunner.
passes::MakeProtocol redis(std::shared_ptr<const Config> config);

}  // namespace hs::redis
