#include "keys/containers.h"

#include <algorithm>
#include <array>

#include "base/buffer.h"
#include "store/rows.h"

namespace hs::keys {
namespace {

using store::Outcome;
using Kind = store::ColumnValue::Kind;

// The first columns of each row, as texts.
template <std::size_t columns>
class TextRows final : public store::Rows {
 public:
  TextRows() : Rows(std::size_t{4} << 20) {}
  bool take(std::span<const store::Column> row_columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& /*out*/) override {
    char room[store::Column::room];
    std::array<std::string, columns>& texts = rows.emplace_back();
    for (std::size_t i = 0; i < columns; ++i) {
      const store::ColumnValue value = row_columns[i].value(row, room);
      if (value.kind == Kind::no_memory) return false;
      if (value.kind != Kind::null) texts[i].assign(value.data, value.size);
    }
    return true;
  }
  std::vector<std::array<std::string, columns>> rows;
};

// All rows of a table, up or down its primary key.
template <std::size_t columns>
Outcome read_rows(store::Store& store, const store::IndexNames& names, std::uint64_t most,
                  TextRows<columns>& rows) {
  store::IndexUse use;
  if (const Outcome opened = store.open_index(names, store::Caller::unlimited(), use); !opened.ok())
    return opened;
  Buffer nothing;
  store::Found found;
  const store::Selection all{.range = {store::Bound::within, store::Direction::up}, .limit = most};
  return store.find(use, all, rows, nothing, nullptr, found);
}

}  // namespace

bool read_source(std::string_view text, ContainerSource& source) {
  const std::size_t dot = text.find('.');
  source.database.clear();
  source.table.clear();
  if (text.empty()) return true;
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return false;
  source.database = text.substr(0, dot);
  source.table = text.substr(dot + 1);
  return true;
}

std::shared_ptr<const Container> Containers::find(std::string_view name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : found->second;
}

ItemKey Containers::resolve(std::string_view key) const {
  if (known_.empty()) return {};
  const SplitKey split = split_key(key);
  if (split.has_parts) {
    const auto found = known_.find(split.name);
    if (found != known_.end() && found->second != default_)
      return {found->second.get(), split.parts};
    if (split.name.find_first_of(".@") != std::string_view::npos) return {};
  }
  if (default_ == nullptr) return {};
  return {default_.get(), key};
}

// A table that is not there means that there are no containers. Whoever has locked it is not waited for.
Outcome Containers::read(store::Store& store) {
  const std::uint64_t asked = source_.asked.load(std::memory_order_relaxed);
  TextRows<9> rows;
  Outcome outcome = read_rows(store,
                              {.database = source_.database,
                               .table = source_.table,
                               .index = "",
                               .columns = container_columns,
                               .filter_columns = ""},
                              most, rows);
  if (!outcome.answered())
    return outcome.verdict() == store::Verdict::blocked ? Outcome() : outcome;
  std::string separator = "|";
  if (outcome.ok()) {
    TextRows<2> options;
    const Outcome of_options = read_rows(store,
                                         {.database = source_.database,
                                          .table = "config_options",
                                          .index = "",
                                          .columns = "name,value",
                                          .filter_columns = ""},
                                         most, options);
    if (!of_options.answered()) return of_options;
    for (const auto& [name, value] : options.rows) {
      if (name == "separator" && !value.empty()) separator = value;
    }
  }
  asked_ = asked;
  read_ms_ = clock_.now_ms();
  std::vector<ContainerRow> read;
  for (auto& row : rows.rows) {
    read.push_back({std::move(row[0]), std::move(row[1]), std::move(row[2]), std::move(row[3]),
                    std::move(row[4]), std::move(row[5]), std::move(row[6]), std::move(row[7]),
                    std::move(row[8])});
  }
  take(std::move(read), separator);
  return {};
}

void Containers::take(std::vector<ContainerRow> rows, std::string_view separator) {
  Known known;
  std::vector<std::pair<std::string, std::string>> mistakes;
  for (const ContainerRow& row : rows) {
    Container container;
    const ContainerMistake mistake = read_container(row, separator, container);
    if (mistake != ContainerMistake::none) {
      mistakes.emplace_back(row.name, text_of(mistake));
      continue;
    }
    auto shared = std::make_shared<const Container>(std::move(container));
    known.emplace(shared->name, shared);
  }
  const auto is_same = [&] {
    return known.size() == known_.size() && std::ranges::all_of(known, [&](const auto& one) {
             const auto before = known_.find(one.first);
             return before != known_.end() && *before->second == *one.second;
           });
  };
  mistakes_ = std::move(mistakes);
  if (is_same()) return;
  known_ = std::move(known);
  default_ = find(Container::default_name);
  ++generation_;
}

}  // namespace hs::keys
