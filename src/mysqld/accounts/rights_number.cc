#include "mysqld/accounts/rights_number.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace hs::mysqld {
namespace {

struct Shared {
  std::uint64_t number;
  std::size_t users;
};

std::atomic<std::uint64_t> last_number{0};
std::mutex mutex;
std::unordered_map<std::string, Shared> by_key;

std::uint64_t take(const std::string& key) {
  if (key.empty()) return ++last_number;
  const std::lock_guard lock(mutex);
  const auto found = by_key.find(key);
  if (found == by_key.end())
    return by_key.emplace(key, Shared{++last_number, 1}).first->second.number;
  ++found->second.users;
  return found->second.number;
}

}  // namespace

RightsNumber::RightsNumber() : number_(take({})) {}

RightsNumber::RightsNumber(const std::string& key) : key_(key), number_(take(key)) {}

RightsNumber::~RightsNumber() {
  if (key_.empty()) return;
  const std::lock_guard lock(mutex);
  const auto found = by_key.find(key_);
  if (--found->second.users == 0) by_key.erase(found);
}

}  // namespace hs::mysqld
