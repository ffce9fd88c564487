#include "handlersocket/session/handlersocket.h"

namespace hs::handlersocket {

std::unique_ptr<passes::Dialogue> HandlerSocket::open_dialogue() {
  return std::make_unique<Session>(config_.session);
}

passes::MakeProtocol handlersocket(const RunnerConfig& config) {
  return [&config](store::Store& store, CounterBlock& counters) {
    return std::make_unique<HandlerSocket>(config, store, counters);
  };
}

}  // namespace hs::handlersocket
