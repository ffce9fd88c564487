// Server types, by names that are the same in every server family.
//
// With them a header of mysqld/ can declare pointers to server types without the server's headers.
// The family's part is in family_types.h, in the folder that CMake has chosen. api.h checks that it
// names the types that the server's headers use.
#pragma once

#include <cstdint>

class THD;
class Field;
class handler;
struct TABLE;

#include "family_types.h"

namespace hs::mysqld {

// What a table is opened for. Each kind of write has its own triggers, and so its own set of tables
// that have to be opened with the table. A lock of rows changes none, so it has no triggers.
enum class Purpose : std::uint8_t { read, lock, insert, update, erase, insert_or_update, replace };
inline constexpr std::size_t purposes = 7;

inline bool is_write(Purpose purpose) { return purpose != Purpose::read; }
// Whether new rows come, which draw numbers for AUTO_INCREMENT and from sequences.
inline bool inserts(Purpose purpose) {
  return purpose == Purpose::insert || purpose == Purpose::insert_or_update ||
         purpose == Purpose::replace;
}

// What an index does with blanks at the end of a text, in a collation that counts them (NO PAD).
enum class BlankOrder : std::uint8_t {
  kept,     // it orders the values as they are; also where blanks do not count
  dropped,  // of a CHAR: it orders the values without the blanks at their end
  filled,   // of a CHAR: it orders the values as if blanks filled all of them up
};

// Who may serve a table. here: any thread. remote: a thread that may wait for another server, because
// even to open the table means to ask that server. refused: nobody. Views, information_schema,
// performance_schema, log tables, and engines that docs/protocol.md does not list are refused: an
// engine that was never tested could crash or answer wrongly.
enum class Serving : std::uint8_t { here, remote, refused };

}  // namespace hs::mysqld
