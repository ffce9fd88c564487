// IndexScan: the rows of a selection, one after the other.
//
// It goes along an index as the selection asks. It handles the range and its ends, the values of IN,
// whole values behind a prefix, the current rows of a versioned table, the filters, the offset and
// the limit. It owns the scratch memory for that. Each worker has one, and uses it again for each
// request. The table's index and columns have to be set up before start(). Each row is left in the
// table's record[0]. Rows that it skips and values of IN without rows also cost steps, so next()
// does not take longer than start() allowed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "mysqld/reading/in_values.h"
#include "mysqld/reading/index_plan.h"
#include "mysqld/reading/key_search.h"
#include "mysqld/reading/prefix_check.h"
#include "mysqld/reading/range_end.h"
#include "mysqld/reading/row_filter.h"
#include "mysqld/reading/rows_ahead.h"
#include "mysqld/reading/step_meter.h"
#include "mysqld/reading/text_prefix.h"
#include "store/operation.h"
#include "store/store.h"

namespace hs::mysqld {

// Where a scan was left: the rows up to the one with this key have been looked at.
struct ScanPosition final : store::Position {
  std::string shape;  // what `key` means, see IndexPlan::position_shape()
  // The key image of the last row. Empty if the scan was between two values of IN.
  std::vector<unsigned char> key;
  std::size_t in_next = 0;
  // For each value of IN from `in_next` on, whether it has to be searched: no value before it is
  // the same. Null without IN.
  std::shared_ptr<const std::vector<bool>> in_is_new;
  std::uint64_t offset = 0;
  std::uint64_t limit = 0;

  std::size_t bytes() const override {
    const std::size_t of_in = in_is_new == nullptr ? 0 : in_is_new->size() / 8;
    return sizeof *this + shape.size() + key.size() + of_in;
  }
};

class IndexScan {
 public:
  // What next() returns when it has spent the steps that start() allowed. No engine has a negative
  // error code.
  static constexpr int gave_up = -1;
  static constexpr std::uint64_t no_bound = store::Budget::no_bound;

  explicit IndexScan(StepMeter& meter) : meter_(meter) {}

  // Who is told of the next values of an IN. Null, as at the beginning: nobody.
  void look_ahead(RowsAhead* ahead) { ahead_ = ahead; }

  // The scan gives up when it has spent more than `most_steps`.
  Status start(const IndexPlan& plan, OpenTable& opened, const store::Selection& selection,
               std::uint64_t most_steps);

  // The place where the scan stands: behind the row that is in the record, or before a value of IN.
  // Ends the scan. Not for a plan whose position_parts() is 0.
  std::unique_ptr<ScanPosition> position();
  // As start(), but goes on behind `from`, which stays valid meanwhile. The selection must be the same,
  // or be one that goes on behind this place. Fails if the table has changed so that the place cannot be
  // found again.
  Status resume(const IndexPlan& plan, OpenTable& opened, const store::Selection& selection,
                const ScanPosition& from, std::uint64_t most_steps);

  // Returns 0 with a row, HA_ERR_END_OF_FILE when there are no more rows, gave_up, or the engine's
  // error.
  int next();
  // Whether next() has returned that there are no more rows.
  static bool is_end(int error);

  // Which value of IN that row has met; 0 without IN.
  std::size_t in_number() const { return in_next_ == 0 ? 0 : in_next_ - 1; }

  // The request is over: frees its memory if that is large.
  void give_back() {
    filters_.give_back();
    prefix_.give_back();
    end_.give_back();
    text_.give_back();
    in_values_.give_back();
    in_is_new_ = nullptr;
  }

  // After gave_up: next() may go on for so many steps more.
  void allow(std::uint64_t steps) { gives_up_at_ = meter_.spent() + steps; }
  // Whether the scan stands at a row or between two values of IN, so that it has a position().
  bool has_position() const { return at_ == At::inside || has_in_; }

  // How many rows next() has given, also before the scan was left for another one.
  std::uint64_t given() const { return selection_->limit - limit_; }
  // Whether no row can follow those that were given, so that next() need not be called.
  bool is_done() const { return limit_ == 0 || is_only_row(); }
  // Whether the row that was given is all that the selection can have.
  bool is_only_row() const { return one_row_ && !has_in_; }
  // Whether the steps that start() allowed are spent, by the scan or by the work on its rows.
  bool is_over_bound() const { return meter_.spent() > gives_up_at_; }

 private:
  // Where the search stands.
  enum class At : std::uint8_t {
    start,   // its first row has not been asked for
    inside,  // a row was found
    end,     // there are no more; IN may have another value
  };

  Status set_up(const IndexPlan& plan, OpenTable& opened, const store::Selection& selection,
                std::uint64_t most_steps);
  // Values for the first parts of the index.
  struct Key {
    std::array<store::Value, max_key_parts> values;
    std::uint32_t parts = 0;

    void set(std::span<const store::Value> key, const store::End& end);
    std::span<const store::Value> span() const { return {values.data(), parts}; }
  };

  Status set_up_within();
  // `up`: the values rise. `direction`: that in the index.
  Status set_up_prefix(bool up, store::Direction direction);
  int search_for(const store::Value* in_value);
  void make_search(const store::Value* in_value);
  int search_next_in();
  void tell_next_in(std::size_t number);
  std::shared_ptr<const std::vector<bool>> new_in_values();
  int read();
  int read_first();
  int read_following();
  int read_resumed();
  bool is_same_key() const;
  bool is_asked_for();

  StepMeter& meter_;
  RowsAhead* ahead_ = nullptr;
  const IndexPlan* plan_ = nullptr;
  OpenTable* opened_ = nullptr;
  TABLE* table_ = nullptr;
  const store::Selection* selection_ = nullptr;
  std::span<const store::Value> key_;  // where the search begins
  store::Range range_{};               // in the order of the index
  KeySearch search_;
  bool compares_rows_ = false;  // not every row that the engine finds is asked for
  // of a search within two ends
  bool has_end_ = false;
  Key first_;  // memory of key_
  Key last_;
  store::Range backwards_{};  // from the end
  RangeEnd end_;
  bool begins_ = false;  // its rows begin with a text
  TextPrefix text_;
  TextPrefix::Edge first_edge_{};
  TextPrefix::Edge last_edge_{};
  PrefixCheck prefix_;
  RowFilters filters_;
  InValues in_values_;
  bool has_in_ = false;
  std::size_t in_next_ = 0;  // the next value of IN
  // of a scan that goes on, see ScanPosition; null: in_values_ knows which values are new
  std::shared_ptr<const std::vector<bool>> in_is_new_;
  std::uint64_t offset_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t step_cost_ = 1;
  std::uint64_t gives_up_at_ = no_bound;  // gives up when the meter has spent so many steps
  At at_ = At::start;
  bool one_row_ = false;                // the current search finds one row at most
  bool resumed_ = false;                // the current search was begun by another scan
  const ScanPosition* from_ = nullptr;  // where it goes on; null after it has gone on
};

}  // namespace hs::mysqld
