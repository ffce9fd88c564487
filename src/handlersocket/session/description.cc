#include "handlersocket/session/description.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "handlersocket/protocol/reply.h"

namespace hs::handlersocket {
namespace {

using store::DescribedColumn;
using store::DescribedIndex;
using store::TableDescription;

// As `P` understands a name.
const DescribedIndex* find_index(const TableDescription& table, std::string_view name) {
  std::optional<std::uint32_t> number;
  if (!name.empty() && name.front() >= '0' && name.front() <= '9') {
    number.emplace();
    std::from_chars(name.data(), name.data() + name.size(), *number);
  }
  if (name.empty()) name = "PRIMARY";
  const auto found = std::ranges::find_if(table.indexes, [&](const DescribedIndex& index) {
    return number ? index.number == *number : index.name == name;
  });
  return found == table.indexes.end() ? nullptr : &*found;
}

// A request may name each of a table's thousands of columns, and more.
using Columns = std::unordered_map<std::string_view, const DescribedColumn*>;

void append_column(std::string_view kind, std::string_view name, const Columns& columns,
                   ReplyWriter& reply) {
  const auto found = columns.find(name);
  reply.described_column(kind, name, found == columns.end() ? nullptr : found->second);
}

void append_columns(std::string_view kind, std::string_view names, char separator,
                    const Columns& columns, ReplyWriter& reply) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(separator), names.size());
    append_column(kind, names.substr(0, end), columns, reply);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

}  // namespace

Status append_description(const store::IndexNames& names, const TableDescription& table,
                          Buffer& out) {
  const DescribedIndex* const index = find_index(table, names.index);
  if (index == nullptr) return Error::no_index;
  ReplyWriter reply(out);
  reply.begin_rows(ReplyWriter::description_columns);
  Columns columns;
  for (const DescribedColumn& column : table.columns) columns.emplace(column.name, &column);
  append_columns("column", names.columns, names.separator, columns, reply);
  append_columns("filter", names.filter_columns, names.separator, columns, reply);
  for (const store::DescribedPart& part : index->parts)
    append_column("key", part.column, columns, reply);
  reply.end_rows();
  return {};
}

void append_indexes(const TableDescription& table, Buffer& out) {
  ReplyWriter reply(out);
  reply.begin_rows(ReplyWriter::index_part_columns);
  for (const DescribedIndex& index : table.indexes) {
    for (const store::DescribedPart& part : index.parts) reply.index_part(index, part);
  }
  reply.end_rows();
}

}  // namespace hs::handlersocket
