#include "mysqld/reading/row_filter.h"

#include <new>

#include "mysqld/reading/column_text.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

using store::Comparison;

// Some integer fields read a byte behind their own.
constexpr std::size_t image_slack = 8;

}  // namespace

Status RowFilters::prepare_each(const IndexPlan& plan, TABLE& table,
                                std::span<const store::Filter> filters) {
  for (const store::Filter& filter : filters) {
    if (filter.column >= plan.filter_columns().size()) return Error::no_filter_column;
    const PlannedFilterColumn& column = plan.filter_columns()[filter.column];
    Condition condition{.field = table.field[column.number],
                        .kind = filter.kind,
                        .comparison = filter.comparison,
                        .by = By::null,
                        .fit = Fit::exact,
                        .takes_memory = false,
                        .value = values_.size(),
                        .size = 0,
                        .bits = 0};
    condition.takes_memory = server::takes_memory_to_read(*condition.field);
    if (!filter.value.null) {
      const Status status = column.is_text ? add_text(condition, plan, filter.value)
                                           : add_value(condition, plan, filter.value);
      if (!status.ok()) return status;
    }
    conditions_.push_back(condition);
  }
  return {};
}

Status RowFilters::add_text(Condition& condition, const IndexPlan& plan,
                            const store::Value& value) {
  condition.by = By::text;
  StringBuffer<MAX_FIELD_WIDTH> text;
  if (!to_column_text(*condition.field, value.bytes, plan.encoding(), text)) {
    condition.fit = Fit::none;
    return {};
  }
  condition.size = text.length();
  values_.insert(values_.end(), text.ptr(), text.ptr() + text.length());
  return {};
}

Status RowFilters::add_value(Condition& condition, const IndexPlan& plan,
                             const store::Value& value) {
  Field& field = *condition.field;
  // JSON and geometry: a request cannot contain a value of these types.
  if (server::is_blob(field)) return Error::unfilterable_column;
  const bool is_bit = field.real_type() == MYSQL_TYPE_BIT;
  condition.by = is_bit ? By::bits : By::image;
  condition.fit = store_comparable(field, value, plan.encoding());
  // Nothing was stored: what is in the record must not be read.
  if (condition.fit == Fit::none) return {};
  if (is_bit) {
    condition.bits = field.val_int();
    return {};
  }
  const unsigned char* const stored = server::record_of(field);
  values_.insert(values_.end(), stored, stored + field.pack_length());
  values_.resize(values_.size() + image_slack);
  return {};
}

RowFilters::Decision RowFilters::check_conditions() const {
  for (const Condition& condition : conditions_) {
    if (holds(condition)) continue;
    return condition.kind == store::FilterKind::skip ? Decision::skip : Decision::stop;
  }
  return Decision::take;
}

// Less than, equal to or greater than 0, as the row's value (not NULL) is compared with the
// condition's.
int RowFilters::compare(const Condition& condition) const {
  Field& field = *condition.field;
  switch (condition.by) {
    case By::null: return 1;
    case By::text: {
      StringBuffer<MAX_FIELD_WIDTH> buffer;
      const String* mine = field.val_str(&buffer, &buffer);
      if (condition.takes_memory && server::raised_error(field.table->in_use) != 0)
        throw std::bad_alloc();
      const auto* asked = reinterpret_cast<const char*>(values_.data()) + condition.value;
      return server::compare(field.charset(), {mine->ptr(), mine->length()},
                             {asked, condition.size});
    }
    case By::bits: {
      const auto mine = static_cast<unsigned long long>(field.val_int());
      const auto asked = static_cast<unsigned long long>(condition.bits);
      return mine < asked ? -1 : static_cast<int>(mine > asked);
    }
    case By::image: break;
  }
  return field.cmp(server::record_of(field), values_.data() + condition.value);
}

bool RowFilters::holds(const Condition& condition) const {
  // NULL is less than everything else.
  if (condition.field->is_null()) {
    return store::holds(condition.comparison, condition.by == By::null ? 0 : -1);
  }
  if (condition.fit == Fit::none) return condition.comparison == Comparison::not_equal;
  int order = compare(condition);
  // The value that was asked for is between two values that the column can hold.
  if (order == 0 && condition.fit == Fit::below) order = -1;
  if (order == 0 && condition.fit == Fit::above) order = 1;
  return store::holds(condition.comparison, order);
}

}  // namespace hs::mysqld
