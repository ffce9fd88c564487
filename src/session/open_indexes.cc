#include "session/open_indexes.h"

#include <cassert>
#include <utility>

namespace hs::session {

std::string join_names(const protocol::OpenIndex& request) {
  std::string names;
  names.reserve(request.database.size() + request.table.size() + request.index.size() +
                request.columns.size() + request.filter_columns.size() + 4);
  names.append(request.database).push_back('\t');
  names.append(request.table).push_back('\t');
  names.append(request.index).push_back('\t');
  names.append(request.columns).push_back('\t');
  names.append(request.filter_columns);
  return names;
}

protocol::OpenIndex split_names(std::string_view names) {
  const auto take = [&names] {
    const std::size_t tab = names.find('\t');
    const std::string_view name = names.substr(0, tab);
    names.remove_prefix(tab == std::string_view::npos ? names.size() : tab + 1);
    return name;
  };
  protocol::OpenIndex request;
  request.database = take();
  request.table = take();
  request.index = take();
  request.columns = take();
  request.filter_columns = take();
  return request;
}

NamedIndex* OpenIndexes::find_large(std::uint64_t id) {
  const auto found = large_.find(id);
  return found == large_.end() ? nullptr : &found->second;
}

bool OpenIndexes::has_room(std::uint64_t id, std::size_t names_bytes) {
  const NamedIndex* const old = find(id);
  const std::size_t count = count_ + (old == nullptr ? 1 : 0);
  const std::size_t bytes = names_bytes_ - (old == nullptr ? 0 : old->names.size()) + names_bytes;
  return count <= max_count && bytes <= max_names_bytes;
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

}  // namespace hs::session
