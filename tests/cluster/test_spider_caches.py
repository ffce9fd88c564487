"""Spider: its tables are served to Redis's and memcached's clients, too."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import support_memcached
import support_redis
from server_instance import ServerInstance, free_port
from support.database import Sql
from support.pace import Pace
from support.resp import Reply, Simple
from support_memcached import CONTAINERS, found, stored
from support_redis import hash_of, sql_error
from support_spider import MARKS, THREADS, fill, spider_servers, standing_still, wait_until

pytestmark = MARKS

#: Its keys are those of the Spider table, and its values the column `s`.
FAR = """
    INSERT INTO handlersocket.containers
        (name, db_schema, db_table, key_columns, value_columns, unique_idx_name_on_key)
    VALUES ('far', 'shop', 't', 'id', 's', 'PRIMARY')"""
#: More than a streamer sends at once.
BIG = b"z" * 300_000


@pytest.fixture(scope="module")
def servers(data_root: Path, watch: Any) -> Iterator[list[ServerInstance]]:
    settings = {
        "handlersocket_redis_port": free_port(),
        "handlersocket_memcached_port": free_port(),
    }
    with spider_servers(data_root, watch, **settings) as servers:
        front = servers[0]
        front.client(CONTAINERS.read_text() + FAR)
        with support_memcached.connect(front) as line:
            wait_until(lambda: line.ask(b"get @@far.1\r\n") == b"END\r\n")
        yield servers


@pytest.fixture
def front(servers: list[ServerInstance]) -> ServerInstance:
    """The Spider table holds the same at the beginning of each test."""
    fill(servers[0])
    with Sql(servers[0].socket) as sql:
        sql.run("REPLACE INTO shop.here VALUES (1, 1, 'one')", "DELETE FROM handlersocket.kv")
    return servers[0]


def row_in(sql: Sql, row: int) -> tuple[bytes | None, ...] | None:
    rows = sql.rows(f"SELECT v, s FROM shop.t WHERE id = {row}")
    return rows[0] if rows else None


def test_rows_as_hashes(front: ServerInstance) -> None:
    with support_redis.connect(front) as wire, Sql(front.socket) as sql:
        assert hash_of(wire, "shop.t:7") == {b"id": b"7", b"v": b"70", b"s": b"row 7"}
        assert wire.ask("HMGET", "shop.t:8", "s", "v", "none") == [b"row 8", b"80", None]
        assert wire.ask("HSET", "shop.t:201", "v", 5, "s", "new") == 2
        assert wire.ask("HSET", "shop.t:201", "v", 6) == 0
        assert wire.ask("HINCRBY", "shop.t:201", "v", 2) == 8
        assert row_in(sql, 201) == (b"8", b"new")
        assert wire.ask("HDEL", "shop.t:201", "s") == 1
        assert row_in(sql, 201) == (b"8", None)
        assert wire.ask("EXISTS", "shop.t:201", "shop.here:1", "shop.t:202") == 2
        assert wire.ask("DEL", "shop.t:201", "shop.here:1", "shop.t:202") == 2
        assert row_in(sql, 201) is None


def test_items_of_redis(front: ServerInstance) -> None:
    with support_redis.connect(front) as wire, Sql(front.socket) as sql:
        assert wire.ask("GET", "far:3") == b"row 3"
        assert wire.ask("SET", "far:3", "drei") == Simple("OK")
        assert row_in(sql, 3) == (b"30", b"drei")
        assert wire.ask("MSET", "far:4", "vier", "k", "here") == Simple("OK")
        assert wire.ask("MGET", "k", "far:3", "far:4", "far:999") == [
            b"here",
            b"drei",
            b"vier",
            None,
        ]
        # The column v has no default.
        assert sql_error(wire.ask("SET", "far:999", "x")) == 1364


def test_a_transaction_is_one_also_if_it_writes_here_and_there(front: ServerInstance) -> None:
    with support_redis.connect(front) as wire, Sql(front.socket) as sql:

        def transaction(*commands: str) -> Reply:
            assert wire.ask("MULTI") == Simple("OK")
            for command in commands:
                assert wire.ask(*command.split()) == Simple("QUEUED")
            return wire.ask("EXEC")

        both = ("HINCRBY shop.t:1 v 1", "HINCRBY shop.t:2 v 1", "HINCRBY shop.here:1 v 1")
        assert transaction(*both) == [11, 21, 2]
        reply = transaction(*both, "HSET shop.t:3 v none")
        assert "1366" in str(reply), reply
        assert [row_in(sql, row) for row in (1, 2)] == [(b"11", b"row 1"), (b"21", b"row 2")]
        assert sql.rows("SELECT v FROM shop.here") == [(b"2",)]


def test_searches(front: ServerInstance) -> None:
    with support_redis.connect(front) as wire:
        rows = wire.ask("HS.FIND", "shop.t@v", "FIELDS", 1, "s", "KEY", 1, 70)
        assert rows == [b"rows", [[b"s", b"row 7"]], b"next", None]
        rows = wire.ask("HS.FIND", "shop.t", "FIELDS", 1, "v", "IN", "id", 3, 2, 999, 3)
        assert rows == [b"rows", [[b"v", b"20"], [b"v", b"30"]], b"next", None]
        assert wire.ask("HS.COUNT", "shop.t", "KEY", 1, 7) == 1
        assert wire.ask("HS.UPDATE", "shop.t", "KEY", 1, 7, "SET", 1, "v", 3) == 1
        assert wire.ask("HS.FIND", "shop.t@v", "FIELDS", 1, "id", "KEY", 1, 3) == [
            b"rows",
            [[b"id", b"7"]],
            b"next",
            None,
        ]
        assert wire.ask("HS.DELETE", "shop.t", "KEY", 1, 7) == 1
        assert wire.ask("EXISTS", "shop.t:7") == 0
        assert sql_error(wire.ask("HS.FIND", "shop.t", "FROM", ">", 98)) == 1178
        # They go up an index, which Spider's tables cannot.
        assert sql_error(wire.ask("SCAN", 0, "MATCH", "shop.t:*")) == 1178
        assert sql_error(wire.ask("KEYS", "shop.t:*")) == 1178


def test_items_of_memcached(front: ServerInstance) -> None:
    with support_memcached.connect(front) as line, Sql(front.socket) as sql:
        assert line.ask(stored(b"k", b"here")) == b"STORED\r\n"
        assert line.ask(b"get k @@far.5 6 @@default.k\r\n") == (
            found(b"k", b"here")[:-5]
            + found(b"@@far.5", b"row 5")[:-5]
            + found(b"6", b"row 6")[:-5]
            + found(b"@@default.k", b"here")
        )
        assert line.ask(stored(b"@@far.5", b"five")) == b"STORED\r\n"
        assert row_in(sql, 5) == (b"50", b"five")
        assert line.ask(stored(b"5", b"+", command=b"append")) == b"STORED\r\n"
        assert line.ask(b"mg 5 v\r\nmd 5\r\nmg 5 v\r\n") == b"VA 5\r\nfive+\r\nHD\r\nEN\r\n"
        assert line.ask(b"get @>98\r\n") == (
            found(b"99", b"row 99")[:-5] + found(b"100", b"row 100")
        )


def test_a_long_get_goes_on_there(front: ServerInstance) -> None:
    """A part of its reply was sent before it meets the Spider table."""
    with support_memcached.connect(front) as line:
        assert line.ask(stored(b"big", BIG)) == b"STORED\r\n"
        big = found(b"big", BIG)[:-5]
        named = found(b"@@default.big", BIG)[:-5]
        for keys, items in ((b"", named), (b"none big ", named + big)):
            request = b"get @@default.big " + keys + b"@@far.9 @@default.big @@far.999 10\r\n"
            assert line.ask(request) == (
                items + found(b"@@far.9", b"row 9")[:-5] + named + found(b"10", b"row 10")
            )


def test_others_do_not_wait_for_a_back_end(
    servers: list[ServerInstance], front: ServerInstance, pace: Pace
) -> None:
    replies: list[object] = []

    def ask(number: int) -> None:
        if number % 2:
            with support_redis.connect(front) as wire:
                replies.append(wire.ask("HGET", "shop.t:1", "v"))
        else:
            with support_memcached.connect(front) as line:
                replies.append(line.ask(b"get @@far.1\r\n"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8 * THREADS)]
    with support_redis.connect(front) as wire, support_memcached.connect(front) as line:
        line.ask(stored(b"k", b"here"))
        slowest = 0.0
        with standing_still(servers[2]):
            for thread in threads:
                thread.start()
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline:
                began = time.monotonic()
                assert wire.ask("HGET", "shop.here:1", "v") == b"1"
                assert line.ask(b"get k\r\n") == found(b"k", b"here")
                slowest = max(slowest, time.monotonic() - began)
                time.sleep(0.01)
            assert any(thread.is_alive() for thread in threads)
        assert slowest < 0.5 + pace.longest
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    assert len(replies) == len(threads)
