"""What a column cannot hold, where sql_mode would have it cut: it is refused all the same."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support_memcached import Line, connect, found, memcached_server, stored
from support_memcached_sequences import packet

TABLES = (
    "CREATE DATABASE small",
    "USE small",
    "CREATE TABLE n (id INT PRIMARY KEY, n TINYINT, f INT, e INT, note VARCHAR(5) NOT NULL)",
    "CREATE TABLE t (k VARCHAR(5) PRIMARY KEY, v VARCHAR(5), w VARCHAR(3) NOT NULL,"
    " c BIGINT UNSIGNED NOT NULL DEFAULT 0) ENGINE=%s",
    "CREATE TABLE made (id INT PRIMARY KEY, n INT, v INT AS (n + 1) STORED) ENGINE=%s",
    "INSERT INTO made (id, n) VALUES (1, 10)",
    "INSERT INTO handlersocket.containers VALUES"
    " ('made', 'small', 'made', 'id', 'v', '0', NULL, NULL, 'PRIMARY'),"
    " ('n', 'small', 'n', 'id', 'n', 'f', NULL, 'e', 'PRIMARY'),"
    " ('t', 'small', 't', 'k', 'v,w', '0', 'c', NULL, 'PRIMARY')",
)
OUT_OF_RANGE = b"SERVER_ERROR 1264 "
TOO_LONG = b"SERVER_ERROR 1406 "
COMPUTED = b"SERVER_ERROR %d " % (3105 if ON_MYSQL else 1906)


@pytest.fixture(scope="module", params=["InnoDB", "MyISAM"])
def server(data_root: Path, watch: Any, request: Any) -> Iterator[ServerInstance]:
    with memcached_server(data_root, watch, sql_mode="") as instance:
        with Sql(instance.socket) as sql:
            sql.run(*(text.replace("%s", request.param) for text in TABLES))
        time.sleep(1.5)  # until the containers are read again
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "small") as session:
        session.run("DELETE FROM n", "DELETE FROM t")
        assert session.row("SELECT @@GLOBAL.sql_mode") == (b"",)
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Line]:
    with connect(server) as line:
        yield line


def is_without_transactions(sql: Sql) -> bool:
    tables = "information_schema.tables WHERE table_schema = 'small' AND table_name = 't'"
    return sql.row(f"SELECT engine FROM {tables}") == (b"MyISAM",)


def test_numbers(wire: Line, sql: Sql) -> None:
    assert wire.ask(stored(b"@@n.1", b"127", 255)) == b"STORED\r\n"
    for request in (
        b"incr 1 1\r\n",
        b"ma 1\r\n",
        stored(b"1", b"128"),
        stored(b"2", b"128"),
        stored(b"1", b"1270", command=b"replace"),
        stored(b"1", b"0", command=b"append"),
        stored(b"2", b"1000", command=b"add"),
        stored(b"1", b"1", 4_000_000_000),
        stored(b"2", b"1", 4_000_000_000),
        stored(b"1", b"1", 0, 4_000_000_000),
        b"touch 1 4000000000\r\n",
        stored(b"4000000000", b"1"),
    ):
        assert wire.ask(request).startswith(OUT_OF_RANGE), request
    assert wire.ask(stored(b"1", b"many")).startswith(b"SERVER_ERROR 1366 ")
    assert sql.rows("SELECT id, n, f, e FROM n") == [(b"1", b"127", b"255", None)]
    assert wire.ask(b"decr 1 7\r\nincr 1 5\r\nget 1\r\n") == (
        b"120\r\n125\r\n" + found(b"1", b"125", 255)
    )


def test_texts(wire: Line, sql: Sql) -> None:
    # A column that has no default and is not given one is as sql_mode says.
    assert wire.ask(stored(b"@@t.a", b"abcde|xyz")) == b"STORED\r\n"
    for request in (
        stored(b"a", b"abcdef|x"),
        stored(b"b", b"abcdef|x"),
        stored(b"a", b"a|wxyz"),
        stored(b"a", b"z", command=b"append"),
        stored(b"a", b"_", command=b"prepend"),
        stored(b"b", b"abcdef|x", command=b"add"),
        stored(b"a", b"abcdef|x", command=b"replace"),
        b"ms a 8\r\nabcdef|x\r\n",
        stored(b"too_long", b"a|b"),
    ):
        # What looks before it writes needs transactions.
        if not is_without_transactions(sql) or request.startswith((b"set ", b"ms ")):
            assert wire.ask(request).startswith(TOO_LONG), request
    assert sql.rows("SELECT k, v, w FROM t") == [(b"a", b"abcde", b"xyz")]
    assert wire.ask(b"get a\r\n") == found(b"a", b"abcde|xyz")


def test_a_value_that_is_computed(wire: Line, sql: Sql) -> None:
    """It can be read. The container cannot store another one."""
    assert wire.ask(b"get @@made.1\r\n") == found(b"@@made.1", b"11")
    for request in (stored(b"1", b"5"), stored(b"2", b"5"), b"ms 2 1\r\n5\r\n", b"ma 1\r\n"):
        if request.startswith(b"ma") and is_without_transactions(sql):
            continue
        assert wire.ask(request).startswith(COMPUTED), request
    assert sql.rows("SELECT id, v FROM made") == [(b"1", b"11")]


def test_binary(server: ServerInstance, wire: Line, sql: Sql) -> None:
    sql.run("INSERT INTO n (id, n) VALUES (1, 127)")
    with connect(server) as line:
        by_one = b"\0" * 7 + b"\1" + b"\0" * 8 + b"\0" * 4
        line.send(packet(5, b"@@n.1", by_one) + packet(1, b"2", b"\0" * 8, b"128") + packet(7))
        assert line.rest().count(b"1264 22003") == 2
    assert sql.rows("SELECT id, n FROM n") == [(b"1", b"127")]
