// What the errors of a server mean. It is errors.json of the test vectors, and a test compares the two.

/** The classes of errors that a server answers. */
export type ServerErrorKind =
  | 'duplicate'
  | 'elsewhere'
  | 'foreign_key'
  | 'interrupted'
  | 'limit'
  | 'lock'
  | 'log_in'
  | 'privilege'
  | 'read_only'
  | 'request'
  | 'schema'
  | 'server'
  | 'value';

/** Whether the same request may succeed: `no`, `later`, or `elsewhere` (on another server). */
export type ServerErrorRetry = 'no' | 'later' | 'elsewhere';

export interface ServerError {
  readonly code: number;
  readonly text: string;
  readonly name: string;
  readonly kind: ServerErrorKind;
  readonly retry: ServerErrorRetry;
  readonly words: string;
  readonly sqlState: string | null;
  /** A modification that is answered so may have been executed all the same. */
  readonly maybeExecuted: boolean;
}

type Line = readonly [
  code: number,
  text: string,
  name: string,
  kind: ServerErrorKind,
  retry: ServerErrorRetry,
  sqlState: string | null,
  words: string,
];

const LINES: readonly Line[] = [
  [1, 'open_table', 'no_table', 'schema', 'no', '42S02', 'no such table, or one that the server does not serve'],
  [1, 'lock_tables', 'locked_table', 'read_only', 'elsewhere', null, "the table's engine does not let it be changed now"],
  [1, 'max_request_time', 'max_request_time', 'limit', 'no', null, 'the request took longer than the server allows'],
  [1, 'max_waiting_bytes', 'max_waiting_bytes', 'limit', 'later', null, "too much waits in the server's memory, and most of it is this client's"],
  [1, 'undone', 'undone', 'request', 'no', null, 'another line of its group has failed, so it was undone'],
  [1, 'unmet', 'unmet', 'request', 'no', null, 'it has met no row, or one where there must be none'],
  [2, 'cmd', 'cmd', 'request', 'no', null, 'not a request'],
  [2, 'stmtnum', 'stmtnum', 'request', 'no', null, 'no open index has this number, or no more can be opened'],
  [2, 'op', 'op', 'request', 'no', null, 'unknown operator, or wrong ends of a range'],
  [2, 'klen', 'klen', 'request', 'no', null, 'values are missing in the request'],
  [2, 'kpnum', 'kpnum', 'request', 'no', null, 'more key values than the index has parts'],
  [2, 'idxnum', 'no_index', 'schema', 'no', '42000', 'no such index'],
  [2, 'fld', 'no_column', 'schema', 'no', '42S22', 'no such column'],
  [2, 'limit', 'limit', 'request', 'no', null, 'the limit is not a number'],
  [2, 'offset', 'offset', 'request', 'no', null, 'the offset is not a number'],
  [2, 'icol', 'icol', 'request', 'no', null, 'IN names a key part that was not given'],
  [2, 'invalueslen', 'invalueslen', 'request', 'no', null, 'values of IN are missing'],
  [2, 'filtertype', 'filtertype', 'request', 'no', null, 'unknown type of filter'],
  [2, 'filterop', 'filterop', 'request', 'no', null, 'unknown operator of a filter'],
  [2, 'filterfld', 'filterfld', 'request', 'no', null, 'no such filter column'],
  [2, 'filterblob', 'filterblob', 'request', 'no', null, 'a filter can compare this column with NULL only'],
  [2, 'modop', 'modop', 'request', 'no', null, 'an unknown word for what becomes of rows'],
  [2, 'readonly', 'readonly', 'read_only', 'no', null, 'this port only reads'],
  [2, 'escape', 'escape', 'request', 'no', null, 'a wrong escape'],
  [2, 'request_size', 'request_size', 'limit', 'no', null, 'the request is too large'],
  [2, 'notimpl', 'notimpl', 'request', 'no', null, 'not implemented'],
  [2, 'this_is_a_handlersocket_port', 'this_is_a_handlersocket_port', 'request', 'no', null, 'this is a port of HandlerSocket, and the client speaks another protocol'],
  [3, 'tls', 'tls', 'log_in', 'no', '28000', 'the server wants TLS'],
  [3, 'unauth', 'unauth', 'log_in', 'no', '28000', 'not logged in, or the secret is wrong'],
  [3, 'authtype', 'authtype', 'log_in', 'no', '28000', 'unknown kind of log-in'],
  [1, '121', 'duplicate_key', 'duplicate', 'no', '23000', 'a row with the same unique key exists'],
  [1, '128', 'no_memory_for_value', 'limit', 'later', 'HY001', 'no memory for a value of a row'],
  [1, '131', 'wrong_command', 'request', 'no', null, 'not possible with this index'],
  [1, '146', 'lock_wait_timeout', 'lock', 'later', 'HY000', 'a row stayed locked for too long'],
  [1, '149', 'deadlock', 'lock', 'later', '40001', 'a deadlock: try again'],
  [1, '151', 'no_parent_row', 'foreign_key', 'no', '23000', 'a foreign key has no parent row'],
  [1, '152', 'row_is_referenced', 'foreign_key', 'no', '23000', 'a foreign key still points to the row'],
  [1, '167', 'auto_increment_range', 'value', 'no', '22003', 'the AUTO_INCREMENT column has no more numbers'],
  [1, '1031', 'illegal_for_engine', 'request', 'no', 'HY000', "the table's engine cannot do this"],
  [1, '1036', 'table_read_only', 'read_only', 'no', 'HY000', 'the table can only be read'],
  [1, '1044', 'database_access_denied', 'privilege', 'no', '42000', 'the account may do nothing in the database, if there is one'],
  [1, '1045', 'access_denied', 'log_in', 'no', '28000', 'wrong user or password'],
  [1, '1047', 'not_ready', 'elsewhere', 'elsewhere', '08S01', 'this node of a cluster does not serve requests now'],
  [1, '1048', 'null_not_allowed', 'value', 'no', '23000', 'a column cannot be NULL'],
  [1, '1049', 'no_database', 'schema', 'no', '42000', 'there is no such database'],
  [1, '1053', 'server_shutdown', 'elsewhere', 'elsewhere', '08S01', 'the server is shutting down'],
  [1, '1062', 'duplicate_entry', 'duplicate', 'no', '23000', 'a row with the same unique key exists'],
  [1, '1114', 'table_full', 'limit', 'later', 'HY000', 'the table is full, or the disk'],
  [1, '1142', 'table_access_denied', 'privilege', 'no', '42000', 'the account may not do this with the table'],
  [1, '1143', 'column_access_denied', 'privilege', 'no', '42000', 'the account may not do this with a column'],
  [1, '1153', 'too_large', 'limit', 'no', '08S01', 'a value is larger than the server allows (max_allowed_packet)'],
  [1, '1178', 'cannot_be_undone', 'request', 'no', '42000', "the table's engine cannot undo what is done, so this cannot be a part of a group"],
  [1, '1180', 'commit_failed', 'server', 'no', 'HY000', 'the commit failed: ask whether the write is there'],
  [1, '1194', 'damaged', 'schema', 'no', 'HY000', 'the table is damaged and has to be repaired'],
  [1, '1197', 'transaction_too_large', 'limit', 'no', 'HY000', 'the change is too large for the binary log'],
  [1, '1203', 'too_many_user_connections', 'log_in', 'later', '42000', 'the account has too many connections'],
  [1, '1205', 'table_lock_wait_timeout', 'lock', 'later', 'HY000', 'the table stayed locked for too long'],
  [1, '1213', 'deadlock_at_commit', 'lock', 'later', '40001', 'another transaction came first: try again'],
  [1, '1226', 'user_limit_reached', 'log_in', 'later', '42000', 'the account has reached a limit'],
  [1, '1235', 'not_supported', 'request', 'no', '42000', 'the server does not support this'],
  [1, '1264', 'out_of_range', 'value', 'no', '22003', "a number is out of the column's range"],
  [1, '1290', 'server_read_only', 'read_only', 'elsewhere', 'HY000', 'the server is read-only'],
  [1, '1292', 'wrong_value', 'value', 'no', '22007', "a value is not of the column's kind"],
  [1, '1317', 'interrupted', 'interrupted', 'later', '70100', 'the request was interrupted by KILL or a shutdown'],
  [1, '1364', 'no_default', 'value', 'no', 'HY000', 'a column has no default and got no value'],
  [1, '1366', 'bad_value', 'value', 'no', '22007', 'the column cannot hold the value'],
  [1, '1406', 'value_too_long', 'value', 'no', '22001', 'the value is too long for its column'],
  [1, '1412', 'table_changed', 'schema', 'later', 'HY000', 'the table was changed meanwhile: try again'],
  [1, '1429', 'unreachable', 'server', 'later', 'HY000', 'the other server, on which the rows are, cannot be reached'],
  [1, '1449', 'no_such_account', 'privilege', 'no', 'HY000', 'the account as which clients act does not exist'],
  [1, '1467', 'no_auto_increment_value', 'value', 'no', 'HY000', 'the column may have no more numbers'],
  [1, '1644', 'signal', 'value', 'no', '45000', 'a trigger refused the row'],
  [1, '1698', 'access_denied_no_password', 'log_in', 'no', '28000', 'the account cannot log in in this way'],
  [1, '1785', 'mixed_transaction', 'request', 'no', 'HY000', 'with GTIDs, tables with and without transactions cannot be changed together'],
  [1, '1792', 'read_only_transaction', 'read_only', 'elsewhere', '25006', "the server's transactions only read"],
  [1, '1812', 'tablespace_missing', 'schema', 'no', 'HY000', "the table's file is missing"],
  [1, '1814', 'tablespace_discarded', 'schema', 'no', 'HY000', "the table's file was discarded"],
  [1, '1820', 'must_change_password', 'log_in', 'no', 'HY000', "the account's password has expired"],
  [1, '1836', 'read_only_mode', 'read_only', 'elsewhere', 'HY000', 'the server is in read-only mode'],
  [1, '1862', 'password_expired', 'log_in', 'no', 'HY000', "the account's password has expired"],
  [1, '1906', 'generated_column', 'value', 'no', 'HY000', 'a generated column cannot be given a value'],
  [1, '3032', 'offline_mode', 'elsewhere', 'elsewhere', 'HY000', 'the server is in offline mode'],
  [1, '3098', 'not_replicated_by_group', 'request', 'no', 'HY000', 'the group does not replicate this table'],
  [1, '3101', 'rolled_back_by_group', 'lock', 'later', '40000', "another member's transaction came first: try again"],
  [1, '3105', 'generated_column_given', 'value', 'no', 'HY000', 'a generated column cannot be given a value'],
  [1, '3118', 'account_locked', 'log_in', 'no', 'HY000', 'the account is locked'],
  [1, '3164', 'audit_refused', 'privilege', 'no', 'HY000', 'an audit plugin refuses this'],
  [1, '3819', 'check_violated', 'value', 'no', 'HY000', 'a CHECK failed'],
  [1, '4025', 'constraint_failed', 'value', 'no', '23000', 'a CHECK failed'],
  [1, '4151', 'account_has_been_locked', 'log_in', 'no', 'HY000', 'the account is locked'],
  [1, '4165', 'not_replicated', 'request', 'no', 'HY000', 'the cluster does not replicate this table'],
];

const MAYBE_EXECUTED: ReadonlySet<string> = new Set(['max_waiting_bytes', '1180', '1317']);

/** Known errors by their text. */
export const SERVER_ERRORS: ReadonlyMap<string, ServerError> = new Map(
  LINES.map(([code, text, name, kind, retry, sqlState, words]) => [
    text,
    { code, text, name, kind, retry, words, sqlState, maybeExecuted: MAYBE_EXECUTED.has(text) },
  ]),
);
