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
  in_next_ = 0;
  offset_ = request.offset;
  limit_ = request.limit;
  examined_ = 0;
  if (!request.in.values.empty()) seen_.clear(request.in.values.size());
  next_search();
  return {};
}

// Makes the search of the next value of IN, or the only one. False after the last.
bool IndexScan::next_search() {
  const protocol::In& in = request_->in;
  const protocol::Value* value = nullptr;
  const KEY_PART_INFO& in_part = table_->key_info[plan_->index()].key_part[in.key_part];
  std::uint32_t in_offset = 0;
  if (!in.values.empty()) {
    for (std::uint32_t i = 0; i < in.key_part; ++i) {
      in_offset += table_->key_info[plan_->index()].key_part[i].store_length;
    }
  }
  for (;;) {
    if (!in.values.empty()) {
      if (in_next_ == in.values.size()) return false;
      value = &in.values[in_next_++];
    }
    make_key_search(*plan_, *table_, request_->key, comparison_, value, in.key_part, search_);
    prefix_.prepare(*plan_, *table_, request_->key, value, in.key_part, search_);
    if (value == nullptr || search_.nothing || search_.parts <= in.key_part) break;
    std::array<unsigned char, 4 * max_key_bytes> weights;
    if (seen_.insert(identity(in_part, search_.image.data() + in_offset, weights))) break;
  }
  at_start_ = true;
  one_row_ = search_.comparison == Comparison::equal && plan_->is_unique(search_.parts);
  return true;
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
      if (request_->in.values.empty() || !next_search()) return HA_ERR_END_OF_FILE;
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
