// ScanPositions: where the scans of a port's clients have come to, by the cursors that they were given.
//
// A port has one. Any thread may use it: it has a lock, which no other command takes. A cursor belongs to
// an account and to a pattern, and leads on from any connection. How many there are and how many bytes they
// take is bounded; with more, the account that has the most gives up the one that it has not used for the
// longest time, so nobody loses a cursor because another account scans much. It knows no table: a position
// is the key of a row, in values, or is what a store has made, which consists of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/store.h"

namespace hs::redis {

// The key of the row that was looked at last. A NULL is no value.
using ScanKey = std::vector<std::optional<std::string>>;

struct ScanPosition {
  std::string account;
  std::string pattern;  // it leads on with this one only
  ScanKey key;
  // Of a find, in place of a key: where it has ended, as a store knows it.
  std::shared_ptr<const store::Position> place{};
};

class ScanPositions {
 public:
  static constexpr std::size_t most = 4096;
  static constexpr std::size_t most_bytes = std::size_t{16} << 20;

  // A cursor by chance, so that one of before a restart is most likely nobody's afterwards.
  static std::uint64_t any_cursor();
  // The first cursor is behind this one.
  explicit ScanPositions(std::uint64_t last = any_cursor()) : last_(last) {}

  // The cursor of a scan that has come to this position. `from` is the cursor that it came from; 0: none.
  // That one stays, so that a client may ask again with it, and the one before it goes.
  std::uint64_t add(std::uint64_t from, ScanPosition position);
  // The scan has come to its end.
  void end(std::uint64_t from);
  // Nothing: there is no such cursor, or it is not this account's.
  std::optional<ScanPosition> find(std::uint64_t cursor, std::string_view account);
  std::size_t size();

 private:
  struct Entry {
    std::uint64_t cursor;
    std::uint64_t previous;
    std::size_t bytes;
    ScanPosition position;
  };
  using Entries = std::list<Entry>;
  // What an account has.
  struct Held {
    Entries entries{};  // the one that was used last is the first
    std::size_t bytes = 0;
  };

  void give_up_one(bool by_bytes);
  void drop(std::uint64_t cursor);
  void drop_previous(std::uint64_t cursor);

  std::mutex mutex_;
  std::uint64_t last_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, Held> accounts_;
  std::unordered_map<std::uint64_t, Entries::iterator> by_cursor_;
};

}  // namespace hs::redis
