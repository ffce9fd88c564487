// The table handlersocket_latency.
#include "base/ports.h"
#include "mysqld/plugin/shown_tables.h"
#include "mysqld/plugin/status_variables.h"

namespace hs::mysqld {
namespace {

// A bucket of one kind of request on one port.
struct Row {
  std::size_t port;
  std::size_t kind;
  std::size_t bucket;
  std::uint64_t count;
  std::uint64_t count_and_lower;

  std::uint64_t key() const {
    return (port * request_kind_count + kind) * latency_bucket_count + bucket;
  }
};

using Column = ColumnOf<Row>;

constexpr std::array columns{
    Column{{"PORT", longest_port_name},
           [](const Row& row) -> Cell { return port_table[row.port].name; }},
    Column{{"KIND", 16}, [](const Row& row) -> Cell { return request_kind_names[row.kind]; }},
    Column{{"BUCKET_LOW_US", 0},
           [](const Row& row) -> Cell { return latency_bucket_low(row.bucket); }},
    Column{{"BUCKET_HIGH_US", 0},
           [](const Row& row) -> Cell { return latency_bucket_high(row.bucket); }},
    Column{{"COUNT_BUCKET", 0}, [](const Row& row) -> Cell { return row.count; }},
    Column{{"COUNT_BUCKET_AND_LOWER", 0},
           [](const Row& row) -> Cell { return row.count_and_lower; }},
};
constexpr auto shown_columns = shown(columns);

std::unique_ptr<ShownRows> ask() {
  auto shown = std::make_unique<RowsOf<Row>>(columns);
  for (std::size_t port = 0; port < port_count; ++port) {
    for (std::size_t kind = 0; kind < request_kind_count; ++kind) {
      const Latency latency = counters(port).latency_of(static_cast<RequestKind>(kind));
      std::uint64_t lower = 0;
      for (std::size_t bucket = 0; bucket < latency_bucket_count; ++bucket) {
        lower += latency.buckets[bucket];
        shown->rows.push_back({port, kind, bucket, latency.buckets[bucket], lower});
      }
    }
  }
  return shown;
}

}  // namespace

constinit const ShownTable latency_table{
    "handlersocket_latency", "How long requests of HandlerSocket took", shown_columns, ask};

}  // namespace hs::mysqld
