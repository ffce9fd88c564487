#include "handlersocket/session/pass_runner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/reply.h"

namespace hs::session {

using protocol::Mistake;
using protocol::ReplyWriter;

std::unique_ptr<passes::Dialogue> HandlerSocket::open_dialogue() {
  return std::make_unique<Session>(config_.session);
}

void HandlerSocket::append_error(Status status, Buffer& out) const {
  ReplyWriter(out).error(status);
}

void HandlerSocket::refuse(net::Refusal why, Buffer& out) const {
  Mistake mistake = Mistake::max_waiting_bytes;
  if (why == net::Refusal::needs_tls) mistake = Mistake::tls;
  if (why == net::Refusal::foreign) mistake = Mistake::foreign;
  append_error(protocol::status_of(mistake), out);
}

// A request before a P or an A must find the session as it was then.
void HandlerSocket::undo_changes() {
  std::ranges::for_each(workspace_.changes.rbegin(), workspace_.changes.rend(),
                        [](SessionChange& change) { change.session->undo(change); });
  workspace_.changes.clear();
}

PassRunner::PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
                       CounterBlock& counters)
    : Runner(config, std::move(store), std::array{handlersocket(config)}, std::array{&counters}) {}

passes::Runner::MakeProtocol handlersocket(const RunnerConfig& config) {
  return [&config](store::Store& store, CounterBlock& counters) {
    return std::make_unique<HandlerSocket>(config, store, counters);
  };
}

}  // namespace hs::session
