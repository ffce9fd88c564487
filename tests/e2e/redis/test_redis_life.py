"""Redis's port over the life of its tables and its server: DDL, restarts, kill -9."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.pace import Pace
from support.resp import Error, Resp
from support.wire import WireError
from support_redis import connect, hash_of, redis_port, redis_server
from support_servers import LOGGING, fresh_session, listens, wait_until

DURABLE = {**LOGGING, "sync_binlog": 1, "innodb_flush_log_at_trx_commit": 1}
ROUNDS, WRITERS = 3, 6
CREATE = "CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL DEFAULT 0, v VARCHAR(50))"
#: A statement may take so much longer than without clients.
SLACK = 4.0
STATEMENTS = {
    "a column": ["ALTER TABLE t ADD COLUMN c INT DEFAULT 7 FIRST", "ALTER TABLE t DROP COLUMN c"],
    "a copy": ["ALTER TABLE t FORCE, ALGORITHM=COPY"],
    "a type": ["ALTER TABLE t MODIFY n INT", "ALTER TABLE t MODIFY n BIGINT NOT NULL"],
    "an index": ["CREATE INDEX i ON t (n)", "DROP INDEX i ON t"],
    "a lock": ["LOCK TABLES t WRITE", "UNLOCK TABLES"],
    "flush": ["FLUSH TABLES", "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"],
}  # fmt: skip


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, handlersocket_default_database="life") as instance:
        yield instance


class Counting(threading.Thread):
    """A client that adds one to its row again and again, reads it, and knows what it must be."""

    def __init__(self, port: int, row: int) -> None:
        super().__init__(daemon=True)
        self._wire = Resp(port, protocol=2 + row % 2, timeout=30)
        self._row = row
        self.ended = threading.Event()
        self.sent = self.acknowledged = 0
        self.wrong: list[object] = []

    def run(self) -> None:
        key, twin = f"t:{self._row}", f"t:{self._row + 100}"
        try:
            while not self.ended.is_set():
                self.sent += 1
                one, other = ("HINCRBY", key, "n", 1), ("HSET", twin, "n", self.sent)
                requests = [("MULTI",), one, other, ("EXEC",), ("HGET", key, "n")]
                *_, done, read = self._wire.pipeline(requests)
                if isinstance(done, list) and done[0] == self.sent and read == b"%d" % self.sent:
                    self.acknowledged = self.sent
                else:
                    self.wrong.append((done, read))
                    return
        except (WireError, OSError):
            pass


def _is_of_shutdown(reply: object) -> bool:
    """A server that goes down interrupts what it executes, and says so."""
    return isinstance(reply, Error) and any(f" {number} " in reply.text for number in (1053, 1317))


def _all_have(clients: list[Counting], count: int) -> bool:
    return all(client.acknowledged > count for client in clients)


def started(server: ServerInstance, count: int) -> list[Counting]:
    clients = [Counting(redis_port(server), row) for row in range(count)]
    for client in clients:
        client.start()
    return clients


@pytest.mark.parametrize("kind", STATEMENTS)
def test_ddl_goes_through_and_nothing_fails(server: ServerInstance, pace: Pace, kind: str) -> None:
    with fresh_session(server, "life", CREATE) as sql:
        clients = started(server, 8)
        wait_until(lambda: _all_have(clients, 5), "they work")
        for _ in range(3):
            for statement in STATEMENTS[kind]:
                begun = time.monotonic()
                sql.run(statement)
                assert time.monotonic() - begun < SLACK + pace.longest
        for client in clients:
            client.ended.set()
        for client in clients:
            client.join(30)
        assert [client.wrong for client in clients if client.wrong] == []
        rows = dict(sql.rows("SELECT id, n FROM t"))
        for row, client in enumerate(clients):
            expected = b"%d" % client.acknowledged
            assert rows[b"%d" % row] == rows[b"%d" % (row + 100)] == expected


def test_a_table_that_goes_and_comes_back(server: ServerInstance) -> None:
    with fresh_session(server, "life", CREATE) as sql, connect(server) as wire:
        assert wire.ask("HSET", "t:1", "v", "x") == 1
        sql.run("DROP TABLE t")
        assert isinstance(wire.ask("HGET", "t:1", "v"), Error)
        assert isinstance(wire.ask("HSET", "t:1", "v", "x"), Error)
        sql.run("CREATE TABLE t (v VARCHAR(9), name VARCHAR(9) PRIMARY KEY)")
        assert wire.ask("HSET", "t:new", "v", "y") == 1
        assert hash_of(wire, "t:new") == {b"name": b"new", b"v": b"y"}
        sql.run("RENAME TABLE t TO elsewhere")
        assert isinstance(wire.ask("HGET", "t:new", "v"), Error)
        assert wire.ask("HGET", "elsewhere:new", "v") == b"y"
        sql.run("TRUNCATE TABLE elsewhere")
        assert wire.ask("EXISTS", "elsewhere:new") == 0


def test_the_port_is_closed_and_opened(server: ServerInstance) -> None:
    with fresh_session(server, "life", CREATE) as sql, connect(server) as wire:
        assert wire.ask("HSET", "t:1", "v", "x") == 1
        sql.run("SET GLOBAL handlersocket_enabled = OFF")
        assert wire.rest() == b""
        assert not listens(redis_port(server))
        sql.run("SET GLOBAL handlersocket_enabled = ON")
        with connect(server) as again:
            assert again.ask("HGET", "t:1", "v") == b"x"


def test_a_server_that_is_read_only(server: ServerInstance) -> None:
    with fresh_session(server, "life", CREATE) as sql, connect(server) as wire:
        sql.run(
            "CREATE USER IF NOT EXISTS plain@localhost",
            "GRANT ALL ON life.* TO plain@localhost",
            "SET GLOBAL handlersocket_anonymous_account = 'plain@localhost'",
            "SET GLOBAL read_only = ON",
        )
        try:
            with connect(server) as limited:
                for words in (
                    ("HSET", "t:1", "v", "x"),
                    ("DEL", "t:1"),
                    ("HINCRBY", "t:1", "n", 1),
                ):
                    reply = limited.ask(*words)
                    assert isinstance(reply, Error) and reply.code == "READONLY", (words, reply)
                assert limited.ask("HGETALL", "t:1") == []
                done = limited.unit([("HSET", "t:1", "v", "x")])
                assert isinstance(done, Error) and "READONLY" in done.text
        finally:
            account = "SET GLOBAL handlersocket_anonymous_account = 'root@localhost'"
            sql.run("SET GLOBAL read_only = OFF", account)
        assert wire.ask("HSET", "t:1", "v", "x") == 1


def test_a_restart_ends_connections_and_loses_nothing(data_root: Path, watch: Any) -> None:
    with redis_server(data_root, watch, handlersocket_default_database="life") as instance:
        with fresh_session(instance, "life", CREATE):
            clients = started(instance, 4)
            wait_until(lambda: _all_have(clients, 5), "they work")
        instance.restart()
        for client in clients:
            client.join(30)
        wrong = [replies for client in clients for replies in client.wrong]
        assert [replies for replies in wrong if not any(map(_is_of_shutdown, replies))] == []
        with Sql(instance.socket, "life") as sql:
            check(sql, clients)


def check(sql: Sql, clients: list[Counting]) -> None:
    """What was acknowledged is there, and of a unit all or nothing."""
    rows = {int(key or 0): int(n or 0) for key, n in sql.rows("SELECT id, n FROM t")}
    for row, client in enumerate(clients):
        assert client.acknowledged <= rows.get(row, 0) <= client.sent, (row, client.acknowledged)
        assert rows.get(row) == rows.get(row + 100), "half a unit is there"


def test_kill_loses_nothing_that_was_acknowledged(data_root: Path, watch: Any) -> None:
    rng = random.Random()
    settings = {**DURABLE, "handlersocket_default_database": "life"}
    with redis_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run("CREATE DATABASE life", "USE life", CREATE)
        for _ in range(ROUNDS):
            with Sql(instance.socket, "life") as sql:
                sql.run("DELETE FROM t")
            clients = started(instance, WRITERS)
            wait_until(lambda clients=clients: _all_have(clients, 20), "they work")
            time.sleep(rng.random() * 0.3)
            instance.kill()
            for client in clients:
                client.join(30)
            assert [client.wrong for client in clients if client.wrong] == []
            instance.start()
            with Sql(instance.socket, "life") as sql:
                check(sql, clients)
