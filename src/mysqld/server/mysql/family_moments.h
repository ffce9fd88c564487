// MySQL's half of server/moments.h.
#pragma once

namespace hs::mysqld::server {

inline Moment read_date(THD* thd, std::string_view text) {
  String string(text.data(), text.size(), &my_charset_utf8mb4_bin);
  MYSQL_TIME_STATUS status;
  Moment moment;
  if (get_mysql_time_from_str_no_warn(thd, &string, &moment.parts, &status) ||
      status.warnings != 0) {
    return moment;
  }
  const bool has_zone = moment.parts.time_type == MYSQL_TIMESTAMP_DATETIME_TZ;
  if (has_zone && convert_time_zone_displacement(thd->time_zone(), &moment.parts)) return moment;
  moment.known = true;
  moment.order = TIME_to_longlong_datetime_packed(moment.parts);
  return moment;
}

// SQL compares a TIME with the text as the column would store it, rounded to the column's digits.
inline Moment read_time(Field& field, std::string_view text) {
  MYSQL_TIME_STATUS status;
  Moment moment;
  MYSQL_TIME& parts = moment.parts;
  if (str_to_time(text.data(), text.size(), &parts, &status)) return moment;
  if ((status.warnings & MYSQL_TIME_WARN_TRUNCATED) != 0) return moment;
  const sql_mode_t mode = field.table->in_use->variables.sql_mode;
  const bool truncate = (mode & MODE_TIME_TRUNCATE_FRACTIONAL) != 0;
  if (time_add_nanoseconds_adjust_frac(&parts, status.nanoseconds, &status.warnings, truncate) ||
      my_time_adjust_frac(&parts, field.decimals(), truncate)) {
    return moment;
  }
  adjust_time_range(&parts, &status.warnings);
  parts.time_type = MYSQL_TIMESTAMP_TIME;
  if (parts.hour == 0 && parts.minute == 0 && parts.second == 0 && parts.second_part == 0)
    parts.neg = false;
  moment.known = true;
  moment.order = Time_val(parts).for_comparison();
  // The value read is the greatest possible one, and the text means one beyond it.
  if ((status.warnings & MYSQL_TIME_WARN_OUT_OF_RANGE) != 0) moment.order += parts.neg ? -1 : 1;
  return moment;
}

inline std::int64_t date_order(Field& field) {
  Datetime_val value;
  if (field.val_datetime(&value, TIME_NO_FLAGS)) return 0;
  return TIME_to_longlong_datetime_packed(value);
}

inline std::int64_t time_order(Field& field) {
  Time_val value;
  value.set_zero();
  field.val_time(&value);
  return value.for_comparison();
}

}  // namespace hs::mysqld::server
