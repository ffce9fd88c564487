"""The server under test, and every expectation that has to differ from one kind or version to another.

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

# MariaDB's tables of numbers, which its engine SEQUENCE makes up.
_SEQUENCE = re.compile(r"\bFROM seq_1_to_(\d+)\b")
_DIGITS = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"


def in_dialect(statement: str) -> str:
    """A statement as this server's SQL has it."""
    if not ON_MYSQL:
        return statement

    def numbers(match: re.Match[str]) -> str:
        count = match[1]
        places = [f"p{place}.d * {10**place}" for place in range(len(count))]
        tables = [f"{_DIGITS} p{place}" for place in range(len(count))]
        values = f"SELECT 1 + {' + '.join(places)} AS seq FROM {', '.join(tables)}"
        return f"FROM (SELECT seq FROM ({values}) v WHERE seq <= {count} ORDER BY seq) AS numbers"

    return _SEQUENCE.sub(numbers, statement)


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
