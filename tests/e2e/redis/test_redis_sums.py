"""HINCRBY answers a number that every client can read, and that the row holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.resp import Error, Resp
from support_redis import connect, redis_server
from support_servers import fresh_session

MOST = 2**63 - 1
OVERFLOW = Error("ERR increment or decrement would overflow")
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, z INT(5) ZEROFILL, u BIGINT UNSIGNED,"
    " small TINYINT UNSIGNED, changed INT NOT NULL DEFAULT 0)",
    "CREATE TRIGGER count_changes BEFORE UPDATE ON t FOR EACH ROW"
    " SET NEW.changed = OLD.changed + 1",
    "CREATE TABLE fired (id INT PRIMARY KEY, n INT, s VARCHAR(20), d DECIMAL(9, 2))",
    "CREATE TRIGGER at_insert BEFORE INSERT ON fired FOR EACH ROW"
    " SET NEW.n = NEW.n + 100, NEW.s = CONCAT(NEW.s, '0'), NEW.d = NEW.d + 1",
    "CREATE TABLE moved (id INT PRIMARY KEY, n INT, u BIGINT UNSIGNED)",
    "CREATE TRIGGER elsewhere BEFORE INSERT ON moved FOR EACH ROW SET NEW.id = NEW.id + 1000",
    "CREATE TRIGGER beyond BEFORE UPDATE ON moved FOR EACH ROW SET NEW.u = 18446744073709551615",
    "CREATE TABLE bare (id INT PRIMARY KEY, n BIGINT UNSIGNED) ENGINE=MyISAM",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, handlersocket_default_database="sums") as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "sums", *TABLES) as session:
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server) as one:
        yield one


def test_a_column_with_zerofill(wire: Resp) -> None:
    assert wire.ask("HINCRBY", "t:1", "z", 5) == 5
    assert wire.ask("HGET", "t:1", "z") == b"00005"
    wire.send(b"HINCRBY t:1 z 7\r\nHINCRBY t:1 z -12\r\nQUIT\r\n")
    assert wire.rest() == b":12\r\n:0\r\n+OK\r\n"


@pytest.mark.parametrize("begin", [MOST + 1, 2**64 - 1])
def test_a_number_beyond_those_of_the_protocol(wire: Resp, sql: Sql, begin: int) -> None:
    row = "SELECT u, changed FROM t WHERE id = 1"
    sql.run(f"INSERT INTO t (id, u) VALUES (1, {begin}), (2, {MOST})")
    for amount in (0, 1, MOST, MOST - begin + 1):
        assert wire.ask("HINCRBY", "t:1", "u", amount) == OVERFLOW
        assert sql.row(row) == (b"%d" % begin, b"0")
    assert wire.ask("HINCRBY", "t:2", "u", 1) == OVERFLOW
    assert wire.ask("HINCRBY", "t:2", "u", 0) == MOST
    assert wire.ask("HINCRBY", "t:1", "u", MOST - begin) == MOST
    assert wire.ask("HINCRBY", "t:1", "u", -MOST) == 0
    assert wire.ask("HINCRBY", "t:1", "u", -MOST - 1) == OVERFLOW


def test_nothing_of_a_transaction_is_done(wire: Resp, sql: Sql) -> None:
    sql.run(f"INSERT INTO t (id, u, small) VALUES (1, {MOST}, 5)")
    reply = wire.unit([("HINCRBY", "t:1", "small", 1), ("HINCRBY", "t:1", "u", 1)])
    assert isinstance(reply, Error) and reply.text.endswith(OVERFLOW.text), reply
    assert sql.row("SELECT u, small, changed FROM t") == (b"%d" % MOST, b"5", b"0")
    assert wire.unit([("HINCRBY", "t:1", "u", -1), ("HINCRBY", "t:1", "u", 1)]) == [MOST - 1, MOST]
    assert wire.ask("HINCRBY", "t:1", "small", 250) == 255
    assert wire.ask("HINCRBY", "t:1", "small", 1) == OVERFLOW


def test_a_sum_of_null_and_of_no_row(wire: Resp, sql: Sql) -> None:
    sql.run("INSERT INTO t (id) VALUES (1)")
    assert wire.ask("HINCRBY", "t:1", "u", MOST) == MOST
    assert wire.ask("HINCRBY", "t:2", "u", MOST) == MOST
    assert wire.ask("HINCRBY", "t:3", "u", -1) == OVERFLOW
    assert sql.rows("SELECT id, u FROM t") == [(b"1", b"%d" % MOST), (b"2", b"%d" % MOST)]


def test_a_new_row_holds_what_is_answered(server: ServerInstance, wire: Resp, sql: Sql) -> None:
    assert wire.ask("HINCRBY", "fired:1", "n", 5) == 105
    assert wire.ask("HINCRBY", "fired:2", "s", 5) == 50
    assert wire.ask("HINCRBYFLOAT", "fired:3", "d", "0.5") == b"1.50"
    assert wire.unit([("HINCRBY", "fired:4", "n", 5), ("HINCRBY", "fired:4", "n", 1)]) == [105, 106]
    sql.run("SET GLOBAL sql_mode = ''")
    try:
        with connect(server) as other:
            assert other.ask("HINCRBY", "t:1", "small", 300) == 255
    finally:
        sql.run("SET GLOBAL sql_mode = DEFAULT")


def test_a_trigger_that_leaves_no_number(wire: Resp, sql: Sql) -> None:
    """What it has made of the row is answered, in a form that can be read."""
    assert wire.ask("HINCRBY", "moved:1", "n", 5) == 5
    assert sql.rows("SELECT id, n FROM moved") == [(b"1001", b"5")]
    assert wire.ask("HINCRBY", "moved:1001", "u", 5) == b"18446744073709551615"


def test_a_table_without_transactions(wire: Resp, sql: Sql) -> None:
    assert wire.ask("HINCRBY", "bare:1", "n", 5) == 5
    assert wire.ask("HINCRBY", "bare:1", "n", MOST) == OVERFLOW
    assert wire.ask("HINCRBY", "bare:1", "n", MOST - 5) == MOST
