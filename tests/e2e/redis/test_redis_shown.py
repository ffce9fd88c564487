"""What the server shows of Redis's port: options, counters, connections, the audit trail, logs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.resp import OK, Error, Resp
from support.servers import ON_MYSQL
from support_redis import CONNECTIONS, connect, connection_id, redis_port, redis_server
from support_servers import fresh_session, wait_until
from test_audit import trail, uses

TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(50), n INT)",
    "INSERT INTO t SELECT seq, 'v', seq FROM seq_1_to_20000",
)
UNKNOWN_THREAD = 1094


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, handlersocket_default_database="shown") as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "shown", *TABLES) as session:
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server) as one:
        yield one


def test_its_options(server: ServerInstance, sql: Sql) -> None:
    shown = {
        (name or b"").decode(): (value or b"").decode()
        for name, value in sql.rows("SHOW GLOBAL VARIABLES LIKE 'handlersocket_%redis%'")
    }
    assert shown == {
        "handlersocket_redis_port": str(redis_port(server)),
        "handlersocket_redis_socket": "",
    }, "its secret is not shown"
    assert sql.row("SELECT @@handlersocket_default_database") == (b"shown",)


def test_without_its_option_nobody_listens(data_root: Path, watch: Any) -> None:
    with redis_server(data_root, watch, handlersocket_redis_port="") as instance:
        assert len(re.findall(r"handlersocket: listens on", instance.log_text())) == 2


def test_it_is_counted(sql: Sql, wire: Resp) -> None:
    names = ("connections_opened", "requests", "errors", "latency_find_count")

    def counts() -> dict[str, int]:
        return {name: sql.status(f"handlersocket_redis_port_{name}") for name in names}

    def general() -> dict[str, int]:
        kinds = ("find", "update", "insert", "delete", "count")
        return {kind: sql.status(f"handlersocket_requests_{kind}") for kind in kinds}

    wire.ask("PING")
    before, kinds = counts(), general()
    for line in ("HGET t:1 v", "HGETALL t:1", "HMGET t:1 v n", "HSET t:1 v x", "HDEL t:1 v",
                 "DEL t:1", "EXISTS t:2", "HGET t:1"):  # fmt: skip
        wire.say(line)
    wait_until(lambda: counts()["requests"] - before["requests"] >= 8, "they are counted")
    moved = {name: value - before[name] for name, value in counts().items()}
    assert moved["connections_opened"] == 0
    assert moved["requests"] == 8
    assert moved["errors"] == 1
    by_kind = {kind: value - kinds[kind] for kind, value in general().items()}
    assert by_kind["find"] >= 3 and by_kind["delete"] >= 1
    assert sum(by_kind.values()) >= 7
    wait_until(
        lambda: counts()["latency_find_count"] > before["latency_find_count"], "so is their time"
    )


def test_each_connection_is_a_row(sql: Sql, wire: Resp) -> None:
    query = f"SELECT PORT, ACCOUNT, REQUESTS FROM {CONNECTIONS} WHERE PEER = '127.0.0.1:{{}}'"
    before = int(sql.row(query.format(wire.own_port))[2] or 0)
    assert wire.ask("HGET", "t:1", "v") == b"v"
    assert wire.ask("HGET", "t:2", "v") == b"v"
    port, account, requests = sql.row(query.format(wire.own_port))
    assert (port, account) == (b"redis", b"root@localhost")
    assert int(requests or 0) - before == 2
    last = f"SELECT LAST_REQUEST FROM {CONNECTIONS} WHERE ID = {connection_id(sql, wire)}"
    assert sql.row(last) == (b"find",)
    assert wire.ask("CLIENT", "ID") == connection_id(sql, wire)


def test_it_is_closed_by_sql(sql: Sql, wire: Resp) -> None:
    assert wire.ask("HGET", "t:1", "v") == b"v"
    number = connection_id(sql, wire)
    sql.run(f"SET GLOBAL handlersocket_close_connection = {number}")
    assert wire.rest() == b""
    there = f"SELECT COUNT(*) FROM {CONNECTIONS} WHERE ID = {number}"
    wait_until(lambda: sql.number(there) == 0, "it has gone")
    assert sql.error(f"SET GLOBAL handlersocket_close_connection = {number}") == UNKNOWN_THREAD


def test_its_line_in_the_log(server: ServerInstance, sql: Sql) -> None:
    port = redis_port(server)
    assert re.search(
        rf"listens on 127\.0\.0\.1:{port}( and \S+)? for reading and writing", server.log_text()
    )


def test_who_does_not_log_in_is_closed(data_root: Path, watch: Any) -> None:
    settings = {"handlersocket_anonymous_account": "", "handlersocket_log_in_timeout": 2}
    with redis_server(data_root, watch, **settings) as instance, connect(instance) as wire:
        begun = time.monotonic()
        wire.rest()
        assert 1 < time.monotonic() - begun < 20


def test_who_does_nothing_is_closed(sql: Sql, server: ServerInstance) -> None:
    sql.run("SET GLOBAL handlersocket_timeout = 4")
    try:
        with connect(server) as idle, connect(server) as working:
            begun = time.monotonic()
            while time.monotonic() - begun < 6:
                assert working.ask("PING").text == "PONG"
                time.sleep(0.2)
            assert idle.rest() == b""
    finally:
        sql.run("SET GLOBAL handlersocket_timeout = DEFAULT")


def test_a_request_that_is_too_large(sql: Sql, server: ServerInstance) -> None:
    sql.run("SET GLOBAL handlersocket_max_request_size = 65536")
    try:
        with connect(server) as wire:
            assert wire.ask("ECHO", "x" * 60_000) == b"x" * 60_000
            wire.send(b"*2\r\n$4\r\nECHO\r\n$100000\r\n")
            told = wire.rest()
            assert told.startswith(b"-ERR") and told.count(b"\r\n") == 1
    finally:
        sql.run("SET GLOBAL handlersocket_max_request_size = DEFAULT")


def test_its_latencies(sql: Sql, wire: Resp) -> None:
    table = CONNECTIONS.replace("connections", "latency")
    counted = f"SELECT COALESCE(SUM(COUNT_BUCKET), 0) FROM {table} WHERE PORT = 'redis'"
    assert wire.pipeline([("HGET", "t:1", "v")] * 100) == [b"v"] * 100
    wait_until(lambda: sql.number(counted) >= 100, "they are in the table")


@pytest.mark.skipif(ON_MYSQL, reason="Debian's MySQL has no audit plugin")
def test_the_audit_trail(data_root: Path, watch: Any) -> None:
    settings = {
        "handlersocket_anonymous_account": "",
        "server_audit_logging": "ON",
        "server_audit_events": "CONNECT,TABLE",
        "plugin_load_add": "server_audit",
    }
    with redis_server(data_root, watch, **settings) as instance:
        with fresh_session(instance, "shop", "CREATE TABLE t (id INT PRIMARY KEY, v INT)") as sql:
            sql.run("CREATE USER ann@localhost IDENTIFIED BY 'secret'",
                    "GRANT SELECT, INSERT, UPDATE ON shop.* TO ann@localhost")  # fmt: skip
            with connect(instance) as wire:
                assert wire.ask("AUTH", "ann", "secret") == OK
                assert [event for event, _, _ in trail(instance, "ann")] == ["CONNECT"]
                assert wire.ask("HSET", "shop.t:1", "v", 1) == 1
                assert wire.ask("HGET", "shop.t:1", "v") == b"1"
                (number,) = {number for _, number, _ in trail(instance, "ann")}
                assert ("WRITE", "t", number) in uses(instance, "ann")
            wait_until(lambda: len(trail(instance, "ann")) == 2, "its end is told")
            with connect(instance) as wire:
                assert isinstance(wire.ask("AUTH", "ann", "wrong"), Error)
            events = [(event, error) for event, _, error in trail(instance, "ann")][2:]
            assert events == [("FAILED_CONNECT", 1045), ("DISCONNECT", 0)]
