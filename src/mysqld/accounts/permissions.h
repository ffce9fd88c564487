// Permissions: what an account may do with a table and with the columns that an open index names.
//
// A value. A request is compared with it as SQL would check the same statement. The columns that it
// reads, compares, uses as a key or adds to need SELECT. Those that it writes need INSERT or
// UPDATE. A table from which it erases needs DELETE.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "mysqld/server/account_context.h"
#include "store/caller.h"
#include "store/operation.h"

namespace hs::mysqld {

// SQL's ER_COLUMNACCESS_DENIED_ERROR: the account has the privilege on some columns, or needs
// another one, too. If it has the privilege on none, the answer is store::access_denied.
inline constexpr Status column_denied{Error::denied, 1143};

struct Permissions {
  using Extent = server::Extent;

  bool is_exempt = false;   // from read_only and offline_mode
  bool everything = false;  // the members below say nothing then
  Extent select = Extent::nothing;
  Extent insert = Extent::nothing;
  Extent update = Extent::nothing;
  Extent erase = Extent::nothing;
  // Of the columns in their order, so many have the privilege before the first one that lacks it.
  std::uint32_t selectable = 0;
  std::uint32_t insertable = 0;
  std::uint32_t updatable = 0;
  // The same for each column alone. Only of a privilege on some of the table's columns.
  std::vector<bool> selectable_columns{};
  std::vector<bool> updatable_columns{};
  bool rows = false;            // every column may be read
  std::uint32_t key_parts = 0;  // so many parts of the index, from the first one on, may be read
  std::vector<bool> filters{};  // which filter columns may be read

  bool sees_table() const {
    return everything || select != Extent::nothing || insert != Extent::nothing ||
           update != Extent::nothing || erase != Extent::nothing;
  }

  Status check_find(const store::Selection& selection) const;
  Status check_modify(const store::Selection& selection, const store::Change& change) const;
  Status check_insert(const store::Insert& row) const;
  Status check_insert_rows(const store::InsertRows& rows) const;

 private:
  bool may_search(const store::Selection& selection) const;
  bool may_compare(std::span<const store::Filter> conditions) const;
  bool may_assign(std::span<const store::Assignment> assignments) const;
  static bool has(Extent extent, const std::vector<bool>& columns, std::uint32_t column);
};

}  // namespace hs::mysqld
