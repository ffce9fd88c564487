"""Names that look the same when they are written one behind the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.wire import Wire
from support_redis import connect, redis_server
from support_servers import fresh_session

TABLES = (
    "CREATE TABLE commas (id INT PRIMARY KEY, a INT, b INT, `a,b` INT)",
    "INSERT INTO commas VALUES (1, 10, 20, 30)",
    "CREATE TABLE a (id INT PRIMARY KEY, v INT, KEY `b\ti` (id, v))",
    "INSERT INTO a VALUES (1, 10)",
    "CREATE TABLE `a\tb` (id INT PRIMARY KEY, v INT, KEY i (id))",
    "INSERT INTO `a\tb` VALUES (1, 20)",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """One worker for each kind of port, which knows what all of its connections have opened."""
    settings = {
        "handlersocket_default_database": "alike",
        "handlersocket_threads": 1,
        "handlersocket_threads_wr": 1,
    }
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "alike", *TABLES) as session:
        yield session


def test_a_column_that_is_named_as_two(server: ServerInstance, sql: Sql) -> None:
    with Wire(server.hs_port) as read, Wire(server.hs_port_wr) as write, connect(server) as redis:
        for wire in (read, write):
            assert wire.ask(b"P\t1\talike\tcommas\t\ta,b\n") == b"0\t1"
            assert wire.ask(b"1\t=\t1\t1\n") == b"0\t2\t10\t20"
        assert redis.ask("HGET", "commas:1", "a,b") == b"30"
        assert redis.ask("HMGET", "commas:1", "a", "b") == [b"10", b"20"]


def test_a_table_that_is_named_as_another_and_an_index(server: ServerInstance, sql: Sql) -> None:
    with Wire(server.hs_port) as wire:
        wire.ask(b"H\tnames\n")
        assert wire.ask(b"P\t1\talike\ta\tb\x01Ii\tv\n") == b"0\t1"
        assert wire.ask(b"P\t2\talike\ta\x01Ib\ti\tv\n") == b"0\t1"
        assert wire.ask(b"1\t=\t1\t1\n") == b"0\t1\t10"
        assert wire.ask(b"2\t=\t1\t1\n") == b"0\t1\t20"
        assert wire.ask(b"P\t3\talike\ta\t\t*\n") == b"0\t1"
        assert wire.ask(b"P\t4\talike\ta\t\t\t\x01I*\n") == b"2\t1\tfld"
