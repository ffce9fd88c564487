#include "keys/container.h"

namespace hs::keys {
namespace {

constexpr std::size_t most_name = 255;

std::vector<std::string> split_columns(std::string_view text) {
  constexpr std::string_view between = " ;,|\n";
  std::vector<std::string> columns;
  while (true) {
    const std::size_t begin = text.find_first_not_of(between);
    if (begin == std::string_view::npos) return columns;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(between), text.size());
    columns.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string optional_column(const std::string& text) { return text == "0" ? std::string() : text; }

bool is_primary(std::string_view name) {
  constexpr std::string_view primary = "primary";
  if (name.size() != primary.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((name[i] | 0x20) != primary[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view text_of(ContainerMistake mistake) {
  switch (mistake) {
    case ContainerMistake::none: return "";
    case ContainerMistake::name:
      return "its name is empty, longer than 255 bytes, or has one of . @ : in it";
    case ContainerMistake::table: return "it names no database or no table";
    case ContainerMistake::columns: return "it names no column for the key or none for the value";
    case ContainerMistake::index: return "it names no index";
  }
  return "";
}

ContainerMistake read_container(const ContainerRow& row, std::string_view separator,
                                Container& container) {
  if (row.name.empty() || row.name.size() > most_name ||
      row.name.find_first_of(".@:") != std::string::npos)
    return ContainerMistake::name;
  container = {.name = row.name,
               .database = row.database,
               .table = row.table,
               .index = is_primary(row.index) ? std::string() : row.index,
               .key_columns = split_columns(row.key_columns),
               .value_columns = split_columns(row.value_columns),
               .flags = optional_column(row.flags),
               .cas = optional_column(row.cas),
               .expiry = optional_column(row.expiry),
               .separator = std::string(separator)};
  ContainerMistake mistake = ContainerMistake::none;
  if (row.database.empty() || row.table.empty()) {
    mistake = ContainerMistake::table;
  } else if (row.index.empty()) {
    mistake = ContainerMistake::index;
  } else if (container.key_columns.empty() || container.value_columns.empty()) {
    mistake = ContainerMistake::columns;
  }
  if (mistake != ContainerMistake::none) container.value_columns.clear();
  return mistake;
}

}  // namespace hs::keys
