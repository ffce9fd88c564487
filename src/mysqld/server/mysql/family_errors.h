// MySQL's half of server/errors.h.
#pragma once

namespace hs::mysqld::server {

inline constexpr auto errors_of_family = std::to_array<ErrorOfKind>({
    {HA_ERR_TOO_BIG_ROW, Error::too_large},
    {HA_ERR_TABLE_IN_FK_CHECK, Error::table_locked},
    {HA_ERR_INNODB_READ_ONLY, Error::read_only},
    {HA_ERR_TEMP_FILE_WRITE_FAILURE, Error::no_room},
    {HA_ERR_INNODB_FORCED_RECOVERY, Error::read_only},
    {HA_ERR_FK_DEPTH_EXCEEDED, Error::too_large},
    {HA_ERR_SE_OUT_OF_MEMORY, Error::no_memory},
    {HA_ERR_TABLE_CORRUPT, Error::damaged},
    {HA_ERR_QUERY_INTERRUPTED, Error::killed},
    {HA_ERR_NO_WAIT_LOCK, Error::row_locked},
    {HA_ERR_DISK_FULL_NOWAIT, Error::no_room},
    {ER_INNODB_FORCED_RECOVERY, Error::read_only},
    {ER_QUERY_TIMEOUT, Error::killed},
    {ER_BEFORE_DML_VALIDATION_ERROR, Error::not_supported},
    {ER_TRANSACTION_ROLLBACK_DURING_COMMIT, Error::conflict},
    {ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, Error::wrong_value},
    {ER_ACCOUNT_HAS_BEEN_LOCKED, Error::log_in_refused},
    {ER_INVALID_JSON_TEXT, Error::wrong_value},
    {ER_SECURE_TRANSPORT_REQUIRED, Error::log_in_refused},
    {ER_AUDIT_API_ABORT, Error::denied},
    {ER_LOCK_NOWAIT, Error::row_locked},
    {ER_CHECK_CONSTRAINT_VIOLATED, Error::check_failed},
});

}  // namespace hs::mysqld::server
