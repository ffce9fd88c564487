"""CHAR in collations in which blanks at the end count (NO PAD): finds meet what SQL says.

The index of such a column has no blanks at the end, or is filled up with them. So the engine finds
rows that the key does not mean; in a deletion they would be lost.
"""

from __future__ import annotations

import pytest
from handlersocket2 import Client
from support.database import Database, Sql
from support.servers import ON_MYSQL

COLLATIONS = (
    ["utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_bin"]
    if ON_MYSQL
    else [
        "utf8mb4_uca1400_nopad_ai_ci",
        "utf8mb4_uca1400_nopad_as_cs",
        "utf8mb4_nopad_bin",
        "utf8mb4_general_nopad_ci",
    ]
)
ENGINES = ["InnoDB", "MyISAM", "MEMORY"]
ROWS = ["", "\t", "\x01", "a", "ä", "a\t", "a\x01", "a!", "a b", "A", "b", "ab", "s", "a  \t",
        "a\u00a0", "abcdef", "abcdeg", "ab   \t"]  # fmt: skip
KEYS = ["", " ", "a", "a ", "a  ", "a     ", "a       ", "A ", "a \t", "a\t ", "ab   \t", "ab   c",
        "ab     c", "abcdef ", "abcde ", "a\u00a0 "]  # fmt: skip
PADDED = [
    "utf8mb4_unicode_ci",
    "utf8mb4_general_ci",
    "latin1_swedish_ci",
    "latin1_bin",
    "ucs2_unicode_ci",
    "utf16_general_ci",
]
OPERATORS = ["=", ">", ">=", "<", "<="]


def make_table(sql: Sql, collation: str, engine: str, prefix: str = "") -> None:
    using = " USING BTREE" if engine == "MEMORY" else ""
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, c CHAR(6) CHARACTER SET utf8mb4 COLLATE"
        f" {collation}, KEY by_c (c{prefix}){using}) ENGINE={engine}"
    )
    for number, value in enumerate(ROWS):
        with sql.connection.cursor() as cursor:
            cursor.execute("INSERT INTO t VALUES (%s, %s)", [number, value])


def selected(sql: Sql, hint: str, op: str, key: str) -> set[bytes | None]:
    query = f"SELECT id FROM t {hint} INDEX (by_c) WHERE c {op} %s"
    return {row[0] for row in sql.rows(query, [key])}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("collation", COLLATIONS)
@pytest.mark.parametrize("prefix", ["", "(1)", "(3)"])
def test_rows_are_those_of_sql(
    collation: str, engine: str, prefix: str, reader: Client, sql: Sql, database: Database
) -> None:
    """No row that SQL's comparison refuses, and each that SQL finds by an index of whole values.

    In other engines, and by an index of beginnings, SQL leaves out others, for each way to search.
    """
    make_table(sql, collation, engine, prefix)
    index = reader.index(database.name, "t", ["id"], index="by_c")
    is_complete = engine == "InnoDB" and not prefix
    wrong = []
    for key in KEYS:
        for op in OPERATORS:
            found = {row[0] for row in index.find(key, op=op, limit=100)}
            by_scan = selected(sql, "IGNORE", op, key)
            by_index = selected(sql, "FORCE", op, key) if is_complete else set()
            if not by_index <= found <= by_scan:
                wrong.append((op, key, found - by_scan, by_index - found))
    assert not wrong


@pytest.mark.skipif(not ON_MYSQL, reason="the index orders these values as SQL does on MySQL only")
@pytest.mark.parametrize("collation", COLLATIONS)
def test_ranges_are_complete(collation: str, reader: Client, sql: Sql, database: Database) -> None:
    """Values that lie between the key and the key without its blanks are met, too."""
    make_table(sql, collation, "InnoDB")
    index = reader.index(database.name, "t", ["id"], index="by_c")
    for key in KEYS:
        for op in OPERATORS[1:]:
            found = {row[0] for row in index.find(key, op=op, limit=100)}
            assert found == selected(sql, "IGNORE", op, key), (op, key)


@pytest.mark.parametrize("collation", COLLATIONS)
def test_no_row_below_the_key_is_deleted(
    collation: str, writer: Client, sql: Sql, database: Database
) -> None:
    make_table(sql, collation, "InnoDB")
    index = writer.index(database.name, "t", ["id"], index="by_c")
    before = {row[0] for row in sql.rows("SELECT id FROM t")}
    by_scan, by_index = (selected(sql, hint, ">=", "a ") for hint in ("IGNORE", "FORCE"))
    count = index.delete("a ", op=">=", limit=100)
    deleted = before - {row[0] for row in sql.rows("SELECT id FROM t")}
    assert by_index <= deleted <= by_scan
    assert count == len(deleted) > 5


@pytest.mark.parametrize("collation", PADDED)
def test_values_of_in_that_end_like_blanks(
    collation: str, reader: Client, sql: Sql, database: Database
) -> None:
    """Where blanks at the end do not count, neither does a character that equals a blank."""
    charset = collation.partition("_")[0]
    sql.run(
        f"CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(9) CHARACTER SET {charset} COLLATE"
        f" {collation}, KEY by_c (c))",
        "INSERT INTO t VALUES (1, 'a\u00a0'), (2, 'b'), (3, 'ä'), (4, '\t')",
    )
    index = reader.index(database.name, "t", ["id"], index="by_c")
    values = [
        "ä ",
        "a\u00a0",
        "a",
        "a \u00a0 ",
        "\u00a0",
        " ",
        "b",
        "b\u00a0\u00a0",
        "c",
        "ä\t",
        "\t ",
    ]
    places = ", ".join(["%s"] * len(values))
    wanted = sql.rows(f"SELECT id FROM t IGNORE INDEX (by_c) WHERE c IN ({places})", values)
    assert sorted(index.find_in(values, limit=99)) == sorted(wanted)
