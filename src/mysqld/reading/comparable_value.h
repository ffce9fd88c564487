// Stores a value that is only compared: a key value or a filter's value.
//
// It stores a value in a field and says how the stored value relates to the value in the request.
// They may differ, because a column cannot hold every value: 300 in a TINYINT, 1.6 in an INT,
// twelve characters in a VARCHAR(10). SQL compares with the value that was asked for, so a find
// does, too. Called on the worker's thread. It raises no error and leaves no warning. It throws if
// the server has no memory for a value.
#pragma once

#include <cstdint>

#include "mysqld/reading/column_reader.h"
#include "store/operation.h"

class Field;

namespace hs::mysqld {

enum class Fit : std::uint8_t {
  exact,  // the stored value is the value in the request
  below,  // the stored value is the nearest lower one
  above,  // the stored value is the nearest higher one
  // the stored value is the beginning of the text, or lacks the blanks at its end: only a comparison
  // of both says which is higher
  cut,
  none,  // the column has no similar value: nothing compares with it
};

// Stores `value` (not NULL) in `field`, in the record that the field points to. Not for a field
// that server::is_plain_string() is true of.
Fit store_comparable(Field& field, const store::Value& value, TextEncoding encoding);
// The same for such a field. Whoever calls it knows that from the plan, because the server needs
// time to say it.
Fit store_comparable_string(Field& field, const store::Value& value, TextEncoding encoding);

}  // namespace hs::mysqld
