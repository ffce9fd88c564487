// Assignment: a value from a request into a column, as SQL assigns it.
//
// Called on the worker's thread inside a statement. Errors and warnings go to
// the server's diagnostics area, which in strict mode makes errors of warnings;
// the caller looks there.
#pragma once

#include "mysqld/column_format.h"
#include "protocol/request.h"

class Field;

namespace hs::mysqld {

// SET field = value
void assign(Field& field, const protocol::Value& value, TextEncoding encoding);

// SET field = field + value, or - value. Leaves NULL as it is. True without an
// assignment if a subtraction would carry the value across zero.
[[nodiscard]] bool add_unless_crossing_zero(Field& field, const protocol::Value& value,
                                            bool subtract);

}  // namespace hs::mysqld
