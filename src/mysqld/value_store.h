// Storing a value that is to be compared: a key value or a filter's value.
//
// Puts a value into a field and says how what is stored relates to what was
// asked for, because a column cannot hold every value: 300 in a TINYINT, 1.6 in
// an INT, twelve characters in a VARCHAR(10). SQL compares with the value that
// was asked for, so does a find. Called on the worker's thread; raises no error
// and leaves no warning.
#pragma once

#include <cstdint>

#include "mysqld/column_format.h"
#include "protocol/request.h"

class Field;

namespace hs::mysqld {

enum class Fit : std::uint8_t {
  exact,  // the stored value is the one asked for
  below,  // the stored value is the nearest one below it
  above,  // the stored value is the nearest one above it
  none,   // the column has no value like it: nothing compares with it
};

// Stores `value` (not NULL) into `field`, in the record that the field points to.
Fit store_comparable(Field& field, const protocol::Value& value, TextEncoding encoding);

}  // namespace hs::mysqld
