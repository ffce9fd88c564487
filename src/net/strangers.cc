#include "net/strangers.h"

namespace hs::net {

Strangers::Place Strangers::take(const PeerAddress& peer) {
  const std::lock_guard lock(mutex_);
  const auto count = counts_.try_emplace(peer.network(), 0).first;
  if (count->second >= most_.get()) return {};
  ++count->second;
  return {*this, count};
}

void Strangers::give_back(Counts::iterator count) {
  const std::lock_guard lock(mutex_);
  if (--count->second == 0) counts_.erase(count);
}

}  // namespace hs::net
