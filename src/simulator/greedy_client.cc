#include "simulator/greedy_client.h"

namespace hs::simulator {

bool GreedyClient::step() {
  const bool is_ended =
      socket_ == nullptr || socket_->server_finished || socket_->server_closed || socket_->reset;
  if (is_ended) {
    if (socket_ != nullptr) socket_->client_finished = true;
    if (connections_ == most_connections) return false;
    ++connections_;
    socket_ = connect_();
    script_ = "P\t1\tdb\tt\t\tk,v\n";
    // While replies wait to be read, the server reads no more of a request.
    if (world_.chance(50)) {
      for (std::size_t i = world_.below(most_requests); i != 0; --i) script_ += "1\t>=\t1\t0\t20\n";
    }
    script_ += "1\t=\t1\t" +
               std::string(world_.below(world_.chance(30) ? most_bytes_ : most_bytes_ / 5), '1');
    sent_ = 0;
    return true;
  }
  if (sent_ == script_.size()) return false;
  const std::size_t size = 1 + world_.below(script_.size() - sent_);
  socket_->in_flight.append(script_, sent_, size);
  sent_ += size;
  return true;
}

}  // namespace hs::simulator
