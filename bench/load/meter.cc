#include "load/meter.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <thread>

namespace hs::bench {
namespace {

struct Cpu {
  std::optional<CpuTime> server;
  CpuTime own;

  static Cpu now(int server_pid) {
    Cpu cpu{.server = {}, .own = own_cpu_time()};
    if (server_pid != 0) cpu.server = cpu_time_of(server_pid);
    return cpu;
  }
};

CpuTime difference(const CpuTime& after, const CpuTime& before) {
  return {.user = after.user - before.user, .system = after.system - before.system};
}

Clock::duration length(std::chrono::duration<double> time) {
  return std::chrono::duration_cast<Clock::duration>(time);
}

}  // namespace

Timeline Timeline::starting_now(const Options& options) {
  const auto from = Clock::now() + length(options.warm_up);
  return {.from = from, .to = from + length(options.duration)};
}

void Meter::watch(const Timeline& timeline, Result& result) {
  wait_until(timeline.from);
  const Cpu before = Cpu::now(options_.server_pid);
  const auto from = Clock::now();
  wait_until(timeline.to);
  const Cpu after = Cpu::now(options_.server_pid);
  result.seconds = std::chrono::duration<double>(Clock::now() - from).count();
  result.client_cpu = difference(after.own, before.own);
  if (before.server && after.server) result.server_cpu = difference(*after.server, *before.server);
}

void Meter::wait_until(Clock::time_point end) {
  constexpr std::chrono::milliseconds step{20};
  while (Clock::now() < end && !ended_()) {
    std::this_thread::sleep_until(std::min(end, Clock::now() + step));
    const auto now = Clock::now();
    if (options_.quiet || now - last_shown_ < std::chrono::seconds(1)) continue;
    const std::uint64_t done = done_();
    const std::chrono::duration<double> passed = now - last_shown_;
    const double rate = static_cast<double>(done - shown_) / passed.count();
    std::cerr << '\r' << static_cast<std::uint64_t>(rate) << " requests a second     "
              << std::flush;
    shown_ = done;
    last_shown_ = now;
  }
}

int deliver(const Options& options, const Result& result) {
  return deliver(
      options, result.clean(), [&](std::ostream& out) { write_json(out, result); },
      [&](std::ostream& out) { write_text(out, result); });
}

int deliver(const Options& options, bool clean, const Writer& json, const Writer& text) {
  if (!options.quiet) std::cerr << "\r                                        \r";
  if (options.json_path == "-") {
    json(std::cout);
    return clean ? 0 : 1;
  }
  text(std::cout);
  if (!options.json_path.empty()) {
    std::ofstream file(options.json_path);
    json(file);
    if (!file.flush()) {
      std::cerr << "error: cannot write " << options.json_path << '\n';
      return 2;
    }
  }
  return clean ? 0 : 1;
}

}  // namespace hs::bench
