#include "mysqld/value_store.h"

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

// While it lives, stores report what they had to change in their return value,
// and neither errors nor warnings remain.
class QuietChecks {
 public:
  explicit QuietChecks(THD* thd)
      : thd_(thd), count_cuted_fields_(thd->count_cuted_fields), abort_on_warning_(thd->abort_on_warning) {
    thd->count_cuted_fields = CHECK_FIELD_WARN;
    thd->abort_on_warning = false;
  }
  ~QuietChecks() {
    thd_->count_cuted_fields = count_cuted_fields_;
    thd_->abort_on_warning = abort_on_warning_;
    Diagnostics_area& area = *thd_->get_stmt_da();
    if (area.is_error()) thd_->clear_error();
    if (area.current_statement_warn_count() != 0) area.clear_warning_info(thd_->query_id);
  }
  QuietChecks(const QuietChecks&) = delete;
  QuietChecks& operator=(const QuietChecks&) = delete;

  bool warned() const { return thd_->get_stmt_da()->current_statement_warn_count() != 0; }

 private:
  THD* thd_;
  enum_check_fields count_cuted_fields_;
  bool abort_on_warning_;
};

Fit fit_of(int stored_compared_with_asked) {
  if (stored_compared_with_asked == 0) return Fit::exact;
  return stored_compared_with_asked < 0 ? Fit::below : Fit::above;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\n\r\v\f") == std::string_view::npos; }

CHARSET_INFO* charset_of(const Field& field, TextEncoding encoding) {
  return encoding == TextEncoding::utf8mb4 ? &my_charset_utf8mb4_bin : field.charset();
}

int store_text(Field& field, std::string_view text, TextEncoding encoding) {
  return field.store(text.data(), text.size(), charset_of(field, encoding));
}

Fit store_exact_number(Field& field, std::string_view text) {
  my_decimal asked;
  const char* end = nullptr;
  const int error = str2my_decimal(0, text.data(), text.size(), &my_charset_latin1, &asked, &end);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if ((error & E_DEC_BAD_NUM) != 0 || end == text.data() || !is_blank(rest)) return Fit::none;
  store_text(field, text, TextEncoding::utf8mb4);
  my_decimal buffer;
  const my_decimal* stored = field.val_decimal(&buffer);
  return fit_of(my_decimal_cmp(stored, &asked));
}

Fit store_real(Field& field, std::string_view text) {
  char* end = nullptr;
  int error = 0;
  const double asked = my_charset_latin1.strntod(const_cast<char*>(text.data()), text.size(), &end, &error);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (end == text.data() || !is_blank(rest)) return Fit::none;
  const bool changed = store_text(field, text, TextEncoding::utf8mb4) != 0;
  // A FLOAT holds 0.1 as nearly as it can: that is a match, as it was when it was
  // written. Only a value outside of the column's range is not.
  if (!changed) return Fit::exact;
  return fit_of(field.val_real() < asked ? -1 : 1);
}

// Whether digits of the fraction were lost that are not zero.
bool loses_fraction(const Field& field, std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view fraction = text.substr(dot + 1);
  if (fraction.size() <= field.decimals()) return false;
  const std::size_t digit = fraction.find_first_not_of('0', field.decimals());
  return digit != std::string_view::npos && fraction[digit] >= '1' && fraction[digit] <= '9';
}

Fit store_temporal(Field& field, std::string_view text, const QuietChecks& checks) {
  const int error = store_text(field, text, TextEncoding::utf8mb4);
  if (error == 0 && !checks.warned()) {
    if (!loses_fraction(field, text)) return Fit::exact;
    const bool negative = text.find_first_not_of(' ') != std::string_view::npos &&
                          text[text.find_first_not_of(' ')] == '-';
    return negative ? Fit::above : Fit::below;
  }
  // A DATE was asked for with a time of the day that it cannot hold.
  if (field.type() == MYSQL_TYPE_DATE && error == 0) return Fit::below;
  return Fit::none;
}

Fit store_string(Field& field, std::string_view text, TextEncoding encoding) {
  CHARSET_INFO* const to = field.charset();
  CHARSET_INFO* const from = charset_of(field, encoding);
  StringBuffer<MAX_FIELD_WIDTH> converted;
  uint errors = 0;
  if (converted.copy(text.data(), text.size(), from, to, &errors) || errors != 0) return Fit::none;
  if (static_cast<std::size_t>(Well_formed_prefix(to, converted.ptr(), converted.length()).length()) !=
      converted.length()) {
    return Fit::none;
  }
  const int changed = field.store(converted.ptr(), converted.length(), to);
  if (changed == 0) {
    // BINARY(n) pads with zeros, which count: what is stored is longer than what was asked for.
    const bool padded = field.real_type() == MYSQL_TYPE_STRING && to == &my_charset_bin &&
                        converted.length() < field.field_length;
    return padded ? Fit::above : Fit::exact;
  }
  // Cut. Blanks at the end do not count where the collation pads.
  const std::size_t significant = to->lengthsp(converted.ptr(), converted.length());
  const bool pads = (to->state & MY_CS_NOPAD) == 0 && to != &my_charset_bin;
  if (pads && to->numchars(converted.ptr(), converted.ptr() + significant) <= field.char_length()) {
    return Fit::exact;
  }
  return Fit::below;
}

// ENUM and SET take a number for a position, too; SQL compares them as text.
Fit store_member(Field& field, std::string_view text, TextEncoding encoding) {
  if (store_text(field, text, encoding) != 0) return Fit::none;
  StringBuffer<MAX_FIELD_WIDTH> asked;
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  uint errors = 0;
  if (asked.copy(text.data(), text.size(), charset_of(field, encoding), field.charset(), &errors) ||
      errors != 0) {
    return Fit::none;
  }
  return sortcmp(field.val_str(&buffer, &buffer), &asked, field.charset()) == 0 ? Fit::exact : Fit::none;
}

}  // namespace

Fit store_comparable(Field& field, const protocol::Value& value, TextEncoding encoding) {
  const QuietChecks checks(field.table->in_use);
  field.set_notnull();
  const std::string_view text = value.bytes;
  switch (field.real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_NEWDECIMAL:
      return store_exact_number(field, text);
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
      return store_real(field, text);
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_TIME2:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_DATETIME2:
    case MYSQL_TYPE_TIMESTAMP:
    case MYSQL_TYPE_TIMESTAMP2:
      return store_temporal(field, text, checks);
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET:
      return store_member(field, text, encoding);
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_STRING:
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB:
      // UUID and INET share a string's type, but have a form that can be wrong.
      if (dynamic_cast<Field_longstr*>(&field) != nullptr) return store_string(field, text, encoding);
      break;
    default:
      break;
  }
  const bool changed = store_text(field, text, encoding) != 0;
  return changed || checks.warned() ? Fit::none : Fit::exact;
}

}  // namespace hs::mysqld
