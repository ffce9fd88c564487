// KeyPages: the keys of a table or of a container that a pattern allows, a page at a time, in the order of
// the index.
//
// SCAN and KEYS go through a table with it. A page is so many rows, of which those that do not match are
// left out. Where it goes on is behind the key of a row, in values, so a page may be read by another thread
// and much later. Bytes at the front of the pattern that stand for themselves make the part of the index
// smaller that is read. It lives for one request, on the thread that executes it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/glob.h"
#include "redis/session/scan_positions.h"
#include "redis/session/work.h"

namespace hs::redis {

class KeyPages {
 public:
  struct Page {
    std::vector<std::string> keys;
    ScanKey last;          // the key of the row that was looked at last
    bool is_last = false;  // there is no row behind it
  };

  // A pattern that names no table is about the default container, if there is one. Not ok: there is none,
  // or the pattern is too long.
  Status read_pattern(Work& work, std::string_view pattern);
  // Without `*` and the like: there is one key at most.
  bool is_one_key() const { return parts_.is_literal(); }
  bool is_of_items() const { return container_ != nullptr; }

  // Looks at so many rows at most, behind the row with the key `from`, which is null at the beginning.
  // Less are looked at if it takes long to compare them.
  store::Outcome read(Work& work, store::Sink* sink, const ScanKey* from, std::size_t rows,
                      Page& page);

 private:
  // What the pattern says of the parts of a key.
  struct Front {
    bool is_nothing = false;           // no key can be like that
    std::vector<std::string> fixed{};  // the first parts
    std::string prefix{};              // how the part behind them begins; empty: in any way
  };

  Front front_of(const store::IndexShape& shape) const;
  store::Outcome read_page(Work& work, store::Sink* sink, const KeyedRow& row, const ScanKey* from,
                           std::size_t rows, Page& page);

  store::Outcome look_for_key(Work& work, const KeyedRow& row, std::string_view key,
                              const ScanKey& values, bool& names_row) const;

  const keys::Container* container_ = nullptr;  // null: the keys are those of rows
  std::string name_;  // in front of the keys, with its colon; empty in the default container
  Glob parts_{"*"};   // the pattern of what is behind it
};

}  // namespace hs::redis
