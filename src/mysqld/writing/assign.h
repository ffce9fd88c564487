// Assignment: a value from a request into a column, as SQL assigns it.
//
// Called on the worker's thread inside a statement. Errors and warnings go to the server's
// diagnostics area, where the caller looks for them. In strict mode the server turns the warnings
// into errors, and those of a value that has to be stored as it is in every mode.
#pragma once

#include "base/buffer.h"
#include "mysqld/reading/column_reader.h"
#include "store/operation.h"

class Field;

namespace hs::mysqld {

// SET field = value
void assign(Field& field, const store::Value& value, TextEncoding encoding);

// SET field = field + value, or - value. NULL stays NULL, and a value that is NULL, empty or blank
// leaves the field as it is. If a subtraction would change the sign of the field, nothing is
// assigned, and the result is true.
[[nodiscard]] bool add_unless_crossing_zero(Field& field, const store::Value& value, bool subtract);
// Whether a subtraction would change the sign of the field. Assigns and raises nothing.
[[nodiscard]] bool subtraction_crosses_zero(Field& field, const store::Value& value);

// What an assignment makes of the column. Its value must not be given to a generated column.
// The value of `set_new` is an image that append_image() has made.
void assign(Field& field, const store::Assignment& assignment, TextEncoding encoding);
// What the column holds in record[0], in a form that is independent of the record.
void append_image(const Field& field, Buffer& images);

}  // namespace hs::mysqld
