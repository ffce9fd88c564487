// The keys that a client's requests read next, named before they are read.
#include "store/look_ahead.h"

#include <cstdint>

#include "keys/keys_ahead.h"
#include "memcached/session/dialogue.h"

namespace hs::memcached {
namespace {

// `container` is the one that the keys before this one have chosen, empty: the default one. It may choose
// another. If another delimiter is set than the usual one, a key that names its container is not named.
bool name_item(keys::RememberedRows& rows, const Request& request, std::string_view key,
               std::string_view& container, store::LookAhead& ahead) {
  const WrittenKey written = read_written_key(key, keys::ContainerSet::default_delimiter);
  if (written.names_container) container = written.container;
  store::Comparison comparison{};
  std::string_view start = written.key;
  if (written.is_container || (request.form == Form::text && take_range(start, comparison)))
    return false;
  const std::string_view name = container.empty() ? keys::Container::default_name : container;
  return keys::name_key(rows.find(name, asks_of(request), {}), written.key, ahead);
}

}  // namespace

void Dialogue::name_items(const Request& request, std::string_view key, std::string_view more_keys,
                          std::string_view container, store::LookAhead& ahead) {
  for (std::uint32_t i = 0; i < keys::KeysAhead::keys_of_look && !key.empty(); ++i) {
    name_item(remembered_, request, key, container, ahead);
    key = take_word(more_keys);
  }
}

// Gets of one key. The keys of a get of many are named when it is executed.
std::size_t Dialogue::look_ahead(std::string_view input, const store::Store& /*store*/,
                                 store::LookAhead& ahead) {
  // What was used on another worker's store was forgotten by depart().
  if (caller() == nullptr || state_.thrown_away != 0 || state_.many.has_begun) return 0;
  RequestReader reader;
  std::string_view container = state_.container;
  std::size_t taken = 0;
  while (!ahead.is_full()) {
    // A longer line is left alone, so that nobody searches it for its end.
    const std::string_view next = input.substr(taken, RequestReader::most_line_bytes);
    if (reader.read(next, is_binary(input), limits(false)) != RequestReader::Found::request) break;
    const Request& request = reader.request();
    // A key in base64 would be in the reader's memory.
    if (request.action != Action::get || request.has_base64_key || has_more_keys(request)) break;
    if (!name_item(remembered_, request, request.key, container, ahead)) break;
    taken += reader.size();
  }
  return taken;
}

}  // namespace hs::memcached
