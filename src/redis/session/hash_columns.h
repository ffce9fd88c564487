// What the commands that name columns of a row say and ask about them.
//
// On the thread that executes the request. The row is open, see keys/row_work.h.
#pragma once

#include <string>
#include <string_view>

#include "redis/session/work.h"

namespace hs::redis {

inline std::string in_quotes(std::string_view name) { return "'" + std::string(name) + "'"; }

inline Status no_such_column(Work& work, const KeyedRow& row, std::string_view field) {
  return say(work, "ERR no column " + in_quotes(field) + " in table " +
                       in_quotes(row.access->names.database + "." + row.access->names.table));
}

inline Status part_of_key(Work& work, std::string_view field) {
  return say(work,
             "ERR column " + in_quotes(field) + " is a part of the key and cannot be changed");
}

// Whether the row is there now. A plain read could answer from the transaction's snapshot, and would not
// see a row that another session has inserted since.
store::Outcome look_for(Work& work, const KeyedRow& row, bool& is_there);

// Chooses the values that make the fields NULL, in work.scratch.values. `is_there` is false if it is
// known that there is no row. Not ok: a field cannot be NULL, or is a part of the key, or the caller must
// not know of the table.
store::Outcome choose_nulls(Work& work, const KeyedRow& row, Words fields, bool& is_there);

}  // namespace hs::redis
