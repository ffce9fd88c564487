#include "memcached/session/memcached.h"

#include "memcached/session/dialogue.h"

namespace hs::memcached {

std::unique_ptr<passes::Dialogue> Memcached::open_dialogue() {
  return std::make_unique<Dialogue>(*config_);
}

passes::MakeProtocol memcached(std::shared_ptr<const Config> config) {
  return [config = std::move(config)](store::Store& /*store*/, CounterBlock& counters) {
    return std::make_unique<Memcached>(config, counters);
  };
}

}  // namespace hs::memcached
