// Server types, by names that are the same for every server family.
//
// Enough for a header of mysqld/ to point to them without including the server's.
// The family's half stands in family_types.h, in the folder that CMake has chosen.
#pragma once

#include <cstdint>

class THD;
class Field;
class handler;
struct TABLE;

#include "family_types.h"

namespace hs::mysqld {

// What a table is opened for. Each kind of write has its own triggers, and with
// them its own set of tables that have to be opened beside it.
enum class Purpose : std::uint8_t { read, insert, update, erase };

inline bool is_write(Purpose purpose) { return purpose != Purpose::read; }

}  // namespace hs::mysqld
