#include "passes/test_swap.h"

#include <array>
#include <string>

namespace hs::passes {
namespace {

using store::Outcome;
using store::Value;

// Nothing but the first column.
class BareValues final : public store::Rows {
 public:
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& out) override {
    char room[store::Column::room];
    const store::ColumnValue value = columns.front().value(row, room);
    if (value.kind == store::ColumnValue::Kind::no_memory) return false;
    out.append({value.data, value.size});
    return true;
  }
};

// Why a unit is undone although nothing has failed: no error of a server has this number.
constexpr Status is_missing{Error::other, 0xFF'FFFE};

// Writes a value, and reads the one before it. So the row is locked from then on.
Outcome exchange(store::Store& store, store::IndexUse& use, std::string_view key,
                 std::string_view value, std::string& before) {
  const Value of_key{key};
  const Value of_row{value};
  const store::Selection selection{.key = {&of_key, 1}};
  BareValues values;
  Buffer rows;
  store::Changed changed;
  const Outcome outcome = store.modify(
      use, selection, {.rows_before = true, .values = {&of_row, 1}}, &values, rows, changed);
  before = rows.view();
  if (outcome.ok() && changed.rows == 0) return is_missing;
  return outcome;
}

}  // namespace

Outcome swap_values(store::Store& store, std::span<store::IndexUse, 2> uses,
                    std::span<const std::string_view, 2> keys, Buffer& out) {
  const Outcome outcome = store::run_unit(store, out, [&]() -> Outcome {
    std::array<std::string, 2> values;
    std::string placeholder;
    Outcome done = exchange(store, uses[0], keys[0], "", values[0]);
    if (done.ok()) done = exchange(store, uses[1], keys[1], values[0], values[1]);
    if (done.ok()) done = exchange(store, uses[0], keys[0], values[1], placeholder);
    if (done.ok()) out.append("SWAPPED\n");
    return done;
  });
  if (!outcome.answered() || outcome.status() != is_missing) return outcome;
  out.append("NONE\n");
  return {};
}

}  // namespace hs::passes
