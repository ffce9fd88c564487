#include "redis/session/info_reply.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "redis/protocol/commands.h"
#include "redis/protocol/errors.h"
#include "redis/session/command_counts.h"

namespace hs::redis {
namespace {

// What a section is written from.
struct Facts {
  ServerFacts server;
  CommandTotals counted;
};

class Lines {
 public:
  explicit Lines(std::string& text) : text_(text) {}

  Lines& add(std::string_view name, std::string_view value) {
    text_ += name;
    text_ += ':';
    text_ += value;
    text_ += "\r\n";
    return *this;
  }
  Lines& add(std::string_view name, std::uint64_t value) {
    return add(name, std::to_string(value));
  }

 private:
  std::string& text_;
};

void add_server(const Facts& facts, Lines& lines) {
  lines.add("redis_version", redis_version)
      .add("redis_mode", "standalone")
      .add("server_name", "handlersocket")
      .add("database_version", facts.server.version)
      .add("multiplexing_api", "epoll")
      .add("tcp_port", facts.server.tcp_port)
      .add("uptime_in_seconds", facts.server.uptime_s)
      .add("uptime_in_days", facts.server.uptime_s / 86400);
}

void add_clients(const Facts& facts, Lines& lines) {
  lines.add("connected_clients", facts.server.connected_clients)
      .add("maxclients", facts.server.most_clients)
      .add("blocked_clients", 0);
}

// The rows are in the server's own memory, and on its disk.
void add_memory(const Facts& facts, Lines& lines) {
  lines.add("used_memory", facts.server.waiting_bytes)
      .add("maxmemory", 0)
      .add("maxmemory_policy", "noeviction");
}

void add_persistence(const Facts& /*facts*/, Lines& lines) {
  lines.add("loading", 0)
      .add("async_loading", 0)
      .add("rdb_bgsave_in_progress", 0)
      .add("aof_enabled", 1);
}

void add_stats(const Facts& facts, Lines& lines) {
  const auto& errors = facts.counted.errors;
  lines.add("total_connections_received", facts.server.connections_received)
      .add("total_commands_processed", facts.server.commands_processed)
      .add("total_net_input_bytes", facts.server.bytes_received)
      .add("total_net_output_bytes", facts.server.bytes_sent)
      .add("rejected_connections", facts.server.connections_refused)
      .add("total_error_replies", std::accumulate(errors.begin(), errors.end(), std::uint64_t{0}));
}

void add_replication(const Facts& /*facts*/, Lines& lines) {
  lines.add("role", "master")
      .add("connected_slaves", 0)
      .add("master_failover_state", "no-failover");
}

// Nobody measures a command of a pass alone, so its time is 0.
void add_command_stats(const Facts& facts, Lines& lines) {
  for (const CommandInfo& info : all_commands()) {
    const auto& counted = facts.counted.commands[static_cast<std::size_t>(info.command)];
    if (counted.calls == 0 && counted.refused == 0) continue;
    lines.add("cmdstat_" + std::string(info.name),
              "calls=" + std::to_string(counted.calls) +
                  ",usec=0,usec_per_call=0.00,rejected_calls=" + std::to_string(counted.refused) +
                  ",failed_calls=" + std::to_string(counted.failed));
  }
}

void add_error_stats(const Facts& facts, Lines& lines) {
  for (std::size_t i = 0; i < error_codes.size(); ++i) {
    const std::uint64_t count = facts.counted.errors[i];
    if (count == 0) continue;
    lines.add("errorstat_" + std::string(error_codes[i]), "count=" + std::to_string(count));
  }
}

void add_cluster(const Facts& /*facts*/, Lines& lines) { lines.add("cluster_enabled", 0); }

// Nobody knows how many rows all tables have.
void add_keyspace(const Facts& /*facts*/, Lines& /*lines*/) {}

struct Section {
  std::string_view name;
  std::string_view heading;
  bool is_default;  // answered to who asks for none
  void (*add)(const Facts& facts, Lines& lines);
};

// In Redis's order.
constexpr std::array<Section, 10> sections{{
    {"server", "Server", true, add_server},
    {"clients", "Clients", true, add_clients},
    {"memory", "Memory", true, add_memory},
    {"persistence", "Persistence", true, add_persistence},
    {"stats", "Stats", true, add_stats},
    {"replication", "Replication", true, add_replication},
    {"commandstats", "Commandstats", false, add_command_stats},
    {"errorstats", "Errorstats", true, add_error_stats},
    {"cluster", "Cluster", true, add_cluster},
    {"keyspace", "Keyspace", true, add_keyspace},
}};

bool is_wanted(const Section& section, std::span<const std::string_view> names) {
  if (names.empty()) return section.is_default;
  for (const std::string_view name : names) {
    if (is_word(name, section.name) || is_word(name, "all") || is_word(name, "everything"))
      return true;
    if (section.is_default && is_word(name, "default")) return true;
  }
  return false;
}

}  // namespace

void answer_info(const Config& config, std::span<const std::string_view> names, Reply& reply) {
  const Facts facts{.server = config.facts != nullptr ? config.facts() : ServerFacts{},
                    .counted = config.command_counts.sum()};
  std::string text;
  for (const Section& section : sections) {
    if (!is_wanted(section, names)) continue;
    if (!text.empty()) text += "\r\n";
    text += "# ";
    text += section.heading;
    text += "\r\n";
    Lines lines(text);
    section.add(facts, lines);
  }
  reply.verbatim(text);
}

}  // namespace hs::redis
