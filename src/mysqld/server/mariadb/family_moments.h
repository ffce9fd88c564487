// MariaDB's half of server/moments.h.
#pragma once

namespace hs::mysqld::server {
namespace detail {

// Packs what was read. `sql_mode` says whether digits after the sixth round it.
inline Moment make_moment(const THD* thd, const MYSQL_TIME& parts,
                          const MYSQL_TIME_STATUS& status) {
  Moment moment{true, pack_time(&parts), parts};
  const bool rounds = (thd->variables.sql_mode & MODE_TIME_ROUND_FRACTIONAL) != 0;
  if (rounds && status.nanoseconds >= 500) moment.order += parts.neg ? -1 : 1;
  return moment;
}

}  // namespace detail

inline Moment read_date(THD* thd, std::string_view text) {
  MYSQL_TIME parts;
  MYSQL_TIME_STATUS status;
  my_time_status_init(&status);
  if (str_to_datetime_or_date(text.data(), text.size(), &parts, C_TIME_INVALID_DATES, &status) ||
      MYSQL_TIME_WARN_HAVE_WARNINGS(status.warnings)) {
    return {};
  }
  return detail::make_moment(thd, parts, status);
}

inline Moment read_time(Field& field, std::string_view text) {
  MYSQL_TIME parts;
  MYSQL_TIME_STATUS status;
  my_time_status_init(&status);
  if (str_to_datetime_or_date_or_time(text.data(), text.size(), &parts, C_TIME_INVALID_DATES,
                                      &status, TIME_MAX_HOUR, UINT_MAX32) ||
      (status.warnings & MYSQL_TIME_WARN_TRUNCATED) != 0) {
    return {};
  }
  if (parts.time_type != MYSQL_TIMESTAMP_TIME) {
    parts.year = parts.month = parts.day = 0;
    parts.time_type = MYSQL_TIMESTAMP_TIME;
  }
  return detail::make_moment(field.table->in_use, parts, status);
}

inline std::int64_t date_order(Field& field) {
  return field.val_datetime_packed(field.table->in_use);
}

inline std::int64_t time_order(Field& field) { return field.val_time_packed(field.table->in_use); }

}  // namespace hs::mysqld::server
