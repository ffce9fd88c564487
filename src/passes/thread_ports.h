// ThreadPorts: the server's ports, as one thread serves them.
//
// It owns a protocol and a tally for each port, and tells the thread's counters of the port what the
// tally holds. Each runner has one, and every call comes from the runner's thread. The runner attends
// to a turn before it works on it: from then on protocol() and tally() are those of the turn's port.
// It executes nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/counters.h"
#include "net/application.h"
#include "passes/dialogue.h"
#include "passes/tally.h"
#include "store/store.h"

namespace hs::passes {

class ThreadPorts {
 public:
  // Both lists are in the order of the server's ports. The store and the counters outlive the object.
  ThreadPorts(store::Store& store, std::span<const MakeProtocol> protocols,
              std::span<CounterBlock* const> counters);
  ThreadPorts(const ThreadPorts&) = delete;
  ThreadPorts& operator=(const ThreadPorts&) = delete;

  std::unique_ptr<net::Dialogue> open_dialogue(std::size_t port) {
    return ports_[port].protocol->open_dialogue();
  }
  // Whether there can be writes at any port.
  bool writes() const;
  // The requests are over.
  void give_back();

  void attend(const net::Turn& turn) { present_ = &ports_[turn.port]; }
  Protocol& protocol() const { return *present_->protocol; }
  Tally& tally() { return present_->tally; }
  // Counts what belongs to no port, with the first one.
  void tally_own(Counter counter) { ports_.front().tally.add(counter); }

  // The tallies of all ports.
  void clear_tallies();
  // Remembers the tallies as they are. go_back_to_mark() makes them so again.
  void set_mark();
  void go_back_to_mark();
  void publish() const;

 private:
  struct Port {
    std::unique_ptr<Protocol> protocol;  // may use the store
    CounterBlock* counters;
    Tally tally{};
    Tally tally_at_mark{};
  };

  std::vector<Port> ports_;
  Port* present_;
};

}  // namespace hs::passes
