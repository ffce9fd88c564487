#include "redis/session/scan_positions.h"

#include <random>
#include <utility>

namespace hs::redis {
namespace {

std::size_t bytes_of(const ScanPosition& position) {
  std::size_t bytes = sizeof position + position.account.size() + position.pattern.size();
  for (const std::optional<std::string>& value : position.key)
    bytes += sizeof value + (value ? value->size() : 0);
  return bytes + (position.place == nullptr ? 0 : position.place->bytes());
}

// So that a cursor of before a restart is most likely nobody's afterwards. All stay below 2^53: some
// clients keep numbers as doubles.
std::uint64_t first_cursor() {
  std::random_device random;
  const std::uint64_t high = random() & 0xffffU;
  return (high << 32) | random();
}

}  // namespace

ScanPositions::ScanPositions() : last_(first_cursor()) {}

std::uint64_t ScanPositions::add(std::uint64_t from, ScanPosition position) {
  const std::size_t bytes = bytes_of(position);
  const std::lock_guard lock(mutex_);
  drop_previous(from);
  const std::uint64_t cursor = ++last_;
  entries_.push_front(
      {.cursor = cursor, .previous = from, .bytes = bytes, .position = std::move(position)});
  by_cursor_.emplace(cursor, entries_.begin());
  bytes_ += bytes;
  while (entries_.size() > 1 && (entries_.size() > most || bytes_ > most_bytes))
    drop(entries_.back().cursor);
  return cursor;
}

void ScanPositions::end(std::uint64_t from) {
  const std::lock_guard lock(mutex_);
  drop_previous(from);
}

std::optional<ScanPosition> ScanPositions::find(std::uint64_t cursor, std::string_view account) {
  const std::lock_guard lock(mutex_);
  const auto found = by_cursor_.find(cursor);
  if (found == by_cursor_.end() || found->second->position.account != account) return {};
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->position;
}

std::size_t ScanPositions::size() {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void ScanPositions::drop(std::uint64_t cursor) {
  const auto found = by_cursor_.find(cursor);
  if (found == by_cursor_.end()) return;
  bytes_ -= found->second->bytes;
  entries_.erase(found->second);
  by_cursor_.erase(found);
}

void ScanPositions::drop_previous(std::uint64_t cursor) {
  const auto found = by_cursor_.find(cursor);
  if (found != by_cursor_.end()) drop(std::exchange(found->second->previous, 0));
}

}  // namespace hs::redis
