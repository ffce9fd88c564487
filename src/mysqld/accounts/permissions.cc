#include "mysqld/accounts/permissions.h"

#include <algorithm>

namespace hs::mysqld {

bool Permissions::may_search(const store::Selection& selection) const {
  // The order of a whole index tells of its first part.
  return std::max<std::size_t>(selection.key_parts(), 1) <= key_parts &&
         may_compare(selection.filters);
}

bool Permissions::may_compare(std::span<const store::Filter> conditions) const {
  return std::all_of(conditions.begin(), conditions.end(), [this](const auto& filter) {
    // The scan refuses a column that the open index does not have.
    return filter.column >= filters.size() || filters[filter.column];
  });
}

Status Permissions::check_find(const store::Selection& selection) const {
  if (everything) [[likely]]
    return {};
  if (select == Extent::nothing) return store::access_denied;
  return rows && may_search(selection) ? Status{} : column_denied;
}

Status Permissions::check_modify(const store::Selection& selection,
                                 const store::Change& change) const {
  if (everything) [[likely]]
    return {};
  const bool erases = change.erases();
  if ((erases ? erase : update) == Extent::nothing) return store::access_denied;
  bool may = may_search(selection) && (rows || !(change.rows_before || change.rows_after));
  if (change.assigns()) return may && may_assign(change.assignments) ? Status{} : column_denied;
  if (!erases) may &= change.values.size() <= updatable;
  // A column that is added to is read, too.
  if (!erases && change.kind != store::ChangeKind::update)
    may &= change.values.size() <= selectable;
  return may ? Status{} : column_denied;
}

// Each column is looked at alone: those before it need not have the privilege.
bool Permissions::may_assign(std::span<const store::Assignment> assignments) const {
  return std::all_of(assignments.begin(), assignments.end(), [this](const auto& assignment) {
    const std::uint32_t column = assignment.column;
    return has(update, updatable_columns, column) &&
           (!assignment.reads_column() || has(select, selectable_columns, column));
  });
}

bool Permissions::has(Extent extent, const std::vector<bool>& columns, std::uint32_t column) {
  if (extent != Extent::some) return extent == Extent::all;
  return column < columns.size() && columns[column];
}

Status Permissions::check_insert(const store::Insert& row) const {
  if (everything) [[likely]]
    return {};
  if (insert == Extent::nothing) return store::access_denied;
  return row.values.size() <= insertable ? Status{} : column_denied;
}

Status Permissions::check_insert_rows(const store::InsertRows& rows) const {
  if (everything) [[likely]]
    return {};
  const bool replaces = rows.on_duplicate == store::OnDuplicate::replace;
  const bool lacks_all = insert == Extent::nothing || (replaces && erase == Extent::nothing) ||
                         (rows.updates() && update == Extent::nothing);
  if (lacks_all) return store::access_denied;
  const bool may =
      rows.columns <= insertable && may_assign(rows.assignments) && may_compare(rows.condition);
  return may ? Status{} : column_denied;
}

}  // namespace hs::mysqld
