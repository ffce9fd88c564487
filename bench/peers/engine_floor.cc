// hs_engine_floor(database, table, keys, lookups): measures what the storage engine alone costs.
//
// It is an SQL function that the comparison loads into its own server; it is never installed. It
// makes random lookups by an INT UNSIGNED primary key of 1 to `keys`, straight through the handler,
// in the connection's own thread. It returns the nanoseconds of CPU time for a lookup, or NULL if
// the table cannot be read. Nothing is formatted and nothing is sent, so no server on top of the
// engine can be faster.
//
// The first of the server's headers has to come first.
// clang-format off
#include <my_global.h>
#include <sql_class.h>
#include <sql_base.h>
#include <handler.h>
#include <key.h>
#include <lock.h>
// clang-format on

#include <ctime>
#include <random>

namespace {

double thread_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// The end of the statement closes the table and releases its locks.
TABLE* open_for_reading(THD* thd, LEX_CSTRING database, LEX_CSTRING name) {
  TABLE_LIST reference;
  reference.init_one_table(&database, &name, nullptr, TL_READ);
  MDL_REQUEST_INIT(&reference.mdl_request, MDL_key::TABLE, database.str, name.str, MDL_SHARED_READ,
                   MDL_TRANSACTION);
  Open_table_context context(thd, 0);
  if (open_table(thd, &reference, &context)) return nullptr;
  TABLE* table = reference.table;
  table->reginfo.lock_type = TL_READ;
  thd->lock = mysql_lock_tables(thd, &table, 1, 0);
  return thd->lock == nullptr ? nullptr : table;
}

// Reads every column except the key, as the comparison's lookups do.
double measure(TABLE& table, std::uint64_t keys, std::uint64_t lookups) {
  bitmap_clear_all(table.read_set);
  for (uint i = 1; i < table.s->fields; ++i) bitmap_set_bit(table.read_set, i);
  handler& engine = *table.file;
  if (engine.ha_index_init(0, true) != 0) return -1;
  std::mt19937_64 random(1);
  std::uint64_t found = 0;
  const double before = thread_nanoseconds();
  for (std::uint64_t i = 0; i < lookups; ++i) {
    uchar key[4];
    int4store(key, static_cast<uint32>(1 + random() % keys));
    found += engine.ha_index_read_map(table.record[0], key, 1, HA_READ_KEY_EXACT) == 0;
  }
  const double after = thread_nanoseconds();
  engine.ha_index_end();
  return found == lookups ? (after - before) / static_cast<double>(lookups) : -1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

my_bool hs_engine_floor_init(UDF_INIT* init, UDF_ARGS* args, char* message) {
  const bool right = args->arg_count == 4 && args->arg_type[0] == STRING_RESULT &&
                     args->arg_type[1] == STRING_RESULT && args->arg_type[2] == INT_RESULT &&
                     args->arg_type[3] == INT_RESULT;
  if (!right) {
    strcpy(message, "hs_engine_floor(database, table, keys, lookups)");
    return 1;
  }
  init->maybe_null = 1;
  init->const_item = 0;
  return 0;
}

double hs_engine_floor(UDF_INIT* /*init*/, UDF_ARGS* args, uchar* is_null, uchar* /*error*/) {
  const auto number = [&](int i) {
    long long value = 0;
    memcpy(&value, args->args[i], sizeof value);
    return static_cast<std::uint64_t>(value);
  };
  THD* thd = current_thd;
  double result = -1;
  if (thd->lock == nullptr && number(2) != 0 && number(3) != 0) {
    TABLE* table =
        open_for_reading(thd, {args->args[0], args->lengths[0]}, {args->args[1], args->lengths[1]});
    if (table != nullptr) result = measure(*table, number(2), number(3));
  }
  if (result < 0) *is_null = 1;
  return result;
}
}
#pragma GCC visibility pop
