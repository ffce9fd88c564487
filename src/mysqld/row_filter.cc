#include "mysqld/row_filter.h"

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

using protocol::Comparison;

// Some integer fields read a byte beyond their own.
constexpr std::size_t image_slack = 8;

bool satisfies(Comparison comparison, int order) {
  switch (comparison) {
    case Comparison::equal: return order == 0;
    case Comparison::not_equal: return order != 0;
    case Comparison::greater: return order > 0;
    case Comparison::greater_equal: return order >= 0;
    case Comparison::less: return order < 0;
    case Comparison::less_equal: return order <= 0;
  }
  return false;
}

}  // namespace

Status RowFilters::prepare(const IndexPlan& plan, TABLE& table,
                           std::span<const protocol::Filter> filters) {
  conditions_.clear();
  images_.clear();
  for (const protocol::Filter& filter : filters) {
    if (filter.column >= plan.filter_columns().size()) return Error::filterfld;
    Field* field = table.field[plan.filter_columns()[filter.column]];
    if (server::is_blob(*field)) return Error::filterblob;
    Condition condition{field,
                        filter.kind,
                        filter.comparison,
                        filter.value.null,
                        Fit::exact,
                        static_cast<std::uint32_t>(images_.size()),
                        0};
    if (!filter.value.null) {
      condition.fit = store_comparable(*field, filter.value, plan.encoding());
      const unsigned char* const stored = server::record_of(*field);
      images_.insert(images_.end(), stored, stored + field->pack_length());
      images_.resize(images_.size() + image_slack);
      if (field->real_type() == MYSQL_TYPE_BIT) condition.bits = field->val_int();
    }
    conditions_.push_back(condition);
  }
  return {};
}

RowFilters::Decision RowFilters::check_conditions() const {
  for (const Condition& condition : conditions_) {
    if (holds(condition)) continue;
    return condition.kind == protocol::FilterKind::skip ? Decision::skip : Decision::stop;
  }
  return Decision::take;
}

bool RowFilters::holds(const Condition& condition) const {
  Field& field = *condition.field;
  int order = 0;
  if (field.is_null()) {
    order = condition.null ? 0 : -1;
  } else if (condition.null) {
    order = 1;
  } else if (condition.fit == Fit::none) {
    return condition.comparison == Comparison::not_equal;
  } else if (field.real_type() == MYSQL_TYPE_BIT) {
    const auto mine = static_cast<unsigned long long>(field.val_int());
    const auto other = static_cast<unsigned long long>(condition.bits);
    order = mine < other ? -1 : static_cast<int>(mine > other);
  } else {
    order = field.cmp(server::record_of(field), images_.data() + condition.image);
  }
  // The value asked for lies between what the column can hold.
  if (order == 0 && condition.fit == Fit::below) order = -1;
  if (order == 0 && condition.fit == Fit::above) order = 1;
  return satisfies(condition.comparison, order);
}

}  // namespace hs::mysqld
