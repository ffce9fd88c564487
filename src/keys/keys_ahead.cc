#include "keys/keys_ahead.h"

#include <span>

namespace hs::keys {
namespace {

// The values of a key's parts, without reading an escape. Returns how many there are, 0 if there are too
// few or too many.
std::size_t plain_parts(std::string_view parts, std::size_t count, std::span<store::Value> to) {
  if (count > to.size()) return 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::size_t colon = parts.find(':');
    if (colon == std::string_view::npos) return 0;
    to[i] = {.bytes = parts.substr(0, colon)};
    if (to[i].bytes.find('%') != std::string_view::npos) return 0;
    parts.remove_prefix(colon + 1);
  }
  to[count - 1] = {.bytes = parts};
  return count;
}

}  // namespace

bool name_key(const RememberedRows::Entry* used, std::string_view parts, store::LookAhead& ahead) {
  if (used == nullptr) return false;
  const std::size_t count = plain_parts(parts, used->access->shape->key.size(), ahead.next_key());
  if (count == 0) return false;
  ahead.add(*used->access->index, count);
  return true;
}

}  // namespace hs::keys
