#include "mysqld/store/plans.h"

#include <algorithm>

namespace hs::mysqld {
namespace {

std::size_t plan_bytes(const std::string& names) { return sizeof(IndexPlan) + names.size(); }

}  // namespace

std::shared_ptr<IndexPlan> Plans::find(const store::IndexNames& names) {
  asked_for_.clear();
  for (const std::string_view part :
       {names.database, names.table, names.index, names.columns, names.filter_columns}) {
    asked_for_.append(part).push_back('\t');
  }
  // A name may contain a TAB, and the name of a column whatever separates those of another list.
  for (const std::string_view part : {names.database, names.table, names.index, names.columns})
    asked_for_.append(std::to_string(part.size())).push_back('\t');
  asked_for_.push_back(names.separator);
  if (names.every_column) asked_for_.append("*\t");
  if (names.keeps_positions) asked_for_.append("+\t");
  const auto known = plans_.find(asked_for_);
  return known == plans_.end() ? nullptr : known->second;
}

void Plans::add(const std::shared_ptr<IndexPlan>& plan) {
  plans_.emplace(asked_for_, plan);
  bytes_ += plan_bytes(asked_for_);
}

void Plans::sweep() {
  std::erase_if(plans_, [](const auto& entry) { return entry.second.use_count() == 1; });
  bytes_ = 0;
  for (const auto& [names, plan] : plans_) bytes_ += plan_bytes(names);
  // Plans in use stay. Another sweep pays only when as many bytes have come again.
  sweep_at_ = std::max(bytes_before_sweep, 2 * bytes_);
}

std::vector<OpenedIndex> Plans::opened(std::size_t most) const {
  std::vector<OpenedIndex> indexes;
  for (const auto& [names, plan] : plans_) {
    const auto uses = static_cast<std::uint64_t>(plan.use_count()) - 1;  // one is the map's
    if (uses == 0) continue;
    if (indexes.size() == most) break;
    OpenedIndex& index = indexes.emplace_back(OpenedIndex{names, uses, plan->requests()});
    std::ranges::replace(index.names, '\0', ',');
  }
  return indexes;
}

}  // namespace hs::mysqld
