#include "net/handshaker.h"

#include <pthread.h>

#include <chrono>
#include <exception>

namespace hs::net {

void Handshaker::run() {
  ::pthread_setname_np(::pthread_self(), carrier_of(Role::handshaker).thread);
  while (!shared_.stopping.load(std::memory_order_relaxed)) {
    Connection* const connection = queue().pop(std::chrono::milliseconds(tick_ms));
    if (connection == nullptr) continue;
    try {
      connection->progress = connection->filter->shake_hands();
    } catch (const std::exception&) {  // for lack of memory, for example
      connection->progress = ByteFilter::Progress::failed;
    }
    queue().done();
    connection->home->give_back(*connection);
  }
  queue().leave();
}

}  // namespace hs::net
