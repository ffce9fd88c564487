// Keys that a connection's requests read next, named for the store before they are read.
//
// Called on the connection's worker. A key is named only if the connection has used lately what it asks for:
// nothing here opens or executes anything. What is named is a hint, see store/look_ahead.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "keys/open_rows.h"
#include "keys/row_work.h"
#include "store/look_ahead.h"

namespace hs::keys {

// There is room for it in `ahead`. `parts` are those of its key, as a client writes them. False: the
// connection has used no such index (`used` is null), or the key has an escape, or too few or too many parts.
bool name_key(const RememberedRows::Entry* used, std::string_view parts, store::LookAhead& ahead);

// Tells the store of the keys of one request, some at a time.
class KeysAhead {
 public:
  explicit KeysAhead(RowWork& work) : work_(work) {}
  ~KeysAhead() { forget(); }
  KeysAhead(const KeysAhead&) = delete;
  KeysAhead& operator=(const KeysAhead&) = delete;

  // So many keys are looked at together, whether they can be named or not.
  static constexpr std::uint32_t keys_of_look = store::LookAhead::most_lookups;

  // Before each key of the request. Where it is time to look, `name(ahead)` names those of the next keys_of_look
  // keys that can be named. This key is the first of them.
  template <class Name>
  void begin_key(Name name) {
    if (keys_until_look_ != 0) {
      --keys_until_look_;
      return;
    }
    if (work_.remembered == nullptr) return;
    keys_until_look_ = keys_of_look - 1;
    forget();
    if (work_.store.passes_over(keys_of_look)) return;
    name(ahead_.emplace());
    work_.store.expect(ahead_->lookups());
  }

 private:
  void forget() {
    if (!ahead_) return;
    work_.store.expect({});
    ahead_.reset();
  }

  RowWork& work_;
  std::uint32_t keys_until_look_ = 0;
  std::optional<store::LookAhead> ahead_;  // most requests need none
};

}  // namespace hs::keys
