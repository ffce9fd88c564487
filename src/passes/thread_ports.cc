#include "passes/thread_ports.h"

#include <algorithm>
#include <cassert>

namespace hs::passes {

ThreadPorts::ThreadPorts(store::Store& store, std::span<const MakeProtocol> protocols,
                         std::span<CounterBlock* const> counters) {
  assert(!protocols.empty() && protocols.size() == counters.size());
  ports_.reserve(protocols.size());
  for (std::size_t i = 0; i < protocols.size(); ++i) {
    ports_.push_back({.protocol = protocols[i](store, *counters[i]), .counters = counters[i]});
  }
  present_ = ports_.data();
}

bool ThreadPorts::writes() const {
  return std::ranges::any_of(ports_, [](const Port& port) { return port.protocol->writes(); });
}

void ThreadPorts::give_back() {
  for (const Port& port : ports_) port.protocol->give_back();
}

void ThreadPorts::clear_tallies() {
  for (Port& port : ports_) port.tally.clear();
}

void ThreadPorts::set_mark() {
  for (Port& port : ports_) port.tally_at_mark = port.tally;
}

void ThreadPorts::go_back_to_mark() {
  for (Port& port : ports_) port.tally = port.tally_at_mark;
}

void ThreadPorts::publish() const {
  for (const Port& port : ports_) {
    port.tally.publish(*port.counters);
    if (port.tally.notes != 0) port.protocol->publish(port.tally.notes);
  }
}

}  // namespace hs::passes
