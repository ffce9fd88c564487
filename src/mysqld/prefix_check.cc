#include "mysqld/prefix_check.h"

#include "mysqld/server_api.h"

namespace hs::mysqld {

using protocol::Comparison;
using protocol::Value;

void PrefixCheck::prepare(const IndexPlan& plan, TABLE& table, std::span<const Value> key,
                          const Value* in_value, std::uint32_t in_part, const KeySearch& search) {
  parts_.clear();
  if (!plan.has_prefix_parts() || search.nothing) return;
  table_ = &table;
  const KEY& info = table.key_info[plan.index()];
  std::uint32_t image = 0;
  for (std::uint32_t i = 0; i < search.parts; ++i) {
    const KEY_PART_INFO& part = info.key_part[i];
    const Value& value = in_value != nullptr && i == in_part ? *in_value : key[i];
    const bool is_prefix = (part.key_part_flag & (HA_PART_KEY_SEG | HA_BLOB_PART)) != 0;
    Part check{&part, is_prefix, value.null, image, {}};
    if (is_prefix && !value.null) {
      String converted;
      uint errors = 0;
      const CHARSET_INFO* const to = part.field->charset();
      const CHARSET_INFO* const from =
          plan.encoding() == TextEncoding::utf8mb4 ? &my_charset_utf8mb4_bin : to;
      converted.copy(value.bytes.data(), value.bytes.size(), from, to, &errors);
      check.value.assign(converted.ptr(), converted.length());
    }
    image += part.store_length;
    parts_.push_back(std::move(check));
  }
}

Comparison PrefixCheck::widened(Comparison comparison) const {
  if (parts_.empty()) return comparison;
  if (comparison == Comparison::greater) return Comparison::greater_equal;
  if (comparison == Comparison::less) return Comparison::less_equal;
  return comparison;
}

int PrefixCheck::compare_part(const Part& part, const TABLE& table, const unsigned char* image) {
  Field& column = *table.field[part.info->fieldnr - 1];
  if (column.is_null() || part.null) {
    return static_cast<int>(part.null) - static_cast<int>(column.is_null());
  }
  if (!part.is_prefix)
    return part.info->field->key_cmp(image + (part.info->null_bit != 0 ? 1 : 0), part.info->length);
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  const String* value = column.val_str(&buffer, &buffer);
  return server::compare(column.charset(), {value->ptr(), value->length()}, part.value);
}

bool PrefixCheck::compare_row(const KeySearch& search) const {
  int order = 0;
  for (const Part& part : parts_) {
    order = compare_part(part, *table_, search.image.data() + part.image);
    if (order == 0) continue;
    if ((part.info->key_part_flag & HA_REVERSE_SORT) != 0) order = -order;
    break;
  }
  switch (search.comparison) {
    case Comparison::greater: return order > 0;
    case Comparison::greater_equal: return order >= 0;
    case Comparison::less: return order < 0;
    case Comparison::less_equal: return order <= 0;
    case Comparison::equal:
    case Comparison::not_equal: break;
  }
  return order == 0;
}

}  // namespace hs::mysqld
