// MariaDB's half of server/errors.h.
#pragma once

namespace hs::mysqld::server {

inline constexpr auto errors_of_family = std::to_array<ErrorOfKind>({
    {HA_ERR_TO_BIG_ROW, Error::too_large},
    {HA_ERR_ABORTED_BY_USER, Error::killed},
    {HA_ERR_DISK_FULL, Error::no_room},
    {HA_ERR_DECRYPTION_FAILED, Error::damaged},
    {HA_ERR_FK_DEPTH_EXCEEDED, Error::too_large},
    {HA_ERR_SEQUENCE_INVALID_DATA, Error::damaged},
    {HA_ERR_SEQUENCE_RUN_OUT, Error::out_of_range},
    {HA_ERR_COMMIT_ERROR, Error::commit_failed},
    {ER_DISK_FULL, Error::no_room},
    {ER_NORMAL_SHUTDOWN, Error::shutting_down},
    {ER_CONNECT_TO_MASTER, Error::unreachable},
    {ER_QUERY_ON_FOREIGN_DATA_SOURCE, Error::unreachable},
    {ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, Error::wrong_value},
    {ER_CONNECTION_KILLED, Error::killed},
    {ER_NO_SUCH_TABLE_IN_ENGINE, Error::no_table},
    {ER_STATEMENT_TIMEOUT, Error::killed},
    {ER_CONSTRAINT_FAILED, Error::check_failed},
    {ER_SEQUENCE_RUN_OUT, Error::out_of_range},
    {ER_ACCOUNT_HAS_BEEN_LOCKED, Error::log_in_refused},
    {ER_GALERA_REPLICATION_NOT_SUPPORTED, Error::not_supported},
});

}  // namespace hs::mysqld::server
