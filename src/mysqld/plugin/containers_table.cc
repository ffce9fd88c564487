// The table handlersocket_containers.
#include <functional>
#include <string>

#include "keys/containers.h"
#include "mysqld/plugin/ports.h"
#include "mysqld/plugin/shown_tables.h"

namespace hs::mysqld {
namespace {

struct Row {
  keys::ContainerSource::Judged container;

  std::uint64_t key() const { return std::hash<std::string>{}(container.name); }
};

using Column = ColumnOf<Row>;

std::string_view of_container(const Row& row, std::string keys::Container::*member) {
  const keys::Container* const container = row.container.container.get();
  return container == nullptr ? std::string_view() : std::string_view(container->*member);
}

constexpr std::array shown_cells{
    Column{{"NAME", 256}, [](const Row& row) -> Cell { return row.container.name; }},
    Column{{"TABLE_SCHEMA", 256},
           [](const Row& row) -> Cell { return of_container(row, &keys::Container::database); }},
    Column{{"TABLE_NAME", 256},
           [](const Row& row) -> Cell { return of_container(row, &keys::Container::table); }},
    Column{{"INDEX_NAME", 256},
           [](const Row& row) -> Cell {
             const std::string_view name = of_container(row, &keys::Container::index);
             const bool is_primary = name.empty() && row.container.container != nullptr;
             return is_primary ? std::string_view("PRIMARY") : name;
           }},
    Column{{"MISTAKE", 256}, [](const Row& row) -> Cell { return row.container.mistake; }},
};
constexpr auto shown_columns = shown(shown_cells);

std::unique_ptr<ShownRows> ask() {
  auto shown = std::make_unique<RowsOf<Row>>(shown_cells);
  if (const auto judgement = containers_at_last_look()) {
    for (const keys::ContainerSource::Judged& one : *judgement) shown->rows.push_back({one});
  }
  return shown;
}

}  // namespace

constinit const ShownTable containers_table{
    "handlersocket_containers", "The containers of strings, as HandlerSocket has found them",
    shown_columns, ask};

}  // namespace hs::mysqld
