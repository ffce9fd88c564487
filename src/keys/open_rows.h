// OpenRows: the indexes that commands of a thread's connections have opened, by what they asked for.
//
// Each thread that serves the port has one, for its own store. Opening an index means to look up names,
// and to learn which fields are columns; that is done once for a key's name and a list of fields, whoever
// asks. A client chooses both, so their number and size are bounded. What is remembered is true for one
// version of the table: whoever uses it compares the index's version.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/short_bytes.h"
#include "base/status.h"
#include "keys/container.h"
#include "keys/key.h"
#include "store/index_shape.h"
#include "store/store.h"

namespace hs::keys {

// Which columns of a row a command needs.
enum class Asks : char {
  nothing = 'n',
  erases = 'd',   // none, to delete the row
  fields = 'f',   // those of the fields that are columns
  changes = 'c',  // the same, each once, and behind them the columns of the key
  every = 'e',    // all
  key = 'k',      // those of the key
  item = 'i',     // those of the container
  value = 'v',    // of an item: its value, and whether it has expired
  shown = 'w',    // the same and its flags
  // Those of a search by an index that need not be unique, see SearchColumns.
  search = 's',
};

// What a search asks of the columns of its table. They are given to OpenRows as one list of names: those
// that it answers or sets, an empty name, and those of its filters. In place of the first ones another empty
// name means every column.
struct SearchColumns {
  static constexpr std::string_view separator{};

  explicit SearchColumns(std::span<const std::string_view> names)
      : every(names.size() > 1 && names[0] == separator && names[1] == separator) {
    const auto end = std::ranges::find(names, separator);
    fields = names.first(static_cast<std::size_t>(end - names.begin()));
    filters = names.subspan(fields.size() + (every ? 2 : 1));
  }
  bool every;
  std::span<const std::string_view> fields;
  std::span<const std::string_view> filters;
};

// Where the columns of an item are among those of its index. With `item` the columns of the key are behind
// them. What a command does not ask for is none.
struct ItemColumns {
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t values = 0;  // so many, the first ones
  std::size_t flags = none;
  std::size_t cas = none;
  std::size_t expiry = none;
  std::uint8_t expiry_decimals = 0;  // of its seconds
  bool expiry_may_be_null = false;
};

// An index, opened for commands that ask for the same.
struct RowAccess {
  // Places of a field that is no column, and of one that is the part of the key with the number n.
  static constexpr std::int32_t no_column = -1;
  static constexpr std::int32_t of_key(std::size_t part) {
    return -2 - static_cast<std::int32_t>(part);
  }
  static constexpr std::size_t key_part(std::int32_t place) {
    return static_cast<std::size_t>(-2 - place);
  }

  std::string text;  // what was asked for
  KeyNames names{};
  std::string columns{};  // as the store wants them
  bool every_column = false;
  bool keeps_positions = false;
  std::string filter_columns{};  // the same
  std::shared_ptr<store::Index> index{};
  std::shared_ptr<const store::IndexShape> shape{};
  std::uint64_t version = 0;
  // Of each field that was asked for: its place among the index's columns.
  std::vector<std::int32_t> places{};
  std::vector<std::int32_t> filter_places{};  // with `search`: the same of the filters' columns
  std::size_t field_columns = 0;              // how many columns are there for the fields
  // With `every`: the columns' names as OpenRows::WriteName has written them. None if they are long. An index that
  // has followed a change of its table may have other columns.
  std::vector<std::string> written_names{};
  // With `changes`: of these columns the positions in the shape.
  std::vector<std::uint32_t> positions{};
  // Of an item.
  std::shared_ptr<const Container> container{};
  ItemColumns item{};

  store::IndexNames index_names() const {
    return {.database = names.database,
            .table = names.table,
            .index = names.index,
            .columns = columns,
            .filter_columns = filter_columns,
            .every_column = every_column,
            .separator = '\0',
            .keeps_positions = keeps_positions};
  }
  bool is_current() const { return index->version() == version; }
};

// Whether the text is that of this name and these fields, without making it.
inline bool is_text_of(std::string_view text, std::string_view name, Asks asks,
                       std::span<const std::string_view> fields) {
  if (text[0] != static_cast<char>(asks)) return false;
  const char* next = text.data() + 1;
  const char* const end = text.data() + text.size();
  const auto takes = [&](std::string_view bytes) {
    std::uint32_t size = 0;
    if (static_cast<std::size_t>(end - next) < sizeof size + bytes.size()) return false;
    std::memcpy(&size, next, sizeof size);
    if (size != bytes.size() || !are_equal(next + sizeof size, bytes.data(), size)) return false;
    next += sizeof size + size;
    return true;
  };
  if (!takes(name)) return false;
  for (const std::string_view field : fields) {
    if (!takes(field)) return false;
  }
  return next == end;
}

// Whether the text is that of this name and some fields.
inline bool is_text_for(std::string_view text, std::string_view name, Asks asks) {
  constexpr std::size_t head = 1 + sizeof(std::uint32_t);
  if (text[0] != static_cast<char>(asks) || text.size() < head + name.size()) return false;
  std::uint32_t size = 0;
  std::memcpy(&size, text.data() + 1, sizeof size);
  return size == name.size() && are_equal(text.data() + head, name.data(), size);
}

// What the commands of one connection have used last.
class RememberedRows {
 public:
  struct Entry {
    std::shared_ptr<const RowAccess> access;  // null: nothing
    store::IndexUse use;
    // Of a request that has found it, on the worker that the connection belongs to. When it moves to another one, what it
    // remembers is forgotten, because the numbers are others there.
    std::uint64_t repeated = 0;
  };
  static constexpr std::size_t most_text = 512;  // of one that is remembered

  // What was opened for this name and these fields, see OpenRows::text_of(). If `repeated` is not 0, all requests of
  // this number ask for the same fields of a name, so these are compared once.
  Entry* find(std::string_view name, Asks asks, std::span<const std::string_view> fields,
              std::uint64_t repeated = 0) {
    for (Entry& entry : entries_) {
      if (entry.access == nullptr) continue;
      const std::string_view text = entry.access->text;
      const bool is_it = repeated != 0 && entry.repeated == repeated
                             ? is_text_for(text, name, asks)
                             : is_text_of(text, name, asks, fields);
      if (!is_it) continue;
      if (repeated != 0) entry.repeated = repeated;
      return &entry;
    }
    return nullptr;
  }
  // What was opened for the items of this container. Its place in memory stands for its name, because those of
  // another generation are forgotten.
  Entry* find(const Container& container, Asks asks) {
    for (Entry& entry : entries_) {
      if (entry.access != nullptr && entry.access->container.get() == &container &&
          entry.access->text[0] == static_cast<char>(asks))
        return &entry;
    }
    return nullptr;
  }
  // Takes the place of the one that was added longest ago.
  Entry& add(std::shared_ptr<const RowAccess> access,
             const std::shared_ptr<const store::Caller>& caller) {
    Entry& entry = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    entry.use = {access->index, caller};
    entry.repeated = 0;
    entry.access = std::move(access);
    return entry;
  }
  void clear() { entries_ = {}; }
  // Forgets what was opened under other containers than those of this generation.
  void follow(std::uint64_t generation) {
    if (generation == generation_) [[likely]]
      return;
    clear();
    generation_ = generation;
  }

 private:
  std::array<Entry, 8> entries_;
  std::size_t next_ = 0;
  std::uint64_t generation_ = 0;
};

class OpenRows {
 public:
  // Writes a column's name as it stands in replies. A protocol that names the columns of each row has this done
  // when the index is opened.
  using WriteName = std::string (*)(std::string_view name);
  explicit OpenRows(WriteName write_name = nullptr) : write_name_(write_name) {}

  // What is asked for, as a text that names it.
  std::string_view text_of(std::string_view name, Asks asks,
                           std::span<const std::string_view> fields);
  // What was opened for this text. Null: nothing.
  std::shared_ptr<const RowAccess> find(std::string_view text) const;
  // Opens it by the store, which has begun a pass. If the names are wrong, that is a mistake of the key.
  store::Outcome open(store::Store& store, const std::shared_ptr<const store::Caller>& caller,
                      std::string_view name, std::string_view default_database, Asks asks,
                      std::span<const std::string_view> fields,
                      std::shared_ptr<const RowAccess>& opened);
  // The same for the items of a container: `item`, `value` or `shown`. The text is that of its name.
  store::Outcome open_items(store::Store& store, const std::shared_ptr<const store::Caller>& caller,
                            const std::shared_ptr<const Container>& container, Asks asks,
                            std::shared_ptr<const RowAccess>& opened);
  void forget_all() { known_.clear(); }
  void forget(const RowAccess& access) { known_.erase(access.text); }
  // Frees the memory that a large request took.
  void give_back() {
    if (text_.capacity() > most_text) text_ = std::string();
  }

 private:
  static constexpr std::size_t most_known = 1024;
  static constexpr std::size_t most_text = 4096;  // a longer one is opened each time

  static void choose_columns(RowAccess& access, Asks asks,
                             std::span<const std::string_view> fields);
  static void choose_search_columns(RowAccess& access, std::span<const std::string_view> names);
  [[nodiscard]] static bool choose_item_columns(RowAccess& access);
  [[nodiscard]] static bool holds_items(const RowAccess& access);
  static void keep_columns_of_reads(RowAccess& access, bool flags);
  enum class Needs : std::uint8_t { unique_index, any_index };
  static store::Outcome open_shape(store::Store& store,
                                   const std::shared_ptr<const store::Caller>& caller,
                                   RowAccess& access, Needs needs, store::IndexUse& use);
  void write_names(RowAccess& access) const;
  void keep(std::shared_ptr<const RowAccess> access);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::shared_ptr<const RowAccess>, Hash, std::equal_to<>> known_;
  std::string text_;
  const WriteName write_name_;
};

}  // namespace hs::keys
