"""What the Java client lists on a server. The programs are those of test_java_client.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import needs_original
from test_java_client import run, url


def part(column: str, *, descends: bool = False, prefix: bool = False) -> str:
    said = f"descends={descends}, prefix={prefix}".lower()
    return f"Part[column={column}, {said}]"


@pytest.mark.timeout(300)
def test_lists(sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, word VARCHAR(9), UNIQUE both_ways (a DESC, id),"
        " KEY begins (word(3)))",
        "CREATE TABLE hashed (a INT NOT NULL, KEY (a) USING HASH) ENGINE=MEMORY",
        "CREATE VIEW seen AS SELECT * FROM t",
    )
    location = url(database.server, database.name)
    assert dict(run("lists", location, database.name)) == {
        "databases": "true",
        "tables": "[hashed, t] [hashed, t]",
        "PRIMARY": f"true true [{part('id')}]",
        "both_ways": f"true true [{part('a', descends=True)}, {part('id')}]",
        "begins": f"false true [{part('word', prefix=True)}]",
        "of a hash": "false",
        "error": "1049",
    }


@needs_original
@pytest.mark.timeout(300)
def test_the_original(make_original: Callable[..., ServerInstance]) -> None:
    """It has no lists, and answers a ping with an error, so it is there."""
    assert run("lists", url(make_original(), "test"), "test") == [("error", "cmd")]
