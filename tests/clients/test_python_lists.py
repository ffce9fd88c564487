"""What both faces of the Python client list on a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from handlersocket2 import Client, ListedIndex, ListedPart, ReplyError
from server_instance import ServerInstance
from support.database import Database, Sql
from support.python_faces import Blocking, connected
from support.servers import needs_original


@pytest.fixture(params=[Client, Blocking], ids=["threads", "asyncio"])
def face(request: pytest.FixtureRequest) -> Any:
    return request.param


def part(column: str, *, descends: bool = False, prefix: bool = False) -> ListedPart:
    return ListedPart(column, descends, prefix)


def test_lists(face: Any, sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, word VARCHAR(9), UNIQUE both_ways (a DESC, id),"
        " KEY begins (word(3)))",
        "CREATE TABLE hashed (a INT NOT NULL, KEY (a) USING HASH) ENGINE=MEMORY",
        "CREATE TABLE bare (a INT)",
        "CREATE VIEW seen AS SELECT * FROM t",
    )
    with connected(face, database.server) as client:
        names = client.databases()
        assert database.name in names and names == sorted(names)
        assert client.tables(database.name) == ["bare", "hashed", "t"]
        assert client.indexes(database.name, "t") == [
            ListedIndex("PRIMARY", True, True, (part("id"),)),
            ListedIndex("both_ways", True, True, (part("a", descends=True), part("id"))),
            ListedIndex("begins", False, True, (part("word", prefix=True),)),
        ]
        assert client.indexes(database.name, "hashed") == [
            ListedIndex("a", False, False, (part("a"),))
        ]
        assert client.indexes(database.name, "bare") == []
        client.ping()
        with pytest.raises(ReplyError) as raised:
            client.tables("no_such_database")
        assert raised.value.text == "1049"
        with pytest.raises(ReplyError):
            client.indexes(database.name, "no_such_table")
        client.ping()


def test_what_an_index_lists_can_be_opened(face: Any, sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY by_v (v))", "INSERT INTO t VALUES (1, 2)"
    )
    with connected(face, database.server) as client:
        for table in client.tables(database.name):
            for index in client.indexes(database.name, table):
                (of,) = index.parts
                opened = client.index(database.name, table, [of.column], index=index.name)
                assert len(opened.find(0, op=">")) == 1


@needs_original
def test_the_original(face: Any, make_original: Callable[..., ServerInstance]) -> None:
    """It has no lists, and answers a ping with an error, so it is there."""
    with connected(face, make_original()) as client:
        client.ping()
        with pytest.raises(ReplyError) as raised:
            client.databases()
        assert (raised.value.code, raised.value.text) == (2, "cmd")
        client.ping()
