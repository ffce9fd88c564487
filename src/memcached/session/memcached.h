// Memcached: the protocol's part of a worker, streamer or log-in thread, for one port.
//
// Each of these threads has one for each port that speaks it, and every call comes from that thread. It
// makes the dialogues of the port's connections, and owns what they share while they work: the reader of
// requests, scratch memory, and the containers that are open.
#pragma once

#include <memory>

#include "keys/row_work.h"
#include "memcached/protocol/request_reader.h"
#include "memcached/session/config.h"
#include "passes/dialogue.h"

namespace hs::memcached {

class Memcached final : public passes::Protocol {
 public:
  Memcached(std::shared_ptr<const Config> config, CounterBlock& counters)
      : config_(std::move(config)),
        counters_(counters),
        clock_(config_->wall_ms),
        containers_(*config_->containers, clock_) {}

  const Config& config() const { return *config_; }
  // Those of the thread for the port. What a pass counts, it counts by itself.
  CounterBlock& counters() { return counters_; }
  RequestReader& reader() { return reader_; }
  keys::Scratch& scratch() { return scratch_; }
  keys::OpenRows& rows() { return rows_; }
  keys::Clock& clock() { return clock_; }
  keys::Containers& containers() { return containers_; }

  // Before a request with keys: which containers there are.
  store::Outcome look(store::Store& store) { return containers_.look(store, rows_); }

  std::unique_ptr<passes::Dialogue> open_dialogue() override;
  bool writes() const override { return config_->writable; }
  void give_back() override {
    scratch_.give_back();
    rows_.give_back();
  }

 private:
  const std::shared_ptr<const Config> config_;
  CounterBlock& counters_;
  RequestReader reader_;
  keys::Scratch scratch_;
  keys::OpenRows rows_;
  keys::Clock clock_;
  keys::Containers containers_;
};

// For passes::PassRunner and passes::StreamRunner.
passes::MakeProtocol memcached(std::shared_ptr<const Config> config);

}  // namespace hs::memcached
