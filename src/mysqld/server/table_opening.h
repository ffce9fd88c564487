// Opening, locking and closing tables in the server's own terms, for OpenTables.
//
// table_opening.cc beside this header has what every family shares; the family's has the rest.
// Called on the worker's thread. None of it waits for another session's metadata
// or table lock: the THD's lock_wait_timeout is 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mysqld/server/types.h"

namespace hs::mysqld::server {

// Whether this can name a database or a table: what SQL's parser would let through. MySQL's data
// dictionary trusts in that: what it finds under another spelling (cut at a malformed byte or at a
// blank) it would wait for, without end, the next time.
bool is_name(std::string_view name);

// The request keeps pointers to both names.
void init_request(TableRequest& request, const std::string& database, const std::string& name,
                  Purpose purpose);

// Opens one table without what its triggers and foreign keys need, and without a lock. Null if that
// fails; `repairable` then says whether open_with_needs() might put right what is wrong.
TABLE* open_single(THD* thd, TableRequest& request, Purpose purpose, bool& repairable);
// False with an error raised.
bool lock_single(THD* thd, TABLE& table, TableRequest& request, Purpose purpose);

// Opens and locks the table the way SQL does, with every table that its triggers and foreign
// keys reach. Null if that fails.
TABLE* open_with_needs(THD* thd, TableRequest& request, Purpose purpose);

// Whether writes to the table reach other tables.
bool needs_other_tables(const TABLE& table);
// Whether the engine locks whole tables, reader against writer.
bool has_table_lock(const TABLE& table);
// Views, information_schema, performance_schema and log tables are not served.
bool is_servable(const TABLE& table);

// Unlockable: the table is there, but its engine does not let it be locked for this purpose.
// Told: the table is there, and the client learns the server's own reason why it cannot be written.
enum class OpenFailure : std::uint8_t { blocked, killed, unlockable, told, refused };
// What an error (0: none) says that opening a table has raised.
OpenFailure open_failure(std::uint32_t error);

// Gives every table back; the transaction and its metadata locks stay.
void close_tables(THD* thd, bool opened_with_needs);
void release_metadata_locks(THD* thd);

// The family's part in the functions above.
// Of open_with_needs(): false with an error raised.
bool open_and_lock(THD* thd, TableRequest& request, Purpose purpose);
// Of open_failure(): an error that only this family knows.
OpenFailure own_open_failure(std::uint32_t error);
// Of close_tables(): what is left of a statement with needs, but for its memory.
void end_statement_with_needs(THD* thd);

}  // namespace hs::mysqld::server
