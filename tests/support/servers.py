"""The server under test, and each expectation that differs from one kind or version to another.

A test that is skipped or expects something else on some server says so with a name from here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import pytest
from server_instance import REPOSITORY
from server_kind import Setting, kind_of

SERVER_TREE = REPOSITORY / "var" / "servers" / os.environ.get("SERVER", "mariadb-10.11")
KIND = kind_of(SERVER_TREE)
ON_MYSQL = KIND.name == "mysql"

# The plugin that a MariaDB server ships; MySQL has none. The recordings were made with it, and some
# of them hang on details of the server's version: 10.11 is where they are checked.
needs_original = pytest.mark.skipif(
    SERVER_TREE.name != "mariadb-10.11", reason="the original is compared where it was recorded"
)

# Valgrind needs the symbols of the loader, which newer Debian releases keep in another package.
needs_valgrind = pytest.mark.skipif(
    SERVER_TREE.name != "mariadb-10.11",
    reason="valgrind cannot start with the loader of another Debian release",
)

# What MariaDB has since 11.8: its own file of tests.
needs_mariadb_11_8 = pytest.mark.skipif(
    SERVER_TREE.name != "mariadb-11.8", reason="only MariaDB 11.8 has these features"
)

needs_mysql = pytest.mark.skipif(not ON_MYSQL, reason="of MySQL alone")

# MariaDB's tables of numbers, which its engine SEQUENCE makes up.
_SEQUENCE = re.compile(r"\bFROM seq_(\d+)_to_(\d+)\b")
_DIGITS = "(SELECT 0 d" + "".join(f" UNION SELECT {digit}" for digit in range(1, 10)) + ")"


def in_dialect(statement: str) -> str:
    """A statement as this server's SQL has it."""
    if not ON_MYSQL:
        return statement

    def numbers(match: re.Match[str]) -> str:
        first, last = match.groups()
        places = [f"p{place}.d * {10**place}" for place in range(len(last))]
        tables = [f"{_DIGITS} p{place}" for place in range(len(last))]
        values = f"SELECT {' + '.join(places)} AS seq FROM {', '.join(tables)}"
        chosen = f"SELECT seq FROM ({values}) v WHERE seq BETWEEN {first} AND {last} ORDER BY seq"
        return f"FROM ({chosen}) AS numbers"

    statement = _SEQUENCE.sub(numbers, statement)
    statement = re.sub(r"\bPERSISTENT\b", "STORED", statement)
    statement = re.sub(r"^RESET MASTER$", "RESET BINARY LOGS AND GTIDS", statement)
    statement = re.sub(r"^(START|STOP) SLAVE$", r"\1 REPLICA", statement)
    # MySQL names the plugin, MariaDB the library with all its plugins.
    statement = re.sub(
        r"^INSTALL SONAME '(handlersocket)2'$", r"INSTALL PLUGIN \1 SONAME '\g<1>2.so'", statement
    )
    return re.sub(r"^UNINSTALL SONAME '(handlersocket)2'$", r"UNINSTALL PLUGIN \1", statement)


# Settings of MariaDB's that MySQL lacks, and what stands for them there.
_SETTINGS: dict[str, tuple[str, Setting] | None] = {
    "innodb_buffer_pool_size_max": None,
    "query_cache_size": None,
    "query_cache_type": None,
    "log_warnings": ("log_error_verbosity", 3),  # notes are shown by MariaDB's default, too
}


def own_settings(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """A server's settings as this server has them."""
    if not ON_MYSQL:
        return dict(settings)
    named = (_SETTINGS.get(name, (name, value)) for name, value in settings.items())
    return dict(setting for setting in named if setting is not None)


# How a line of the plugin's begins in the error log.
LOG_WARNING = (
    r"\[Warning\] \[MY-\d+\] \[Server\] Plugin handlersocket reported: 'handlersocket: "
    if ON_MYSQL
    else r"\[Warning\] handlersocket: "
)

# The counters that a pattern and names choose. MySQL's SHOW writes its answer into a table, row
# by row, and counts that.
SHOW_STATUS = (
    "SELECT variable_name, variable_value FROM performance_schema.global_status IGNORE INDEX"
    " (PRIMARY)"
    if ON_MYSQL
    else "SHOW GLOBAL STATUS"
)
# Every variable as a table beside SHOW, with its value.
VARIABLES_TABLE, VARIABLES_VALUE = (
    ("performance_schema.global_variables", "variable_value")
    if ON_MYSQL
    else ("information_schema.system_variables", "global_value")
)
# A plan as a table whose last column is `Extra`.
EXPLAIN = "EXPLAIN FORMAT=TRADITIONAL" if ON_MYSQL else "EXPLAIN"
# MySQL has no counter of this name.
HAS_ROWS_READ = not ON_MYSQL

# Where the binary log stands: MariaDB's last GTID, MySQL's set, one server's from its first on.
GTID_POSITION = "@@gtid_executed" if ON_MYSQL else "@@gtid_binlog_pos"
# A replica that follows from its beginning, and how it is asked whether it has come to a position.
START_REPLICA = (
    "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_USER = '{user}',"
    " SOURCE_PASSWORD = '{password}', SOURCE_PORT = {port}, SOURCE_CONNECT_RETRY = 1,"
    " SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
    if ON_MYSQL
    else "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_USER = '{user}',"
    " MASTER_PASSWORD = '{password}', MASTER_PORT = {port}, MASTER_CONNECT_RETRY = 1,"
    " MASTER_USE_GTID = slave_pos"
)
SHOW_REPLICA = "SHOW REPLICA STATUS" if ON_MYSQL else "SHOW SLAVE STATUS"
WAIT_FOR_GTID = (
    "SELECT WAIT_FOR_EXECUTED_GTID_SET(%s, 60)" if ON_MYSQL else "SELECT MASTER_GTID_WAIT(%s, 60)"
)
# A transaction that max_binlog_cache_size has no room for. Where all but the event that ends it
# fits, MySQL's COMMIT says nothing but that it failed, to SQL, too.
BINLOG_CACHE_FULL = ["1 1197", "1 1180"] if ON_MYSQL else ["1 1197"]

# How a value for a generated column is refused.
GENERATED_COLUMN_ERROR = "3105" if ON_MYSQL else "1906"

# In MariaDB's SQL a NULL leaves a generated column alone, as it does for the plugin on both;
# MySQL's SQL takes the word DEFAULT alone, which the protocol does not have.
NULL_IS_NO_DEFAULT = ON_MYSQL
# MySQL's UPDATE looks at what is given to a generated column before it looks for rows. The plugin
# refuses the first row that it finds, and where there is none it has nothing to refuse.
REFUSED_BEFORE_LOOKING = [("error", 3105)] if ON_MYSQL else []
# How a row that violates a CHECK is refused.
CHECK_ERROR = 3819 if ON_MYSQL else 4025

# Types of tests/e2e/column_types.py that are not here, and those that are here and cannot be a key.
# MariaDB 10.11 has no VECTOR; of MySQL's collations none is called nopad or uca1400.
MISSING_TYPES = (
    ("uuid", "inet4", "inet6", "varchar_nopad", "varchar_uca1400") if ON_MYSQL else ("vector",)
)
# MySQL's JSON is binary.
TYPES_WITHOUT_KEY = ("json",) if ON_MYSQL else ()

# What makes a statement one of MariaDB's or MySQL's own.
_OWN_WORDS = re.compile(
    r"\b(MEMBER OF|AS CHAR\(\d+\) ARRAY|VECTOR|SRID)\b"
    if not ON_MYSQL
    else r"\b(SYSTEM VERSIONING|ENGINE=Aria|CREATE SEQUENCE|INTO versioned)\b"
)


def known_here(statements: Sequence[str]) -> list[str]:
    """Those of them that this server can execute."""
    return [statement for statement in statements if not _OWN_WORDS.search(statement)]


# Tests of what only MariaDB has: a part of the test's name, and what that is.
_MARIADB_ONLY = {
    "[aria": "the engine Aria",
    "[Aria]": "the engine Aria",
    "test_myrocks": "the engine MyRocks",
    "[partitioned_myisam]": "partitions of a MyISAM table",
    "test_a_descending_index[MyISAM]": "descending indexes of a MyISAM table",
    "test_a_unique_hash_over_a_blob": "unique hashes over long columns",
    "versioned": "system versioning",
    "sequence_object": "sequences",
    "test_the_query_cache": "the query cache",
    "backup": "BACKUP STAGE",
    "test_a_commit_that_fails": "BACKUP STAGE, which holds up commits alone",
    "test_a_commit_that_waits": "BACKUP STAGE, which holds up commits alone",
    "BACKUP STAGE": "BACKUP STAGE",
    # MySQL comes with a loader of its own, sid's, whose symbols valgrind would need.
    "test_valgrind": "the machine's own loader",
    "KILL HARD": "KILL HARD",
    "KILL SOFT": "KILL SOFT",
}


def skip_reason(test: str) -> str | None:
    """Why a test is not for this server."""
    if not ON_MYSQL:
        return None
    return next(
        (f"only MariaDB has {what}" for part, what in _MARIADB_ONLY.items() if part in test), None
    )


# Replies of the recorded dialogues that are others here: (dialogue, request) to reply.
GOLDEN_REPLIES: dict[tuple[str, str], list[str]] = (
    {
        # MySQL keeps accounts in mysql.user and has no table of this name.
        ("open-and-syntax", "P\t7\tmysql\tglobal_priv\tPRIMARY\tHost,User,Priv\n"): [
            "1\t1\topen_table"
        ],
    }
    if ON_MYSQL
    else {}
)
