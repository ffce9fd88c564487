// hs-simulator: runs the front end over many seeds, in one thread, without a socket.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "simulator/faults.h"
#include "simulator/run.h"

namespace {

std::uint64_t seed_at_work = 0;

// An assertion or a crash ends the program. The seed is all that is needed to see it again.
void name_the_seed(int signal) {
  std::fprintf(stderr, "simulate: seed %llu ended with signal %d; SEED=%llu replays it\n",
               static_cast<unsigned long long>(seed_at_work), signal,
               static_cast<unsigned long long>(seed_at_work));
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an option that cannot be read may end the program.
int main(int argc, char** argv) {
  CLI::App options("Simulates the front end: sockets, clock, threads and faults, from a seed");
  std::uint64_t first = std::random_device{}() % 1'000'000'000;
  std::uint64_t seeds = 1000;
  unsigned seconds = 0;
  options.add_option("--seed", first, "the first seed; random if none is given");
  options.add_option("--seeds", seeds, "how many seeds");
  options.add_option("--seconds", seconds, "stop after so long; 0: after the seeds");
  CLI11_PARSE(options, argc, argv);

  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) std::signal(signal, name_the_seed);
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  hs::simulator::Summary total;
  std::uint64_t done = 0;
  for (; seconds == 0 ? done < seeds : elapsed() < seconds; ++done) {
    seed_at_work = first + done;
    try {
      const hs::simulator::Summary one = hs::simulator::run_seed(seed_at_work);
      total.requests += one.requests;
      total.connections += one.connections;
      total.long_finds += one.long_finds;
      total.parked += one.parked;
      total.handshakes += one.handshakes;
      total.log_ins += one.log_ins;
      total.failed_log_ins += one.failed_log_ins;
      total.slowed_log_ins += one.slowed_log_ins;
      total.writes_aside += one.writes_aside;
      total.remote += one.remote;
      total.waited_too_long += one.waited_too_long;
      total.timed_out += one.timed_out;
      total.replays += one.replays;
      total.late += one.late;
      total.refused += one.refused;
      total.shed += one.shed;
      total.closed += one.closed;
    } catch (const hs::simulator::Failure& failure) {
      std::fprintf(stderr, "simulate: seed %llu failed after %.1f s; SEED=%llu replays it\n%s\n",
                   static_cast<unsigned long long>(seed_at_work), elapsed(),
                   static_cast<unsigned long long>(seed_at_work), failure.what());
      return EXIT_FAILURE;
    }
  }
  std::printf(
      "simulate: %llu seeds from %llu in %.1f s: %llu connections, %llu requests, %llu long finds "
      "parked %llu times, %llu writes aside, %llu remote, %llu waited too long for that, %llu "
      "out of time, %llu passes replayed, "
      "%llu handshakes, %llu log-ins, "
      "%llu failed, %llu slowed down, %llu strangers late, %llu refused, %llu connections shed, "
      "%llu closed\n",
      static_cast<unsigned long long>(done), static_cast<unsigned long long>(first), elapsed(),
      static_cast<unsigned long long>(total.connections),
      static_cast<unsigned long long>(total.requests),
      static_cast<unsigned long long>(total.long_finds),
      static_cast<unsigned long long>(total.parked),
      static_cast<unsigned long long>(total.writes_aside),
      static_cast<unsigned long long>(total.remote),
      static_cast<unsigned long long>(total.waited_too_long),
      static_cast<unsigned long long>(total.timed_out),
      static_cast<unsigned long long>(total.replays),
      static_cast<unsigned long long>(total.handshakes),
      static_cast<unsigned long long>(total.log_ins),
      static_cast<unsigned long long>(total.failed_log_ins),
      static_cast<unsigned long long>(total.slowed_log_ins),
      static_cast<unsigned long long>(total.late), static_cast<unsigned long long>(total.refused),
      static_cast<unsigned long long>(total.shed), static_cast<unsigned long long>(total.closed));
  return EXIT_SUCCESS;
}
