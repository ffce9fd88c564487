#include "simulator/operator.h"

#include <chrono>
#include <string>
#include <vector>

#include "net/question.h"
#include "simulator/faulty_store.h"

namespace hs::simulator {
namespace {

constexpr std::chrono::milliseconds patience{5000};
// A client that does not read keeps its connection for a second after it was closed.
constexpr std::uint64_t longest_end_ns = 3'000'000'000;
// A remote thread keeps it until the other server has answered, twice at most.
constexpr std::uint64_t longest_remote_ns = 2 * FaultyStore::longest_answer_ms * 1'000'000;
constexpr std::uint64_t longest_pause_ns = 20'000'000;

}  // namespace

void Operator::run() try {
  while (!leaves_) {
    const std::uint64_t pause = 1 + world_.below(longest_pause_ns);
    world_.wait([this] { return leaves_; }, world_.now() + pause);
    if (!leaves_ && faults_.watched) look();
    if (!leaves_ && world_.chance(faults_.spreads)) spread();
  }
} catch (const Failure& failure) {
  world_.fail(failure.what());
}

void Operator::look() {
  const net::ConnectionList list = net::ask_for_connections(shared_, patience);
  require(list.is_complete, "a worker gives no answer about its connections");
  std::set<std::uint64_t> seen;
  for (const net::ConnectionInfo& one : list.connections) {
    require(seen.insert(one.id).second, "two connections have the same id");
    require(!gone_.contains(one.id), "an id is used again");
    const auto end = has_to_end_.find(one.id);
    require(end == has_to_end_.end() || world_.now() < end->second,
            "a connection does not end although somebody has closed it: it is " +
                std::string(one.state));
  }
  for (const std::uint64_t id : seen_) {
    if (!seen.contains(id)) gone_.insert(id);
  }
  seen_ = std::move(seen);
  if (list.connections.empty() || !world_.chance(faults_.closes)) return;
  close(list.connections[world_.below(list.connections.size())].id);
}

// A worker sees it sooner or later, and at once if it is woken.
void Operator::spread() {
  net::Crew& crew = shared_.crews[world_.below(shared_.crews.size())];
  const std::size_t workers = crew.inboxes.size();
  crew.balance.set_spread(1 + static_cast<unsigned>(world_.below(workers)));
  if (world_.chance(50)) crew.inboxes[world_.below(workers)]->wake();
}

void Operator::close(std::uint64_t id) {
  switch (net::ask_to_close(shared_, id, patience)) {
    case net::Closing::begun:
      ++closed_;
      has_to_end_.emplace(
          id, world_.now() + longest_end_ns + (faults_.remote_tables ? longest_remote_ns : 0));
      return;
    case net::Closing::unknown: gone_.insert(id); return;
    case net::Closing::unanswered: throw Failure("a worker gives no answer to a close");
  }
}

}  // namespace hs::simulator
