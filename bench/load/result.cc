#include "load/result.h"

#include <array>
#include <iomanip>
#include <string_view>
#include <utility>

#include "load/json.h"

namespace hs::bench {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 4> percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}};

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

double per_request(double seconds, const Result& result) {
  const auto requests = static_cast<double>(result.tally.replies);
  return requests == 0 ? 0 : seconds * 1e6 / requests;
}

Json as_json(const CpuTime& time, const Result& result) {
  return {{"user_seconds", time.user},
          {"system_seconds", time.system},
          {"user_us_per_request", per_request(time.user, result)},
          {"system_us_per_request", per_request(time.system, result)},
          {"us_per_request", per_request(time.user + time.system, result)}};
}

}  // namespace

void write_json(std::ostream& out, const Result& result) {
  Json json{{"seconds", result.seconds},
            {"requests", result.tally.replies},
            {"requests_per_second", static_cast<double>(result.tally.replies) / result.seconds},
            {"rows", result.tally.rows},
            {"rows_per_second", static_cast<double>(result.tally.rows) / result.seconds},
            {"misses", result.tally.misses},
            {"errors", result.tally.errors},
            {"lost_connections", result.lost_connections},
            {"first_error", result.tally.first_error},
            {"client_cpu", as_json(result.client_cpu, result)}};
  if (result.server_cpu) json["server_cpu"] = as_json(*result.server_cpu, result);
  for (const auto& [name, share] : percentiles) {
    json["latency_us"][name] = microseconds(result.latency.at(share));
  }
  json["latency_us"]["max"] = microseconds(result.latency.max());
  write(out, json);
}

void write_text(std::ostream& out, const Result& result) {
  const auto rate = [&](std::uint64_t count) {
    return static_cast<double>(count) / result.seconds;
  };
  out << std::fixed << std::setprecision(0) << "requests a second  " << rate(result.tally.replies)
      << "\nrows a second      " << rate(result.tally.rows) << "\nlatency, us        ";
  out << std::setprecision(1);
  for (const auto& [name, share] : percentiles) {
    out << ' ' << name << ' ' << microseconds(result.latency.at(share)) << ' ';
  }
  out << " max " << microseconds(result.latency.max()) << "\n" << std::setprecision(3);
  const CpuTime& client = result.client_cpu;
  out << "CPU us a request    client " << per_request(client.user + client.system, result);
  if (result.server_cpu) {
    const CpuTime& server = *result.server_cpu;
    out << "  server " << per_request(server.user + server.system, result) << " (user "
        << per_request(server.user, result) << ", system " << per_request(server.system, result)
        << ')';
  }
  out << "\nmisses " << result.tally.misses << "  errors " << result.tally.errors
      << "  lost connections " << result.lost_connections << '\n';
  if (!result.clean()) out << "first error: " << result.tally.first_error << '\n';
}

}  // namespace hs::bench
