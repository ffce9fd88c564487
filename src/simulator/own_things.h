// OwnThings: what a client knows of the items and rows that are its own.
//
// Nobody else changes them, and the client's requests are executed in their order. So there is mostly one
// state in which they can be, and it says what each reply has to be. Where a reply does not tell how a request
// has ended, or the time does not tell whether an item has expired, there are several.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/tables.h"

namespace hs::simulator {

struct OwnItem {
  std::string value{};
  std::uint32_t flags = 0;
  std::optional<std::uint64_t> cas{};  // none: it is not known
  // Milliseconds of the wall clock. 0: it does not expire.
  std::uint64_t first_expiry = 0;  // it does not expire before
  std::uint64_t last_expiry = 0;   // then at the latest

  friend bool operator==(const OwnItem&, const OwnItem&) = default;
};

// A row of `h`.
struct OwnRow {
  Cell v{};
  Cell s{};

  friend bool operator==(const OwnRow&, const OwnRow&) = default;
};

struct OwnState {
  std::map<std::string, OwnItem> items{};  // those that are live
  std::map<std::string, OwnRow> rows{};

  friend bool operator==(const OwnState&, const OwnState&) = default;
};

// When a request was executed, by the wall clock, and what its reply is, if there is one.
struct Executed {
  std::uint64_t earliest_ms = 0;
  std::uint64_t latest_ms = 0;
  std::string_view reply{};
};

// Whether the item may have gone while the request was executed.
inline bool may_expire(const OwnItem& item, const Executed& how) {
  return item.first_expiry != 0 && item.first_expiry <= how.latest_ms;
}

class OwnThings {
 public:
  // Executes a request: changes the state and returns the reply.
  using Execute = std::function<std::string(OwnState&, const Executed&)>;

  // The request was answered so.
  void answered(const Execute& execute, const Executed& how);
  // It has no answer.
  void unanswered(const Execute& execute, const Executed& how, bool may_have_failed);
  // Those that were asked for last, and of which nobody knows whether they were executed.
  void asked_last(const std::vector<Execute>& requests, const Executed& how, bool may_have_failed);
  // Whether what is stored, when nothing is at work any more, is one of the states. `items` and `rows` are all
  // keys that the client may have used.
  void check(const Tables& tables, const std::vector<std::string>& items,
             const std::vector<std::string>& rows, std::uint64_t now_ms) const;

  const OwnState& likely() const { return states_.front(); }

 private:
  // With more states nothing is known.
  static constexpr std::size_t most_states = 512;

  void expire(const Executed& how);
  void add(std::vector<OwnState>& to, OwnState state) const;
  void take(std::vector<OwnState> states);

  std::vector<OwnState> states_ = std::vector<OwnState>(1);
  bool is_lost_ = false;
};

}  // namespace hs::simulator
