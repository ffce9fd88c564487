// RowFilters: the `F` and `W` of a find.
//
// Owns scratch memory that it uses again for each request; one a worker.
// prepare() once a request, check() for each row that stands in the record.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "mysqld/index_plan.h"
#include "mysqld/value_store.h"
#include "protocol/request.h"

struct TABLE;

namespace hs::mysqld {

class RowFilters {
 public:
  enum class Decision : std::uint8_t { take, skip, stop };

  Status prepare(const IndexPlan& plan, TABLE& table, std::span<const protocol::Filter> filters);

  Decision check() const {
    if (conditions_.empty()) [[likely]]
      return Decision::take;
    return check_conditions();
  }

 private:
  struct Condition {
    Field* field;
    protocol::FilterKind kind;
    protocol::Comparison comparison;
    bool null;
    Fit fit;
    std::uint32_t image;  // where the value begins in images_
    long long bits;       // of a BIT column, whose image is not in one piece
  };

  Decision check_conditions() const;
  bool holds(const Condition& condition) const;

  std::vector<Condition> conditions_;
  std::vector<unsigned char> images_;
};

}  // namespace hs::mysqld
