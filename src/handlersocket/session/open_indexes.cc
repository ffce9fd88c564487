#include "handlersocket/session/open_indexes.h"

#include <cassert>
#include <utility>

namespace hs::handlersocket {
namespace {

constexpr char name_end = '\0';

}  // namespace

std::string join_names(const store::IndexNames& names) {
  std::string joined;
  joined.reserve(names.database.size() + names.table.size() + names.index.size() +
                 names.columns.size() + names.filter_columns.size() + 4);
  joined.append(names.database).push_back(name_end);
  joined.append(names.table).push_back(name_end);
  joined.append(names.index).push_back(name_end);
  joined.append(names.columns).push_back(name_end);
  joined.append(names.filter_columns);
  return joined;
}

store::IndexNames split_names(std::string_view names) {
  const auto take = [&names] {
    const std::size_t end = names.find(name_end);
    const std::string_view name = names.substr(0, end);
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
    return name;
  };
  store::IndexNames split;
  split.database = take();
  split.table = take();
  split.index = take();
  split.columns = take();
  split.filter_columns = take();
  return split;
}

NamedIndex* OpenIndexes::find_large(std::uint64_t id) {
  const auto found = large_.find(id);
  return found == large_.end() ? nullptr : &found->second;
}

bool OpenIndexes::has_room(std::uint64_t id, std::size_t names_bytes, std::size_t most) {
  const NamedIndex* const old = find(id);
  const std::size_t count = count_ + (old == nullptr ? 1 : 0);
  const std::size_t bytes = names_bytes_ - (old == nullptr ? 0 : old->names.size()) + names_bytes;
  return (old != nullptr || count <= most) && bytes <= max_names_bytes;
}

NamedIndex OpenIndexes::set(std::uint64_t id, NamedIndex index) {
  if (id < small_ids && id >= small_.size()) small_.resize(id + 1);
  NamedIndex& place = id < small_ids ? small_[id] : large_[id];
  NamedIndex old = std::exchange(place, std::move(index));
  count_ += (place.is_open() ? 1 : 0) - (old.is_open() ? 1 : 0);
  names_bytes_ += place.names.size() - old.names.size();
  if (!place.is_open() && id >= small_ids) large_.erase(id);
  return old;
}

void OpenIndexes::forget_indexes() {
  for (NamedIndex& index : small_) index.use = {};
  for (auto& [id, index] : large_) index.use = {};
}

}  // namespace hs::handlersocket
