"""Keys of tables whose definition changes while they are used.

A key is read by what its table is now, and not by what it was when somebody has opened it first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.resp import OK, Error, Resp
from support_redis import connect, hash_of, redis_server
from support_servers import fresh_session

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, v VARCHAR(50))",
    "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two')",
    "CREATE TABLE auto (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE, n INT)",
    "INSERT INTO auto VALUES (1, 'first', 1)",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch) as instance:
        instance.client(CONTAINERS.read_text())
        with Sql(instance.socket, "handlersocket") as sql:
            sql.run(
                "INSERT INTO containers VALUES"
                " ('c', 'changed', 't', 'id', 'v', '0', '0', '0', 'PRIMARY'),"
                " ('counted', 'changed', 'auto', 'id', 'n', '0', '0', '0', 'PRIMARY')"
            )
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "changed", *TABLES) as session:
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server) as one:
        assert one.ask("HS.RELOAD") == OK
        yield one


def test_a_key_becomes_a_text(wire: Resp, sql: Sql) -> None:
    """What was no spelling of a number is a key."""
    for words in (
        ("HGET", "changed.t:x", "v"),
        ("HSET", "changed.t:x", "n", 1),
        ("GET", "c:x"),
        ("DEL", "changed.t:x"),
    ):
        assert "one spelling" in wire.ask(*words).text, words
    sql.run("ALTER TABLE t MODIFY id VARCHAR(20)", "INSERT INTO t VALUES ('x', 5, 'text')")
    assert wire.ask("HGET", "changed.t:x", "v") == b"text"
    assert wire.ask("GET", "c:x") == b"text"
    assert wire.ask("HSET", "changed.t:x", "n", 6) == 0
    assert wire.ask("DEL", "changed.t:x") == 1
    sql.run("DELETE FROM t WHERE id = 'x'", "ALTER TABLE t MODIFY id INT")
    for words in (
        ("HGET", "changed.t:x", "v"),
        ("HSET", "changed.t:x", "n", 1),
        ("GET", "c:x"),
        ("DEL", "changed.t:x"),
    ):
        assert "one spelling" in wire.ask(*words).text, words
    assert wire.ask("HGET", "changed.t:1", "v") == b"one"


def test_a_key_loses_and_gains_a_part(wire: Resp, sql: Sql) -> None:
    sql.run("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (n, id)")
    assert hash_of(wire, "changed.t:10:1")[b"v"] == b"one"
    assert wire.ask("HSET", "changed.t:10:1", "v", "new") == 0
    for words in (
        ("HGETALL", "changed.t:1"),
        ("HSET", "changed.t:1", "v", "x"),
        ("EXISTS", "changed.t:1"),
    ):
        assert "too few parts" in wire.ask(*words).text, words
    sql.run("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (id)")
    for words, reply in (
        (("HSET", "changed.t:1", "v", "x"), 0),
        (("EXISTS", "changed.t:1"), 1),
        (("HGET", "changed.t:1", "v"), b"x"),
    ):
        assert wire.ask(*words) == reply


def test_a_search_by_what_the_index_has_gained(wire: Resp, sql: Sql) -> None:
    find = ("HS.FIND", "changed.t", "KEY", 2, 10, 1)
    assert isinstance(wire.ask(*find), Error)
    named = ("HS.COUNT", "changed.t", "FILTER", "w", "=", "7")
    assert "w" in wire.ask(*named).text
    sql.run("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (n, id), ADD w INT DEFAULT 7")
    found = wire.ask(*find)
    assert not isinstance(found, Error) and b"one" in found[1][0], found
    assert wire.ask(*named) == 2


def test_a_scan_for_one_key(wire: Resp, sql: Sql) -> None:
    assert wire.ask("KEYS", "changed.t:x") == []
    sql.run("ALTER TABLE t MODIFY id VARCHAR(20)", "INSERT INTO t VALUES ('x', 5, 'text')")
    assert wire.ask("KEYS", "changed.t:x") == [b"changed.t:x"]


@pytest.mark.parametrize(
    "words",
    [
        ("HSET", "changed.auto:0", "n", 5),
        ("HSETNX", "changed.auto:0", "n", 5),
        ("HINCRBY", "changed.auto:0", "n", 5),
        ("HINCRBY", "changed.auto:0", "name", 5),
        ("SET", "counted:0", "5"),
        ("INCR", "counted:0"),
    ],
)
def test_a_key_of_zero_is_no_new_number(wire: Resp, sql: Sql, words: tuple[Any, ...]) -> None:
    """SQL makes a number in place of a 0. So the row could never be found by its key, and each
    command made another one."""
    for _ in range(2):
        reply = wire.ask(*words)
        assert isinstance(reply, Error) and "AUTO_INCREMENT" in reply.text, reply
    aborted = wire.unit([("HSET", "changed.auto:1", "n", 9), words])
    assert isinstance(aborted, Error) and "AUTO_INCREMENT" in aborted.text
    assert sql.rows("SELECT * FROM auto") == [(b"1", b"first", b"1")]


def test_what_is_no_number_is_not_taken_for_0(wire: Resp, sql: Sql) -> None:
    for number in ("abc", "", "-"):
        reply = wire.ask("HSET", "changed.auto@name:other", "id", number)
        assert isinstance(reply, Error) and "AUTO_INCREMENT" not in reply.text, reply
    assert sql.number("SELECT COUNT(*) FROM auto") == 1


def test_a_zero_that_is_there_can_be_changed(wire: Resp, sql: Sql) -> None:
    sql.run("SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
            "INSERT INTO auto VALUES (0, 'zero', 1)")  # fmt: skip
    assert wire.ask("HINCRBY", "changed.auto:0", "n", 1) == 2
    assert wire.ask("SET", "counted:0", "7") == OK
    # Another index does not give the number, so there is a new one.
    assert wire.ask("HSET", "changed.auto@name:second", "n", 3) == 1
    assert sql.rows("SELECT * FROM auto") == [
        (b"0", b"zero", b"7"), (b"1", b"first", b"1"), (b"2", b"second", b"3"),
    ]  # fmt: skip
