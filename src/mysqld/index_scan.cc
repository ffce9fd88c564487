#include "mysqld/index_scan.h"

#include <array>

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

using protocol::Comparison;

ha_rkey_function read_function(Comparison comparison) {
  switch (comparison) {
    case Comparison::greater: return HA_READ_AFTER_KEY;
    case Comparison::greater_equal: return HA_READ_KEY_OR_NEXT;
    case Comparison::less: return HA_READ_BEFORE_KEY;
    case Comparison::less_equal: return HA_READ_PREFIX_LAST_OR_PREV;
    case Comparison::equal:
    case Comparison::not_equal: break;
  }
  return HA_READ_KEY_EXACT;
}

bool goes_up(Comparison comparison) {
  return comparison == Comparison::greater || comparison == Comparison::greater_equal;
}

bool has_collation(const Field& field) {
  return field.charset() != &my_charset_bin && server::is_plain_string(field);
}

// An operator compares values: on an index whose first part descends it walks the other way.
Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::greater: return Comparison::less;
    case Comparison::greater_equal: return Comparison::less_equal;
    case Comparison::less: return Comparison::greater;
    case Comparison::less_equal: return Comparison::greater_equal;
    case Comparison::equal:
    case Comparison::not_equal: break;
  }
  return comparison;
}

// What makes two values of a key part the same: for text its collation's weights.
std::string_view identity(const KEY_PART_INFO& part, const unsigned char* image,
                          std::array<unsigned char, 4 * max_key_bytes>& weights) {
  const std::size_t null_bytes = part.null_bit != 0 ? 1 : 0;
  const auto* bytes = reinterpret_cast<const char*>(image);
  const bool is_null = null_bytes != 0 && image[0] != 0;
  if (is_null || !has_collation(*part.field)) return {bytes, part.store_length};
  const CHARSET_INFO* const charset = part.field->charset();
  const bool has_length = (part.key_part_flag & (HA_BLOB_PART | HA_VAR_LENGTH_PART)) != 0;
  const unsigned char* const begin = image + null_bytes + (has_length ? HA_KEY_BLOB_LENGTH : 0);
  std::string_view text(reinterpret_cast<const char*>(begin),
                        has_length ? uint2korr(image + null_bytes) : part.length);
  if (server::pads(charset)) text = text.substr(0, server::length_without_blanks(charset, text));
  const std::size_t size = server::make_weights(charset, text, weights);
  return {reinterpret_cast<const char*>(weights.data()), size};
}

}  // namespace

Status IndexScan::start(const IndexPlan& plan, TABLE& table, const protocol::Find& request) {
  if (request.key.size() > plan.key_parts()) return Error::kpnum;
  if (!plan.is_ordered() &&
      (request.comparison != Comparison::equal || request.key.size() != plan.key_parts())) {
    return Status::server(HA_ERR_WRONG_COMMAND);
  }
  if (Status status = filters_.prepare(plan, table, request.filters); !status.ok()) return status;
  plan_ = &plan;
  table_ = &table;
  request_ = &request;
  comparison_ = plan.descends() ? mirrored(request.comparison) : request.comparison;
  offset_ = request.offset;
  limit_ = request.limit;
  examined_ = 0;
  has_in_ = !request.in.values.empty();
  if (!has_in_) {
    search_for(nullptr);
    return {};
  }
  in_next_ = 0;
  in_offset_ = 0;
  for (std::uint32_t i = 0; i < request.in.key_part; ++i) {
    in_offset_ += plan.key()[i].store_length;
  }
  seen_.clear(request.in.values.size());
  search_next_in();
  return {};
}

void IndexScan::search_for(const protocol::Value* in_value) {
  const std::uint32_t in_part = request_->in.key_part;
  make_key_search(*plan_, *table_, request_->key, comparison_, in_value, in_part, search_);
  prefix_.prepare(*plan_, *table_, request_->key, in_value, in_part, search_);
  at_start_ = true;
  one_row_ = search_.comparison == Comparison::equal && plan_->is_unique(search_.parts);
}

// Makes the search of the next value of IN that has not had its turn. False after the last.
bool IndexScan::search_next_in() {
  const std::span<const protocol::Value> values = request_->in.values;
  while (in_next_ < values.size()) {
    search_for(&values[in_next_++]);
    if (is_new_in_value()) return true;
  }
  return false;
}

bool IndexScan::is_new_in_value() {
  const std::uint32_t in_part = request_->in.key_part;
  if (search_.nothing || search_.parts <= in_part) return true;
  const PlannedKeyPart& part = plan_->key()[in_part];
  const unsigned char* const image = search_.image.data() + in_offset_;
  if (part.integer_bytes != 0) [[likely]]
    return seen_.insert({reinterpret_cast<const char*>(image), part.store_length});
  std::array<unsigned char, 4 * max_key_bytes> weights;
  return seen_.insert(identity(table_->key_info[plan_->index()].key_part[in_part], image, weights));
}

int IndexScan::read_first() {
  handler& engine = *table_->file;
  if (search_.nothing) return HA_ERR_KEY_NOT_FOUND;
  if (search_.parts == 0) {
    return goes_up(search_.comparison) ? engine.ha_index_first(table_->record[0])
                                       : engine.ha_index_last(table_->record[0]);
  }
  return engine.ha_index_read_map(table_->record[0], search_.image.data(),
                                  (key_part_map{1} << search_.parts) - 1,
                                  read_function(prefix_.widened(search_.comparison)));
}

int IndexScan::read_following() {
  handler& engine = *table_->file;
  if (one_row_) return HA_ERR_END_OF_FILE;
  if (search_.comparison == Comparison::equal) {
    return engine.ha_index_next_same(table_->record[0], search_.image.data(), search_.length);
  }
  return goes_up(search_.comparison) ? engine.ha_index_next(table_->record[0])
                                     : engine.ha_index_prev(table_->record[0]);
}

int IndexScan::next() {
  while (limit_ != 0) {
    int error = 0;
    if (at_start_) {
      at_start_ = false;
      error = read_first();
    } else {
      error = read_following();
    }
    if (error == HA_ERR_KEY_NOT_FOUND || error == HA_ERR_END_OF_FILE) {
      if (!has_in_ || !search_next_in()) return HA_ERR_END_OF_FILE;
      continue;
    }
    if (error == HA_ERR_RECORD_DELETED) continue;
    if (error != 0) return error;
    ++examined_;
    if (server::is_killed(table_->in_use)) return server::killed_error;
    if (!server::is_current_row(*table_)) continue;
    if (!prefix_.matches(search_)) continue;
    const RowFilters::Decision decision = filters_.check();
    if (decision == RowFilters::Decision::stop) return HA_ERR_END_OF_FILE;
    if (decision == RowFilters::Decision::skip) continue;
    if (offset_ != 0) {
      --offset_;
      continue;
    }
    --limit_;
    return 0;
  }
  return HA_ERR_END_OF_FILE;
}

}  // namespace hs::mysqld
