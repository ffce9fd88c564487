#include "mysqld/reading/text_prefix.h"

#include <algorithm>

#include "mysqld/reading/column_text.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

// The greatest character of Unicode in this character set, which can hold it.
std::string_view greatest_character(const CHARSET_INFO* charset) {
  using namespace std::string_view_literals;
  if (charset->mbminlen == 1) return "\xf4\x8f\xbf\xbf"sv;
  if (charset->mbminlen == 4) return "\x00\x10\xff\xff"sv;
  char ascii[4];
  server::encode_ascii(charset, 'a', ascii);
  return ascii[0] == 'a' ? "\xff\xdb\xff\xdf"sv : "\xdb\xff\xdf\xff"sv;
}

// Many collations take 0xFFFF for the greatest character, although these character sets hold others
// that are greater. SQL does not find texts with those by such an index. Here they are found, as
// without the index.
void raise_greatest(const CHARSET_INFO* charset, std::size_t size, server::LikeRange& range) {
  if ((charset->state & MY_CS_UNICODE) == 0 || charset->mbmaxlen < 4) return;
  // What follows the beginning of all these texts differs in the two.
  const auto* const first = range.greatest.data();
  std::size_t end = static_cast<std::size_t>(
      std::mismatch(first, first + size, range.least.data()).first - first);
  end -= end % charset->mbminlen;
  if (end == size) return;
  const std::string_view rest(first + end, size - end);
  const std::string_view greatest = greatest_character(charset);
  const std::string_view known = rest.substr(0, server::character_size(charset, rest));
  if (server::compare(charset, greatest, known) <= 0) return;
  for (; end + greatest.size() <= size; end += greatest.size())
    greatest.copy(range.greatest.data() + end, greatest.size());
  server::fill_blanks(charset, reinterpret_cast<unsigned char*>(range.greatest.data()) + end,
                      size - end);
  range.greatest_length = end;
}

// Where texts are filled with blanks to be compared, one with a character below the blank behind the
// beginning is less than the beginning alone. Binary collations take that for the least all the same,
// and SQL does not find such texts by an index. Here they are found, as without the index.
void lower_least(const CHARSET_INFO* charset, std::size_t size, server::LikeRange& range) {
  if (!server::pads(charset) || range.least_length >= size) return;
  std::fill(range.least.begin() + range.least_length, range.least.begin() + size, '\0');
  range.least_length = size;
}

}  // namespace

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
  lower_least(part.field->charset(), part.length, range);
  raise_greatest(part.field->charset(), part.length, range);
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
