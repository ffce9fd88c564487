#include "load/bystander.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "load/options.h"
#include "load/strange_server.h"

namespace hs::bench {
namespace {

constexpr int connect_timeout_ms = 10'000;
// If a server is still busy with the greedy load before this one, the client waits so long for it.
constexpr std::chrono::seconds first_answer_timeout{60};
constexpr std::size_t input_size = std::size_t{64} << 10;

std::string system_error() { return std::strerror(errno); }

bool wait_until_readable(int fd, Clock::time_point deadline) {
  const auto left = std::max(deadline - Clock::now(), Clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  pollfd polled{.fd = fd, .events = POLLIN, .revents = 0};
  return ::ppoll(&polled, 1, &timeout, nullptr) != 0;
}

}  // namespace

Bystander::Bystander(const Options& options, Address address,
                     std::atomic<std::uint64_t>& newest_key)
    : options_(options),
      address_(std::move(address)),
      wire_(make_wire(options)),
      counter_(wire_->counter()),
      keys_(options.keys, newest_key, options.seed),
      input_(input_size),
      interval_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(1 / options.rate))) {}

std::string Bystander::connect() {
  socket_ = address_.connect(connect_timeout_ms);
  if (!socket_.valid()) return "cannot connect: " + address_.error();
  const std::size_t greetings = wire_->greet(out_);
  const auto deadline = Clock::now() + first_answer_timeout;
  Tally tally;
  End end = greetings == 0 ? End::answered : End::lost;
  if (!out_.empty() && socket_.send(out_.view()) == static_cast<ssize_t>(out_.size())) {
    end = receive(greetings, deadline, tally);
  }
  if (end == End::answered && tally.errors == 0) {
    end = send_request() ? receive(1, deadline, tally) : End::lost;
  }
  if (tally.errors != 0) return "the server refused: " + tally.first_error;
  if (end == End::late) return "the server does not answer";
  return end == End::lost ? "the server closed the connection" : "";
}

void Bystander::run(const Timeline& timeline) {
  // If it shares a core with the greedy clients, it should not wait for them. This needs a
  // privilege; without it, waits for the core show in the figures.
  ::setpriority(PRIO_PROCESS, 0, -20);
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  const auto began = Clock::now();
  for (auto due = began; due < timeline.to;) {
    std::this_thread::sleep_until(due);
    const auto sent = Clock::now();
    if (!send_request()) return lose(system_error());
    // If a server stops answering before the end, there is no reply, but its slowness has to count.
    const End end = receive(1, timeline.to, outcome_.tally);
    record(timeline, sent, std::min(Clock::now(), timeline.to));
    if (end == End::lost) return lose("the server closed the connection");
    if (end == End::late) return;
    due += ((Clock::now() - due) / interval_ + 1) * interval_;
  }
}

void Bystander::record(const Timeline& timeline, Clock::time_point sent, Clock::time_point end) {
  for (auto from = sent; from < end; from += interval_) {
    if (from < timeline.from) continue;
    outcome_.latency.record(static_cast<std::uint64_t>((end - from).count()));
  }
}

bool Bystander::send_request() {
  const Mix& mix = options_.mix;
  const auto percent = static_cast<std::uint32_t>(mix.find == 100 ? 0 : keys_.below(100));
  const Action action = mix.at(percent);
  request_keys_.resize(options_.keys_of(action));
  for (std::uint64_t& key : request_keys_) {
    key = action == Action::insert ? keys_.insert() : keys_.existing();
  }
  counter_->expect(action, request_keys_);
  out_.clear();
  wire_->write(out_, action, request_keys_);
  return socket_.send(out_.view()) == static_cast<ssize_t>(out_.size());
}

Bystander::End Bystander::receive(std::uint64_t replies, Clock::time_point deadline, Tally& tally) {
  const std::uint64_t wanted = tally.replies + replies;
  while (tally.replies < wanted) {
    const ssize_t count = socket_.receive(input_);
    if (count > 0) {
      const std::string_view bytes(input_.data(), static_cast<std::size_t>(count));
      const std::string strange =
          tally.replies == 0 ? strange_server(bytes, options_.protocol) : std::string();
      if (!strange.empty()) {
        tally.error(strange);
        return End::lost;
      }
      counter_->feed(bytes, tally);
      continue;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) return End::lost;
    if (Clock::now() >= deadline) return End::late;
    wait_until_readable(socket_.get(), deadline);
  }
  return End::answered;
}

void Bystander::lose(std::string_view why) {
  ++outcome_.lost_connections;
  outcome_.tally.error(why);
}

}  // namespace hs::bench
