// MySQL's half of server/row_prefetch.h: InnoDB's adaptive hash index.
//
// A lookup by that index reads a cell of the hash table, the nodes of a chain, and the row, and waits
// for the memory of each. Here these places are only walked, for all keys at once, and only under the
// latch of InnoDB's own. All of it is done by InnoDB's inline functions. A fetch of a wrong place
// costs time and does no harm.
#include "mysqld/server/row_prefetch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "mysqld/server/api.h"
#include "mysqld/server/logging.h"

// As the distribution has built InnoDB.
#undef MYSQL_DYNAMIC_PLUGIN
#define MUTEX_EVENT 1
#define UNIV_LINUX 1
#define COMPILER_HINTS 1
#define HAVE_IB_LINUX_FUTEX 1
#define HAVE_IB_GCC_SYNC_SYNCHRONISE 1
#define HAVE_IB_GCC_ATOMIC_THREAD_FENCE 1
// What the server exports of InnoDB. Where it does not, the plugin is loaded all the same.
#pragma weak btr_ahi_parts_fast_modulo
#pragma weak btr_search_enabled
#pragma weak btr_search_sys
#pragma weak ut_crc32
#pragma weak ut_crc32_cpu_enabled
#pragma weak _ZN2ut6detail21tab_hash_lookup_tableE
#pragma weak _Z12os_event_setP8os_event
#pragma weak _Z21dict_index_copy_typesP8dtuple_tPK12dict_index_tm
#pragma weak _Z23ut_dbg_assertion_failedPKcS0_m
#pragma weak _Z27sync_array_object_signalledv
#pragma weak _Z37row_sel_convert_mysql_key_to_innobaseP8dtuple_tPhmP12dict_index_tPKhm
#include <btr0sea.h>
#include <dict0mem.h>
#include <row0mysql.h>
#include <row0sel.h>
#include <storage/innobase/handler/ha_innodb.h>

namespace hs::mysqld::server {
namespace {

// A chain has one node per key, and seldom one of another key.
constexpr unsigned most_nodes_of_chain = 4;
constexpr std::size_t most_parts = 4;
constexpr std::size_t cache_line = 64;

// A member that only derived classes may name.
struct Prebuilt : ha_innobase {
  static const row_prebuilt_t* of(handler* file) {
    constexpr row_prebuilt_t* ha_innobase::*member = &Prebuilt::m_prebuilt;
    return static_cast<ha_innobase*>(file)->*member;
  }
};

void fetch(const void* place) { __builtin_prefetch(place, 0, 3); }

// InnoDB keeps the name of the file that has taken a latch, and prints it if a thread waits for long.
// So it must outlive the plugin, and is never freed.
const char* name_in_latch() {
  static const char* const name = ::strdup("handlersocket_prefetch");
  return name;
}

bool is_alive(const row_prebuilt_t& prebuilt) {
  return prebuilt.magic_n == ROW_PREBUILT_ALLOCATED && prebuilt.magic_n2 == ROW_PREBUILT_ALLOCATED;
}

// Whether InnoDB's memory is laid out as its headers say: what the server tells about the table in
// another way stands where it should, and the latch is one that somebody may have.
bool is_as_expected(const TABLE& table, const row_prebuilt_t& prebuilt) {
  if (!is_alive(prebuilt)) return false;
  const dict_table_t* const known = prebuilt.table;
  const dict_index_t* const index = prebuilt.index;
  if (known == nullptr || index == nullptr || prebuilt.trx == nullptr) return false;
  if (prebuilt.trx->mysql_thd != table.in_use) return false;
  const LEX_CSTRING path = table.s->normalized_path;  // with "./" in front
  if (std::string_view(path.str, path.length) != "./" + std::string(known->name.m_name))
    return false;
  const KEY& key = table.key_info[table.file->active_index];
  if (index->table != known || std::strcmp(index->name(), key.name) != 0) return false;
  if (index->n_fields < key.user_defined_key_parts || index->search_info == nullptr) return false;
  const auto parts = btr_ahi_parts_fast_modulo.get_mod();
  if (btr_search_sys == nullptr || parts == 0 || parts > 512) return false;
  // What the latch protects is looked at only under it.
  const auto word = btr_get_search_latch(index)->lock_word.load(std::memory_order_relaxed);
  return word <= X_LOCK_DECR && word > -2 * X_LOCK_DECR;
}

// Of the process, once.
bool is_proven(const TABLE& table, const row_prebuilt_t& prebuilt) {
  enum class Proof : std::uint8_t { none, good, bad };
  static std::atomic<Proof> proof = Proof::none;
  const Proof known = proof.load(std::memory_order_relaxed);
  if (known != Proof::none) [[likely]]
    return known == Proof::good;
  const Proof found = is_as_expected(table, prebuilt) ? Proof::good : Proof::bad;
  Proof none = Proof::none;
  if (proof.compare_exchange_strong(none, found) && found == Proof::bad)
    log_warning(
        "handlersocket: handlersocket_prefetch does nothing: InnoDB's memory is not laid "
        "out as in the server for which this plugin was built");
  return found == Proof::good;
}

void say_that_index_is_off() {
  static std::atomic<bool> is_said = false;
  if (is_said.load(std::memory_order_relaxed) || is_said.exchange(true)) return;
  log_warning(
      "handlersocket: handlersocket_prefetch does nothing while innodb_adaptive_hash_index "
      "is OFF");
}

// What the hash index knows the keys by. Returns their number, or 0 if it knows none of this index.
std::size_t fold(const dict_index_t* index, const ExpectedKeys& keys, std::size_t key_parts,
                 std::uint64_t* folds) {
  const btr_search_prefix_info_t prefix = index->search_info->prefix_info.load();
  if (index->search_info->ref_count == 0 || prefix.n_bytes != 0 || prefix.n_fields == 0) return 0;
  const std::size_t parts = prefix.n_fields;  // of the index, by which it is hashed
  if (parts > key_parts || key_parts > most_parts) return 0;
  alignas(std::max_align_t) std::array<byte, DTUPLE_EST_ALLOC(most_parts)> memory;
  dtuple_t* const tuple = dtuple_create_from_mem(memory.data(), memory.size(), key_parts, 0);
  dict_index_copy_types(tuple, index, key_parts);
  const std::uint64_t seed = btr_search_hash_index_id(index);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::array<byte, 4 * ExpectedKeys::most_bytes> converted;
    row_sel_convert_mysql_key_to_innobase(tuple, converted.data(), converted.size(),
                                          const_cast<dict_index_t*>(index), keys[i].data(),
                                          keys[i].size());
    if (dtuple_get_n_fields(tuple) != key_parts) return 0;
    folds[i] = dtuple_hash(tuple, parts, 0, seed);
  }
  return keys.size();
}

// The latch is held.
void walk(hash_table_t& table, const std::uint64_t* folds, std::size_t count) {
  std::array<const hash_cell_t*, ExpectedKeys::most> cells;
  for (std::size_t i = 0; i < count; ++i) {
    cells[i] = hash_get_nth_cell(&table, hash_calc_cell_id(folds[i], &table));
    fetch(cells[i]);
  }
  std::array<const ha_node_t*, ExpectedKeys::most> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i] = static_cast<const ha_node_t*>(cells[i]->node);
    fetch(nodes[i]);
  }
  for (unsigned round = 0; round < most_nodes_of_chain; ++round) {
    bool is_done = true;
    for (std::size_t i = 0; i < count; ++i) {
      const ha_node_t* const node = nodes[i];
      if (node == nullptr) continue;
      if (node->hash_value == folds[i]) {
        const rec_t* const row = ha_node_get_data(node);
        fetch(row - 8);  // its header
        fetch(row - 8 + cache_line);
        nodes[i] = nullptr;
        continue;
      }
      nodes[i] = ha_chain_get_next(node);
      fetch(nodes[i]);
      is_done = false;
    }
    if (is_done) break;
  }
}

}  // namespace

bool can_prefetch_rows() {
  const std::array symbols{
      reinterpret_cast<const void*>(&btr_ahi_parts_fast_modulo),
      reinterpret_cast<const void*>(&btr_search_enabled),
      reinterpret_cast<const void*>(&btr_search_sys),
      reinterpret_cast<const void*>(&ut_crc32),
      reinterpret_cast<const void*>(&ut_crc32_cpu_enabled),
      reinterpret_cast<const void*>(&ut::detail::tab_hash_lookup_table),
      reinterpret_cast<const void*>(&os_event_set),
      reinterpret_cast<const void*>(&dict_index_copy_types),
      reinterpret_cast<const void*>(&ut_dbg_assertion_failed),
      reinterpret_cast<const void*>(&sync_array_object_signalled),
      reinterpret_cast<const void*>(&row_sel_convert_mysql_key_to_innobase),
  };
  return std::ranges::find(symbols, nullptr) == symbols.end();
}

void prefetch_rows(TABLE& table, const ExpectedKeys& keys) {
  // A partitioned table has an index, and an id of it, for each partition.
  if (table.file->ht->db_type != DB_TYPE_INNODB || table.part_info != nullptr) return;
  if (!btr_search_enabled) return say_that_index_is_off();
  const row_prebuilt_t& prebuilt = *Prebuilt::of(table.file);
  if (!is_proven(table, prebuilt) || !is_alive(prebuilt)) return;
  const dict_index_t* const index = prebuilt.index;
  if (index == nullptr || index->search_info == nullptr) return;
  const std::size_t key_parts = table.key_info[table.file->active_index].user_defined_key_parts;
  std::array<std::uint64_t, ExpectedKeys::most> folds;
  const std::size_t count = fold(index, keys, key_parts, folds.data());
  const char* const name = name_in_latch();
  if (count == 0 || name == nullptr || !btr_search_s_lock_nowait(index, {name, 0})) return;
  // It may have been switched off, or got another size, until now, but cannot any more.
  hash_table_t* const hash = btr_get_search_part(index).hash_table;
  if (btr_search_enabled && hash != nullptr && hash->get_n_cells() != 0)
    walk(*hash, folds.data(), count);
  btr_search_s_unlock(index);
}

}  // namespace hs::mysqld::server
