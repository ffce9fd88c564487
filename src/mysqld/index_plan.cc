#include "mysqld/index_plan.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> result;
  if (names.empty()) return result;
  for (std::size_t begin = 0;;) {
    const std::size_t end = names.find(',', begin);
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

// Bytes of the image of an integer column, 0 for any other type.
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

}  // namespace

IndexPlan::IndexPlan(const protocol::OpenIndex& request, std::shared_ptr<TableSlot> slot,
                     TextEncoding encoding)
    : index_name_(request.index.empty() ? "PRIMARY" : request.index),
      column_names_(split_names(request.columns)),
      filter_names_(split_names(request.filter_columns)),
      slot_(std::move(slot)),
      encoding_(encoding) {}

IndexPlan::~IndexPlan() = default;

Status IndexPlan::resolve(TABLE& table) {
  if (table.s->get_table_ref_version() == table_version_) [[likely]]
    return {};
  if (Status status = resolve_index(table); !status.ok()) return status;
  if (Status status = resolve_columns(table); !status.ok()) return status;
  choose_access(table);
  table_version_ = table.s->get_table_ref_version();
  return {};
}

Status IndexPlan::resolve_index(TABLE& table) {
  uint index = MAX_KEY;
  if (index_name_[0] >= '0' && index_name_[0] <= '9') {
    const char* end = index_name_.data() + index_name_.size();
    const auto parsed = std::from_chars(index_name_.data(), end, index);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return Error::idxnum;
  } else {
    for (uint i = 0; i < table.s->keys; ++i) {
      if (server::index_name(table.key_info[i]) == index_name_) index = i;
    }
  }
  if (index >= table.s->keys || !server::is_searchable(table, index)) return Error::idxnum;
  index_ = index;
  return {};
}

Status IndexPlan::resolve_columns(TABLE& table) {
  if (column_names_.size() > max_columns || filter_names_.size() > max_columns) return Error::fld;
  std::vector<std::uint16_t> numbers;
  if (!find_columns(table, column_names_, numbers)) return Error::fld;
  if (!find_columns(table, filter_names_, filter_columns_)) return Error::fld;
  columns_.clear();
  for (const std::uint16_t number : numbers) {
    columns_.push_back({number, choose_column_format(*table.field[number], encoding_)});
  }
  return {};
}

// How the index is read: which columns have to be, and whether the index alone holds them.
void IndexPlan::choose_access(TABLE& table) {
  const KEY& key = table.key_info[index_];
  key_parts_ = key.user_defined_key_parts;
  has_prefix_parts_ = false;
  descends_ = (key.key_part[0].key_part_flag & HA_REVERSE_SORT) != 0;
  bool nullable = false;
  key_.clear();
  for (uint i = 0; i < key_parts_; ++i) {
    const KEY_PART_INFO& part = key.key_part[i];
    key_.push_back({integer_bytes(*part.field), part.field->is_unsigned(), part.null_bit != 0,
                    part.store_length});
    const Field& column = *table.field[part.fieldnr - 1];
    has_prefix_parts_ |=
        part.length < column.key_length() || (part.key_part_flag & HA_BLOB_PART) != 0;
    nullable |= part.null_bit != 0;
  }
  is_unique_ = (key.flags & HA_NOSAME) != 0 && !nullable && !has_prefix_parts_ &&
               !server::is_versioned(table);
  is_ordered_ = (table.file->index_flags(index_, 0, true) & HA_READ_ORDER) != 0;

  bitmap_clear_all(&table.tmp_set);
  MY_BITMAP* const read_set = table.read_set;
  table.read_set = &table.tmp_set;
  mark_read_columns(table);
  table.read_set = read_set;
  read_columns_.clear();
  for (uint i = 0; i < table.s->fields; ++i) {
    if (bitmap_is_set(&table.tmp_set, i)) read_columns_.push_back(static_cast<std::uint16_t>(i));
  }

  const auto in_index = [&](std::uint16_t number) {
    return table.field[number]->part_of_key.is_set(index_);
  };
  covering_ = !server::is_clustering(table, index_) &&
              (table.file->index_flags(index_, 0, true) & HA_KEYREAD_ONLY) != 0 &&
              std::all_of(columns_.begin(), columns_.end(),
                          [&](const PlannedColumn& column) { return in_index(column.field); }) &&
              std::all_of(filter_columns_.begin(), filter_columns_.end(), in_index) &&
              !has_prefix_parts_ && !server::is_versioned(table);
}

void IndexPlan::mark_read_columns(TABLE& table) const {
  for (const PlannedColumn& column : columns_)
    server::mark_to_read(table, *table.field[column.field]);
  for (const std::uint16_t number : filter_columns_)
    server::mark_to_read(table, *table.field[number]);
  if (has_prefix_parts_) {
    const KEY& key = table.key_info[index_];
    for (uint i = 0; i < key_parts_; ++i) {
      server::mark_to_read(table, *table.field[key.key_part[i].fieldnr - 1]);
    }
  }
  server::mark_version_columns(table);
}

void IndexPlan::take_down(OpenTable& opened) {
  server::end_keyread(*opened.table);
  opened.table->file->ha_index_or_rnd_end();
  opened.plan = nullptr;
  opened.setup = 0;
}

Status IndexPlan::set_up_reader_slow(OpenTable& opened) {
  TABLE& table = *opened.table;
  take_down(opened);
  if (Status status = resolve(table); !status.ok()) return status;
  table.clear_column_bitmaps();
  for (const std::uint16_t number : read_columns_) bitmap_set_bit(table.read_set, number);
  if (covering_) server::start_keyread(table, index_);
  if (const int error = table.file->ha_index_init(index_, is_ordered_); error != 0) {
    take_down(opened);
    return Status::server(static_cast<std::uint32_t>(error));
  }
  opened.plan = this;
  return {};
}

}  // namespace hs::mysqld
