#include "redis/session/redis.h"

#include "redis/session/dialogue.h"

namespace hs::redis {

std::unique_ptr<passes::Dialogue> Redis::open_dialogue() {
  return std::make_unique<Dialogue>(*config_);
}

passes::MakeProtocol redis(std::shared_ptr<const Config> config) {
  return [config = std::move(config)](store::Store& /*store*/, CounterBlock& counters) {
    return std::make_unique<Redis>(config, counters);
  };
}

}  // namespace hs::redis
