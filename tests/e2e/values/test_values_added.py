"""`+` and `-` accept as a number what SQL accepts as a number. An empty value changes nothing."""

from __future__ import annotations

import pytest
from handlersocket2 import Client, ReplyError
from support.database import Database, Sql

NUMBERS = [
    "5", "+5", "-5", "-0", "005", " 5", "5 ", " -5 ", "1e2", "1E2", "1.5e1", "10e-1", ".5", "5.",
    "0.5", "-0.5", "1.4",
    "+.5", "3000000000", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
]  # fmt: skip
NO_NUMBERS = [
    "+-5", "-+5", "--5", "++5", "- 5", "+ 5", "5-", "0x10", "1e", "e1", "1e+", ".", "-",
    "+", "5x", "x", "1 1",
    "nan", "inf", "NaN", "-inf", "infinity", "1,5", "٣",
]  # fmt: skip
COLUMNS = ["INT", "BIGINT", "BIGINT UNSIGNED", "DECIMAL(30,3)", "DOUBLE"]


def outcome(sql: Sql, statement: str) -> tuple[int | None, list]:
    sql.run("UPDATE by_sql SET n = 10")
    error = sql.error(statement)
    return error, sql.rows("SELECT n FROM by_sql")


@pytest.mark.parametrize("column", COLUMNS)
def test_the_syntax_of_numbers(column: str, writer: Client, sql: Sql, database: Database) -> None:
    for table in ("by_sql", "by_plugin"):
        sql.run(
            f"CREATE TABLE {table} (id INT PRIMARY KEY, n {column})",
            f"INSERT INTO {table} VALUES (1, 10)",
        )
    index = writer.index(database.name, "by_plugin", ["n"])
    differences = []
    for text in [*NUMBERS, *NO_NUMBERS]:
        # SQL reads a text that is no number up to where it is one. In strict mode that is an error.
        literal = f"({text})" if text in NUMBERS else f"'{text}'"
        expected = outcome(sql, f"UPDATE by_sql SET n = n + {literal}")
        sql.run("UPDATE by_plugin SET n = 10")
        error = None
        try:
            assert index.increment(1, [text]) == 1
        except ReplyError as refused:
            error = refused.number
        found = (error, sql.rows("SELECT n FROM by_plugin"))
        if found != expected:
            differences.append((text, found, expected))
    assert not differences


@pytest.mark.parametrize("mode", ["", "STRICT_ALL_TABLES"])
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *((column, "7") for column in COLUMNS),
        ("VARCHAR(20)", "text"),
        ("TEXT", ""),
        ("DATETIME(3)", "2024-02-29 12:00:00.500"),
        ("TIME(6)", "-12:34:56.789012"),
        ("YEAR", "2024"),
        ("ENUM('a', 'b')", "b"),
        ("BIT(9)", "1"),
    ],
)
def test_empty_values(
    kind: str, value: str, mode: str, writer: Client, sql: Sql, database: Database
) -> None:
    """They leave their column as it is, whatever its type, and the others are changed. A client
    may send one for each column that was not set."""
    before = sql.rows("SELECT @@GLOBAL.sql_mode")[0][0] or b""
    sql.run(
        f"CREATE TABLE t (id INT PRIMARY KEY, v {kind}, n INT)",
        f"INSERT INTO t VALUES (1, '{value}', 5)",
        f"SET GLOBAL sql_mode = '{mode}'",
    )
    try:
        stored = sql.rows("SELECT v FROM t")
        for columns in (["v", "n"], ["n", "v"]):
            index = writer.index(database.name, "t", columns)
            for blank in ("", " ", "   "):
                values = [blank, "1"] if columns[0] == "v" else ["1", blank]
                assert index.increment(1, values) == 1
                assert index.decrement(1, values) == 1
                assert index.increment(1, [blank, blank]) == 1
                assert sql.rows("SELECT v, n FROM t") == [(*stored[0], b"5")]
    finally:
        sql.run(f"SET GLOBAL sql_mode = '{before.decode()}'")


CROSSING = "5"
REFUSED = {"INT": "x", "TINYINT UNSIGNED": "-255", "BIGINT": "-9223372036854775807",
           "VARCHAR(20)": "1"}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_crossing_zero_beside_a_refused_value(
    kind: str, writer: Client, sql: Sql, database: Database
) -> None:
    """The row is left as it is, in whatever order the columns are."""
    stored = "word" if "CHAR" in kind else "3"
    sql.run(
        f"CREATE TABLE t (id INT PRIMARY KEY, n INT UNSIGNED, v {kind})",
        f"INSERT INTO t VALUES (1, 3, '{stored}'), (2, 9, '{stored}')",
    )
    value = REFUSED[kind]
    for columns, values in ((["n", "v"], [CROSSING, value]), (["v", "n"], [value, CROSSING])):
        index = writer.index(database.name, "t", columns)
        assert index.decrement(1, values) == 0
        with pytest.raises(ReplyError) as refused:
            index.decrement(2, values)
        assert refused.value.number in (1264, 1292, 1690)
        with pytest.raises(ReplyError):
            index.decrement(1, values, op=">=", limit=2)
    rows = [(b"1", b"3", stored.encode()), (b"2", b"9", stored.encode())]
    assert sql.rows("SELECT * FROM t ORDER BY id") == rows
