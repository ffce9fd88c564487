"""The number 0 is the zero date, however it is written, as in SQL and in the original."""

from __future__ import annotations

import pytest
from handlersocket2 import Client, Filter
from support.database import Database, Sql

ZEROS = ["", "0", "00", "000", "0000", "00000", "000000", " 0 ", "-0", "+0", "0.0", "0e0",
         "0000-00-00", "0000-00-00 00:00:00", "00000000000000", "0" * 30]  # fmt: skip
NO_DATES = ["0x", "0.5", "1", "101", "-1", "zero", "0 0 x"]
TYPES = ["DATE", "DATETIME", "DATETIME(3)", "TIMESTAMP NULL", "TIMESTAMP(6) NULL"]
#: What each comparison with 0 finds among a NULL, the zero date and another date.
ANSWERS = {
    "=": {b"1"}, "!=": {b"0", b"2"}, ">": {b"2"}, ">=": {b"1", b"2"}, "<": {b"0"},
    "<=": {b"0", b"1"},
}  # fmt: skip


def make_table(sql: Sql, kind: str) -> None:
    sql.run(
        "SET SESSION sql_mode = ''",
        f"CREATE TABLE t (id INT PRIMARY KEY, d {kind}, n INT, KEY by_d (d))",
        "INSERT INTO t VALUES (0, NULL, 1), (1, 0, 1), (2, 20110702010000, 1)",
    )
    if kind == "DATE":
        sql.run("UPDATE t SET d = 20110702 WHERE id = 2")


@pytest.mark.parametrize("kind", TYPES)
def test_keys(kind: str, reader: Client, sql: Sql, database: Database) -> None:
    make_table(sql, kind)
    index = reader.index(database.name, "t", ["id"], index="by_d")
    for op in ("=", ">", ">=", "<", "<="):
        assert {row[0] for row in sql.rows(f"SELECT id FROM t WHERE d {op} 0")} == ANSWERS[op] - {
            b"0"
        }
        for zero in ZEROS:
            found = {row[0] for row in index.find(zero, op=op, limit=9)}
            assert found == ANSWERS[op], (op, zero)
        for other in NO_DATES:
            assert index.find(other, op=op, limit=9) == [], (op, other)


@pytest.mark.parametrize("kind", TYPES)
def test_filters(kind: str, reader: Client, sql: Sql, database: Database) -> None:
    make_table(sql, kind)
    index = reader.index(database.name, "t", ["id"], filter_columns=["d"])
    for op, answer in ANSWERS.items():
        for zero in ZEROS:
            found = index.find(0, op=">=", limit=9, filters=[Filter(op, 0, zero)])
            assert {row[0] for row in found} == answer, (op, zero)


@pytest.mark.parametrize("kind", TYPES)
def test_values_of_in(kind: str, reader: Client, sql: Sql, database: Database) -> None:
    """All of them are one value, so its row is found once."""
    make_table(sql, kind)
    index = reader.index(database.name, "t", ["id"], index="by_d")
    assert index.find_in(ZEROS, limit=99) == [(b"1",)]
    assert index.find_in(["0", "2011-07-02", "1"], limit=99) == [(b"1",)] + (
        [(b"2",)] if kind == "DATE" else []
    )
