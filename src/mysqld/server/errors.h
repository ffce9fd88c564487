// The kinds of the server's errors, and of its storage engines' errors.
//
// The server has thousands of errors. Those that a request can meet are in the tables, the others
// are of the kind `other`. A number may mean something else to the other family, so each family has
// a table for its own errors. Pure functions, for any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/status.h"
#include "mysqld/server/api.h"

namespace hs::mysqld::server {

struct ErrorOfKind {
  std::uint32_t number;
  Error kind;
};

inline constexpr auto errors_of_all_families = std::to_array<ErrorOfKind>({
    {HA_ERR_KEY_NOT_FOUND, Error::no_row},
    {HA_ERR_FOUND_DUPP_KEY, Error::duplicate_key},
    {HA_ERR_RECORD_CHANGED, Error::conflict},
    {HA_ERR_CRASHED, Error::damaged},
    {HA_ERR_WRONG_IN_RECORD, Error::damaged},
    {HA_ERR_OUT_OF_MEM, Error::no_memory},
    {HA_ERR_NOT_A_TABLE, Error::damaged},
    {HA_ERR_WRONG_COMMAND, Error::not_supported},
    {HA_ERR_RECORD_DELETED, Error::no_row},
    {HA_ERR_RECORD_FILE_FULL, Error::no_room},
    {HA_ERR_INDEX_FILE_FULL, Error::no_room},
    {HA_ERR_END_OF_FILE, Error::no_row},
    {HA_ERR_UNSUPPORTED, Error::not_supported},
    {HA_ERR_FOUND_DUPP_UNIQUE, Error::duplicate_key},
    {HA_ERR_CRASHED_ON_REPAIR, Error::damaged},
    {HA_ERR_CRASHED_ON_USAGE, Error::damaged},
    {HA_ERR_LOCK_WAIT_TIMEOUT, Error::row_locked},
    {HA_ERR_LOCK_TABLE_FULL, Error::no_memory},
    {HA_ERR_READ_ONLY_TRANSACTION, Error::read_only},
    {HA_ERR_LOCK_DEADLOCK, Error::deadlock},
    {HA_ERR_CANNOT_ADD_FOREIGN, Error::missing_parent},
    {HA_ERR_NO_REFERENCED_ROW, Error::missing_parent},
    {HA_ERR_ROW_IS_REFERENCED, Error::has_children},
    {HA_ERR_NO_SUCH_TABLE, Error::no_table},
    {HA_ERR_NO_CONNECTION, Error::unreachable},
    {HA_ERR_NULL_IN_SPATIAL, Error::null_not_allowed},
    {HA_ERR_TABLE_DEF_CHANGED, Error::table_changed},
    {HA_ERR_NO_PARTITION_FOUND, Error::check_failed},
    {HA_ERR_FOREIGN_DUPLICATE_KEY, Error::duplicate_key},
    {HA_ERR_TABLE_NEEDS_UPGRADE, Error::damaged},
    {HA_ERR_TABLE_READONLY, Error::read_only},
    {HA_ERR_AUTOINC_READ_FAILED, Error::out_of_range},
    {HA_ERR_AUTOINC_ERANGE, Error::out_of_range},
    {HA_ERR_TOO_MANY_CONCURRENT_TRXS, Error::no_room},
    {HA_ERR_NOT_IN_LOCK_PARTITIONS, Error::check_failed},
    {HA_ERR_INDEX_COL_TOO_LONG, Error::too_large},
    {HA_ERR_INDEX_CORRUPT, Error::damaged},
    {HA_ERR_UNDO_REC_TOO_BIG, Error::too_large},
    {HA_ERR_ROW_IN_WRONG_PARTITION, Error::check_failed},
    {HA_ERR_TABLESPACE_MISSING, Error::damaged},
    {EE_OUTOFMEMORY, Error::no_memory},
    {ER_CANT_LOCK, Error::locked_table},
    {ER_CHECKREAD, Error::conflict},
    {ER_DUP_KEY, Error::duplicate_key},
    {ER_ILLEGAL_HA, Error::not_supported},
    {ER_KEY_NOT_FOUND, Error::no_row},
    {ER_NOT_FORM_FILE, Error::damaged},
    {ER_NOT_KEYFILE, Error::damaged},
    {ER_OLD_KEYFILE, Error::damaged},
    {ER_OPEN_AS_READONLY, Error::read_only},
    {ER_OUTOFMEMORY, Error::no_memory},
    {ER_OUT_OF_SORTMEMORY, Error::no_memory},
    {ER_CON_COUNT_ERROR, Error::limit_reached},
    {ER_OUT_OF_RESOURCES, Error::no_memory},
    {ER_HANDSHAKE_ERROR, Error::log_in_refused},
    {ER_DBACCESS_DENIED_ERROR, Error::denied},
    {ER_ACCESS_DENIED_ERROR, Error::wrong_log_in},
    {ER_UNKNOWN_COM_ERROR, Error::not_ready},
    {ER_BAD_NULL_ERROR, Error::null_not_allowed},
    {ER_BAD_DB_ERROR, Error::no_table},
    {ER_SERVER_SHUTDOWN, Error::shutting_down},
    {ER_BAD_FIELD_ERROR, Error::no_column},
    {ER_DUP_ENTRY, Error::duplicate_key},
    {ER_RECORD_FILE_FULL, Error::no_room},
    {ER_TOO_BIG_ROWSIZE, Error::too_large},
    {ER_HOST_IS_BLOCKED, Error::log_in_refused},
    {ER_HOST_NOT_PRIVILEGED, Error::log_in_refused},
    {ER_TABLEACCESS_DENIED_ERROR, Error::denied},
    {ER_COLUMNACCESS_DENIED_ERROR, Error::denied},
    {ER_NO_SUCH_TABLE, Error::no_table},
    {ER_NET_PACKET_TOO_LARGE, Error::too_large},
    {ER_NET_READ_ERROR, Error::unreachable},
    {ER_NET_READ_INTERRUPTED, Error::unreachable},
    {ER_NET_ERROR_ON_WRITE, Error::unreachable},
    {ER_DUP_UNIQUE, Error::duplicate_key},
    {ER_CHECK_NOT_IMPLEMENTED, Error::not_supported},
    {ER_ERROR_DURING_COMMIT, Error::commit_failed},
    {ER_LOCK_OR_ACTIVE_TRANSACTION, Error::table_locked},
    {ER_CRASHED_ON_USAGE, Error::damaged},
    {ER_CRASHED_ON_REPAIR, Error::damaged},
    {ER_TRANS_CACHE_FULL, Error::too_large},
    {ER_TOO_MANY_USER_CONNECTIONS, Error::limit_reached},
    {ER_LOCK_WAIT_TIMEOUT, Error::table_locked},
    {ER_LOCK_TABLE_FULL, Error::no_memory},
    {ER_READ_ONLY_TRANSACTION, Error::read_only},
    {ER_LOCK_DEADLOCK, Error::deadlock},
    {ER_NO_REFERENCED_ROW, Error::missing_parent},
    {ER_ROW_IS_REFERENCED, Error::has_children},
    {ER_USER_LIMIT_REACHED, Error::limit_reached},
    {ER_SPECIFIC_ACCESS_DENIED_ERROR, Error::denied},
    {ER_NOT_SUPPORTED_YET, Error::not_supported},
    {ER_NOT_SUPPORTED_AUTH_MODE, Error::log_in_refused},
    {ER_WARN_NULL_TO_NOTNULL, Error::null_not_allowed},
    {ER_WARN_DATA_OUT_OF_RANGE, Error::out_of_range},
    {WARN_DATA_TRUNCATED, Error::wrong_value},
    {ER_OPTION_PREVENTS_STATEMENT, Error::read_only},
    {ER_TRUNCATED_WRONG_VALUE, Error::wrong_value},
    {ER_INVALID_CHARACTER_STRING, Error::wrong_value},
    {ER_QUERY_INTERRUPTED, Error::killed},
    {ER_NO_DEFAULT_FOR_FIELD, Error::null_not_allowed},
    {ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, Error::wrong_value},
    {ER_PROCACCESS_DENIED_ERROR, Error::denied},
    {ER_DATA_TOO_LONG, Error::out_of_range},
    {ER_WRONG_VALUE_FOR_TYPE, Error::wrong_value},
    {ER_TABLE_DEF_CHANGED, Error::table_changed},
    {ER_CANT_CREATE_GEOMETRY_OBJECT, Error::wrong_value},
    {ER_CONNECT_TO_FOREIGN_DATA_SOURCE, Error::unreachable},
    {ER_NO_SUCH_USER, Error::denied},
    {ER_ROW_IS_REFERENCED_2, Error::has_children},
    {ER_NO_REFERENCED_ROW_2, Error::missing_parent},
    {ER_AUTOINC_READ_FAILED, Error::out_of_range},
    {ER_PLUGIN_IS_NOT_LOADED, Error::log_in_refused},
    {ER_WRONG_VALUE, Error::wrong_value},
    {ER_NO_PARTITION_FOR_GIVEN_VALUE, Error::check_failed},
    {ER_DUP_ENTRY_AUTOINCREMENT_CASE, Error::duplicate_key},
    {ER_DUP_ENTRY_WITH_KEY_NAME, Error::duplicate_key},
    {ER_XA_RBDEADLOCK, Error::deadlock},
    {ER_TOO_MANY_CONCURRENT_TRXS, Error::no_room},
    {ER_SIGNAL_EXCEPTION, Error::trigger_refused},
    {ER_LOCK_ABORTED, Error::table_locked},
    {ER_DATA_OUT_OF_RANGE, Error::out_of_range},
    {ER_ACCESS_DENIED_NO_PASSWORD_ERROR, Error::wrong_log_in},
    {ER_STMT_CACHE_FULL, Error::too_large},
    {ER_INDEX_CORRUPT, Error::damaged},
    {ER_UNDO_RECORD_TOO_BIG, Error::too_large},
    {ER_ROW_DOES_NOT_MATCH_PARTITION, Error::check_failed},
    {ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET, Error::check_failed},
    {ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO, Error::duplicate_key},
    {ER_FOREIGN_DUPLICATE_KEY_WITHOUT_CHILD_INFO, Error::duplicate_key},
    {ER_GTID_UNSAFE_NON_TRANSACTIONAL_TABLE, Error::not_supported},
    {ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, Error::read_only},
    {ER_TABLESPACE_MISSING, Error::damaged},
    {ER_TABLESPACE_DISCARDED, Error::damaged},
    {ER_MUST_CHANGE_PASSWORD, Error::log_in_refused},
    {ER_READ_ONLY_MODE, Error::read_only},
    {ER_MUST_CHANGE_PASSWORD_LOGIN, Error::log_in_refused},
    {ER_INNODB_READ_ONLY, Error::read_only},
    {ER_TABLE_CORRUPT, Error::damaged},
    {ER_FILE_CORRUPT, Error::damaged},
    {ER_ENGINE_OUT_OF_MEMORY, Error::no_memory},
    {ER_SERVER_OFFLINE_MODE, Error::not_ready},
});

}  // namespace hs::mysqld::server

#include "family_errors.h"

namespace hs::mysqld::server {

// Sorted by number, so that an error is found quickly even if every request of a client meets it.
inline constexpr auto errors_of_kinds = [] {
  std::array<ErrorOfKind, errors_of_all_families.size() + errors_of_family.size()> all{};
  const auto end =
      std::copy(errors_of_all_families.begin(), errors_of_all_families.end(), all.begin());
  std::copy(errors_of_family.begin(), errors_of_family.end(), end);
  std::ranges::sort(all, {}, &ErrorOfKind::number);
  return all;
}();
static_assert(std::ranges::adjacent_find(errors_of_kinds, {}, &ErrorOfKind::number) ==
                  errors_of_kinds.end(),
              "an error has one kind");

// An error of the storage engine (below 1000) or of the server (1000 and up).
constexpr Status status_of(std::uint32_t number) {
  const auto* const found =
      std::ranges::lower_bound(errors_of_kinds, number, {}, &ErrorOfKind::number);
  const bool is_known = found != errors_of_kinds.end() && found->number == number;
  return {is_known ? found->kind : Error::other, number};
}
constexpr Status status_of(int error) { return status_of(static_cast<std::uint32_t>(error)); }

}  // namespace hs::mysqld::server
