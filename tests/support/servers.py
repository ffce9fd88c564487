"""The server under test, and each expectation that differs from one kind or version to another.

A test that is skipped or expects something else on some server says so with a name from here.
"""

from __future__ import annotations

import os
import re

import pytest
from server_instance import REPOSITORY
from server_kind import kind_of

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
    # MySQL names the plugin, MariaDB the library with all its plugins.
    statement = re.sub(
        r"^INSTALL SONAME '(handlersocket)2'$", r"INSTALL PLUGIN \1 SONAME '\g<1>2.so'", statement
    )
    return re.sub(r"^UNINSTALL SONAME '(handlersocket)2'$", r"UNINSTALL PLUGIN \1", statement)


# How a value for a generated column is refused.
GENERATED_COLUMN_ERROR = "3105" if ON_MYSQL else "1906"

# In MariaDB's SQL a NULL leaves a generated column alone, as it does for the plugin on both; MySQL's
# SQL takes the word DEFAULT alone, which the protocol does not have.
NULL_IS_NO_DEFAULT = ON_MYSQL
# MySQL's UPDATE looks at what is given to a generated column before it looks for rows. The plugin
# refuses the first row that it finds, and where there is none it has nothing to refuse.
REFUSED_BEFORE_LOOKING = [("error", 3105)] if ON_MYSQL else []
# How a row that violates a CHECK is refused.
CHECK_ERROR = 3819 if ON_MYSQL else 4025

# Tests of what only MariaDB has: a part of the test's name, and what that is.
_MARIADB_ONLY = {
    "[uuid]": "the type UUID",
    "[inet4]": "the type INET4",
    "[inet6]": "the type INET6",
    "[varchar_nopad]": "collations called nopad",
    "[varchar_uca1400]": "collations called uca1400",
    "[json]": "JSON as text, which can be a key",
    "test_a_row_of_every_type": "all of these types in one row",
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
    "BACKUP STAGE": "BACKUP STAGE",
    "test_covering_index.py": "MD5() without a component",
    "KILL HARD": "KILL HARD",
    "KILL SOFT": "KILL SOFT",
    "test_options_of_the_original": "notes in the log by default",
    "test_the_secret_is_shown_nowhere": "log_warnings",
    "test_unset_address_is_loopback": "this form of a line in the log",
    "test_a_wrong_character_set_is_refused": "INSTALL SONAME, here sent by the client",
    "test_timestamps_are_in_the_servers_time_zone": "TIMEDIFF equals its text without a fraction",
    # MySQL takes three seconds for its own shutdown.
    "test_with_a_thousand_clients": "a shutdown within three seconds",
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
