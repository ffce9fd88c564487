#include "mysqld/reading/prefix_check.h"

#include <cassert>

#include "mysqld/reading/column_text.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {

using store::Value;

void PrefixCheck::prepare(const IndexPlan& plan, TABLE& table, std::span<const Value> key,
                          const Value* in_value, std::uint32_t in_part, const KeySearch& search) {
  if (!search.compared || search.nothing) return;
  parts_.clear();
  texts_.clear();
  table_ = &table;
  const KEY& info = table.key_info[plan.index()];
  std::uint32_t image = 0;
  for (std::uint32_t i = 0; i < search.given; ++i) {
    const Value& value = in_value != nullptr && i == in_part ? *in_value : key[i];
    Part part{.info = &info.key_part[i],
              .fit = search.fits[i],
              .null = value.null,
              .descends = plan.key()[i].descends,
              .image = image,
              .text = texts_.size(),
              .text_size = 0};
    if (part.fit == PartFit::prefix) {
      StringBuffer<MAX_FIELD_WIDTH> converted;
      // This conversion has succeeded before, when the image was made.
      const bool is_text =
          to_column_text(*part.info->field, value.bytes, plan.encoding(), converted);
      assert(is_text);
      if (is_text) texts_.append(converted.ptr(), converted.length());
      part.text_size = texts_.size() - part.text;
    }
    image += plan.key()[i].store_length;
    parts_.push_back(part);
  }
}

// Less than, equal to or greater than 0, as the row's column is compared with the value in the
// request.
int PrefixCheck::compare_part(const Part& part, const unsigned char* image) const {
  if (part.fit == PartFit::no_image) return 1;
  Field& column = *table_->field[part.info->fieldnr - 1];
  if (column.is_null() || part.null) {
    return static_cast<int>(part.null) - static_cast<int>(column.is_null());
  }
  if (part.fit == PartFit::prefix) {
    StringBuffer<MAX_FIELD_WIDTH> buffer;
    const String* value = column.val_str(&buffer, &buffer);
    return server::compare(column.charset(), {value->ptr(), value->length()},
                           std::string_view(texts_).substr(part.text, part.text_size));
  }
  const std::size_t null_byte = part.info->null_bit != 0 ? 1 : 0;
  const int order = part.info->field->key_cmp(image + null_byte, part.info->length);
  if (order != 0 || part.fit == PartFit::exact) return order;
  return part.fit == PartFit::below ? -1 : 1;
}

bool PrefixCheck::compare_row(const KeySearch& search) const {
  int order = 0;
  for (const Part& part : parts_) {
    order = compare_part(part, search.image.data() + part.image);
    if (order == 0) continue;
    if (part.descends) order = -order;
    break;
  }
  return search.asked.contains(order);
}

}  // namespace hs::mysqld
