// swap: exchanges the values of two rows, as a unit of the store. A part of the tests' line protocol.
//
// It has a file of its own because every place in which a request is executed, a worker's pass and a
// thread that executes it alone, does it in the same way.
#pragma once

#include <span>
#include <string_view>

#include "base/buffer.h"
#include "store/store.h"

namespace hs::passes {

// The row of each key is in the table of the use of the same number, whose first column is the value.
// Appends SWAPPED, or NONE if one of the rows is missing. Then nothing was changed.
store::Outcome swap_values(store::Store& store, std::span<store::IndexUse, 2> uses,
                           std::span<const std::string_view, 2> keys, Buffer& out);

}  // namespace hs::passes
