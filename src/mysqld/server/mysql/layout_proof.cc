#include "mysqld/server/mysql/layout_proof.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "mysqld/server/logging.h"
#include "mysqld/server/mysql/innodb.h"

namespace hs::mysqld::server {
namespace {

// So many rows with different keys are enough.
constexpr std::size_t enough = 4;
// InnoDB hashes page by page, so most keys of a large table may be missing. But not all of so many.
constexpr std::size_t most_failed = 100'000;
// What cannot be there by chance, or be missing because a page was not hashed.
constexpr std::size_t weight_of_contradiction = most_failed / 10;
constexpr unsigned most_nodes_of_chain = 16;

// Memory that may not be there is copied through a pipe: the kernel answers EFAULT.
class SafeMemory {
 public:
  SafeMemory() {
    if (::pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) ends_[0] = ends_[1] = -1;
  }
  ~SafeMemory() {
    if (ends_[0] == -1) return;
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  SafeMemory(const SafeMemory&) = delete;
  SafeMemory& operator=(const SafeMemory&) = delete;

  bool copy(const void* from, void* to, std::size_t size) const {
    static constexpr std::size_t most = 4096;  // a pipe takes so much at once
    if (ends_[0] == -1 || size > most) return false;
    const ssize_t written = ::write(ends_[1], from, size);
    if (written <= 0) return false;
    return ::read(ends_[0], to, static_cast<std::size_t>(written)) == written &&
           static_cast<std::size_t>(written) == size;
  }
  template <class T>
  bool copy(const T* from, std::remove_const_t<T>& to) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return copy(from, static_cast<void*>(&to), sizeof to);
  }
  bool has(const void* place, std::size_t size) const {
    std::array<unsigned char, 4096> unused;
    return size <= unused.size() && copy(place, unused.data(), size);
  }
  template <class T>
  bool has(const T* place) const {
    return has(place, sizeof *place);
  }

 private:
  int ends_[2];
};

// A copy of something that has no copies, for its inline functions that only read.
template <class T>
class Copied {
 public:
  bool take(const SafeMemory& memory, const T* from) {
    return memory.copy(from, bytes_.data(), bytes_.size());
  }
  const T& operator*() const { return *reinterpret_cast<const T*>(bytes_.data()); }
  const T* operator->() const { return &**this; }

 private:
  alignas(T) std::array<unsigned char, sizeof(T)> bytes_;
};

bool has_text(const SafeMemory& memory, const char* place, std::string_view expected) {
  std::string found(expected.size() + 1, ' ');
  if (!memory.copy(place, found.data(), found.size())) return false;
  return found.back() == '\0' && std::string_view(found.data(), expected.size()) == expected;
}

// What the server tells about the table in another way stands where it should.
bool is_of_table(const SafeMemory& memory, const TABLE& table, const row_prebuilt_t& prebuilt) {
  if (!memory.has(&prebuilt) || prebuilt.magic_n != ROW_PREBUILT_ALLOCATED ||
      prebuilt.magic_n2 != ROW_PREBUILT_ALLOCATED)
    return false;
  const dict_table_t* const known = prebuilt.table;
  const dict_index_t* const index = prebuilt.index;
  if (!memory.has(known) || !memory.has(index) || !memory.has(prebuilt.trx)) return false;
  if (prebuilt.trx->mysql_thd != table.in_use || index->table != known) return false;
  const KEY& key = table.key_info[table.file->active_index];
  if (index->n_fields < key.user_defined_key_parts || !memory.has(index->search_info)) return false;
  if (!has_text(memory, index->name(), key.name)) return false;
  std::string_view path(table.s->normalized_path.str, table.s->normalized_path.length);
  if (!path.starts_with("./")) return false;
  path.remove_prefix(2);
  return has_text(memory, known->name.m_name, path);
}

// The part of the hash index that has this index, and whether its latch is one that somebody may have.
bool find_part(const SafeMemory& memory, const dict_index_t* index, Copied<hash_table_t>& table) {
  using Part = btr_search_sys_t::search_part_t;
  static_assert(sizeof(btr_search_sys_t::parts) == sizeof(Part*));
  const auto count = btr_ahi_parts_fast_modulo.get_mod();
  if (btr_search_sys == nullptr || count == 0 || count > 512) return false;
  const Part* parts = nullptr;
  if (!memory.copy(reinterpret_cast<const Part* const*>(&btr_search_sys->parts), parts))
    return false;
  const Part* const part = parts + btr_search_hash_index_id(index) % btr_ahi_parts_fast_modulo;
  std::int32_t word = 0;
  static_assert(sizeof part->latch.lock_word == sizeof word);
  if (!memory.copy(reinterpret_cast<const std::int32_t*>(&part->latch.lock_word), word))
    return false;
  if (word > X_LOCK_DECR || word <= -2 * X_LOCK_DECR) return false;
  hash_table_t* hash = nullptr;
  if (!memory.copy(&part->hash_table, hash) || hash == nullptr) return false;
  return table.take(memory, hash) && table->get_n_cells() != 0 &&
         table->get_n_cells_fast_modulo().get_mod() == table->get_n_cells();
}

// Whether the row with this fold is in its chain, and is a row of the index that begins with `first`.
bool has_row(const SafeMemory& memory, const dict_index_t* index, const hash_table_t& table,
             std::uint64_t fold, std::span<const unsigned char> first) {
  static_assert(std::is_trivially_copyable_v<ha_node_t>);
  hash_cell_t cell{};
  if (!memory.copy(table.cells.get() + hash_calc_cell_id(fold, &table), cell)) return false;
  const auto* next = static_cast<const ha_node_t*>(cell.node);
  for (unsigned i = 0; next != nullptr && i < most_nodes_of_chain; ++i) {
    ha_node_t node{};
    if (!memory.copy(next, node)) return false;
    next = node.next;
    if (node.hash_value != fold) continue;
    std::array<unsigned char, innodb::most_converted> bytes;
    if (first.size() > bytes.size() || !memory.copy(node.data, bytes.data(), first.size()))
      return false;
    if (std::memcmp(bytes.data(), first.data(), first.size()) != 0) return false;
    std::array<unsigned char, sizeof(std::uint64_t)> id;
    return memory.copy(page_align(node.data) + PAGE_HEADER + PAGE_INDEX_ID, id.data(), id.size()) &&
           mach_read_from_8(id.data()) == index->id;
  }
  return false;
}

}  // namespace

void LayoutProof::look_for(const TABLE& table, const row_prebuilt_t& prebuilt,
                           const ExpectedKeys& keys) {
  const std::unique_lock lock(one_at_a_time_, std::try_to_lock);
  if (!lock.owns_lock() || state() != State::open) return;
  const SafeMemory memory;
  const std::size_t key_parts = table.key_info[table.file->active_index].user_defined_key_parts;
  Copied<hash_table_t> hash;
  const dict_index_t* const index = prebuilt.index;
  if (!is_of_table(memory, table, prebuilt)) {
    failed_ += weight_of_contradiction;
  } else if (const std::size_t parts = innodb::hashed_parts(index);
             parts == 0 || parts > key_parts || key_parts > innodb::most_parts) {
    return;
  } else if (!find_part(memory, index, hash)) {
    failed_ += weight_of_contradiction;
  } else {
    const std::uint64_t seed = btr_search_hash_index_id(index);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      innodb::ConvertedKey key;
      if (!key.convert(index, keys[i], key_parts)) continue;
      const std::uint64_t fold = key.fold(parts, seed);
      if (fold == latest_ || key.first_part().empty()) continue;
      if (has_row(memory, index, *hash, fold, key.first_part())) {
        latest_ = fold;
        ++found_;
      } else {
        ++failed_;
      }
    }
  }
  if (found_ >= enough) {
    state_.store(State::good, std::memory_order_release);
  } else if (failed_ >= most_failed) {
    state_.store(State::bad, std::memory_order_release);
    log_warning(
        "handlersocket: handlersocket_prefetch does nothing: InnoDB's memory is not laid "
        "out as in the server for which this plugin was built");
  }
}

}  // namespace hs::mysqld::server
