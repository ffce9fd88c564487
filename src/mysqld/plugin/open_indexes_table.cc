// The table handlersocket_open_indexes.
#include <functional>
#include <string>

#include "base/ports.h"
#include "mysqld/plugin/ports.h"
#include "mysqld/plugin/shown_tables.h"

namespace hs::mysqld {
namespace {

struct Row {
  std::size_t port;
  TableStore::OpenedIndex index;

  std::uint64_t key() const { return std::hash<std::string>{}(index.names) * port_count + port; }
};

enum Name : std::size_t { database, table, index_name, columns, filter_columns };

// What the client has given. A text that is too long is cut, between two characters.
template <Name number, std::size_t most>
Cell name_of(const Row& row) {
  std::string_view rest = row.index.names;
  for (std::size_t i = 0; i < number; ++i) rest.remove_prefix(rest.find('\t') + 1);
  std::string_view name = rest.substr(0, rest.find('\t'));
  if (number == index_name && name.empty()) return std::string_view("PRIMARY");
  if (name.size() <= most) return name;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end);
}

using Column = ColumnOf<Row>;

// A name has at most 64 characters, of at most 4 bytes.
constexpr std::array shown_cells{
    Column{{"PORT", longest_port_name},
           [](const Row& row) -> Cell { return port_table[row.port].name; }},
    Column{{"TABLE_SCHEMA", 256}, name_of<database, 256>},
    Column{{"TABLE_NAME", 256}, name_of<table, 256>},
    Column{{"INDEX_NAME", 256}, name_of<index_name, 256>},
    Column{{"COLUMN_NAMES", 1024}, name_of<columns, 1024>},
    Column{{"FILTER_NAMES", 1024}, name_of<filter_columns, 1024>},
    Column{{"OPENED", 0}, [](const Row& row) -> Cell { return row.index.opened; }},
    Column{{"REQUESTS", 0}, [](const Row& row) -> Cell { return row.index.requests; }},
};
constexpr auto shown_columns = shown(shown_cells);

// Asks the workers of all ports.
std::unique_ptr<ShownRows> ask() {
  auto shown = std::make_unique<RowsOf<Row>>(shown_cells);
  for (std::size_t port = 0; port < port_count; ++port) {
    OpenIndexes open = open_indexes_of(port);
    if (!open.is_complete) {
      shown->warning =
          "A worker of handlersocket has not answered in time, or has more than 10000 open "
          "indexes: some are missing";
    }
    for (auto& [names, index] : open.indexes) shown->rows.push_back({port, std::move(index)});
  }
  return shown;
}

}  // namespace

constinit const ShownTable open_indexes_table{"handlersocket_open_indexes",
                                              "The indexes that clients of HandlerSocket have open",
                                              shown_columns, ask};

}  // namespace hs::mysqld
