"""A warning of an earlier request changes no later request's answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.database import Database, Sql
from support.servers import ON_MYSQL

# Column types whose values can be malformed, with one that is not.
TYPES = [
    ("DATE", b"2024-02-29"),
    ("TIME(3)", b"12:34:56.789"),
    ("DATETIME", b"2024-02-29 12:34:56"),
    ("TIMESTAMP NULL", b"2024-07-01 12:34:56"),
    ("YEAR", b"2024"),
    ("BIT(16)", b"AB"),
    *([] if ON_MYSQL else [("UUID", b"123e4567-e89b-12d3-a456-426655440000")]),
    *([] if ON_MYSQL else [("INET4", b"10.0.0.1"), ("INET6", b"2001:db8::1")]),
]
every_type = pytest.mark.parametrize(("column", "key"), TYPES, ids=[kind for kind, _ in TYPES])


def create(sql: Sql, column: str, key: bytes) -> None:
    sql.run(
        f"CREATE TABLE t (id INT PRIMARY KEY, k {column}, price DECIMAL(10,2), n TINYINT,"
        " KEY by_k (k))"
    )
    literal = f"x'{key.hex()}'" if column.startswith("BIT") else f"'{key.decode()}'"
    sql.run(f"INSERT INTO t VALUES (1, {literal}, 0, 0)")


def answers(
    database: Database, requests: Sequence[bytes], *, write: bool, together: bool
) -> list[bytes]:
    """The replies to requests in one pass, or in a pass each."""
    with database.wire(write=write) as wire:
        if together:
            wire.send(b"".join(requests))
            return wire.lines(len(requests))
        return [wire.ask(request) for request in requests]


@pytest.mark.parametrize("together", [True, False], ids=["one_pass", "passes"])
@every_type
def test_after_a_value_was_rounded(
    column: str, key: bytes, together: bool, sql: Sql, database: Database
) -> None:
    create(sql, column, key)
    name = database.name.encode()
    requests = [
        b"P\t1\t%s\tt\tPRIMARY\tprice,n\n" % name,
        b"P\t2\t%s\tt\tby_k\tn,id\tk\n" % name,
        b"1\t=\t1\t1\t1\t0\tU\t1.005\n",
        b"2\t=\t1\t%s\t1\t0\tU\t7\n" % key,
        b"1\t=\t1\t1\t1\t0\tU\t2.005\n",
        b"2\t=\t1\t%s\n" % key,
        b"2\t>=\t1\t\0\t9\t0\tF\t=\t0\t%s\n" % key,
        b"2\t=\t1\t\0\t9\t0\t@\t0\t1\t%s\n" % key,
    ]
    row = b"0\t2\t7\t1"
    assert answers(database, requests, write=True, together=together) == [
        b"0\t1", b"0\t1", b"0\t1\t1", b"0\t1\t1", b"0\t1\t1", row, row, row,
    ]  # fmt: skip


@every_type
def test_after_other_requests_failed(column: str, key: bytes, sql: Sql, database: Database) -> None:
    """Refused requests have raised errors and warnings."""
    create(sql, column, key)
    with database.wire(write=True) as wire, database.wire(write=True) as other:
        name = database.name.encode()
        for connection in (wire, other):
            connection.send(b"P\t1\t%s\tt\tPRIMARY\tid,n\n" % name)
            connection.send(b"P\t2\t%s\tt\tby_k\tid\n" % name)
            assert connection.lines(2) == [b"0\t1", b"0\t1"]
        for _ in range(20):
            other.send(b"1\t+\t2\t2\t300\n" * 5)
            wire.send(b"1\t+\t2\tx\t1\n" + b"2\t=\t1\t%s\n" % key)
            refused, found = wire.lines(2)
            assert refused.startswith(b"1\t1\t1")
            assert found == b"0\t1\t1"
            assert other.lines(5) == [b"1\t1\t1264"] * 5


@pytest.mark.parametrize("write", [False, True], ids=["read_port", "write_port"])
@every_type
def test_after_a_virtual_column_warned(
    column: str, key: bytes, write: bool, sql: Sql, database: Database
) -> None:
    """Its expression is evaluated when the row is read."""
    create(sql, column, key)
    sql.run(
        "CREATE TABLE v (id INT PRIMARY KEY, s VARCHAR(9), d INT AS (s + 0) VIRTUAL)",
        "SET SESSION sql_mode = ''",
        "INSERT INTO v (id, s) VALUES (1, '5 apples')",
        "SET SESSION sql_mode = DEFAULT",
    )
    name = database.name.encode()
    requests = [
        b"P\t1\t%s\tv\tPRIMARY\td\n" % name,
        b"P\t2\t%s\tt\tby_k\tid\n" % name,
        b"1\t=\t1\t1\n",
        b"2\t=\t1\t%s\n" % key,
    ]
    for together in (True, False):
        replies = answers(database, requests, write=write, together=together)
        assert replies[2] == b"0\t1\t5"
        assert replies[3] == b"0\t1\t1", f"{together=}"


def test_after_a_trigger_across_engines(sql: Sql, database: Database) -> None:
    """Its statements are unsafe to log, and the server warns of that."""
    create(sql, "DATETIME", b"2024-02-29 12:34:56")
    sql.run(
        "CREATE TABLE log_ (id INT AUTO_INCREMENT PRIMARY KEY, n INT) ENGINE=MyISAM",
        "CREATE TRIGGER noted AFTER UPDATE ON t FOR EACH ROW INSERT INTO log_ (n) VALUES (NEW.n)",
    )
    name = database.name.encode()
    with database.wire(write=True) as wire:
        wire.send(b"P\t1\t%s\tt\tPRIMARY\tn\n" % name + b"P\t2\t%s\tt\tby_k\tn\n" % name)
        assert wire.lines(2) == [b"0\t1", b"0\t1"]
        for number in range(1, 6):
            assert wire.ask(b"1\t=\t1\t1\t1\t0\tU\t%d\n" % number) == b"0\t1\t1"
            assert wire.ask(b"2\t=\t1\t2024-02-29 12:34:56\n") == b"0\t1\t%d" % number
            update = b"2\t=\t1\t2024-02-29 12:34:56\t1\t0\tU\t%d\n" % (number + 10)
            assert wire.ask(update) == b"0\t1\t1"
    assert sql.number("SELECT COUNT(*) FROM log_") == 10
