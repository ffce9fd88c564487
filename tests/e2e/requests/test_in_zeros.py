"""0 and -0 are the same value for IN: their rows are found, and changed, once."""

from __future__ import annotations

import pytest
from handlersocket2 import Client
from support.database import Database, Sql


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE", "DECIMAL(6,2)", "INT"])
def test_zeros_are_one_value(kind: str, writer: Client, sql: Sql, database: Database) -> None:
    sql.run(
        f"CREATE TABLE t (rid INT PRIMARY KEY, v {kind}, n INT NOT NULL, KEY by_v (v))",
        "INSERT INTO t VALUES (1, 0, 10), (2, -0.0, 20), (3, 1, 30)",
    )
    zeros = ["0", "-0", "0.0", "-0.0", ""]
    index = writer.index(database.name, "t", ["n"], index="by_v")
    assert sorted(index.find_in(zeros, limit=9)) == [(b"10",), (b"20",)]
    # As bytes, because the client's increment() has no IN.
    with database.wire(write=True) as wire:
        assert wire.ask(b"P\t1\t%s\tt\tby_v\tn\n" % database.name.encode()) == b"0\t1"
        request = b"1\t=\t1\t\t9\t0\t@\t0\t5\t%s\t+\t1\n" % "\t".join(zeros).encode()
        assert wire.ask(request) == b"0\t1\t2"
    assert sql.rows("SELECT n FROM t ORDER BY rid") == [(b"11",), (b"21",), (b"30",)]
