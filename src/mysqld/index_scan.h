// IndexScan: the rows of a find, one after the other.
//
// Walks an index as a request asks: comparison, values of IN, whole values behind
// a prefix, current rows of a versioned table, filters, offset and limit. Owns
// the scratch memory for that; one a worker, used again for each request. The
// table's index and columns are set up before start(). Each row is left in the
// table's record[0].
#pragma once

#include <cstdint>

#include "base/status.h"
#include "mysqld/index_plan.h"
#include "mysqld/key_search.h"
#include "mysqld/prefix_check.h"
#include "mysqld/row_filter.h"
#include "mysqld/seen_keys.h"
#include "protocol/request.h"

namespace hs::mysqld {

class IndexScan {
 public:
  Status start(const IndexPlan& plan, TABLE& table, const protocol::Find& request);

  // 0 with a row; HA_ERR_END_OF_FILE when there are no more; the engine's error.
  int next();

  // Whether the rows delivered are all that there can be, so that next() need not be asked.
  bool is_done() const { return limit_ == 0 || (one_row_ && !has_in_); }

  // Rows that the engine has delivered since start(), whether they were asked for or not.
  std::uint64_t examined() const { return examined_; }

 private:
  void search_for(const protocol::Value* in_value);
  bool search_next_in();
  bool is_new_in_value();
  int read_first();
  int read_following();

  const IndexPlan* plan_ = nullptr;
  TABLE* table_ = nullptr;
  const protocol::Find* request_ = nullptr;
  protocol::Comparison comparison_ = protocol::Comparison::equal;  // in the index's own order
  KeySearch search_;
  PrefixCheck prefix_;
  RowFilters filters_;
  SeenKeys seen_;
  bool has_in_ = false;
  std::size_t in_next_ = 0;      // the next value of IN
  std::uint32_t in_offset_ = 0;  // of its key part in the key image
  std::uint64_t offset_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t examined_ = 0;
  bool at_start_ = true;  // of the current search
  bool one_row_ = false;  // the current search finds one row at the most
};

}  // namespace hs::mysqld
