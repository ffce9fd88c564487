"""Finds on partitioned tables: the partitions' rows come in the index's order, whatever columns
the open index names."""

from __future__ import annotations

import pytest
from handlersocket2 import Client
from support.database import Database, Sql
from support.servers import ON_MYSQL

COLUMNS = [["note", "rid"], ["rid"], ["g", "rid"]]
INDEXED = ["g INT", "g INT AS (LENGTH(note)) STORED"]
if ON_MYSQL:
    # MariaDB itself does not keep the order here: ORDER BY by this index is out of order, too.
    INDEXED.append("g INT AS (a * 2) VIRTUAL")


def create(sql: Sql, column: str) -> list[bytes]:
    """Seven rows in three partitions. Returns their rids in the order of the index on `g`."""
    sql.run(
        "CREATE TABLE t (rid INT NOT NULL, a INT NOT NULL, note VARCHAR(10),"
        f" {column}, PRIMARY KEY (rid), KEY by_g (g)) PARTITION BY HASH (rid) PARTITIONS 3",
        "INSERT INTO t (rid, a) VALUES (1, 5), (2, 9), (3, 1), (4, 7), (5, 3), (6, 8), (7, 2)",
        "UPDATE t SET note = REPEAT('x', a)",
    )
    if column == "g INT":
        sql.run("UPDATE t SET g = a")
    return [rid or b"" for (rid,) in sql.rows("SELECT rid FROM t ORDER BY a")]


@pytest.mark.parametrize("columns", COLUMNS, ids="-".join)
@pytest.mark.parametrize("column", INDEXED)
def test_rows_come_in_the_indexs_order(
    column: str, columns: list[str], reader: Client, sql: Sql, database: Database
) -> None:
    order = create(sql, column)
    index = reader.index(database.name, "t", columns, index="by_g")
    place = columns.index("rid")
    assert [row[place] for row in index.find(0, op=">=", limit=9)] == order
    assert [row[place] for row in index.find(99, op="<=", limit=9)] == order[::-1]
    assert [row[place] for row in index.find(0, op=">=", limit=2, offset=1)] == order[1:3]


@pytest.mark.parametrize("column", INDEXED)
def test_a_modification_takes_the_first_rows(
    column: str, writer: Client, sql: Sql, database: Database
) -> None:
    order = create(sql, column)
    index = writer.index(database.name, "t", ["rid"], index="by_g")
    assert index.delete(0, op=">=", limit=3) == 3
    left = {rid or b"" for (rid,) in sql.rows("SELECT rid FROM t")}
    assert left == set(order[3:])
