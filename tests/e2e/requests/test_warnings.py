"""`W`: the warnings of a write, for who has asked for them, against SHOW WARNINGS in SQL.

What a trigger signals as a warning is none of its statement's, in SQL, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import BLOCK_COMMITS, fresh_session, running_server

TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, amount DECIMAL(5, 2) NOT NULL DEFAULT 0,"
    " word VARCHAR(3) NOT NULL DEFAULT '', day DATE, UNIQUE (amount))",
    "INSERT INTO t VALUES (1, 1, 'one', NULL), (2, 2, 'two', NULL)",
    "CREATE TABLE told (id INT PRIMARY KEY, n INT)",
    "INSERT INTO told VALUES (1, 0)",
    "CREATE TRIGGER tell BEFORE UPDATE ON told FOR EACH ROW BEGIN"
    " SIGNAL SQLSTATE '01234' SET MESSAGE_TEXT = 'so\tit is', MYSQL_ERRNO = 7777; END",
    "CREATE TABLE many (id INT PRIMARY KEY, amount DECIMAL(5, 2))",
)
OPEN = (
    b"P\t1\thst\tt\t\tid,amount,word,day\nP\t2\thst\ttold\t\tid,n\nP\t3\thst\tmany\t\tid,amount\n"
)
ROUNDED = b"1\t=\t1\t1\t1\t0\tset\t1\t1\t=\t1.234"
#: A request, and the statement that does the same.
WARNED = {
    "digits": (ROUNDED, "UPDATE t SET amount = '1.234' WHERE id = 1"),
    "inserted": (b"1\t+\t2\t7\t7.777", "INSERT INTO t (id, amount) VALUES (7, '7.777')"),
    "blanks": (b"1\t+\t3\t7\t7\tabc  ", "INSERT INTO t (id, amount, word) VALUES (7, 7, 'abc  ')"),
    "a day with a time": (
        b"1\t=\t1\t1\t1\t0\tset\t1\t3\t=\t2026-11-28 10:11:12",
        "UPDATE t SET day = '2026-11-28 10:11:12' WHERE id = 1",
    ),
    "duplicates": (
        b"1\tinsert\t3\t2\t1\t9\t8\t8\t9\t2\telse\tignore",
        "INSERT IGNORE INTO t (id, amount) VALUES (1, 9), (8, 8), (9, 2)",
    ),
    "ignored mistakes": (
        b"1\tinsert\t1\t3\t8\t8888888\tlong word\telse\tignore",
        "INSERT IGNORE INTO t (id, amount, word) VALUES (8, '8888888', 'long word')",
    ),
    "a trigger": (b"2\t=\t1\t1\t1\t0\tU\t1\t5", "UPDATE told SET n = 5 WHERE id = 1"),
    "nothing": (
        b"1\t=\t1\t1\t1\t0\tset\t1\t1\t=\t1.23",
        "UPDATE t SET amount = '1.23' WHERE id = 1",
    ),
}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "hst", *TABLES) as session:
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Wire]:
    with Wire(server.hs_port_wr) as connection:
        connection.send(OPEN)
        assert connection.lines(3) == [b"0\t1"] * 3
        assert connection.ask(b"H\twarnings\n").endswith(b"\twarnings\t1")
        yield connection


def warnings(wire: Wire) -> list[tuple[bytes, int, bytes]]:
    code, columns, *values = wire.ask(b"W\n").split(b"\t")
    assert (code, columns) == (b"0", b"3")
    return [
        (values[at], int(values[at + 1]), values[at + 2].replace(b"\x01I", b"\t"))
        for at in range(0, len(values), 3)
    ]


def shown(sql: Sql, statement: str) -> list[tuple[bytes, int, bytes]]:
    """The warnings of the statement, which is undone."""
    sql.run("BEGIN")
    sql.rows(statement)
    rows = sql.rows("SHOW WARNINGS")
    sql.run("ROLLBACK")
    return [(level or b"", int(number or 0), text or b"") for level, number, text in rows]


@pytest.mark.parametrize("kind", WARNED)
def test_warnings_are_those_of_sql(wire: Wire, sql: Sql, kind: str) -> None:
    request, statement = WARNED[kind]
    expected = shown(sql, statement)
    assert expected or kind in ("nothing", "a trigger")
    assert wire.ask(request + b"\n").startswith(b"0\t")
    assert warnings(wire) == expected
    # They stay until the next write, whatever else is asked.
    wire.send(b"1\t=\t1\t1\nX\necho\tx\n")
    wire.lines(3)
    assert warnings(wire) == expected
    assert wire.ask(b"2\t=\t1\t99\t1\t0\tU\t1\t5\n") == b"0\t1\t0"
    assert warnings(wire) == []


def test_a_mode_that_is_not_strict(wire: Wire, sql: Sql, server: ServerInstance) -> None:
    (mode,) = sql.row("SELECT @@GLOBAL.sql_mode")
    assert mode is not None
    sql.run("SET GLOBAL sql_mode = ''")
    try:
        with running_wire(server) as lax, Sql(server.socket, "hst") as session:
            expected = shown(session, "UPDATE t SET word = 'long word', amount = 'x' WHERE id = 1")
            assert expected
            request = b"1\t=\t1\t1\t1\t0\tset\t2\t2\t=\tlong word\t1\t=\tx\n"
            assert lax.ask(request) == b"0\t1\t1"
            assert warnings(lax) == expected
    finally:
        sql.rows("SET GLOBAL sql_mode = %s", [mode])


def running_wire(server: ServerInstance) -> Wire:
    wire = Wire(server.hs_port_wr)
    wire.send(OPEN + b"H\twarnings\n")
    wire.lines(4)
    return wire


def test_who_has_not_asked_gets_none(server: ServerInstance, sql: Sql) -> None:
    with Wire(server.hs_port_wr) as wire:
        assert wire.ask(b"W\n") == b"2\t1\tcmd"
        wire.send(OPEN + b"H\ttexts\n")
        wire.lines(4)
        assert wire.ask(b"W\n").startswith(b"2\t4\tcmd\t1149\t42000\t")
        wire.send(b"H\twarnings\nH\nW\n")
        assert wire.lines(3)[-1] == b"2\t1\tcmd"


def test_writes_of_several_connections_in_one_pass(server: ServerInstance, sql: Sql) -> None:
    """They may share a statement of the server, whose warnings are of several of them."""
    with running_wire(server) as first, running_wire(server) as second:
        for number in range(200):
            line = "1\t=\t1\t{}\t1\t0\tset\t1\t1\t=\t{}.{}\n"
            first.send((line.format(1, number, "1234") + line.format(1, number, "12")).encode())
            second.send((line.format(2, 500 + number, "567") * 2 + "W\n").encode())
            first.lines(2)
            assert second.lines(3)[2].count(b"Note") == 1
            assert warnings(first) == []


def test_a_group_has_those_of_its_lines(wire: Wire) -> None:
    wire.send(b"G\t3\n" + ROUNDED + b"\n3\t+\t2\t1\t5.678\n1\t=\t1\t1\n")
    assert wire.lines(4)[0] == b"0\t1"
    text = b"Data truncated for column 'amount' at row 1"
    assert warnings(wire) == [(b"Note", 1265, text)] * 2


def test_a_write_that_a_streamer_executes(wire: Wire, sql: Sql) -> None:
    """There are more warnings than are kept."""
    rows = 5000
    values = b"".join(b"\t%d\t1.234" % number for number in range(rows))
    assert wire.ask(b"3\tinsert\t%d\t2%s\n" % (rows, values)).count(b"inserted") == rows
    told = warnings(wire)
    assert len(told) == 64
    assert told[-1] == (b"Note", 1265, b"Data truncated for column 'amount' at row 64")


def test_a_write_that_fails_has_none(wire: Wire, sql: Sql) -> None:
    wire.ask(ROUNDED + b"\n")
    assert len(warnings(wire)) == 1
    assert wire.ask(b"1\t+\t2\t1\t5.555\n") == b"1\t1\t121"
    assert warnings(wire) == []


def test_a_write_that_is_not_executed_has_none(wire: Wire, sql: Sql) -> None:
    for refused in (b"1\t+\t0\n", b"9\t+\t1\t1\n", b"3\t+\t2\t1\t1\n"):
        wire.ask(ROUNDED + b"\n")
        assert len(warnings(wire)) == 1
        # Then the connection is with a thread that reads, and the write opens its index again.
        for _ in range(20):
            wire.ask(b"1\t=\t1\t1\n")
        sql.run("DROP TABLE IF EXISTS many")
        assert not wire.ask(refused).startswith(b"0\t")
        assert warnings(wire) == []


def test_they_stay_when_a_long_find_fails(wire: Wire, sql: Sql) -> None:
    sql.run("INSERT INTO many SELECT seq, 0 FROM seq_1_to_100000")
    wire.ask(ROUNDED + b"\n")
    long_find = b"3\tup\t0\t100000\t0\tF\t<\t0\t0\n"
    assert wire.ask(b"P\t3\thst\tmany\t\tid\tamount\n") == b"0\t1"
    assert wire.ask(b"within\t5\t" + long_find) == b"1\t1\tmax_request_time"
    assert len(warnings(wire)) == 1


def test_on_the_port_for_reading(server: ServerInstance, sql: Sql) -> None:
    with Wire(server.hs_port) as wire:
        assert wire.ask(b"H\twarnings\n").endswith(b"warnings\t1")
        assert warnings(wire) == []


def test_a_group_that_fails_has_none(wire: Wire) -> None:
    wire.send(b"G\t2\n" + ROUNDED + b"\n1\t+\t2\t1\t5\n")
    assert wire.lines(3)[0] == b"1\t2\tundone\t2"
    assert warnings(wire) == []


@pytest.mark.skipif(ON_MYSQL, reason="MySQL has no BACKUP STAGE, which lets a commit fail here")
def test_a_write_whose_commit_fails_has_none(wire: Wire, sql: Sql) -> None:
    """Whoever asks behind it, in the same pass, is told so."""
    sql.run(*BLOCK_COMMITS)
    wire.send(ROUNDED + b"\nW\n")
    replies = wire.lines(2)
    sql.run("BACKUP STAGE END")
    assert replies == [b"1\t1\t1205"] * 2
    assert warnings(wire) == []
    assert wire.ask(ROUNDED + b"\n") == b"0\t1\t1"
    assert len(warnings(wire)) == 1
