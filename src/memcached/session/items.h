// Items in memcached's words: what a request does to the item of a key, and which item that is.
//
// The functions belong to the thread that executes the request. Each appends its reply to the work's
// buffer if it returns ok, and leaves the buffer as it was if not.
#pragma once

#include <string_view>

#include "base/short_bytes.h"
#include "keys/items.h"
#include "keys/row_work.h"
#include "memcached/protocol/errors.h"
#include "memcached/protocol/reply.h"
#include "memcached/protocol/request.h"

namespace hs::memcached {

using keys::KeyedRow;
using keys::RowAccess;
using keys::RowWork;

// A key as a client has written it: @@name.rest, @@name alone, or the key within the container. In place of
// the full stop there may be another delimiter, as in MySQL's memcached plugin.
struct WrittenKey {
  std::string_view container{};
  bool names_container = false;
  bool is_container = false;  // there is no key within it
  std::string_view key{};
};
inline WrittenKey read_written_key(std::string_view key, std::string_view delimiter) {
  if (key.size() < 2 || key[0] != '@' || key[1] != '@') [[likely]]
    return {.key = key};
  key.remove_prefix(2);
  // One byte, mostly.
  std::size_t end = find_byte(key, delimiter[0]);
  if (delimiter.size() != 1) [[unlikely]]
    end = key.find(delimiter);
  const bool is_container = end == std::string_view::npos;
  return {.container = key.substr(0, end),
          .names_container = true,
          .is_container = is_container,
          .key = is_container ? std::string_view() : key.substr(end + delimiter.size())};
}

// The item of a key, in the container that the connection has chosen; empty: the default one. A key
// @@name.rest chooses the container of that name, for the keys behind it, too; @@name alone names the
// container itself, and the key within it is empty. If the key chooses one, `container` becomes a
// view into it.
struct ChosenItem {
  keys::ItemKey item{};
  bool is_container = false;
};
// Why there is no item: the container is not there.
Status without_container(std::string_view container);
[[gnu::always_inline]] inline Status choose_item(const keys::Containers& containers,
                                                 std::string_view key, std::string_view& container,
                                                 ChosenItem& chosen) {
  const WrittenKey written = read_written_key(key, containers.delimiter());
  if (written.names_container) {
    const auto& found = containers.find(written.container);
    if (found == nullptr) return status_of(Mistake::no_such_container);
    container = written.container;
    chosen = {{found.get(), written.key}, written.is_container};
    return {};
  }
  const auto& found = container.empty() ? containers.by_default() : containers.find(container);
  if (found == nullptr) return without_container(container);
  chosen.item = {found.get(), key};
  return {};
}
// Whether an error says that the container cannot be used, whatever is asked of it.
bool is_of_container(Status status);

// Calls `execute(chosen)` with the item of a key. However that ends, the container that the key names is
// chosen, unless it cannot be used.
template <class Execute>
store::Outcome with_chosen_item(const keys::Containers& containers, std::string_view key,
                                std::string_view& container, Execute execute) {
  std::string_view next = container;
  ChosenItem chosen;
  const Status status = choose_item(containers, key, next, chosen);
  if (!status.ok()) return status;
  const store::Outcome outcome = execute(chosen);
  if (outcome.ok() || !is_of_container(outcome.status())) container = next;
  return outcome;
}

// Which columns of an item a request shows.
inline keys::Asks asks_of(const Request& request) {
  const bool shows_cas = request.shows_cas || request.action == Action::describe;
  return shows_cas ? keys::Asks::item : keys::Asks::shown;
}

// item_reads.cc: of one key, with its reply, if it has one.
store::Outcome read_item(RowWork& work, const Request& request, std::string_view key,
                         const ChosenItem& chosen);

// item_ranges.cc: whether a key asks for the items whose keys compare so with the rest of it, and these
// items, in the order of the index.
bool take_range(std::string_view& key, store::Comparison& comparison);
store::Outcome read_range(RowWork& work, const Request& request, const keys::ItemKey& from,
                          store::Comparison comparison);

// item_writes.cc: everything else that needs one key.
store::Outcome change_item(RowWork& work, const Request& request, std::string_view key,
                           const ChosenItem& chosen);
// Deletes all rows of a container.
store::Outcome flush(RowWork& work, std::string_view container);

}  // namespace hs::memcached
