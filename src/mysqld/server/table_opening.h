// Opening, locking and closing tables in the server's own terms, for OpenTables.
//
// Called on the worker's thread. None of it waits for another session's metadata
// or table lock: the THD's lock_wait_timeout is 0.
#pragma once

#include <cstdint>
#include <string>

#include "mysqld/server/types.h"

namespace hs::mysqld::server {

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

// Told: the table is there, and the client learns why a write of it is not allowed.
enum class OpenFailure : std::uint8_t { blocked, killed, told, refused };
// What an error (0: none) says that opening a table has raised.
OpenFailure open_failure(std::uint32_t error);

// Gives every table back; the transaction and its metadata locks stay.
void close_tables(THD* thd, bool opened_with_needs);
void release_metadata_locks(THD* thd);

}  // namespace hs::mysqld::server
