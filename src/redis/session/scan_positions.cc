#include "redis/session/scan_positions.h"

#include <algorithm>
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

}  // namespace

// All stay below 2^53: some clients keep numbers as doubles.
std::uint64_t ScanPositions::any_cursor() {
  std::random_device random;
  const std::uint64_t high = random() & 0xffffU;
  return (high << 32) | random();
}

std::uint64_t ScanPositions::add(std::uint64_t from, ScanPosition position) {
  const std::size_t bytes = bytes_of(position);
  const std::lock_guard lock(mutex_);
  drop_previous(from);
  const std::uint64_t cursor = ++last_;
  Held& held = accounts_[position.account];
  held.entries.push_front(
      {.cursor = cursor, .previous = from, .bytes = bytes, .position = std::move(position)});
  held.bytes += bytes;
  by_cursor_.emplace(cursor, held.entries.begin());
  bytes_ += bytes;
  while (by_cursor_.size() > most) give_up_one(false);
  while (by_cursor_.size() > 1 && bytes_ > most_bytes) give_up_one(true);
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
  Entries& entries = accounts_.find(found->second->position.account)->second.entries;
  entries.splice(entries.begin(), entries, found->second);
  return found->second->position;
}

std::size_t ScanPositions::size() {
  const std::lock_guard lock(mutex_);
  return by_cursor_.size();
}

// There are few accounts, and this is needed only when there are too many cursors.
void ScanPositions::give_up_one(bool by_bytes) {
  const auto size = [&](const auto& account) {
    return by_bytes ? account.second.bytes : account.second.entries.size();
  };
  drop(std::ranges::max_element(accounts_, {}, size)->second.entries.back().cursor);
}

void ScanPositions::drop(std::uint64_t cursor) {
  const auto found = by_cursor_.find(cursor);
  if (found == by_cursor_.end()) return;
  const Entries::iterator entry = found->second;
  by_cursor_.erase(found);
  bytes_ -= entry->bytes;
  const auto account = accounts_.find(entry->position.account);
  account->second.bytes -= entry->bytes;
  account->second.entries.erase(entry);
  if (account->second.entries.empty()) accounts_.erase(account);
}

void ScanPositions::drop_previous(std::uint64_t cursor) {
  const auto found = by_cursor_.find(cursor);
  if (found != by_cursor_.end()) drop(std::exchange(found->second->previous, 0));
}

}  // namespace hs::redis
