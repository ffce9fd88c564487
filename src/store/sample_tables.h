// Sample tables for the in-memory store: what the tests, the fuzzer and the
// stand-alone server serve. Called before the first store is made.
#pragma once

#include <cstdint>

#include "store/memory_database.h"

namespace hs::store {

// test.user (user_id, user_name, user_email, created), ids 1 to `rows`.
void add_user_table(MemoryDatabase& database, std::uint64_t rows);

// hst.t, hst.ai and hst.nokey of the golden dialogues.
void add_golden_tables(MemoryDatabase& database);

}  // namespace hs::store
