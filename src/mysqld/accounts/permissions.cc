#include "mysqld/accounts/permissions.h"

#include <algorithm>

namespace hs::mysqld {

using protocol::Modification;

bool Permissions::may_search(const protocol::Find& request) const {
  const std::size_t parts = std::max<std::size_t>(
      request.key.size(), request.in.values.empty() ? 0 : std::size_t{request.in.key_part} + 1);
  return parts <= key_parts &&
         std::all_of(request.filters.begin(), request.filters.end(), [this](const auto& filter) {
           // The scan refuses a column that the open index does not have.
           return filter.column >= filters.size() || filters[filter.column];
         });
}

Status Permissions::check_find(const protocol::Find& request) const {
  if (everything) [[likely]]
    return {};
  if (select == Extent::nothing) return store::access_denied;
  return rows && may_search(request) ? Status{} : column_denied;
}

Status Permissions::check_modify(const protocol::Find& request) const {
  if (everything) [[likely]]
    return {};
  const bool erases = request.modification == Modification::erase;
  if ((erases ? erase : update) == Extent::nothing) return store::access_denied;
  bool may = may_search(request) && (rows || !request.rows_before);
  if (!erases) may &= request.values.size() <= updatable;
  // A column that is added to is read, too.
  if (!erases && request.modification != Modification::update)
    may &= request.values.size() <= selectable;
  return may ? Status{} : column_denied;
}

Status Permissions::check_insert(const protocol::Insert& request) const {
  if (everything) [[likely]]
    return {};
  if (insert == Extent::nothing) return store::access_denied;
  return request.values.size() <= insertable ? Status{} : column_denied;
}

}  // namespace hs::mysqld
