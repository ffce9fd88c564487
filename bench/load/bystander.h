// Bystander: a light client that sends one request at a time at a modest rate, and measures how
// long it waits.
//
// It owns one socket. connect() and run() belong to one thread. outcome() may be read after run()
// has returned. It ends when the timeline does, whatever the server does.
//
// Its requests have a timetable. If a reply is still missing when the next request is due, that
// request is not sent. It counts with the time that it would have waited from its own moment on. So
// a long wait counts for all requests that would have come meanwhile, and the client's own queue
// does not add to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "load/client.h"
#include "load/connect.h"
#include "load/key_chooser.h"
#include "load/meter.h"
#include "load/wire.h"

namespace hs::bench {

class Bystander {
 public:
  // `options` and `newest_key` have to outlive it.
  Bystander(const Options& options, Address address, std::atomic<std::uint64_t>& newest_key);

  // Connects, logs in, opens an index and waits for the reply to one request. Returns what went
  // wrong, or an empty text.
  std::string connect();
  void run(const Timeline& timeline);
  const Outcome& outcome() const { return outcome_; }

 private:
  enum class End : std::uint8_t { answered, late, lost };

  bool send_request();
  // Waits until so many replies have come.
  End receive(std::uint64_t replies, Clock::time_point deadline, Tally& tally);
  void record(const Timeline& timeline, Clock::time_point sent, Clock::time_point end);
  void lose(std::string_view why);

  const Options& options_;
  Address address_;
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<ReplyCounter> counter_;
  KeyChooser keys_;
  std::vector<std::uint64_t> request_keys_;
  Socket socket_;
  Buffer out_;
  std::vector<char> input_;
  Clock::duration interval_;
  Outcome outcome_;
};

}  // namespace hs::bench
