#include "mysqld/reading/in_values.h"

#include <cstring>
#include <span>
#include <utility>

#include "mysqld/reading/column_text.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

// A longer text is the same only if its bytes are the same, because a collation's weights take many
// times the memory of the text.
constexpr std::size_t max_weighed_bytes = std::size_t{64} << 10;

// The text without an end that equals blanks, for a collation that ignores blanks at the end. Other
// characters may equal a blank, such as the no-break space, or have no weight.
std::string_view without_padding(const CHARSET_INFO* charset, std::string_view text) {
  text = text.substr(0, server::length_without_blanks(charset, text));
  const bool ends_plainly =
      charset->mbminlen == 1 && (text.empty() || (text.back() > ' ' && text.back() <= '~'));
  if (ends_plainly || text.size() > max_weighed_bytes) return text;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::string_view character = rest.substr(0, server::character_size(charset, rest));
    at += character.size();
    if (server::compare(charset, character, {}) != 0) kept = at;
  }
  return text.substr(0, kept);
}

}  // namespace

void InValues::begin(const IndexPlan& plan, TABLE& table, std::uint32_t part, std::size_t count) {
  plan_ = &plan;
  table_ = &table;
  part_ = part;
  count_ = count;
  offset_ = 0;
  for (std::uint32_t i = 0; i < part; ++i) offset_ += plan.key()[i].store_length;
  null_seen_ = false;
  any_inexact_ = false;
  seen_.clear(count);
}

bool InValues::is_new_slow(const store::Value& value, const KeySearch& search) {
  if (value.null) return !std::exchange(null_seen_, true);
  const PartFit fit = search.fits[part_];
  if (fit == PartFit::exact || fit == PartFit::prefix) {
    return seen_.insert(identity(value, search.image.data() + offset_, fit));
  }
  if (!std::exchange(any_inexact_, true)) seen_inexact_.clear(count_);
  return seen_inexact_.insert(value.bytes);
}

// Bytes that are the same for two values if the values are the same. Not for NULL.
std::string_view InValues::identity(const store::Value& value, const unsigned char* image,
                                    PartFit fit) {
  const KEY_PART_INFO& part = table_->key_info[plan_->index()].key_part[part_];
  if (part.null_bit != 0) ++image;
  const auto* bytes = reinterpret_cast<const char*>(image);
  const bool has_length = (part.key_part_flag & (HA_BLOB_PART | HA_VAR_LENGTH_PART)) != 0;
  std::string_view indexed{bytes, part.length};
  if (has_length) {
    indexed = {bytes + HA_KEY_BLOB_LENGTH, uint2korr(image)};
  } else if (part.field->real_type() == MYSQL_TYPE_STRING) {
    // The image is filled up with blanks, which are no part of the value of a CHAR.
    const CHARSET_INFO* const charset = part.field->charset();
    indexed = indexed.substr(0, server::length_without_blanks(charset, indexed));
  }
  if (fit == PartFit::prefix) {
    StringBuffer<MAX_FIELD_WIDTH> text;
    if (!to_column_text(*part.field, value.bytes, plan_->encoding(), text)) return value.bytes;
    // The beginning counts, too, since the index is searched by it: ß is ss, but no s is ß. If both
    // are the same, the value may also come as one that is not cut.
    const std::size_t whole = weigh(*part.field, {text.ptr(), text.length()}, 0);
    const std::size_t both = weigh(*part.field, indexed, whole);
    const std::string_view all = weighed(both);
    return all.substr(0, whole) == all.substr(whole) ? all.substr(0, whole) : all;
  }
  if (!plan_->key()[part_].is_string)
    return {bytes, part.store_length - (part.null_bit != 0 ? 1U : 0U)};
  return weighed(weigh(*part.field, indexed, 0));
}

// Appends what tells the text from others to the first `size` bytes of identity_. Returns their
// number then. It ends with the number of bytes added, so that two texts cannot be taken for two
// others.
std::size_t InValues::weigh(const Field& field, std::string_view text, std::size_t size) {
  const CHARSET_INFO* const charset = field.charset();
  if (server::pads(charset)) text = without_padding(charset, text);
  const bool is_weighed = charset != &my_charset_bin && text.size() <= max_weighed_bytes;
  const std::size_t room =
      is_weighed ? server::room_for_weights(charset, text.size()) : text.size();
  std::uint32_t added = 0;
  if (identity_.size() < size + room + sizeof(added)) identity_.resize(size + room + sizeof(added));
  const std::span<unsigned char> to = std::span(identity_).subspan(size, room);
  if (is_weighed) {
    added = static_cast<std::uint32_t>(server::make_weights(charset, text, to));
  } else {
    added = static_cast<std::uint32_t>(text.copy(reinterpret_cast<char*>(to.data()), to.size()));
  }
  std::memcpy(identity_.data() + size + added, &added, sizeof(added));
  return size + added + sizeof(added);
}

std::string_view InValues::weighed(std::size_t size) const {
  return {reinterpret_cast<const char*>(identity_.data()), size};
}

}  // namespace hs::mysqld
