// InnoDB's own headers, as the distribution has built InnoDB. For row_prefetch.cc and layout_proof.cc.
//
// What InnoDB's inline functions need of the server is looked for when the plugin is loaded. Where a
// server does not export it, the plugin is loaded all the same: see has_symbols().
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/row_prefetch.h"

#undef MYSQL_DYNAMIC_PLUGIN
#define MUTEX_EVENT 1
#define UNIV_LINUX 1
#define COMPILER_HINTS 1
#define HAVE_IB_LINUX_FUTEX 1
#define HAVE_IB_GCC_SYNC_SYNCHRONISE 1
#define HAVE_IB_GCC_ATOMIC_THREAD_FENCE 1
#pragma weak btr_ahi_parts_fast_modulo
#pragma weak btr_search_enabled
#pragma weak btr_search_sys
#pragma weak srv_page_size
#pragma weak ut_crc32
#pragma weak ut_crc32_cpu_enabled
#pragma weak _ZN2ut6detail21tab_hash_lookup_tableE
#pragma weak _Z12os_event_setP8os_event
#pragma weak _Z15rec_get_offsetsPKhPK12dict_index_tPmmN2ut8LocationEPP16mem_block_info_t
#pragma weak _Z21dict_index_copy_typesP8dtuple_tPK12dict_index_tm
#pragma weak _Z23ut_dbg_assertion_failedPKcS0_m
#pragma weak _Z26row_build_row_ref_in_tupleP8dtuple_tPKhPK12dict_index_tPm
#pragma weak _Z27sync_array_object_signalledv
#pragma weak _Z37row_sel_convert_mysql_key_to_innobaseP8dtuple_tPhmP12dict_index_tPKhm
// A header has a map with the names of pages' states. Each file that includes it would fill one of its
// own when the plugin is loaded, and a server that has no memory for it would end. So the map is
// declared as a function that nobody calls, and the names become an array.
#define buf_page_state_str \
  unused_page_state_str(); \
  [[maybe_unused]] constexpr std::pair<buf_page_state, std::string_view> page_state_names[]
#include <btr0sea.h>
#include <dict0mem.h>
#include <page0page.h>
#include <row0mysql.h>
#include <row0row.h>
#include <row0sel.h>
#include <storage/innobase/handler/ha_innodb.h>
#undef buf_page_state_str

namespace hs::mysqld::server::innodb {

inline bool has_symbols() {
  const std::array symbols{
      reinterpret_cast<const void*>(&btr_ahi_parts_fast_modulo),
      reinterpret_cast<const void*>(&btr_search_enabled),
      reinterpret_cast<const void*>(&btr_search_sys),
      reinterpret_cast<const void*>(&srv_page_size),
      reinterpret_cast<const void*>(&ut_crc32),
      reinterpret_cast<const void*>(&ut_crc32_cpu_enabled),
      reinterpret_cast<const void*>(&ut::detail::tab_hash_lookup_table),
      reinterpret_cast<const void*>(&os_event_set),
      reinterpret_cast<const void*>(&rec_get_offsets),
      reinterpret_cast<const void*>(&dict_index_copy_types),
      reinterpret_cast<const void*>(&ut_dbg_assertion_failed),
      reinterpret_cast<const void*>(&row_build_row_ref_in_tuple),
      reinterpret_cast<const void*>(&sync_array_object_signalled),
      reinterpret_cast<const void*>(&row_sel_convert_mysql_key_to_innobase),
  };
  return std::ranges::find(symbols, nullptr) == symbols.end();
}

constexpr std::size_t most_parts = 4;  // of a key
// Converted, with what InnoDB adds to align its parts.
constexpr std::size_t most_converted = 2 * ExpectedKeys::most_bytes;

// A key as InnoDB compares and hashes it.
class ConvertedKey {
 public:
  // False: its parts are not those of the index.
  bool convert(const dict_index_t* index, std::span<const unsigned char> image, std::size_t parts) {
    tuple_ = dtuple_create_from_mem(memory_.data(), memory_.size(), parts, 0);
    dict_index_copy_types(tuple_, index, parts);
    row_sel_convert_mysql_key_to_innobase(tuple_, converted_.data(), converted_.size(),
                                          const_cast<dict_index_t*>(index), image.data(),
                                          image.size());
    return dtuple_get_n_fields(tuple_) == parts;
  }
  std::uint64_t fold(std::size_t parts, std::uint64_t seed) const {
    return dtuple_hash(tuple_, parts, 0, seed);
  }
  std::span<const unsigned char> first_part() const {
    const dfield_t* const field = dtuple_get_nth_field(tuple_, 0);
    if (dfield_is_null(field)) return {};
    return {static_cast<const unsigned char*>(dfield_get_data(field)), dfield_get_len(field)};
  }

 private:
  alignas(std::max_align_t) std::array<byte, DTUPLE_EST_ALLOC(most_parts)> memory_;
  std::array<byte, most_converted> converted_;
  dtuple_t* tuple_ = nullptr;
};

// Whether the index is hashed by whole parts of its keys, and by how many. 0: it is not.
inline std::size_t hashed_parts(const dict_index_t* index) {
  const btr_search_t* const info = index->search_info;
  if (info == nullptr || info->ref_count.load(std::memory_order_relaxed) == 0) return 0;
  const btr_search_prefix_info_t prefix = info->prefix_info.load(std::memory_order_relaxed);
  return prefix.n_bytes == 0 ? prefix.n_fields : 0;
}

}  // namespace hs::mysqld::server::innodb
