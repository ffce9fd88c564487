// MemcachedTexts: what a memcached client's requests make of its items, and how replies show them.
//
// Pure, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "memcached/protocol/errors.h"
#include "simulator/own_things.h"

namespace hs::simulator {

void set_item(OwnState& state, const std::string& key, const std::string& value,
              std::uint32_t flags);
// The item has another cas, if it had one that is known.
void change_cas(OwnItem& item);
// It expires so many seconds after the request was executed; 0: never.
void expire_item(OwnItem& item, std::uint64_t seconds, const Executed& how);

// An item in the reply to a get in text; `cas` has a blank in front, or is empty.
std::string block(const std::string& key, const OwnItem& item, const std::string& cas);

// What a script compares of a reply in binary: the status, and if it is ok the key and the value.
std::string digest(memcached::Code code, std::string_view value = {});
std::string digest_of(std::string_view reply);
// In place of the reply as it was, if it says the same.
std::string in_bytes(const std::string& expected, const Executed& how);

}  // namespace hs::simulator
