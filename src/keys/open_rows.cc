#include "keys/open_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hs::keys {
namespace {

using store::Outcome;

void append_with_size(std::string& text, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  char room[sizeof size];
  std::memcpy(room, &size, sizeof size);
  text.append(room, sizeof size);
  text += bytes;
}

// As SQL, whose columns have the same name in upper and lower case. Other letters than those of ASCII
// have to be written as they are.
std::string in_lower_case(std::string_view name) {
  std::string lower(name);
  for (char& byte : lower) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + ('a' - 'A'));
  }
  return lower;
}

// The numbers of the shape's columns, by their names.
class ColumnNumbers {
 public:
  explicit ColumnNumbers(const store::IndexShape& shape) : none(shape.columns.size()) {
    for (std::size_t i = 0; i < none; ++i)
      numbers_.emplace(in_lower_case(shape.columns[i].name), i);
  }
  std::size_t of(std::string_view name) const {
    const auto found = numbers_.find(in_lower_case(name));
    return found == numbers_.end() ? none : found->second;
  }
  const std::size_t none;

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

void append_name(std::string& names, const std::string& name) {
  if (!names.empty()) names.push_back('\0');
  names += name;
}

}  // namespace

std::string_view OpenRows::text_of(std::string_view name, Asks asks,
                                   std::span<const std::string_view> fields) {
  text_.clear();
  text_.push_back(static_cast<char>(asks));
  append_with_size(text_, name);
  for (const std::string_view field : fields) append_with_size(text_, field);
  return text_;
}

std::shared_ptr<const RowAccess> OpenRows::find(std::string_view text) const {
  const auto found = known_.find(text);
  return found == known_.end() ? nullptr : found->second;
}

// Says which columns the index is opened with. Those of the key come behind the fields.
void OpenRows::choose_columns(RowAccess& access, Asks asks,
                              std::span<const std::string_view> fields) {
  const store::IndexShape& shape = *access.shape;
  constexpr std::int32_t unused = -1;
  // Of each column of the shape: its place among those of the index.
  std::vector<std::int32_t> place_of(shape.columns.size(), unused);
  const ColumnNumbers numbers(shape);
  const auto add = [&](std::size_t number) {
    append_name(access.columns, shape.columns[number].name);
    access.positions.push_back(static_cast<std::uint32_t>(number));
    place_of[number] = static_cast<std::int32_t>(access.positions.size()) - 1;
  };
  for (const std::string_view field : fields) {
    const std::size_t number = numbers.of(field);
    if (number == numbers.none) {
      access.places.push_back(RowAccess::no_column);
      continue;
    }
    const auto part = std::ranges::find(shape.key, number);
    if (asks == Asks::changes && part != shape.key.end()) {
      access.places.push_back(
          RowAccess::of_key(static_cast<std::size_t>(part - shape.key.begin())));
      continue;
    }
    if (place_of[number] == unused) add(number);
    access.places.push_back(place_of[number]);
  }
  access.field_columns = access.positions.size();
  if (asks != Asks::changes && asks != Asks::key) return;
  for (const std::uint32_t number : shape.key) add(number);
  if (asks == Asks::changes) access.filter_columns = access.columns;
}

void OpenRows::choose_search_columns(RowAccess& access, std::span<const std::string_view> names) {
  const SearchColumns asked(names);
  access.keeps_positions = true;
  access.every_column = asked.every;
  choose_columns(access, Asks::search, asked.fields);
  const ColumnNumbers numbers(*access.shape);
  std::vector<std::size_t> added;
  for (const std::string_view name : asked.filters) {
    const std::size_t number = numbers.of(name);
    std::int32_t place = RowAccess::no_column;
    if (number != numbers.none) {
      const auto found = std::ranges::find(added, number);
      place = static_cast<std::int32_t>(found - added.begin());
      if (found == added.end()) {
        added.push_back(number);
        append_name(access.filter_columns, access.shape->columns[number].name);
      }
    }
    access.filter_places.push_back(place);
  }
}

// With every column, the store says which columns there are now.
Outcome OpenRows::open_shape(store::Store& store,
                             const std::shared_ptr<const store::Caller>& caller, RowAccess& access,
                             Needs needs, store::IndexUse& use) {
  access.every_column = true;
  if (const Outcome outcome = store.open_index(access.index_names(), caller, use); !outcome.ok())
    return outcome;
  access.shape = use.index().shape();
  if (access.shape == nullptr) return Error::no_index;
  if (needs == Needs::unique_index && !access.shape->is_unique)
    return status_of(KeyMistake::not_unique);
  access.version = use.index().version();
  return {};
}

// A client can open one table by many spellings of its name, so each may take little memory.
void OpenRows::write_names(RowAccess& access) const {
  std::size_t bytes = 0;
  for (const store::ShapedColumn& column : access.shape->columns) {
    access.written_names.push_back(write_name_(column.name));
    bytes += sizeof(std::string) + access.written_names.back().size();
    if (bytes <= most_text) continue;
    access.written_names = {};
    return;
  }
}

void OpenRows::keep(std::shared_ptr<const RowAccess> access) {
  if (access->text.size() > most_text) return;
  if (known_.size() >= most_known) known_.clear();
  known_.insert_or_assign(access->text, std::move(access));
}

Outcome OpenRows::open(store::Store& store, const std::shared_ptr<const store::Caller>& caller,
                       std::string_view name, std::string_view default_database, Asks asks,
                       std::span<const std::string_view> fields,
                       std::shared_ptr<const RowAccess>& opened) {
  auto access = std::make_shared<RowAccess>(RowAccess{.text = text_});
  if (const KeyMistake mistake = read_names(name, default_database, access->names);
      mistake != KeyMistake::none)
    return status_of(mistake);
  store::IndexUse use;
  const Needs needs = asks == Asks::search ? Needs::any_index : Needs::unique_index;
  if (const Outcome outcome = open_shape(store, caller, *access, needs, use); !outcome.ok())
    return outcome;
  if (asks != Asks::every) {
    access->every_column = false;
    if (asks == Asks::search) {
      choose_search_columns(*access, fields);
    } else {
      choose_columns(*access, asks, fields);
    }
    if (const Outcome outcome = store.open_index(access->index_names(), caller, use); !outcome.ok())
      return outcome;
  } else if (write_name_ != nullptr) {
    write_names(*access);
  }
  access->index = use.shared();
  opened = access;
  keep(std::move(access));
  return {};
}

// False: they are not columns of this table, or not of the kind that they have to be.
bool OpenRows::choose_item_columns(RowAccess& access) {
  const store::IndexShape& shape = *access.shape;
  const Container& container = *access.container;
  const auto position_of = [&](std::string_view name) {
    const std::string lower = in_lower_case(name);
    std::size_t at = 0;
    while (at < shape.columns.size() && in_lower_case(shape.columns[at].name) != lower) ++at;
    return at;
  };
  const auto add = [&](std::size_t position) {
    if (position == shape.columns.size()) return false;
    // A column that is to hold two things would hold one of them.
    if (std::ranges::find(access.positions, position) != access.positions.end()) return false;
    if (!access.columns.empty()) access.columns.push_back('\0');
    access.columns += shape.columns[position].name;
    access.positions.push_back(static_cast<std::uint32_t>(position));
    return true;
  };
  const auto is_of_key = [&](std::uint32_t position) {
    return std::ranges::find(shape.key, position) != shape.key.end();
  };
  const auto add_optional = [&](const std::string& name, std::size_t& place) {
    if (name.empty()) return true;
    place = access.positions.size();
    return add(position_of(name));
  };
  for (const std::string& name : container.value_columns) {
    if (!add(position_of(name))) return false;
  }
  ItemColumns& item = access.item;
  item = {.values = container.value_columns.size()};
  if (!add_optional(container.flags, item.flags) || !add_optional(container.cas, item.cas) ||
      !add_optional(container.expiry, item.expiry))
    return false;
  if (std::ranges::any_of(access.positions, is_of_key)) return false;
  const auto column = [&](std::size_t place) -> const store::ShapedColumn& {
    return shape.columns[access.positions[place]];
  };
  const auto is_number = [&](std::size_t place) {
    return store::is_number(column(place).spelling);
  };
  if (item.flags != ItemColumns::none && !is_number(item.flags)) return false;
  // Adding to NULL gives NULL, so nobody would see that the item has changed.
  if (item.cas != ItemColumns::none && (!is_number(item.cas) || column(item.cas).is_nullable))
    return false;
  if (item.expiry != ItemColumns::none) {
    if (!is_number(item.expiry)) return false;
    const store::ShapedColumn& expiry = column(item.expiry);
    const bool is_decimal = expiry.spelling == store::Spelling::decimal;
    item.expiry_decimals = is_decimal ? expiry.decimals : std::uint8_t{0};
    item.expiry_may_be_null = expiry.is_nullable;
  }
  if (container.key_columns.size() != shape.key.size()) return false;
  for (std::size_t part = 0; part < shape.key.size(); ++part) {
    if (position_of(container.key_columns[part]) != shape.key[part]) return false;
    if (!add(shape.key[part])) return false;
  }
  return true;
}

// Whether the columns but those of the value can hold the numbers that they get. If not, some later request
// would meet an error, or where SQL is not strict, a number that was cut. An INT with a sign is let pass,
// because tables of MySQL's memcached plugin have it: greater flags, and times beyond 2038, are errors of
// the requests that have them.
bool OpenRows::holds_items(const RowAccess& access) {
  constexpr std::uint64_t most_of_int = std::numeric_limits<std::int32_t>::max();
  // As many microseconds as there are until the year 2255, see ContainerSource::next_cas().
  constexpr std::uint64_t most_cas = std::uint64_t{1} << 53;
  const auto holds = [&](std::size_t place, std::uint64_t most) {
    return place == ItemColumns::none ||
           access.shape->columns[access.positions[place]].most >= most;
  };
  const ItemColumns& item = access.item;
  return holds(item.flags, most_of_int) && holds(item.expiry, most_of_int) &&
         holds(item.cas, most_cas);
}

// A read costs time for each column, so it has none that it does not show.
void OpenRows::keep_columns_of_reads(RowAccess& access, bool flags) {
  ItemColumns& item = access.item;
  std::vector<std::uint32_t> kept(
      access.positions.begin(),
      access.positions.begin() + static_cast<std::ptrdiff_t>(item.values));
  const auto keep = [&](std::size_t& place) {
    if (place == ItemColumns::none) return;
    kept.push_back(access.positions[place]);
    place = kept.size() - 1;
  };
  item.cas = ItemColumns::none;
  if (!flags) item.flags = ItemColumns::none;
  keep(item.flags);
  keep(item.expiry);
  access.positions = std::move(kept);
  access.columns.clear();
  for (const std::uint32_t position : access.positions)
    append_name(access.columns, access.shape->columns[position].name);
}

Outcome OpenRows::open_items(store::Store& store,
                             const std::shared_ptr<const store::Caller>& caller,
                             const std::shared_ptr<const Container>& container, Asks asks,
                             std::shared_ptr<const RowAccess>& opened) {
  auto access = std::make_shared<RowAccess>(
      RowAccess{.text = text_,
                .names = {container->database, container->table, container->index},
                .container = container});
  if (access->container->value_columns.empty()) return status_of(KeyMistake::unusable_container);
  store::IndexUse use;
  if (const Outcome outcome = open_shape(store, caller, *access, Needs::unique_index, use);
      !outcome.ok())
    return outcome;
  access->every_column = false;
  if (!choose_item_columns(*access)) return status_of(KeyMistake::unusable_container);
  const bool holds = holds_items(*access);
  if (asks != Asks::item) keep_columns_of_reads(*access, asks == Asks::shown);
  if (const Outcome outcome = store.open_index(access->index_names(), caller, use); !outcome.ok())
    return outcome;
  // The types of columns are told to whom may read them.
  if (!holds) return status_of(KeyMistake::small_column);
  access->index = use.shared();
  opened = access;
  keep(std::move(access));
  return {};
}

}  // namespace hs::keys
