"""Values at, just inside and beyond a column's limits compare as in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pymysql
import pytest
from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import KIND, ON_MYSQL, SERVER_TREE, comparing_mode
from support_column_types import Text
from support_value_bounds import Bounds, moments, plain_types

# Central Europe, with its changes of daylight saving time. It needs no file of time zones.
TIME_ZONE = "CET-1CEST,M3.5.0,M10.5.0/3"
OPERATORS = ["=", ">", ">=", "<", "<=", "!="]
ZERO_DATES = "NO_ZERO_DATE,NO_ZERO_IN_DATE"
MODES = [
    "",
    f"STRICT_TRANS_TABLES,{ZERO_DATES},ERROR_FOR_DIVISION_BY_ZERO",
    "ALLOW_INVALID_DATES",
    "TIME_TRUNCATE_FRACTIONAL" if ON_MYSQL else "TIME_ROUND_FRACTIONAL",
]


@pytest.fixture(scope="module")
def server(watch, data_root: Path) -> Iterator[ServerInstance]:
    """Replaces the shared server by one whose time zone is not UTC."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TZ", TIME_ZONE)
        instance = ServerInstance(
            SERVER_TREE, data_root / "bounds", settings={**KIND.volatile, "sql_mode": ""}
        )
        instance.start()
    watch.servers.append(instance)
    yield instance
    watch.servers.remove(instance)
    instance.stop()


def fill(sql: Sql, bounds: Bounds) -> None:
    sql.run(
        "SET SESSION sql_mode = ''",
        f"CREATE TABLE t (id INT PRIMARY KEY, v {bounds.sql}, KEY by_v (v))",
    )
    with sql.connection.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", list(enumerate(bounds.stored, 1)))


def escaped(value: Text) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return b"".join(b"\x01%c" % (byte + 0x40) if byte < 16 else b"%c" % byte for byte in raw)


def conditions(literal: str) -> str:
    """A SELECT of the rows for each operator."""
    chosen = [
        f"IF(SUM(v {op} {literal} IS NULL), 'NULL', GROUP_CONCAT(IF(v {op} {literal}, id, NULL)))"
        for op in OPERATORS
    ]
    return f"SELECT {', '.join(chosen)} FROM t IGNORE INDEX (by_v)"


def by_sql(sql: Sql, literals: Sequence[str]) -> dict[str, list[list[int]]]:
    """The rows for each literal and operator. If SQL has no answer, there is none."""
    # One statement for all of them, if there is no error.
    try:
        rows = dict(
            zip(literals, sql.rows(" UNION ALL ".join(map(conditions, literals))), strict=True)
        )
    except pymysql.err.Error:
        rows = {}
        for literal in literals:
            with suppress(pymysql.err.Error):
                rows[literal] = sql.row(conditions(literal))
    return {
        literal: [
            sorted(int(number) for number in (cell or b"").split(b",") if number) for cell in cells
        ]
        for literal, cells in rows.items()
        if b"NULL" not in cells
    }


def by_plugin(
    database: Database, asked: Sequence[Text], *, write: bool, filters: bool
) -> list[list[list[int]]]:
    requests = []
    operators = OPERATORS if filters else OPERATORS[:-1]
    for value in asked:
        for op in operators:
            where = (op.encode(), escaped(value))
            if filters:
                requests.append(b"2\t>\t1\t0\t99\t0\tF\t%s\t0\t%s\n" % where)
            else:
                requests.append(b"1\t%s\t1\t%s\t99\n" % where)
    name = database.name.encode()
    with database.wire(write=write) as wire:
        wire.send(b"P\t1\t%s\tt\tby_v\tid\nP\t2\t%s\tt\tPRIMARY\tid\tv\n" % (name, name))
        assert wire.lines(2) == [b"0\t1"] * 2
        wire.send(b"".join(requests))
        replies = wire.lines(len(requests))
    rows = []
    for request, reply in zip(requests, replies, strict=True):
        code, _, *ids = reply.split(b"\t")
        assert code == b"0", (request, reply)
        rows.append(sorted(int(number) for number in ids))
    step = len(operators)
    return [rows[begin : begin + step] for begin in range(0, len(rows), step)]


def differences(sql: Sql, database: Database, bounds: Bounds) -> list[str]:
    everything = list(range(1, len(bounds.stored) + 1))
    nothing: list[list[int]] = [[], [], [], [], [], everything]
    literals = [bounds.literal(value) for value in bounds.asked]
    answered = by_sql(sql, [literal for literal in literals if literal is not None])
    expected = [answered.get(literal or "", nothing) for literal in literals]
    found = []
    for write in (False, True):
        for filters in (False, True):
            answers = by_plugin(database, bounds.asked, write=write, filters=filters)
            found += [
                f"{'filter' if filters else 'key'} {op} {value!r}: {mine}, SQL {theirs}"
                + (" (write port)" if write else "")
                for value, mine_all, theirs_all in zip(bounds.asked, answers, expected, strict=True)
                for op, mine, theirs in zip(OPERATORS, mine_all, theirs_all, strict=False)
                if mine != theirs
            ]
    return found


@pytest.mark.parametrize("bounds", plain_types(), ids=str)
def test_keys_and_filters(bounds: Bounds, sql: Sql, database: Database) -> None:
    fill(sql, bounds)
    found = differences(sql, database, bounds)
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bounds", moments(), ids=str)
def test_dates_and_times(bounds: Bounds, mode: str, sql: Sql, database: Database) -> None:
    fill(sql, bounds)
    sql.run(f"SET GLOBAL sql_mode = '{mode}'", f"SET SESSION sql_mode = '{comparing_mode(mode)}'")
    try:
        found = differences(sql, database, bounds)
        assert not found, "\n".join(["", *found])
    finally:
        sql.run("SET GLOBAL sql_mode = ''")
