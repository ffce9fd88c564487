"""Commands that set when a string expires: they write that, and nothing else of its row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.resp import OK, Resp
from support_binlog import begin_log, row_events
from support_redis import connect, redis_server
from support_servers import LOGGING

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
TABLES = (
    "CREATE DATABASE lasting",
    "USE lasting",
    "CREATE TABLE single (k INT PRIMARY KEY, v FLOAT, e INT UNSIGNED)",
    "CREATE TABLE parts (k INT PRIMARY KEY, a VARCHAR(20), b VARCHAR(20), e INT UNSIGNED)",
    "INSERT INTO handlersocket.containers VALUES"
    " ('single', 'lasting', 'single', 'k', 'v', '0', NULL, 'e', 'PRIMARY'),"
    " ('parts', 'lasting', 'parts', 'k', 'a,b', '0', NULL, 'e', 'PRIMARY')",
)
#: Long after everything here.
FAR = 5_000_000_000
COMMANDS = [
    ("EXPIRE", 1000), ("PEXPIRE", 2_000_000), ("EXPIREAT", FAR), ("PEXPIREAT", FAR * 1000 + 1),
    ("GETEX", "EX", 1000), ("GETEX", "PERSIST"), ("EXPIRE", 5000), ("PERSIST",),
]  # fmt: skip


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, **LOGGING) as instance:
        instance.client(CONTAINERS.read_text())
        with Sql(instance.socket) as sql:
            sql.run(*TABLES)
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "lasting") as session:
        session.run("DELETE FROM single", "DELETE FROM parts", "DELETE FROM handlersocket.kv")
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server) as one:
        assert one.ask("HS.RELOAD") == OK
        yield one


def with_key(command: tuple[Any, ...], key: str) -> tuple[Any, ...]:
    return command[0], key, *command[1:]


def test_nothing_else_is_logged(server: ServerInstance, sql: Sql, wire: Resp) -> None:
    """A large value would be in the binary log again at each touch."""
    assert wire.ask("SET", "large", b"x" * (1 << 20)) == OK
    sql.run("SET GLOBAL binlog_row_image = MINIMAL")
    try:
        with connect(server) as other:
            for command in COMMANDS:
                begin_log(sql)
                other.ask(*with_key(command, "large"))
                (event,) = row_events(server, sql)
                assert event.kind == "UPDATE" and set(event.after) == {5}, command
    finally:
        sql.run("SET GLOBAL binlog_row_image = DEFAULT")


def test_the_cas_stays(sql: Sql, wire: Resp) -> None:
    """What it stands for is the same, as after a touch of memcached's."""
    assert wire.ask("SET", "a", "x") == OK
    before = sql.row("SELECT cas FROM handlersocket.kv")
    for command in COMMANDS:
        wire.ask(*with_key(command, "a"))
        assert sql.row("SELECT cas FROM handlersocket.kv") == before, command
    assert wire.ask("SET", "a", "x") == OK
    assert sql.row("SELECT cas FROM handlersocket.kv") != before


def test_a_value_that_is_not_shown_as_it_is(sql: Sql, wire: Resp) -> None:
    """A FLOAT shows some of its digits, and a separator may be in a value of several columns."""
    sql.run("INSERT INTO single (k, v) VALUES (1, 16777217.0 / 3)",
            "INSERT INTO parts (k, a, b) VALUES (1, 'x|y', 'z'), (2, NULL, 'z')")  # fmt: skip
    states = ("SELECT CAST(v AS DECIMAL(40, 20)) FROM single", "SELECT k, a, b FROM parts")
    before = [sql.rows(state) for state in states]
    for command in COMMANDS:
        for key in ("single:1", "parts:1", "parts:2"):
            wire.ask(*with_key(command, key))
        assert [sql.rows(state) for state in states] == before, command
    assert [wire.ask("EXPIRE", key, 100) for key in ("single:1", "parts:1", "parts:9")] == [1, 1, 0]
    done, left = wire.unit([("EXPIRE", "parts:1", 500), ("TTL", "parts:1")])
    assert done == 1 and left in (500, 501)
    assert [sql.rows(state) for state in states] == before


def test_who_may_only_set_the_expiry(server: ServerInstance, sql: Sql) -> None:
    sql.run(
        "CREATE USER keeper@localhost IDENTIFIED BY 'k'",
        "GRANT SELECT, UPDATE (expires) ON handlersocket.kv TO keeper@localhost",
        "INSERT INTO handlersocket.kv (k, v) VALUES ('a', '1')",
    )
    try:
        with connect(server) as wire:
            assert wire.ask("AUTH", "keeper", "k") == OK
            assert wire.ask("EXPIRE", "a", 100) == 1
            assert wire.ask("GETEX", "a", "PERSIST") == b"1"
    finally:
        sql.run("DROP USER keeper@localhost")
