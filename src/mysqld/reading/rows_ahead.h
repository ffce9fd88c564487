// RowsAhead: what a store does about the lookups that it knows ahead.
//
// Each TableStore has one, on its thread. When a find has its table open, the keys of the next finds by
// the same index are given to the engine, which fetches their rows into the CPU's caches. Where that has
// been of no use lately, it is left for a while: rows that come again and again are in the caches
// already. It is off until look_ahead(), owns no key, and changes no answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mysqld/opening/open_tables.h"
#include "mysqld/reading/index_plan.h"
#include "mysqld/server/row_prefetch.h"
#include "store/recent_keys.h"
#include "store/store.h"

namespace hs::mysqld {

class RowsAhead {
 public:
  void look_ahead(bool on) {
    is_on_ = on;
    forget();
    pause_ = rest_of_pause_ = 0;
  }
  bool is_on() const { return is_on_; }

  void expect(std::span<const store::Lookup> lookups) {
    expected_ = lookups;
    left_ = (std::uint64_t{1} << lookups.size()) - 1;
  }
  void forget() { left_ = 0; }
  bool expects() const { return left_ != 0; }
  bool passes_over(std::uint32_t finds) {
    const bool passes = !is_on_ || rest_of_pause_ != 0;
    rest_of_pause_ -= std::min(rest_of_pause_, finds);
    return passes;
  }

  // A find by this plan begins: its index is set up, and no scan has begun.
  void fetch_expected(const IndexPlan& plan, OpenTable& opened);
  // The same for the next of the values of an IN. The key's value for part `part` is one of them.
  void fetch_in(const IndexPlan& plan, OpenTable& opened, std::span<const store::Value> key,
                std::uint32_t part, std::span<const store::Value> values);

  // So many values of an IN are looked at together.
  static constexpr std::size_t most_values = server::ExpectedKeys::most;

 private:
  // In finds. While nothing is fetched, this is how long nobody notices that it would be of use again.
  static constexpr std::uint32_t least_pause = 4 * server::ExpectedKeys::most;
  static constexpr std::uint32_t most_pause = 1024;

  void fetch(OpenTable& opened, const server::ExpectedKeys& keys);
  void begin_pause() {
    pause_ = pause_ == 0 ? least_pause : std::min(2 * pause_, most_pause);
    rest_of_pause_ = pause_;
  }

  bool is_on_ = false;
  std::span<const store::Lookup> expected_;
  std::uint64_t left_ = 0;   // a bit for each of them that was not given to the engine yet
  std::uint32_t pause_ = 0;  // the latest one
  std::uint32_t rest_of_pause_ = 0;
  store::RecentKeys recent_;
};

}  // namespace hs::mysqld
