#include "mysqld/reading/index_plan.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/table_opening.h"

namespace hs::mysqld {
namespace {

// How large the position of a parked find may be. An index with the primary key behind it has twice
// as many bytes as a key at most.
constexpr std::uint32_t max_position_bytes = 8192;

std::vector<std::string> split_names(std::string_view names, char separator) {
  std::vector<std::string> result;
  if (names.empty()) return result;
  for (std::size_t begin = 0;;) {
    const std::size_t end = names.find(separator, begin);
    result.emplace_back(names.substr(begin, end - begin));
    if (end == std::string_view::npos) return result;
    begin = end + 1;
  }
}

// The number of the column with exactly this name.
bool find_column(const TABLE& table, const std::string& name, std::uint16_t& number) {
  for (Field** field = table.field; *field != nullptr; ++field) {
    if (server::name_of(**field) != name) continue;
    if (server::is_hidden(**field)) return false;
    number = server::number_of(**field);
    return true;
  }
  return false;
}

bool find_columns(const TABLE& table, const std::vector<std::string>& names,
                  std::vector<std::uint16_t>& numbers) {
  numbers.clear();
  for (const std::string& name : names) {
    std::uint16_t number = 0;
    if (!find_column(table, name, number)) return false;
    numbers.push_back(number);
  }
  return true;
}

// Whether SQL compares the column with a string as text or bytes.
bool compares_as_text(const Field& field) {
  return server::is_plain_string(field) || (server::is_blob(field) && server::is_text(field));
}

bool has_bits(const KEY& key) {
  return std::any_of(
      key.key_part, key.key_part + key.user_defined_key_parts,
      [](const KEY_PART_INFO& part) { return part.field->real_type() == MYSQL_TYPE_BIT; });
}

// The bytes of an integer column's image; 0 for any other type.
std::uint8_t integer_bytes(const Field& field) {
  switch (field.real_type()) {
    case MYSQL_TYPE_TINY: return 1;
    case MYSQL_TYPE_SHORT: return 2;
    case MYSQL_TYPE_INT24: return 3;
    case MYSQL_TYPE_LONG: return 4;
    case MYSQL_TYPE_LONGLONG: return 8;
    default: return 0;
  }
}

TextImage text_image(const Field& field) {
  const CHARSET_INFO* const charset = field.charset();
  const bool is_variable = field.real_type() == MYSQL_TYPE_VARCHAR;
  if (!is_variable && field.real_type() != MYSQL_TYPE_STRING) return TextImage::by_field;
  // BINARY is filled with zeros, which count.
  if (charset == &my_charset_bin) return is_variable ? TextImage::bytes : TextImage::by_field;
  if (charset->mbminlen != 1 || (charset->state & MY_CS_NONASCII) != 0) return TextImage::by_field;
  return is_variable ? TextImage::ascii : TextImage::filled;
}

void mark_index(TABLE& table, uint index) {
  const KEY& key = table.key_info[index];
  for (uint i = 0; i < key.user_defined_key_parts; ++i) {
    server::mark_to_read(table, *table.field[key.key_part[i].fieldnr - 1]);
  }
}

// What decides how the bytes of a key part are read and ordered.
void append_shape(const Field& column, const KEY_PART_INFO& part, std::string& shape) {
  shape.append(server::name_of(column)).push_back('\0');
  for (const std::uint32_t number :
       {static_cast<std::uint32_t>(column.real_type()), static_cast<std::uint32_t>(part.length),
        static_cast<std::uint32_t>(part.store_length),
        static_cast<std::uint32_t>(part.key_part_flag),
        static_cast<std::uint32_t>(column.field_length),
        static_cast<std::uint32_t>(column.decimals()),
        static_cast<std::uint32_t>(column.charset()->number),
        static_cast<std::uint32_t>(column.is_unsigned())}) {
    shape.append(std::to_string(number)).push_back(' ');
  }
  // ALTER TABLE may give other numbers to the names, and the names are ordered by their numbers.
  if (column.real_type() == MYSQL_TYPE_ENUM || column.real_type() == MYSQL_TYPE_SET)
    shape.append(std::to_string(column.table->s->get_table_ref_version())).push_back(' ');
}

// The greatest whole number that the column holds, or the greatest one of 64 bits.
std::uint64_t most_of(const Field& field) {
  const auto of_bits = [&](unsigned bits) {
    return ~std::uint64_t{0} >> (64 - bits + (field.is_unsigned() ? 0 : 1));
  };
  switch (field.type()) {
    case MYSQL_TYPE_TINY: return of_bits(8);
    case MYSQL_TYPE_SHORT: return of_bits(16);
    case MYSQL_TYPE_INT24: return of_bits(24);
    case MYSQL_TYPE_LONG: return of_bits(32);
    case MYSQL_TYPE_LONGLONG: return of_bits(64);
    case MYSQL_TYPE_NEWDECIMAL: break;
    default: return 0;
  }
  const auto& decimal = static_cast<const Field_new_decimal&>(field);
  std::uint64_t most = 0;
  for (unsigned digits = decimal.precision - decimal.decimals(); digits != 0; --digits) {
    if (most > (~std::uint64_t{0} - 9) / 10) return ~std::uint64_t{0};
    most = most * 10 + 9;
  }
  return most;
}

store::ShapedColumn shaped(const Field& field) {
  using enum store::Spelling;
  store::ShapedColumn column{.name = std::string(server::name_of(field)),
                             .is_nullable = server::is_nullable(field),
                             .is_generated = server::is_generated(field),
                             .is_invisible = server::is_invisible(field),
                             .decimals = static_cast<std::uint8_t>(field.decimals()),
                             .most = most_of(field)};
  switch (field.type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG: column.spelling = field.is_unsigned() ? whole : integer; break;
    case MYSQL_TYPE_NEWDECIMAL: column.spelling = decimal; break;
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_DATE: column.spelling = date; break;
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP: column.spelling = date_and_time; break;
    default:
      column.spelling = compares_as_text(field) || server::is_blob(field) ? text : other;
      break;
  }
  return column;
}

}  // namespace

IndexPlan::IndexPlan(const store::IndexNames& names, std::shared_ptr<TableSlot> slot,
                     TextEncoding encoding, bool keeps_positions)
    : index_name_(names.index.empty() ? "PRIMARY" : names.index),
      every_column_(names.every_column),
      column_names_(split_names(names.columns, names.separator)),
      filter_names_(split_names(names.filter_columns, names.separator)),
      slot_(std::move(slot)),
      encoding_(encoding),
      keeps_positions_(keeps_positions) {}

IndexPlan::~IndexPlan() = default;

Status IndexPlan::resolve(TABLE& table) {
  if (table.s->get_table_ref_version() == table_version_) [[likely]]
    return {};
  if (Status status = resolve_index(table); !status.ok()) return status;
  if (Status status = resolve_columns(table); !status.ok()) return status;
  is_remote_ = server::serving_of(table) == Serving::remote;
  choose_access(table);
  if (every_column_) shape_ = shape_of(table);
  // Spider asks for other values than those of the key.
  if (is_remote_ && (has_prefix_parts_ || has_bits(table.key_info[index_]))) return Error::no_index;
  table_version_ = table.s->get_table_ref_version();
  return {};
}

Status IndexPlan::resolve_index(TABLE& table) {
  uint index = MAX_KEY;
  if (index_name_[0] >= '0' && index_name_[0] <= '9') {
    const char* end = index_name_.data() + index_name_.size();
    const auto parsed = std::from_chars(index_name_.data(), end, index);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return Error::no_index;
  } else {
    for (uint i = 0; i < table.s->keys; ++i) {
      if (server::index_name(table.key_info[i]) == index_name_) index = i;
    }
  }
  if (index >= table.s->keys || !server::is_searchable(table, index)) return Error::no_index;
  index_ = index;
  return {};
}

Status IndexPlan::resolve_columns(TABLE& table) {
  if (column_names_.size() > max_columns || filter_names_.size() > max_columns)
    return Error::no_column;
  if (every_column_) {
    column_names_.clear();
    for (Field** field = table.field; *field != nullptr; ++field) {
      if (!server::is_hidden(**field) && !server::is_invisible(**field))
        column_names_.emplace_back(server::name_of(**field));
    }
  }
  std::vector<std::uint16_t> numbers;
  if (!find_columns(table, column_names_, numbers)) return Error::no_column;
  std::vector<std::uint16_t> filter_numbers;
  if (!find_columns(table, filter_names_, filter_numbers)) return Error::no_column;
  columns_.clear();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Field& column = *table.field[numbers[i]];
    columns_.push_back({choose_column_reader(column, encoding_), numbers[i], column_names_[i]});
  }
  filter_columns_.clear();
  for (const std::uint16_t number : filter_numbers)
    filter_columns_.push_back({number, compares_as_text(*table.field[number]),
                               table.field[number]->part_of_key.is_set(index_)});
  return {};
}

// A key part without a column that can be named makes the index useless for whoever needs names.
std::shared_ptr<const store::IndexShape> IndexPlan::shape_of(TABLE& table) const {
  auto shape = std::make_shared<store::IndexShape>();
  std::vector<std::uint32_t> positions(table.s->fields, ~std::uint32_t{0});
  for (Field** field = table.field; *field != nullptr; ++field) {
    if (server::is_hidden(**field)) continue;
    positions[server::number_of(**field)] = static_cast<std::uint32_t>(shape->columns.size());
    shape->columns.push_back(shaped(**field));
  }
  shape->has_transactions = server::has_transactions(table);
  const KEY& key = table.key_info[index_];
  shape->is_unique = (key.flags & HA_NOSAME) != 0 && !has_prefix_parts_;
  for (std::uint32_t i = 0; i < key_parts_; ++i) {
    const Field& column = *table.field[key.key_part[i].fieldnr - 1];
    // The server adds it to each unique index of a table with row versions. Of a row that is there now
    // the other parts are enough.
    if (server::is_version_column(column)) continue;
    const std::uint32_t position = positions[server::number_of(column)];
    shape->key.push_back(position);
    shape->is_unique = shape->is_unique && position != ~std::uint32_t{0};
  }
  return shape;
}

// A hash index serves whole keys. Spider makes a condition of a range, and that is another one than
// the order of the index says, if there are several parts or NULL is among the values.
bool IndexPlan::can_search_limited(const store::Selection& selection) const {
  if (selection.range.bound == store::Bound::only)
    return is_ordered_ || selection.key.size() == key_parts_;
  if (!is_ordered_ || selection.range.bound == store::Bound::within) return false;
  const bool may_meet_null =
      key_[0].is_nullable && selection.range.direction == store::Direction::down;
  return selection.key.size() == 1 && !may_meet_null &&
         (!selection.in.values.empty() || !selection.key[0].null) &&
         std::ranges::none_of(selection.in.values, &store::Value::null);
}

// Decides how the index is read: which columns are needed, and whether the index alone holds them.
void IndexPlan::choose_access(TABLE& table) {
  const KEY& key = table.key_info[index_];
  key_parts_ = key.user_defined_key_parts;
  has_prefix_parts_ = has_compared_parts_ = false;
  bool nullable = false;
  key_.clear();
  key_names_.clear();
  for (uint i = 0; i < key_parts_; ++i) {
    const KEY_PART_INFO& part = key.key_part[i];
    const Field& column = *table.field[part.fieldnr - 1];
    const bool is_string = server::is_plain_string(column);
    const bool is_prefix = (is_string || server::is_blob(column)) &&
                           (part.length < column.key_length() ||
                            (part.key_part_flag & (HA_PART_KEY_SEG | HA_BLOB_PART)) != 0);
    key_.push_back({.integer_bytes = integer_bytes(*part.field),
                    .text_image = TextImage::by_field,
                    .text_room = 0,
                    .is_unsigned = part.field->is_unsigned(),
                    .is_nullable = part.null_bit != 0,
                    .is_string = is_string,
                    .is_prefix = is_prefix,
                    .descends = (part.key_part_flag & HA_REVERSE_SORT) != 0,
                    .blanks = server::blank_order(table, column),
                    .store_length = part.store_length});
    if (is_string && !is_prefix && key_.back().blanks == BlankOrder::kept) {
      key_.back().text_image = text_image(*part.field);
      key_.back().text_room = static_cast<std::uint32_t>(part.field->char_length());
    }
    key_names_.push_back(server::columns_of_key_part(table, column));
    has_prefix_parts_ |= is_prefix;
    has_compared_parts_ |= key_.back().is_compared();
    nullable |= part.null_bit != 0;
  }
  is_unique_ = (key.flags & HA_NOSAME) != 0 && !nullable && !has_prefix_parts_ &&
               !server::is_versioned(table);
  is_ordered_ = (table.file->index_flags(index_, 0, true) & HA_READ_ORDER) != 0;
  is_limited_ = !is_ordered_ || is_remote_;

  choose_position(table);

  choose_reading(table, columns_, Filters::all, to_read_);
  choose_reading(table, {}, Filters::all, to_count_);
  choose_reading(table, {}, Filters::of_index, to_count_by_index_);
}

void IndexPlan::choose_reading(TABLE& table, std::span<const store::Column> columns,
                               Filters filters, Reading& choice) const {
  bitmap_clear_all(&table.tmp_set);
  MY_BITMAP* const read_set = table.read_set;
  table.read_set = &table.tmp_set;
  mark_columns(table, columns, filters);
  table.read_set = read_set;
  choice.columns.clear();
  for (uint i = 0; i < table.s->fields; ++i) {
    if (bitmap_is_set(&table.tmp_set, i)) choice.columns.push_back(static_cast<std::uint16_t>(i));
  }

  const auto in_index = [&](const store::Column& column) {
    return table.field[column.number]->part_of_key.is_set(index_);
  };
  choice.covering = !server::is_clustering(table, index_) &&
                    (table.file->index_flags(index_, 0, true) & HA_KEYREAD_ONLY) != 0 &&
                    std::ranges::all_of(columns, in_index) &&
                    (filters == Filters::of_index ||
                     std::ranges::all_of(filter_columns_, &PlannedFilterColumn::in_index)) &&
                    !has_prefix_parts_ && !server::is_versioned(table);
}

// A row's position is its key image. If the index's own columns do not identify a row, the primary
// key has to help. InnoDB's indexes have it behind their own columns, are ordered by it, and can be
// searched by it; for other engines and for partitions this is not certain. Indexes with columns
// that are computed when a row is read, MERGE tables and versioned tables get no position.
void IndexPlan::choose_position(TABLE& table) {
  position_parts_ = position_length_ = 0;
  position_shape_.clear();
  if (!keeps_positions_ || !is_ordered_ || server::is_versioned(table) ||
      server::has_children(table)) {
    return;
  }
  const KEY& key = table.key_info[index_];
  const unsigned parts = server::identifying_parts(table, index_);
  const bool is_unique = (key.flags & HA_NOSAME) != 0;
  if (!is_unique && (table.part_info != nullptr || table.file->ht->db_type != DB_TYPE_INNODB)) {
    return;
  }
  std::uint32_t length = 0;
  std::string shape;
  for (unsigned i = 0; i < parts; ++i) {
    const KEY_PART_INFO& part = key.key_part[i];
    const Field& column = *table.field[part.fieldnr - 1];
    const bool is_whole = part.length == column.key_length() && !server::is_blob(column);
    if (!server::is_stored(column) || (!is_unique && !is_whole)) return;
    length += part.store_length;
    append_shape(column, part, shape);
  }
  if (length > max_position_bytes) return;
  position_parts_ = parts;
  position_length_ = length;
  position_shape_ = std::move(shape);
}

void IndexPlan::mark_columns(TABLE& table, std::span<const store::Column> columns,
                             Filters filters) const {
  for (const store::Column& column : columns)
    server::mark_to_read(table, *table.field[column.number]);
  for (const PlannedFilterColumn& column : filter_columns_) {
    if (filters == Filters::all || column.in_index)
      server::mark_to_read(table, *table.field[column.number]);
  }
  const KEY_PART_INFO* const parts = table.key_info[index_].key_part;
  for (std::uint32_t i = 0; i < position_parts_; ++i)
    server::mark_to_read(table, *table.field[parts[i].fieldnr - 1]);
  // The server merges the rows of several partitions by the columns of the index, and then by the
  // primary key.
  const bool is_partitioned = table.part_info != nullptr;
  if (has_compared_parts_ || is_partitioned || server::ends_by_columns(table))
    mark_index(table, index_);
  if (is_partitioned && table.s->primary_key != MAX_KEY) mark_index(table, table.s->primary_key);
  server::mark_version_columns(table);
}

void IndexPlan::take_down(OpenTable& opened) {
  opened.end_index();
  opened.plan = nullptr;
  opened.setup = 0;
}

int IndexPlan::read_key_columns(OpenTable& opened) const {
  TABLE& table = *opened.table;
  const KEY& key = table.key_info[index_];
  const auto is_read = [&](const KEY_PART_INFO& part) {
    return bitmap_is_set(table.read_set, part.fieldnr - 1U);
  };
  if (std::all_of(key.key_part, key.key_part + key_parts_, is_read)) return 0;
  table.file->ha_index_end();
  mark_index(table, index_);
  const int error = table.file->ha_index_init(index_, is_ordered_);
  if (error != 0) take_down(opened);
  return error;
}

Status IndexPlan::set_up_counter(OpenTable& opened, std::span<const store::Filter> filters) {
  // The columns are those of the table at the time when the plan was resolved for it. The scan
  // refuses a column that the open index does not have.
  if (Status status = resolve(*opened.table); !status.ok()) return status;
  const bool by_index = std::ranges::all_of(filters, [this](const store::Filter& filter) {
    return filter.column < filter_columns_.size() && filter_columns_[filter.column].in_index;
  });
  const std::uint32_t number = by_index ? counting_by_index : counting;
  if (opened.plan == this && opened.setup == number) return {};
  return set_up(opened, by_index ? to_count_by_index_ : to_count_, number);
}

Status IndexPlan::set_up(OpenTable& opened, const Reading& choice, std::uint32_t number) {
  TABLE& table = *opened.table;
  take_down(opened);
  if (Status status = resolve(table); !status.ok()) return status;
  table.clear_column_bitmaps();
  for (const std::uint16_t column : choice.columns) bitmap_set_bit(table.read_set, column);
  if (choice.covering) server::start_keyread(table, index_);
  if (const int error = table.file->ha_index_init(index_, is_ordered_); error != 0) {
    take_down(opened);
    return server::status_of(error);
  }
  opened.begin_counting();
  opened.plan = this;
  opened.setup = number;
  return {};
}

}  // namespace hs::mysqld
