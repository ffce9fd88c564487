"""The server under test, and each expectation that differs between kinds or versions of servers.

A test that is skipped or expects something else on some server uses a name from here.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

import pytest
from server_instance import REPOSITORY
from server_kind import Setting, kind_of

SERVER_TREE = REPOSITORY / "var" / "servers" / os.environ.get("SERVER", "mariadb-10.11")
KIND = kind_of(SERVER_TREE)
ON_MYSQL = KIND.name == "mysql"

# The plugin that a MariaDB server ships; MySQL has none. The recordings were made with it. Some of
# them depend on details of the server's version, so they are checked on 10.11.
needs_original = pytest.mark.skipif(
    SERVER_TREE.name != "mariadb-10.11", reason="the original is compared where it was recorded"
)


def _same_libc() -> bool:
    """Whether this machine and the server have the same version of glibc."""
    loader = SERVER_TREE / "root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    told = subprocess.run([loader, "--version"], capture_output=True, text=True, check=True).stdout
    version = told.splitlines()[0].rpartition(" ")[2].rstrip(".")
    return os.confstr("CS_GNU_LIBC_VERSION") == f"glibc {version}"


# Valgrind runs a server with the machine's own loader and needs the loader's symbols. Since Debian
# 13 they are in another package.
needs_valgrind = pytest.mark.skipif(
    SERVER_TREE.name != "mariadb-10.11" or not _same_libc(),
    reason="valgrind runs MariaDB 10.11 on Debian 12, whose server and loader it is",
)

# Features that MariaDB has since 11.8. They have their own test file.
needs_mariadb_11_8 = pytest.mark.skipif(
    SERVER_TREE.name != "mariadb-11.8", reason="only MariaDB 11.8 has these features"
)


def comparing_mode(mode: str) -> str:
    """The sql_mode under which SQL makes the comparisons that the plugin makes under `mode`.

    Under NO_ZERO_DATE, MySQL's SQL refuses to compare with zero dates, although columns may hold
    them. The plugin compares with them under every mode, as MariaDB does.
    """
    if not ON_MYSQL:
        return mode
    refusing = ("NO_ZERO_DATE", "NO_ZERO_IN_DATE")
    return ",".join(word for word in mode.split(",") if word not in refusing)


# Whether an IPv4 address is a valid INET6, mapped into it. MariaDB 10.11 refuses it as malformed.
INET6_TAKES_INET4 = SERVER_TREE.name == "mariadb-11.8"

needs_mysql = pytest.mark.skipif(not ON_MYSQL, reason="of MySQL alone")

# MariaDB's tables of numbers, which its engine SEQUENCE generates.
_SEQUENCE = re.compile(r"\bFROM seq_(\d+)_to_(\d+)\b")
_DIGITS = "(SELECT 0 d" + "".join(f" UNION SELECT {digit}" for digit in range(1, 10)) + ")"


def in_dialect(statement: str) -> str:
    """The statement in this server's dialect of SQL."""
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


# Settings that MariaDB has and MySQL lacks, and MySQL's settings for the same purpose.
_SETTINGS: dict[str, tuple[str, Setting] | None] = {
    "innodb_buffer_pool_size_max": None,
    "query_cache_size": None,
    "query_cache_type": None,
    "log_warnings": ("log_error_verbosity", 3),  # notes are also shown by MariaDB's default
}


def own_settings(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings of a server for one test or one file of tests, by this server's names."""
    if not ON_MYSQL:
        return dict(settings)
    named = (_SETTINGS.get(name, (name, value)) for name, value in settings.items())
    # With the kernel's asynchronous I/O, MySQL takes half a second more to end: the threads that
    # wait for it look only twice a second whether they shall. The shared server keeps it.
    return {
        "innodb_use_native_aio": "OFF",
        **dict(setting for setting in named if setting is not None),
    }


# How a line of the plugin begins in the error log.
def _log_beginning(level: str) -> str:
    if not ON_MYSQL:
        return rf"\[{level}\] handlersocket: "
    return rf"\[{level}\] \[MY-\d+\] \[Server\] Plugin handlersocket reported: 'handlersocket: "


LOG_WARNING = _log_beginning("Warning")
LOG_ERROR = _log_beginning("ERROR")
# What everybody wants to know about a start. MySQL's default leaves notes out.
LOG_NEWS = _log_beginning("System" if ON_MYSQL else "Note")

# Selects the counters by a pattern and names. MySQL's SHOW writes its result into a table row by
# row, and counts these writes.
SHOW_STATUS = (
    "SELECT variable_name, variable_value FROM performance_schema.global_status IGNORE INDEX"
    " (PRIMARY)"
    if ON_MYSQL
    else "SHOW GLOBAL STATUS"
)
# Every variable with its value, as a table, because SHOW cannot be used in a SELECT.
VARIABLES_TABLE, VARIABLES_VALUE = (
    ("performance_schema.global_variables", "variable_value")
    if ON_MYSQL
    else ("information_schema.system_variables", "global_value")
)
# The plan of a statement, as a table whose last column is `Extra`.
EXPLAIN = "EXPLAIN FORMAT=TRADITIONAL" if ON_MYSQL else "EXPLAIN"
# MySQL has no counter of this name.
HAS_ROWS_READ = not ON_MYSQL

# The position of the binary log: MariaDB's last GTID, or MySQL's set of GTIDs.
GTID_POSITION = "@@gtid_executed" if ON_MYSQL else "@@gtid_binlog_pos"
# Starts a replica from the beginning of the log, and asks whether it has reached a position.
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
# The errors of a transaction that is too big for max_binlog_cache_size. If everything fits except
# the event that ends it, MySQL's COMMIT says only that it failed, also to SQL.
BINLOG_CACHE_FULL = ["1 1197", "1 1180"] if ON_MYSQL else ["1 1197"]

# The error for a value in a generated column.
GENERATED_COLUMN_ERROR = "3105" if ON_MYSQL else "1906"

# In MariaDB's SQL a NULL leaves a generated column alone, as the plugin does on both servers.
# MySQL's SQL accepts only the word DEFAULT, which the protocol does not have.
NULL_IS_NO_DEFAULT = ON_MYSQL
# MySQL's UPDATE checks the value for a generated column before it looks for rows. The plugin
# refuses it at the first row that it finds. If it finds no row, there is nothing to refuse.
REFUSED_BEFORE_LOOKING = [("error", 3105)] if ON_MYSQL else []
# The error for a row that violates a CHECK.
CHECK_ERROR = 3819 if ON_MYSQL else 4025

# Types of tests/e2e/values/support_column_types.py that this server lacks, and types that cannot be
# a key. MariaDB 10.11 has no VECTOR. None of MySQL's collations is called nopad or uca1400.
MISSING_TYPES = (
    ("uuid", "inet4", "inet6", "varchar_nopad", "varchar_uca1400") if ON_MYSQL else ("vector",)
)
# MySQL's JSON is binary.
TYPES_WITHOUT_KEY = ("json",) if ON_MYSQL else ()
# MariaDB's JSON is text and compares as text.
JSON_OF_ITS_OWN = ("JSON",) if ON_MYSQL else ()

# A collation for which blanks at the end count. And the engines, besides InnoDB, whose indexes are
# read in order.
NOPAD_COLLATION = "utf8mb4_0900_ai_ci" if ON_MYSQL else "utf8mb4_general_nopad_ci"
KEYED_ENGINES = ("MyISAM",) if ON_MYSQL else ("MyISAM", "Aria")

# Words of statements that only the other family of servers can execute.
_OWN_WORDS = re.compile(
    r"\b(MEMBER OF|AS CHAR\(\d+\) ARRAY|VECTOR|SRID)\b"
    if not ON_MYSQL
    else r"\b(SYSTEM VERSIONING|ENGINE=Aria|CREATE SEQUENCE|INTO versioned)\b"
)


def known_here(statements: Sequence[str]) -> list[str]:
    """The statements that this server can execute."""
    return [statement for statement in statements if not _OWN_WORDS.search(statement)]


# Tests of what only MariaDB has: a part of the test's name, and the feature.
_MARIADB_ONLY = {
    "[aria": "the engine Aria",
    "[Aria]": "the engine Aria",
    "[Aria-": "the engine Aria",
    "test_myrocks": "the engine MyRocks",
    "[partitioned_myisam]": "partitions of a MyISAM table",
    "test_a_descending_index[MyISAM]": "descending indexes of a MyISAM table",
    "test_a_unique_hash_over_a_blob": "unique hashes over long columns",
    "versioned": "system versioning",
    "sequence_object": "sequences",
    "test_values_compressed": "columns that are compressed one by one",
    "test_the_query_cache": "the query cache",
    "backup": "BACKUP STAGE",
    "test_a_commit_that_fails": "BACKUP STAGE, which holds up commits alone",
    "test_a_commit_that_waits": "BACKUP STAGE, which holds up commits alone",
    "BACKUP STAGE": "BACKUP STAGE",
    # MySQL comes with its own loader, from sid, and valgrind would need its symbols.
    "test_valgrind": "the machine's own loader",
    # MySQL comes with tcmalloc, which keeps what was freed for the next request.
    "test_memory_of_a_large_request[a ": "an allocator that gives large blocks back to the kernel",
    "test_memory_of_a_large_item": "an allocator that gives large blocks back to the kernel",
    "KILL HARD": "KILL HARD",
    "KILL SOFT": "KILL SOFT",
}


def skip_reason(test: str) -> str | None:
    """Why a test is not for this server, or None."""
    if not ON_MYSQL:
        return None
    return next(
        (f"only MariaDB has {what}" for part, what in _MARIADB_ONLY.items() if part in test), None
    )


# Replies of the recorded dialogues that are different here: from (dialogue, request) to reply.
GOLDEN_REPLIES: dict[tuple[str, bytes], bytes] = (
    {
        # MySQL keeps accounts in mysql.user and has no table of this name.
        ("open-and-syntax", b"P\t7\tmysql\tglobal_priv\tPRIMARY\tHost,User,Priv\n"): (
            b"1\t1\topen_table\n"
        ),
    }
    if ON_MYSQL
    else {}
)
