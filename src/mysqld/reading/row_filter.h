// RowFilters: the `F` and `W` of a find.
//
// It owns scratch memory, which it uses again for each request. Each worker has one. prepare() is
// called once for a request, and check() for each row that is in the record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/give_back.h"
#include "base/status.h"
#include "mysqld/reading/comparable_value.h"
#include "mysqld/reading/index_plan.h"
#include "store/operation.h"

struct TABLE;

namespace hs::mysqld {

class RowFilters {
 public:
  enum class Decision : std::uint8_t { take, skip, stop };

  Status prepare(const IndexPlan& plan, TABLE& table, std::span<const store::Filter> filters) {
    conditions_.clear();
    values_.clear();
    return filters.empty() ? Status{} : prepare_each(plan, table, filters);
  }

  Decision check() const {
    if (conditions_.empty()) [[likely]]
      return Decision::take;
    return check_conditions();
  }
  // How many bytes each row is compared with.
  std::size_t bytes() const { return values_.size(); }
  // The request is over: frees its memory if that is large.
  void give_back() { hs::give_back(values_, max_kept_bytes); }

 private:
  static constexpr std::size_t max_kept_bytes = std::size_t{64} << 10;

  // How a column is compared with the value.
  enum class By : std::uint8_t {
    null,   // the value is NULL
    text,   // as text or bytes, with the value in the request
    image,  // by the bytes in the record, with the value as the column stores it
    bits,   // a BIT column, whose bits are in two places of the record
  };

  struct Condition {
    Field* field;
    store::FilterKind kind;
    store::Comparison comparison;
    By by;
    Fit fit;
    bool takes_memory;  // to read the column takes memory
    std::size_t value;  // where text or image begins in values_
    std::size_t size;   // of text
    long long bits;
  };

  Status prepare_each(const IndexPlan& plan, TABLE& table, std::span<const store::Filter> filters);
  Status add_text(Condition& condition, const IndexPlan& plan, const store::Value& value);
  Status add_value(Condition& condition, const IndexPlan& plan, const store::Value& value);
  Decision check_conditions() const;
  bool holds(const Condition& condition) const;
  int compare(const Condition& condition) const;

  std::vector<Condition> conditions_;
  std::vector<unsigned char> values_;
};

}  // namespace hs::mysqld
