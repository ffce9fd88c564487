// Opens, locks and closes tables by the server's own functions, for OpenTables.
//
// table_opening.cc beside this header has what every family shares; the family's file of that name
// has the rest. Called on the worker's thread. It never waits for another session's metadata or
// table lock, because the THD's lock_wait_timeout is 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "mysqld/server/types.h"

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

// Whether this can be the name of a database or a table, as SQL's parser would accept it. MySQL's
// data dictionary relies on that check. It may find a wrong name under another spelling (cut at a
// malformed byte or a blank), and would then wait for ever when the name comes again.
bool is_name(std::string_view name);

// The name of a database or table as the server has it. With lower_case_table_names it has small
// letters only, and the server must not be asked for another name: it would take that for another
// table.
std::string stored_name(std::string_view name);

// The request keeps pointers to both names. The THD also decides whether to wait for rows that
// another session has locked.
void init_request(TableRequest& request, const std::string& database, const std::string& name,
                  Purpose purpose, bool waits_for_rows);

// Tells the server which command follows. Strict mode, for example, applies only to writes.
void set_command(THD* thd, Purpose purpose);

// Whether there are tables that may be `remote`.
bool has_remote_tables();
// What the table's definition says, before the table is opened: `here` if it does not say. False if
// another session has locked the table; then an error is raised.
bool read_serving(THD* thd, TableRequest& request, Serving& serving);
// What the open table says.
Serving serving_of(const TABLE& table);
// Called on a remote thread before any table is opened: gives the request what Spider looks at.
void prepare_for_remote(THD* thd, TableRequest& request);
// On a remote thread: tells Spider how many rows the next find reads at most, so that it does not
// ask the other server for all rows behind the key. 0: nobody knows. It counts until the next call,
// and the last one before the THD's memory is freed has to say 0.
void announce_limit(THD* thd, std::uint64_t rows);

// Opens one table, without what its triggers and foreign keys need, and without a lock. Null if
// that fails. Then `repairable` says whether open_with_needs() might repair the table.
TABLE* open_single(THD* thd, TableRequest& request, Purpose purpose, bool& repairable);
// If it returns false, an error is raised.
bool lock_single(THD* thd, TABLE& table, TableRequest& request, Purpose purpose);
// Tells the engine of a table that is open for writing that another statement begins. Afterwards the
// columns that are read and written have to be set again.
void begin_engine_statement(TABLE& table);

// Opens and locks the table as SQL does, with every table that its triggers and foreign keys need.
// Null if that fails.
TABLE* open_with_needs(THD* thd, TableRequest& request, Purpose purpose);

// Whether the table consists of other tables (MERGE), which have to be opened with it even for
// reads.
bool has_children(const TABLE& table);
// Whether everything that is open for writing can be rolled back.
bool can_undo_all(const THD* thd);
// Whether writes to the table reach other tables.
bool needs_other_tables(const TABLE& table);
// Whether the engine locks whole tables, so that a reader and a writer exclude each other.
bool has_table_lock(const TABLE& table);

// unlockable: the table exists, but its engine refuses the lock for this purpose. told: the table
// exists, and the client gets the server's own reason why it cannot be written.
enum class OpenFailure : std::uint8_t { blocked, killed, unlockable, told, refused };
// What an error (0: none) means that was raised when a table was opened.
OpenFailure open_failure(std::uint32_t error);
// Whether a write could not open its tables because its transaction has written other tables
// before.
bool is_refused_beside_others(Status status);

// Gives back every table. The transaction and its metadata locks stay.
void close_tables(THD* thd, bool opened_with_needs);
void release_metadata_locks(THD* thd);
// Audit plugins that were told something are kept by the thread until it says that they may go, as
// SQL does after each statement. Cheap if there are none.
void release_audit_plugins(THD* thd);

// Each family's part of the functions above.
// Parts of serving_of(). The second is asked about an engine that not every family has.
bool is_servable_kind(const TABLE& table);
Serving serving_of_own_engine(const TABLE& table);
// A part of open_with_needs(). If it returns false, an error is raised.
bool open_and_lock(THD* thd, TableRequest& request, Purpose purpose);
// A part of open_failure(): an error that only this family has.
OpenFailure own_open_failure(std::uint32_t error);
// A part of close_tables(): KILL may have left tables half opened. They must not go back to the
// table cache, where others would get them.
void drop_half_opened_tables(THD* thd);
// A part of close_tables(): ends what remains of a statement with needs, except its memory.
void end_statement_with_needs(THD* thd);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
