// MySQL's half of server/row_prefetch.h: InnoDB's adaptive hash index.
//
// A lookup by that index reads a cell of the hash table, the nodes of a chain, and the row, and waits
// for the memory of each. Here these places are only walked, for all keys at once, and only under the
// latch of InnoDB's own. All of it is done by InnoDB's inline functions. A fetch of a wrong place
// costs time and does no harm.
#include "mysqld/server/row_prefetch.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "mysqld/server/logging.h"
#include "mysqld/server/mysql/innodb.h"
#include "mysqld/server/mysql/layout_proof.h"

namespace hs::mysqld::server {
namespace {

// A chain has one node per key, and seldom one of another key.
constexpr unsigned most_nodes_of_chain = 4;
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

// Whether InnoDB's memory may be touched.
bool is_proven(const TABLE& table, const row_prebuilt_t& prebuilt, const ExpectedKeys& keys) {
  static LayoutProof proof;
  if (proof.state() == LayoutProof::State::open) [[unlikely]]
    proof.look_for(table, prebuilt, keys);
  return proof.state() == LayoutProof::State::good;
}

void say_that_index_is_off() {
  static std::atomic<bool> is_said = false;
  if (is_said.load(std::memory_order_relaxed) || is_said.exchange(true)) return;
  log_warning(
      "handlersocket: handlersocket_prefetch does nothing while innodb_adaptive_hash_index "
      "is OFF");
}

// An index whose hashed parts are integers. InnoDB's form of them is made here, as its own function
// takes longer than all the rest.
class IntegerParts {
 public:
  // False: there is a part of another type.
  bool take(const dict_index_t* index, const KEY& key, std::size_t parts) {
    count_ = parts;
    for (std::size_t i = 0; i < parts; ++i) {
      const dict_col_t* const column = index->get_col(i);
      if (column->mtype != DATA_INT || column->len == 0 || column->len > sizeof(std::uint64_t))
        return false;
      if (key.key_part[i].length != column->len) return false;
      parts_[i] = {.unused_bits = 64 - 8 * static_cast<unsigned>(column->len),
                   .sign = (column->prtype & DATA_UNSIGNED) != 0 ? 0 : std::uint64_t{1} << 63,
                   .is_nullable = key.key_part[i].null_bit != 0};
    }
    return true;
  }
  std::uint64_t fold(ExpectedKeys::Image image, std::uint64_t seed) const {
    static_assert(std::endian::native == std::endian::little);
    const unsigned char* at = image.data();
    std::uint64_t fold = seed;
    for (std::size_t i = 0; i < count_; ++i) {
      const Part& part = parts_[i];
      if (part.is_nullable) ++at;
      const unsigned bytes = sizeof(std::uint64_t) - part.unused_bits / 8;
      std::uint64_t value = 0;
      std::memcpy(&value, at, sizeof value);  // the bytes behind it fall out
      at += bytes;
      value = __builtin_bswap64((value << part.unused_bits) ^ part.sign);
      const auto* const text = reinterpret_cast<const byte*>(&value);
      fold = bytes == 4 ? ut::hash_binary(text, 4, fold) : ut::hash_binary(text, bytes, fold);
    }
    return fold;
  }

 private:
  struct Part {
    unsigned unused_bits;
    std::uint64_t sign;
    bool is_nullable;
  };
  std::array<Part, innodb::most_parts> parts_;
  std::size_t count_ = 0;
};

// What the hash index knows the keys by. False: it knows none of this index.
bool fold(const dict_index_t* index, const KEY& key, const ExpectedKeys& keys, KeyHashes& folds) {
  const std::size_t parts = innodb::hashed_parts(index);
  const std::size_t key_parts = key.user_defined_key_parts;
  if (parts == 0 || parts > key_parts || key_parts > innodb::most_parts) return false;
  const std::uint64_t seed = btr_search_hash_index_id(index);
  IntegerParts integers;
  if (integers.take(index, key, parts)) [[likely]] {
    for (std::size_t i = 0; i < keys.size(); ++i) folds[i] = integers.fold(keys[i], seed);
    return true;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    innodb::ConvertedKey converted;
    if (!converted.convert(index, keys[i], key_parts)) return false;
    folds[i] = converted.fold(parts, seed);
  }
  return true;
}

using Rows = std::array<const rec_t*, ExpectedKeys::most>;

// The latch is held. Puts the rows that there are to the front of `rows`, and returns their number.
std::size_t walk(hash_table_t& table, const KeyHashes& folds, std::size_t count, Rows& rows) {
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
  std::size_t found = 0;
  for (unsigned round = 0; round < most_nodes_of_chain; ++round) {
    bool is_done = true;
    for (std::size_t i = 0; i < count; ++i) {
      const ha_node_t* const node = nodes[i];
      if (node == nullptr) continue;
      if (node->hash_value == folds[i]) {
        const rec_t* const row = ha_node_get_data(node);
        fetch(row - 8);  // its header
        fetch(row - 8 + cache_line);
        fetch(page_align(row) + PAGE_HEADER + PAGE_INDEX_ID);  // InnoDB looks whose page it is
        rows[found++] = row;
        nodes[i] = nullptr;
        continue;
      }
      nodes[i] = ha_chain_get_next(node);
      fetch(nodes[i]);
      is_done = false;
    }
    if (is_done) break;
  }
  return found;
}

// Runs `work(hash table)` under the latch of the index, if it is free and there is a hash index.
template <class Work>
bool with_latch(const dict_index_t* index, const Work& work) {
  const char* const name = name_in_latch();
  if (name == nullptr || !btr_search_s_lock_nowait(index, {name, 0})) return false;
  // It may have been switched off, or got another size, until now, but cannot any more.
  hash_table_t* const hash = btr_get_search_part(index).hash_table;
  const bool is_there = btr_search_enabled && hash != nullptr && hash->get_n_cells() != 0;
  if (is_there) work(*hash);
  btr_search_s_unlock(index);
  return is_there;
}

// An entry of a secondary index holds the primary key of its row. The latch is held, so entries stay
// where they are. Returns how many folds of primary keys there are.
std::size_t fold_primary_keys(const dict_index_t* index, const dict_index_t* clustered,
                              const Rows& entries, std::size_t count, KeyHashes& folds) {
  constexpr std::size_t most_fields = 16;
  const std::size_t key_parts = clustered->n_uniq;
  const std::size_t parts = innodb::hashed_parts(clustered);
  if (parts == 0 || parts > key_parts || key_parts > innodb::most_parts ||
      index->n_fields > most_fields)
    return 0;
  alignas(std::max_align_t) std::array<byte, DTUPLE_EST_ALLOC(innodb::most_parts)> memory;
  dtuple_t* const key = dtuple_create_from_mem(memory.data(), memory.size(), key_parts, 0);
  const std::uint64_t seed = btr_search_hash_index_id(clustered);
  std::size_t folded = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const rec_t* const entry = entries[i];
    // A fold may be that of another index's row, if only once in a lifetime.
    if (mach_read_from_8(page_align(entry) + PAGE_HEADER + PAGE_INDEX_ID) != index->id) continue;
    if (rec_get_status(entry) != REC_STATUS_ORDINARY) continue;
    ulint offsets[REC_OFFS_NORMAL_SIZE];
    rec_offs_init(offsets);
    mem_heap_t* heap = nullptr;
    ulint* const known =
        rec_get_offsets(entry, index, offsets, ULINT_UNDEFINED, {name_in_latch(), 0}, &heap);
    if (heap != nullptr) continue;  // cannot be: there is room for so few fields
    row_build_row_ref_in_tuple(key, entry, index, known);
    folds[folded++] = dtuple_hash(key, parts, 0, seed);
  }
  return folded;
}

}  // namespace

bool can_prefetch_rows() { return innodb::has_symbols(); }

Prefetched prefetch_rows(TABLE& table, const ExpectedKeys& keys, KeyHashes& hashes) {
  // A partitioned table has an index, and an id of it, for each partition.
  if (table.file->ht->db_type != DB_TYPE_INNODB || table.part_info != nullptr)
    return Prefetched::never;
  if (!btr_search_enabled) {
    say_that_index_is_off();
    return Prefetched::never;
  }
  const row_prebuilt_t& prebuilt = *Prebuilt::of(table.file);
  if (!is_proven(table, prebuilt, keys)) return Prefetched::never;
  const dict_index_t* const index = prebuilt.index;
  const KEY& key = table.key_info[table.file->active_index];
  if (prebuilt.magic_n != ROW_PREBUILT_ALLOCATED || index == nullptr ||
      std::strcmp(index->name(), key.name) != 0 || !fold(index, key, keys, hashes))
    return Prefetched::not_now;
  const dict_index_t* const clustered = prebuilt.table->first_index();
  Rows rows;
  KeyHashes primary;
  std::size_t primaries = 0;
  const bool has_walked = with_latch(index, [&](hash_table_t& hash) {
    const std::size_t found = walk(hash, hashes, keys.size(), rows);
    if (index != clustered) primaries = fold_primary_keys(index, clustered, rows, found, primary);
  });
  if (!has_walked) return Prefetched::not_now;
  if (primaries != 0)
    with_latch(clustered, [&](hash_table_t& hash) { walk(hash, primary, primaries, rows); });
  return Prefetched::done;
}

}  // namespace hs::mysqld::server
