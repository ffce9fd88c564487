"""Columns that MariaDB compresses one by one: VARCHAR, VARBINARY, TEXT and BLOB COMPRESSED."""

from __future__ import annotations

import pytest
from handlersocket2 import Client, Filter
from support.database import Database, Sql

LONG = b"compressed " * 50
COLUMNS = [
    "VARCHAR(1000) COMPRESSED CHARACTER SET utf8mb4",
    "VARCHAR(1000) COMPRESSED CHARACTER SET latin1",
    "VARCHAR(200) COMPRESSED",
    "VARBINARY(1000) COMPRESSED",
    "TEXT COMPRESSED",
    "BLOB COMPRESSED",
]


@pytest.mark.parametrize("column", COLUMNS)
def test_in_and_out(
    column: str, reader: Client, writer: Client, sql: Sql, database: Database
) -> None:
    long = LONG[:190] if "(200)" in column else LONG
    sql.run(f"CREATE TABLE c (id INT PRIMARY KEY, v {column})", "CREATE TABLE twin LIKE c")
    index = writer.index(database.name, "c", ["id", "v"])
    values = [b"", b"x", long, None, long[::-1]]
    for number, value in enumerate(values):
        index.insert([number, value])
        sql.rows("INSERT INTO twin VALUES (%s, %s)", [number, value])
    expected = sql.rows("SELECT id, v FROM twin ORDER BY id")
    assert sql.rows("SELECT id, v FROM c ORDER BY id") == expected
    for client in (reader, writer):
        found = client.index(database.name, "c", ["id", "v"]).find(0, op=">=", limit=9)
        assert found == expected
    changed = writer.index(database.name, "c", ["v"])
    assert changed.update(0, [long]) == 1
    assert changed.update(2, [b"short"]) == 1
    assert sql.rows("SELECT v FROM c WHERE id IN (0, 2) ORDER BY id") == [(long,), (b"short",)]


@pytest.mark.parametrize("column", [kind for kind in COLUMNS if "VAR" in kind])
def test_a_filter(column: str, reader: Client, sql: Sql, database: Database) -> None:
    long = LONG[:190] if "(200)" in column else LONG
    sql.run(f"CREATE TABLE c (id INT PRIMARY KEY, v {column})")
    for number, value in enumerate([b"", b"a", long, b"zz", None]):
        sql.rows("INSERT INTO c VALUES (%s, %s)", [number, value])
    index = reader.index(database.name, "c", ["id"], filter_columns=["v"])
    for asked in (b"", b"a", long, long[:-1], b"b", b"zz", long * 3):
        for op in ("=", "!=", ">", ">=", "<", "<="):
            found = index.find(0, op=">=", limit=9, filters=[Filter(op, 0, asked)])
            # NULL is below everything.
            or_null = " OR v IS NULL" if op in ("<", "<=", "!=") else ""
            condition = f"v {op} %s{or_null}"
            expected = sql.rows(f"SELECT id FROM c WHERE {condition} ORDER BY id", [asked])
            assert found == expected, (op, asked)
