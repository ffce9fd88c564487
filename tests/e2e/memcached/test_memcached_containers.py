"""Containers of the tables that there are: which one a connection has, and gets of ranges."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support_memcached import Line, connect, found, memcached_server, stored
from support_servers import wait_until
from test_upserts_beside import is_waiting

TABLES = (
    "CREATE DATABASE held",
    "USE held",
    "CREATE TABLE number (id INT PRIMARY KEY, n TINYINT NOT NULL, note VARCHAR(20))",
    "CREATE TABLE name (b VARCHAR(300), a INT, v VARCHAR(20), UNIQUE KEY b (b),"
    " UNIQUE KEY ba (b, a))",
    "CREATE TABLE filled (id INT(5) UNSIGNED ZEROFILL PRIMARY KEY, v VARCHAR(20))",
    "INSERT INTO handlersocket.containers VALUES"
    " ('filled', 'held', 'filled', 'id', 'v', '0', NULL, NULL, 'PRIMARY'),"
    " ('number', 'held', 'number', 'id', 'n', '0', NULL, NULL, 'PRIMARY'),"
    " ('name', 'held', 'name', 'b', 'v', '0', NULL, NULL, 'b'),"
    " ('names', 'held', 'name', 'b,a', 'v', '0', NULL, NULL, 'ba'),"
    " ('gone', 'held', 'gone', 'id', 'n', '0', NULL, NULL, 'PRIMARY'),"
    " ('wrong', 'held', 'number', 'note', 'n', '0', NULL, NULL, 'PRIMARY')",
)
#: In `number`, whose keys are numbers.
NO_NUMBER = b"CLIENT_ERROR key part is not the one spelling of a number, a date or a time\r\n"

NO_CONTAINER = b"CLIENT_ERROR there is no such container\r\n"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_lock_wait_timeout": 1}
    with memcached_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(*TABLES)
        time.sleep(1.5)  # until the containers are read again
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "held") as session:
        session.run("DELETE FROM number", "DELETE FROM name", "DELETE FROM handlersocket.kv")
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Line]:
    with connect(server) as line:
        yield line


def is_chosen(line: Line) -> bool:
    """Whether `number` is, and not `default`."""
    told = line.ask(b"get a\r\n")
    assert told in (NO_NUMBER, b"END\r\n")
    return told == NO_NUMBER


@pytest.mark.parametrize(
    "request_",
    [
        b"get @@number.7\r\n",
        b"delete @@number.7\r\n",
        b"delete @@number.7 noreply\r\n",
        b"incr @@number.7 1\r\n",
        b"get @@number.x\r\n",
        b"get a @@number.x @@default.a\r\n",
        b"mg @@number.x v\r\n",
        b"gat 0 a @@number.x\r\n",
        stored(b"@@number.7", b"1000"),
        stored(b"@@number.7", b"many"),
        stored(b"@@number.7", b"1", 3),
        stored(b"@@number.7", b"1", 0, 60),
        b"set @@number.7 0 0 4 noreply\r\n1000\r\n",
        b"ms @@number.7 4\r\nmany\r\n",
    ],
)
def test_a_container_is_chosen_however_the_request_ends(wire: Line, request_: bytes) -> None:
    wire.ask(request_)
    assert is_chosen(wire)


@pytest.mark.parametrize("name", [b"none", b"gone", b"wrong"])
def test_what_cannot_be_used_is_not_chosen(wire: Line, name: bytes) -> None:
    for request in (b"get @@%s.7\r\n" % name, stored(b"@@%s.7" % name, b"1")):
        assert b"ERROR" in wire.ask(request)
        assert not is_chosen(wire)


@pytest.mark.parametrize(
    "request_",
    [
        b"incr @@number.7 1\r\n",
        b"gat 0 a @@number.7 @@default.a\r\n",
        b"incr @@number.7 1 noreply\r\n",
        stored(b"@@number.7", b"2"),
    ],
)
def test_a_container_is_chosen_by_a_request_that_has_waited_too_long(
    server: ServerInstance, wire: Line, sql: Sql, request_: bytes
) -> None:
    sql.run("INSERT INTO number VALUES (7, 1, NULL)", "BEGIN", "UPDATE number SET n = 5")
    told = wire.ask(request_)
    sql.run("COMMIT")
    if not request_.startswith(b"gat"):  # it changes nothing, so it waits for nobody
        assert told == (b"" if b"noreply" in request_ else told) and b"TRY" not in told
        assert b"noreply" in request_ or told.startswith(b"SERVER_ERROR try again")
    assert is_chosen(wire)
    assert sql.row("SELECT n FROM number") == (b"5",)


def test_what_is_behind_a_request_that_waits_has_its_container(wire: Line, sql: Sql) -> None:
    sql.run("INSERT INTO number VALUES (7, 1, NULL), (8, 8, NULL)", "BEGIN",
            "UPDATE number SET n = 5 WHERE id = 7")  # fmt: skip
    wire.send(b"incr @@number.7 1\r\nget 8\r\nincr 7 1\r\nget a\r\nmn\r\n")
    wait_until(lambda: is_waiting(sql), "the first one waits for the row")
    sql.run("COMMIT")
    assert wire.until(b"MN\r\n") == b"6\r\n" + found(b"8", b"8") + b"7\r\n" + NO_NUMBER + b"MN\r\n"


def test_another_delimiter_behind_the_name(wire: Line, sql: Sql) -> None:
    sql.run("INSERT INTO handlersocket.config_options VALUES ('table_map_delimiter', '/')")
    try:
        time.sleep(1.5)  # until it is read
        assert wire.ask(stored(b"@@name/a.b", b"x")) == b"STORED\r\n"
        assert wire.ask(b"get a.b\r\n") == found(b"a.b", b"x")
        assert wire.ask(b"get @@name.a.b\r\n") == NO_CONTAINER
    finally:
        sql.run("DELETE FROM handlersocket.config_options WHERE name = 'table_map_delimiter'")
    time.sleep(1.5)
    assert wire.ask(b"get @@name.a.b\r\n") == found(b"@@name.a.b", b"x")


def test_rows_whose_key_no_client_can_write_are_left_out_of_ranges(wire: Line, sql: Sql) -> None:
    sql.run(
        "INSERT INTO name VALUES ('a', 1, '1'), ('a b', 2, '2'), ('b\\r\\nEND', 3, '3'),"
        " ('b\\tc', 4, '4'), ('', 5, '5'), (NULL, 6, '6'), (REPEAT('k', 251), 7, '7'),"
        " (REPEAT('l', 250), 8, '8'), ('z', NULL, '9'), ('@>a', 10, '10'), ('@@name.a', 11, '11')"
    )
    item = found(b"l" * 250, b"8")
    shown = found(b"z", b"9")[:-5] + item[:-5] + found(b"a", b"1")
    assert wire.ask(b"get @@name.none @<zz\r\n") == shown
    # In front of the last part a client can write every byte.
    assert wire.ask(b"get @@names.none:1 @<bzz:1\r\n") == (
        found(b"b%0D%0AEND:3", b"3")[:-5]
        + found(b"b%09c:4", b"4")[:-5]
        + found(b"a%20b:2", b"2")[:-5]
        + found(b"a:1", b"1")[:-5]
        + found(b":5", b"5")
    )
    assert wire.ask(b"get b%0D%0AEND:3 :5\r\n") == (
        found(b"b%0D%0AEND:3", b"3")[:-5] + found(b":5", b"5")
    )


def test_a_range_writes_keys_as_they_are_asked_for(wire: Line, sql: Sql) -> None:
    """Without the zeros of ZEROFILL: `get` takes one spelling of a number."""
    sql.run("REPLACE INTO filled VALUES (0, 'none'), (42, 'some')")
    both = found(b"42", b"some")[:-5] + found(b"0", b"none")
    assert wire.ask(b"get @@filled.7 @<=42\r\n") == both
    assert wire.ask(b"get 42 0\r\n") == both
