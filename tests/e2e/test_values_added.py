"""`+` and `-` accept as a number what SQL accepts as a number."""

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
    "", " ", "+-5", "-+5", "--5", "++5", "- 5", "+ 5", "5-", "0x10", "1e", "e1", "1e+", ".", "-",
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
