"""What MariaDB has since 11.8: its rules for writes, and its types as columns and keys."""

from __future__ import annotations

import struct

import pytest
from handlersocket2 import Client, ReplyError
from support.database import Database, Sql
from support.servers import needs_mariadb_11_8

pytestmark = needs_mariadb_11_8


def vector(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def contents(sql: Sql, table: str) -> list:
    return sql.rows(f"SELECT * FROM {table} ORDER BY 1")


@pytest.mark.parametrize("time", ["BEFORE", "AFTER"])
def test_triggers_of_some_columns(time: str, writer: Client, sql: Sql, database: Database) -> None:
    """Such a trigger fires when an update names one of its columns, even with the same value."""
    twins = ("by_plugin", "by_sql")
    for table in twins:
        sql.run(
            f"CREATE TABLE {table} (id INT PRIMARY KEY, a INT, b INT)",
            f"CREATE TABLE {table}_log (n INT AUTO_INCREMENT PRIMARY KEY, what CHAR(9), id INT)",
        )
        for columns in ("a", "b, id"):
            sql.run(
                f"CREATE TRIGGER {table}_{columns[0]} {time} UPDATE OF {columns} ON {table}"
                f" FOR EACH ROW INSERT INTO {table}_log (what, id) VALUES ('{columns}', NEW.id)"
            )
    a = writer.index(database.name, "by_plugin", ["a"])
    b = writer.index(database.name, "by_plugin", ["b"])
    both = writer.index(database.name, "by_plugin", ["a", "b"])
    writer.index(database.name, "by_plugin", ["id", "a", "b"]).insert([1, 1, 1])
    assert a.update(1, [2]) == 1
    assert a.update(1, [2]) == 1  # the same value again
    assert b.update(1, [7]) == 1
    assert b.increment(1, [1]) == 1
    assert both.update(1, [3, 3]) == 1
    sql.run(
        "INSERT INTO by_sql VALUES (1, 1, 1)",
        "UPDATE by_sql SET a = 2 WHERE id = 1",
        "UPDATE by_sql SET a = 2 WHERE id = 1",
        "UPDATE by_sql SET b = 7 WHERE id = 1",
        "UPDATE by_sql SET b = b + 1 WHERE id = 1",
        "UPDATE by_sql SET a = 3, b = 3 WHERE id = 1",
    )
    for suffix in ("", "_log"):
        plugin, by_sql = (contents(sql, twin + suffix) for twin in twins)
        assert plugin == by_sql != []


class TestVector:
    ROWS = 200

    @staticmethod
    def of_row(number: int) -> bytes:
        return vector(number * 7 % 101, number * 3 % 53, number % 17)

    def create(self, sql: Sql, *tables: str) -> None:
        for table in tables:
            sql.run(
                f"CREATE TABLE {table} (id INT PRIMARY KEY, v VECTOR(3) NOT NULL, n INT,"
                " VECTOR INDEX by_v (v))"
            )

    def test_in_and_out(self, writer: Client, sql: Sql, database: Database) -> None:
        sql.run("CREATE TABLE t (id INT PRIMARY KEY, v VECTOR(3))")
        index = writer.index(database.name, "t", ["id", "v"])
        index.insert([1, vector(1, 2, 3)])
        index.insert([2, None])
        assert index.update(1, [1, vector(0.5, -1, 1e9)]) == 1
        expected = [(b"1", vector(0.5, -1, 1e9)), (b"2", None)]
        assert index.find(0, op=">=", limit=5) == expected
        assert contents(sql, "t") == expected

    @pytest.mark.parametrize("value", [b"", b"abc", vector(1, 2), vector(1, 2, 3, 4)], ids=len)
    def test_what_is_no_vector_is_refused_as_by_sql(
        self, value: bytes, writer: Client, sql: Sql, database: Database
    ) -> None:
        sql.run("CREATE TABLE t (id INT PRIMARY KEY, v VECTOR(3))")
        number = sql.error("INSERT INTO t VALUES (1, %s)", [value])
        assert number is not None
        with pytest.raises(ReplyError, match=str(number)):
            writer.index(database.name, "t", ["id", "v"]).insert([1, value])
        assert contents(sql, "t") == []

    def test_its_index_cannot_be_opened(self, reader: Client, sql: Sql, database: Database) -> None:
        self.create(sql, "t")
        with pytest.raises(ReplyError, match="idxnum"):
            reader.index(database.name, "t", ["id"], index="by_v")

    def test_its_index_follows_writes(self, writer: Client, sql: Sql, database: Database) -> None:
        """A search by SQL gives the same rows as in its twin, which SQL has written."""
        self.create(sql, "by_plugin", "by_sql")
        index = writer.index(database.name, "by_plugin", ["id", "v", "n"])
        with writer.pipeline() as pipeline:
            for number in range(self.ROWS):
                pipeline.on(index).insert([number, self.of_row(number), number])
        moved = writer.index(database.name, "by_plugin", ["v"])
        for number in range(0, self.ROWS, 5):
            assert moved.update(number, [vector(number, 1000, 0)]) == 1
            assert index.delete(number + 1) == 1
        counted = writer.index(database.name, "by_plugin", ["n"])
        assert counted.increment(0, [1]) == 1
        for number in range(self.ROWS):
            sql.rows(
                "INSERT INTO by_sql VALUES (%s, %s, %s)", [number, self.of_row(number), number]
            )
        for number in range(0, self.ROWS, 5):
            sql.rows("UPDATE by_sql SET v = %s WHERE id = %s", [vector(number, 1000, 0), number])
            sql.run(f"DELETE FROM by_sql WHERE id = {number + 1}")
        sql.run("UPDATE by_sql SET n = n + 1 WHERE id = 0")
        assert contents(sql, "by_plugin") == contents(sql, "by_sql")
        for target in (vector(0, 1000, 0), vector(50, 20, 3), vector(100, 1000, 0)):
            # Only the index knows where to look. It is approximate, but the error is not so large.
            for twin in ("by_plugin", "by_sql"):
                nearest = f"SELECT id FROM {twin} ORDER BY VEC_DISTANCE_EUCLIDEAN(v, %s) LIMIT 1"
                exact = f"SELECT id FROM {twin} IGNORE INDEX (by_v) ORDER BY"
                exact += " VEC_DISTANCE_EUCLIDEAN(v, %s) LIMIT 1"
                (plan,) = sql.rows("EXPLAIN " + nearest, [target])
                assert b"by_v" in plan
                assert sql.rows(nearest, [target]) == sql.rows(exact, [target])
        assert sql.row("CHECK TABLE by_plugin")[3] == b"OK"

    def test_a_failed_write_is_undone_in_its_index(
        self, writer: Client, sql: Sql, database: Database
    ) -> None:
        self.create(sql, "t")
        index = writer.index(database.name, "t", ["id", "v", "n"])
        index.insert([1, vector(1, 1, 1), 1])
        with pytest.raises(ReplyError, match="121"):
            index.insert([1, vector(9, 9, 9), 1])
        index.insert([2, vector(2, 2, 2), 2])
        nearest = "SELECT id FROM t ORDER BY VEC_DISTANCE_EUCLIDEAN(v, %s) LIMIT 3"
        assert sql.rows(nearest, [vector(9, 9, 9)]) == [(b"2",), (b"1",)]


def test_the_default_collation_compares_keys_as_sql_does(
    reader: Client, sql: Sql, database: Database
) -> None:
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), KEY by_v (v), KEY short (v(2)))")
    (collation,) = sql.row(
        "SELECT collation_name FROM information_schema.columns WHERE table_schema = DATABASE()"
        " AND table_name = 't' AND column_name = 'v'"
    )
    assert collation == b"utf8mb4_uca1400_ai_ci"
    words = [
        "",
        " ",
        "a",
        "A ",
        "ä",
        "Á",
        "ab",
        "AB",
        "ss",
        "ß",
        "straße",
        "STRASSE",
        "ﬁ",
        "fi",
        "😀",
    ]
    for number, word in enumerate(words):
        sql.rows("INSERT INTO t VALUES (%s, %s)", [number, word])
    for name in ("by_v", "short"):
        index = reader.index(database.name, "t", ["id"], index=name)
        for word in words:
            for op in ("=", ">="):
                expected = sql.rows(f"SELECT id FROM t WHERE v {op} %s", [word])
                assert sorted(index.find(word, op=op, limit=50)) == sorted(expected), (name, word)


def test_timestamps_reach_2106(writer: Client, sql: Sql, database: Database) -> None:
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v TIMESTAMP(3) NULL, KEY by_v (v))")
    index = writer.index(database.name, "t", ["id", "v"])
    by_value = writer.index(database.name, "t", ["id"], index="by_v")
    values = [b"2038-01-19 03:14:08.000", b"2100-06-01 00:00:00.500", b"2106-02-07 06:28:15.999"]
    for number, value in enumerate(values):
        index.insert([number, value])
    expected = [(b"%d" % number, value) for number, value in enumerate(values)]
    assert index.find(0, op=">=", limit=10) == expected
    assert sql.rows("SELECT id, v FROM t ORDER BY id") == expected
    assert by_value.find(values[0], op=">", limit=10) == [(b"1",), (b"2",)]
    assert by_value.find(values[2]) == [(b"2",)]
    for beyond in (b"2106-02-07 06:28:16", b"2200-01-01 00:00:00"):
        number = sql.error("INSERT INTO t VALUES (9, %s)", [beyond])
        with pytest.raises(ReplyError, match=str(number)):
            index.insert([9, beyond])
