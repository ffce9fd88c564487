#include "base/sql_errors.h"

#include <array>

namespace hs {
namespace {

// Numbers that have another state than most of their kind.
constexpr std::array of_their_own{
    SqlError{1197, "HY000", "The change is too large for the binary log"},
    SqlError{1265, "01000", "Data truncated for a column"},
    SqlError{1292, "22007", "Incorrect value for a column"},
    SqlError{1364, "HY000", "A column has no default"},
    SqlError{1406, "22001", "Data too long for a column"},
    SqlError{3819, "HY000", "A constraint of the table is not met"},
};

}  // namespace

SqlError sql_error_of(Error kind) {
  switch (kind) {
    case Error::no_table:
      return {1146, "42S02", "There is no such table, or it cannot be used here"};
    case Error::locked_table: return {1015, "HY000", "The table cannot be locked"};
    case Error::no_index:
      return {1176, "42000", "There is no such index, or it cannot be searched"};
    case Error::no_column: return {1054, "42S22", "There is no such column"};
    case Error::too_many_key_parts: return {1070, "42000", "Too many key parts"};
    case Error::max_request_time: return {3024, "HY000", "The request took too long"};
    case Error::no_filter_column: return {1054, "42S22", "There is no such filter column"};
    case Error::unfilterable_column:
      return {1235, "42000", "A column of this type can be compared with NULL only"};
    case Error::duplicate_key: return {1062, "23000", "Duplicate entry for a unique index"};
    case Error::missing_parent: return {1452, "23000", "A foreign key names no row"};
    case Error::has_children: return {1451, "23000", "Foreign keys of other rows name the row"};
    case Error::check_failed: return {4025, "23000", "A constraint of the table is not met"};
    case Error::trigger_refused: return {1644, "45000", "A trigger has refused it"};
    case Error::null_not_allowed:
      return {1048, "23000", "A column cannot be NULL, or has no default"};
    case Error::out_of_range: return {1264, "22003", "Out of range value for a column"};
    case Error::wrong_value: return {1366, "HY000", "Incorrect value for a column"};
    case Error::no_row: return {1032, "HY000", "There is no such row"};
    case Error::row_locked: return {1205, "HY000", "Another session has locked the row"};
    case Error::table_locked: return {1205, "HY000", "Another session has locked the table"};
    case Error::deadlock: return {1213, "40001", "A deadlock with another session was ended"};
    case Error::conflict: return {1213, "40001", "Another transaction was committed first"};
    case Error::denied: return {1142, "42000", "The account has no right to do that"};
    case Error::wrong_log_in: return {1045, "28000", "Access denied: user or password is wrong"};
    case Error::read_only: return {1290, "HY000", "The server or the table is read only"};
    case Error::not_ready: return {1047, "08S01", "The node is not ready"};
    case Error::too_large: return {1153, "08S01", "The row, the value or the reply is too large"};
    case Error::table_changed: return {1412, "HY000", "The table's definition has changed"};
    case Error::log_in_refused: return {3118, "HY000", "The account cannot be used now"};
    case Error::limit_reached: return {1226, "42000", "The account has reached one of its limits"};
    case Error::not_supported: return {1178, "42000", "The storage engine cannot do that"};
    case Error::killed: return {1317, "70100", "The request was interrupted"};
    case Error::shutting_down: return {1053, "08S01", "The server is shutting down"};
    case Error::unreachable:
      return {1429, "HY000", "The server on which the table is cannot be reached"};
    case Error::no_memory: return {1041, "HY000", "Out of memory"};
    case Error::no_room: return {1114, "HY000", "The table or the disk is full"};
    case Error::damaged: return {1034, "HY000", "The table's files are broken or missing"};
    case Error::commit_failed: return {1180, "HY000", "The commit has failed"};
    default: return {1105, "HY000", "The storage engine has reported an error"};
  }
}

SqlError sql_error_of(Status status) {
  constexpr std::uint32_t first_of_server = 1000;  // below are those of engines
  for (const SqlError& own : of_their_own)
    if (own.number == status.number()) return own;
  SqlError error = sql_error_of(status.kind());
  if (status.number() >= first_of_server) error.number = status.number();
  return error;
}

void append_sql_error(Status status, std::string& text) {
  const SqlError error = sql_error_of(status);
  text += std::to_string(error.number);
  for (const std::string_view part : {error.state, error.text}) {
    text += ' ';
    text += part;
  }
  if (status.kind() == Error::other && status.number() != 0)
    text += ", number " + std::to_string(status.number());
}

}  // namespace hs
