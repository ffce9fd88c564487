// Sample tables for the in-memory store, for the tests, the fuzzer and the stand-alone server.
// Called before the first store is made.
#pragma once

#include <cstdint>

#include "store/memory_database.h"

namespace hs::store {

// test.user (user_id, user_name, user_email, created), ids 1 to `rows`.
void add_user_table(MemoryDatabase& database, std::uint64_t rows);

// The tables of tests/vectors/tables.sql, on which the golden dialogues and those of tests/vectors
// are held.
void add_golden_tables(MemoryDatabase& database);

// The tables of tools/sql/containers.sql, as far as this store has such columns: handlersocket.containers
// with the container `default`, which is handlersocket.kv.
void add_container_tables(MemoryDatabase& database);

}  // namespace hs::store
