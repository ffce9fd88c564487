// Dates and times as SQL reads and compares them. All functions are inline.
//
// Called on the worker's thread while a QuietChecks exists. Only api.h includes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace hs::mysqld::server {

// A date, a time or both. `order` is a number by which moments of one kind are ordered.
struct Moment {
  bool known = false;  // false: the text was no moment, and nothing compares with it
  std::int64_t order = 0;
  MYSQL_TIME parts = {};
};

// What SQL reads in a text that it compares with a column of dates.
inline Moment read_date(THD* thd, std::string_view text);
// What SQL reads in a text that it compares with this column, a TIME.
inline Moment read_time(Field& field, std::string_view text);

// The `order` of the value in the record.
inline std::int64_t date_order(Field& field);
inline std::int64_t time_order(Field& field);

}  // namespace hs::mysqld::server

#include "family_moments.h"
