"""Tables whose engine has no transactions: which commands change them, at both ports of caches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import support_memcached
import support_redis
from server_instance import ServerInstance, free_port
from support.database import Sql
from support.resp import Error, Resp
from support.servers import ON_MYSQL
from support_memcached import CONTAINERS, Line, stored
from support_redis import redis_server, sql_error

ENGINES = ("MyISAM", "MEMORY") if ON_MYSQL else ("MyISAM", "MEMORY", "Aria")
#: SQL's error for what an engine cannot do.
CANNOT = 1178

#: Each of them is one statement.
DONE = (
    "SET {n}:a 1",
    "SET {n}:a 1 EX 100",
    "SETEX {n}:a 100 1",
    "DEL {n}:a",
    "UNLINK {n}:b",
    "HSET d.{n}:a v 1 n 2",
    "HSET d.{n}:new v 1 n 2",
    "HMSET d.{n}:a v 2",
    "HSETNX d.{n}:a n 1",
    "HDEL d.{n}:a v n",
    "HINCRBY d.{n}:a n 2",
    "HINCRBYFLOAT d.{n}:a f 1.5",
    "HGETDEL d.{n}:a FIELDS 1 v",
    "DEL d.{n}:a",
    "HS.UPDATE d.{n} KEY 1 a SET 1 n 4",
    "HS.DELETE d.{n} KEY 1 a",
    "TOUCH {n}:a",
)
#: They look at an item before they change it, or change several.
REFUSED = (
    "SETNX {n}:a 1",
    "SETNX {n}:new 1",
    "SET {n}:a 1 XX",
    "SET {n}:a 1 GET",
    "SET {n}:a 1 KEEPTTL",
    "GETSET {n}:a 1",
    "GETDEL {n}:a",
    "GETEX {n}:a EX 100",
    "MSET {n}:a 1 {n}:b 2",
    "MSETNX {n}:new 1 {n}:newer 2",
    "INCR {n}:a",
    "DECRBY {n}:a 5",
    "INCRBYFLOAT {n}:a 1.5",
    "APPEND {n}:a 1",
    "SETRANGE {n}:a 0 1",
    "EXPIRE {n}:a 100",
    "PEXPIREAT {n}:a 1900000000000",
    "PERSIST {n}:a",
    "RENAME {n}:a {n}:new",
    "COPY {n}:a {n}:new",
    "DEL {n}:a {n}:b",
    "DEL d.{n}:a d.{n}:b",
    "HINCRBYFLOAT d.{n}:a v 1.5",
)
DONE_BY_MEMCACHED = (
    stored(b"a", b"1"),
    stored(b"a", b"1", exptime=100),
    b"ms a 1\r\n1\r\n",
    b"get a b\r\n",
)
REFUSED_BY_MEMCACHED = (
    *(stored(b"a", b"1", command=word) for word in (b"add", b"replace", b"append", b"prepend")),
    b"incr a 1\r\n",
    b"decr a 1\r\n",
    b"touch a 100\r\n",
    b"gat 100 a\r\n",
    b"delete a\r\n",
    b"ma a\r\n",
    b"md a\r\n",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, handlersocket_memcached_port=free_port()) as instance:
        instance.client(CONTAINERS.read_text())
        with Sql(instance.socket) as sql, support_redis.connect(instance) as wire:
            sql.run("CREATE DATABASE d")
            for engine in ENGINES:
                sql.run(
                    f"CREATE TABLE d.{engine} (k VARCHAR(20) PRIMARY KEY, v VARCHAR(100),"
                    f" n INT, f DOUBLE, expires BIGINT) ENGINE={engine}",
                    "INSERT INTO handlersocket.containers (name, db_schema, db_table, key_columns,"
                    " value_columns, expire_time_column, unique_idx_name_on_key)"
                    f" VALUES ('{engine}', 'd', '{engine}', 'k', 'v', 'expires', 'PRIMARY')",
                )
            wire.ask("HS.RELOAD")
        yield instance


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as sql:
        yield sql


@pytest.fixture
def wire(server: ServerInstance) -> Iterator[Resp]:
    with support_redis.connect(server) as wire:
        yield wire


@pytest.fixture
def line(server: ServerInstance, engine: str) -> Iterator[Line]:
    with support_memcached.connect(server) as line:
        line.ask(b"get @@%s.none\r\n" % engine.encode())
        yield line


def fill(sql: Sql, engine: str) -> None:
    sql.run(
        f"DELETE FROM d.{engine}",
        f"INSERT INTO d.{engine} VALUES ('a', '7', 1, 1, NULL), ('b', '8', 2, 2, NULL)",
    )


def content(sql: Sql, engine: str) -> list[tuple[bytes | None, ...]]:
    return sorted(sql.rows(f"SELECT * FROM d.{engine}"))


def test_what_is_one_statement_is_done(sql: Sql, wire: Resp, engine: str) -> None:
    for command in DONE:
        fill(sql, engine)
        words = command.format(n=engine).split()
        assert not isinstance(reply := wire.ask(*words), Error), (command, reply)


def test_what_is_several_is_refused(sql: Sql, wire: Resp, engine: str) -> None:
    fill(sql, engine)
    before = content(sql, engine)
    for command in REFUSED:
        words = command.format(n=engine).split()
        assert sql_error(wire.ask(*words)) == CANNOT, command
        assert content(sql, engine) == before, command


def test_a_transaction_is_refused(sql: Sql, wire: Resp, engine: str) -> None:
    fill(sql, engine)
    before = content(sql, engine)
    wire.ask("MULTI")
    wire.ask("SET", f"{engine}:a", "1")
    assert str(CANNOT) in str(wire.ask("EXEC"))
    assert content(sql, engine) == before


def test_memcached(sql: Sql, line: Line, engine: str) -> None:
    for request in DONE_BY_MEMCACHED:
        fill(sql, engine)
        assert b"ERROR" not in line.ask(request), request
    fill(sql, engine)
    before = content(sql, engine)
    for request in REFUSED_BY_MEMCACHED:
        assert line.ask(request).startswith(b"SERVER_ERROR %d " % CANNOT), request
        assert content(sql, engine) == before, request
