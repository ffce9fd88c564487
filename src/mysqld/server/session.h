// The session that a worker is for the server: its diagnostics, how strictly it
// takes a stored value, whether it was killed. All inline.
//
// Called on the thread that owns the THD. Included by server_api.h alone.
#pragma once

#include <cstdint>

namespace hs::mysqld::server {

// The number of the error that has been raised, 0 if none has.
inline std::uint32_t raised_error(const THD* thd);

inline bool is_killed(const THD* thd);

// Gives back what statements have allocated.
inline void free_memory(THD* thd);

// Which assignments of a write are errors.
enum class Strictness : std::uint8_t {
  null_is_error,  // an INSERT of one row: NULL for a NOT NULL column fails, whatever sql_mode says
  null_is_warning,  // an UPDATE: so it does in strict mode only
};

// class StrictChecks(thd, strictness): while it lives, a failed assignment raises what
// INSERT or UPDATE would raise.
//
// class QuietChecks(thd): while it lives, stores say in their return value what they
// had to change; neither errors nor warnings remain. warned() tells of a warning so far.

}  // namespace hs::mysqld::server

#include "family_session.h"
