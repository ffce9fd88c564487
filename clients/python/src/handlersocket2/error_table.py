"""What the texts of the server's errors mean: data for errors.py, and nothing else.

The test vectors have the same in tests/vectors/errors.json, for clients in every language.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Category: TypeAlias = Literal[
    "duplicate",
    "elsewhere",
    "foreign_key",
    "interrupted",
    "limit",
    "lock",
    "log_in",
    "privilege",
    "read_only",
    "request",
    "schema",
    "server",
    "value",
]
Retry: TypeAlias = Literal["no", "later", "elsewhere"]


class Meaning(NamedTuple):
    """What an error is about, where and when the same request may succeed, SQL's state, words."""

    category: Category
    retry: Retry
    sqlstate: str | None
    words: str
    #: A modification that is answered so may have been executed all the same.
    maybe_executed: bool = False


#: By the text of the reply. For numbers of SQL the words begin with those of SQL.
MEANINGS = {
    "open_table": Meaning(
        "schema", "no", "42S02", "no such table, or one that the server does not serve"
    ),
    "lock_tables": Meaning(
        "read_only", "elsewhere", None, "the table's engine does not let it be changed now"
    ),
    "max_request_time": Meaning(
        "limit", "no", None, "the request took longer than the server allows"
    ),
    "max_waiting_bytes": Meaning(
        "limit",
        "later",
        None,
        "too much waits in the server's memory, and most of it is this client's",
        True,
    ),
    "undone": Meaning(
        "request", "no", None, "another line of its group has failed, so it was undone"
    ),
    "unmet": Meaning("request", "no", None, "it has met no row, or one where there must be none"),
    "cmd": Meaning("request", "no", None, "not a request"),
    "stmtnum": Meaning(
        "request", "no", None, "no open index has this number, or no more can be opened"
    ),
    "op": Meaning("request", "no", None, "unknown operator, or wrong ends of a range"),
    "klen": Meaning("request", "no", None, "values are missing in the request"),
    "kpnum": Meaning("request", "no", None, "more key values than the index has parts"),
    "idxnum": Meaning("schema", "no", "42000", "no such index"),
    "fld": Meaning("schema", "no", "42S22", "no such column"),
    "limit": Meaning("request", "no", None, "the limit is not a number"),
    "offset": Meaning("request", "no", None, "the offset is not a number"),
    "icol": Meaning("request", "no", None, "IN names a key part that was not given"),
    "invalueslen": Meaning("request", "no", None, "values of IN are missing"),
    "filtertype": Meaning("request", "no", None, "unknown type of filter"),
    "filterop": Meaning("request", "no", None, "unknown operator of a filter"),
    "filterfld": Meaning("request", "no", None, "no such filter column"),
    "filterblob": Meaning("request", "no", None, "a filter can compare this column with NULL only"),
    "modop": Meaning("request", "no", None, "an unknown word for what becomes of rows"),
    "readonly": Meaning("read_only", "no", None, "this port only reads"),
    "escape": Meaning("request", "no", None, "a wrong escape"),
    "request_size": Meaning("limit", "no", None, "the request is too large"),
    "notimpl": Meaning("request", "no", None, "not implemented"),
    "this_is_a_handlersocket_port": Meaning(
        "request",
        "no",
        None,
        "this is a port of HandlerSocket, and the client speaks another protocol",
    ),
    "tls": Meaning("log_in", "no", "28000", "the server wants TLS"),
    "unauth": Meaning("log_in", "no", "28000", "not logged in, or the secret is wrong"),
    "authtype": Meaning("log_in", "no", "28000", "unknown kind of log-in"),
    "121": Meaning("duplicate", "no", "23000", "a row with the same unique key exists"),
    "128": Meaning("limit", "later", "HY001", "no memory for a value of a row"),
    "131": Meaning("request", "no", None, "not possible with this index"),
    "146": Meaning("lock", "later", "HY000", "a row stayed locked for too long"),
    "149": Meaning("lock", "later", "40001", "a deadlock: try again"),
    "151": Meaning("foreign_key", "no", "23000", "a foreign key has no parent row"),
    "152": Meaning("foreign_key", "no", "23000", "a foreign key still points to the row"),
    "167": Meaning("value", "no", "22003", "the AUTO_INCREMENT column has no more numbers"),
    "1031": Meaning("request", "no", "HY000", "the table's engine cannot do this"),
    "1036": Meaning("read_only", "no", "HY000", "the table can only be read"),
    "1044": Meaning(
        "privilege",
        "no",
        "42000",
        "access denied: the account may do nothing in the database, if there is one",
    ),
    "1045": Meaning("log_in", "no", "28000", "access denied: wrong user or password"),
    "1047": Meaning(
        "elsewhere", "elsewhere", "08S01", "this node of a cluster does not serve requests now"
    ),
    "1048": Meaning("value", "no", "23000", "column cannot be null: a column cannot be NULL"),
    "1049": Meaning("schema", "no", "42000", "unknown database: there is no such database"),
    "1053": Meaning("elsewhere", "elsewhere", "08S01", "the server is shutting down"),
    "1062": Meaning("duplicate", "no", "23000", "a row with the same unique key exists"),
    "1114": Meaning("limit", "later", "HY000", "the table is full, or the disk"),
    "1142": Meaning(
        "privilege", "no", "42000", "command denied: the account may not do this with the table"
    ),
    "1143": Meaning(
        "privilege", "no", "42000", "command denied: the account may not do this with a column"
    ),
    "1153": Meaning(
        "limit", "no", "08S01", "a value is larger than the server allows (max_allowed_packet)"
    ),
    "1178": Meaning(
        "request",
        "no",
        "42000",
        "the table's engine cannot undo what is done, so this cannot be a part of a group",
    ),
    "1180": Meaning(
        "server", "no", "HY000", "the commit failed: ask whether the write is there", True
    ),
    "1194": Meaning("schema", "no", "HY000", "the table is damaged and has to be repaired"),
    "1197": Meaning("limit", "no", "HY000", "the change is too large for the binary log"),
    "1203": Meaning("log_in", "later", "42000", "the account has too many connections"),
    "1205": Meaning(
        "lock", "later", "HY000", "lock wait timeout exceeded: the table stayed locked for too long"
    ),
    "1213": Meaning("lock", "later", "40001", "another transaction came first: try again"),
    "1226": Meaning("log_in", "later", "42000", "the account has reached a limit"),
    "1235": Meaning("request", "no", "42000", "the server does not support this"),
    "1264": Meaning(
        "value", "no", "22003", "out of range value: a number is out of the column's range"
    ),
    "1290": Meaning("read_only", "elsewhere", "HY000", "the server is read-only"),
    "1292": Meaning("value", "no", "22007", "incorrect value: a value is not of the column's kind"),
    "1317": Meaning(
        "interrupted",
        "later",
        "70100",
        "execution was interrupted: the request was interrupted by KILL or a shutdown",
        True,
    ),
    "1364": Meaning(
        "value",
        "no",
        "HY000",
        "doesn't have a default value: a column has no default and got no value",
    ),
    "1366": Meaning("value", "no", "22007", "incorrect value: the column cannot hold the value"),
    "1406": Meaning("value", "no", "22001", "data too long: the value is too long for its column"),
    "1412": Meaning("schema", "later", "HY000", "the table was changed meanwhile: try again"),
    "1429": Meaning(
        "server", "later", "HY000", "the other server, on which the rows are, cannot be reached"
    ),
    "1449": Meaning("privilege", "no", "HY000", "the account as which clients act does not exist"),
    "1467": Meaning(
        "value",
        "no",
        "HY000",
        "failed to read an auto-increment value: the column may have no more numbers",
    ),
    "1644": Meaning("value", "no", "45000", "a trigger refused the row"),
    "1698": Meaning(
        "log_in", "no", "28000", "access denied: the account cannot log in in this way"
    ),
    "1785": Meaning(
        "request",
        "no",
        "HY000",
        "with GTIDs, tables with and without transactions cannot be changed together",
    ),
    "1792": Meaning("read_only", "elsewhere", "25006", "the server's transactions only read"),
    "1812": Meaning("schema", "no", "HY000", "the table's file is missing"),
    "1814": Meaning("schema", "no", "HY000", "the table's file was discarded"),
    "1820": Meaning("log_in", "no", "HY000", "the account's password has expired"),
    "1836": Meaning("read_only", "elsewhere", "HY000", "the server is in read-only mode"),
    "1862": Meaning("log_in", "no", "HY000", "the account's password has expired"),
    "1906": Meaning("value", "no", "HY000", "a generated column cannot be given a value"),
    "3032": Meaning("elsewhere", "elsewhere", "HY000", "the server is in offline mode"),
    "3098": Meaning("request", "no", "HY000", "the group does not replicate this table"),
    "3101": Meaning("lock", "later", "40000", "another member's transaction came first: try again"),
    "3105": Meaning("value", "no", "HY000", "a generated column cannot be given a value"),
    "3118": Meaning("log_in", "no", "HY000", "access denied: the account is locked"),
    "3164": Meaning("privilege", "no", "HY000", "an audit plugin refuses this"),
    "3819": Meaning("value", "no", "HY000", "a CHECK failed"),
    "4025": Meaning("value", "no", "23000", "a CHECK failed"),
    "4151": Meaning("log_in", "no", "HY000", "access denied: the account is locked"),
    "4165": Meaning("request", "no", "HY000", "the cluster does not replicate this table"),
}
