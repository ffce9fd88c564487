#include "load/beside.h"

#include <algorithm>
#include <atomic>
#include <iomanip>
#include <iostream>
#include <string>
#include <thread>

#include "load/bystander.h"
#include "load/json.h"
#include "load/meter.h"
#include "load/result.h"
#include "load/staller.h"

namespace hs::bench {
namespace {

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

std::string title_of(const Stay& stay) {
  return stay.beside ? "beside " + std::string(name_of(*stay.beside)) : "alone";
}

// Returns what went wrong, or an empty text.
template <typename Greedy>
std::string stay_beside(Greedy& greedy, Bystander& bystander, const Options& options, Stay& stay) {
  if (std::string wrong = greedy.connect(); !wrong.empty()) return "greedy client: " + wrong;
  const Timeline timeline = Timeline::starting_now(options);
  {
    const std::jthread greedy_thread([&] { greedy.run(timeline); });
    const std::jthread light_thread([&] { bystander.run(timeline); });
  }
  stay.greedy = greedy.outcome();
  return {};
}

std::string measure(const Options& options, const Address& address,
                    std::atomic<std::uint64_t>& newest_key, Stay& stay) {
  const Options light = stay.beside ? light_options(*stay.beside, options) : options;
  Bystander bystander(light, address, newest_key);
  std::string wrong = bystander.connect();
  if (!wrong.empty()) return wrong;
  if (!stay.beside) {
    const Timeline timeline = Timeline::starting_now(options);
    // Alone it also has its own thread, because it changes its thread's priority.
    const std::jthread light_thread([&] { bystander.run(timeline); });
  } else {
    const Options own = greedy_options(*stay.beside, options);
    if (stalls(*stay.beside)) {
      Staller greedy(*stay.beside, own, address);
      wrong = stay_beside(greedy, bystander, options, stay);
    } else {
      Client greedy(own, address, own.connections, newest_key, own.seed);
      wrong = stay_beside(greedy, bystander, options, stay);
    }
  }
  stay.light = bystander.outcome();
  return wrong;
}

Json as_json(const Outcome& outcome) {
  return {{"requests", outcome.tally.replies},
          {"errors", outcome.tally.errors},
          {"lost_connections", outcome.lost_connections},
          {"first_error", outcome.tally.first_error}};
}

Json as_json(const Stay& stay) {
  const Histogram& latency = stay.light.latency;
  Json json = as_json(stay.light);
  json["fault"] = stay.fault();
  json["latency_us"] = {{"p50", microseconds(latency.at(0.5))},
                        {"p99", microseconds(latency.at(0.99))},
                        {"max", microseconds(latency.max())}};
  if (stay.beside) json["greedy"] = as_json(stay.greedy);
  return json;
}

}  // namespace

std::string Stay::fault() const {
  if (light.tally.errors != 0) return "the light client: " + light.tally.first_error;
  if (!beside || stalls(*beside)) return {};
  // A server may refuse some of the requests. If it refused all of them, there was no load.
  const bool nothing_done = greedy.tally.errors == greedy.tally.replies;
  if (greedy.lost_connections != 0 || (greedy.tally.errors != 0 && nothing_done)) {
    return "the greedy clients: " + greedy.tally.first_error;
  }
  return {};
}

bool BesideResult::clean() const {
  return std::ranges::all_of(stays, [](const Stay& stay) { return stay.fault().empty(); });
}

void write_json(std::ostream& out, const BesideResult& result) {
  Json json{{"rate", result.rate}, {"alone", as_json(result.stays.front())}};
  Json& beside = json["beside"] = Json::object();
  for (const Stay& stay : result.stays) {
    if (stay.beside) beside[std::string(name_of(*stay.beside))] = as_json(stay);
  }
  write(out, json);
}

void write_text(std::ostream& out, const BesideResult& result) {
  constexpr int title_width = 20;
  constexpr int width = 14;
  out << std::left << std::setw(title_width) << "us" << std::right << std::setw(width) << "p50"
      << std::setw(width) << "p99" << std::setw(width) << "longest" << std::setw(width)
      << "requests" << std::setw(width) << "greedy's" << '\n'
      << std::fixed << std::setprecision(1);
  for (const Stay& stay : result.stays) {
    const Histogram& latency = stay.light.latency;
    out << std::left << std::setw(title_width) << title_of(stay) << std::right << std::setw(width)
        << microseconds(latency.at(0.5)) << std::setw(width) << microseconds(latency.at(0.99))
        << std::setw(width) << microseconds(latency.max()) << std::setw(width)
        << stay.light.tally.replies << std::setw(width);
    if (stay.beside) {
      out << stay.greedy.tally.replies;
    } else {
      out << "";
    }
    out << '\n';
  }
  for (const Stay& stay : result.stays) {
    if (const std::string fault = stay.fault(); !fault.empty()) {
      out << title_of(stay) << ": " << fault << '\n';
    } else if (stay.greedy.lost_connections != 0) {
      out << title_of(stay) << ": the server closed " << stay.greedy.lost_connections
          << " greedy connections\n";
    }
  }
}

int run_beside(const Options& options, const Address& address) {
  std::atomic<std::uint64_t> newest_key = options.keys.first + options.keys.count - 1;
  BesideResult result{.rate = options.rate, .stays = {}};
  std::vector<std::optional<Greed>> wanted{std::nullopt};
  wanted.insert(wanted.end(), options.beside.begin(), options.beside.end());
  for (const std::optional<Greed>& beside : wanted) {
    Stay stay{.beside = beside, .light = {}, .greedy = {}};
    if (!options.quiet) std::cerr << '\r' << title_of(stay) << "               " << std::flush;
    if (const std::string wrong = measure(options, address, newest_key, stay); !wrong.empty()) {
      std::cerr << "error: " << title_of(stay) << ": " << wrong << '\n';
      return 2;
    }
    result.stays.push_back(std::move(stay));
  }
  return deliver(
      options, result.clean(), [&](std::ostream& out) { write_json(out, result); },
      [&](std::ostream& out) { write_text(out, result); });
}

}  // namespace hs::bench
