#include "mysqld/reading/text_prefix.h"

#include <algorithm>

#include "mysqld/reading/column_text.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {

bool TextPrefix::prepare(const IndexPlan& plan, TABLE& table, std::uint32_t part,
                         const store::Value& value) {
  if (!plan.key()[part].is_string) return false;
  plan_ = &plan;
  table_ = &table;
  part_ = part;
  pattern_.clear();
  StringBuffer<MAX_FIELD_WIDTH> text;
  const Field& field = *table.key_info[plan.index()].key_part[part].field;
  is_nothing_ = value.null || !to_column_text(field, value.bytes, plan.encoding(), text);
  if (!is_nothing_)
    server::make_prefix_pattern(field.charset(), {text.ptr(), text.length()}, pattern_);
  return true;
}

void TextPrefix::narrow(KeySearch& search, Edge edge) const {
  if (is_nothing_) search.nothing = true;
  const PartFit* const fits = search.fits.data();
  const bool leads_there =
      !search.nothing && search.parts == part_ &&
      std::all_of(fits, fits + search.given, [](PartFit fit) { return fit == PartFit::exact; });
  if (!leads_there) return;
  const KEY_PART_INFO& part = table_->key_info[plan_->index()].key_part[part_];
  unsigned char* to = search.image.data() + search.length;
  if (part.null_bit != 0) *to++ = 0;
  const bool has_length = (part.key_part_flag & (HA_BLOB_PART | HA_VAR_LENGTH_PART)) != 0;
  server::LikeRange range;
  if (!server::find_like_range(part.field->charset(), pattern_, part.length, range)) return;
  const bool is_least = edge == Edge::least;
  const std::size_t length = is_least ? range.least_length : range.greatest_length;
  if (has_length) {
    int2store(to, static_cast<std::uint16_t>(length));
    to += HA_KEY_BLOB_LENGTH;
  }
  std::memcpy(to, is_least ? range.least.data() : range.greatest.data(), part.length);
  ++search.parts;
  search.length += part.store_length;
}

bool TextPrefix::matches() const {
  const KEY_PART_INFO& part = table_->key_info[plan_->index()].key_part[part_];
  Field& column = *table_->field[part.fieldnr - 1];
  if (is_nothing_ || column.is_null()) return false;
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  const String* const text = column.val_str(&buffer, &buffer);
  return server::is_like(column.charset(), {text->ptr(), text->length()}, pattern_);
}

}  // namespace hs::mysqld
