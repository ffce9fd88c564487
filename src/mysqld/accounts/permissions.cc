#include "mysqld/accounts/permissions.h"

#include <algorithm>

namespace hs::mysqld {

bool Permissions::may_search(const store::Selection& selection) const {
  // The order of a whole index tells of its first part.
  return std::max<std::size_t>(selection.key_parts(), 1) <= key_parts &&
         std::all_of(selection.filters.begin(), selection.filters.end(),
                     [this](const auto& filter) {
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
  bool may = may_search(selection) && (rows || !change.rows_before);
  if (!erases) may &= change.values.size() <= updatable;
  // A column that is added to is read, too.
  if (!erases && change.kind != store::ChangeKind::update)
    may &= change.values.size() <= selectable;
  return may ? Status{} : column_denied;
}

Status Permissions::check_insert(const store::Insert& row) const {
  if (everything) [[likely]]
    return {};
  if (insert == Extent::nothing) return store::access_denied;
  return row.values.size() <= insertable ? Status{} : column_denied;
}

}  // namespace hs::mysqld
