"""`+` and `-` on columns of many types do the same as SQL's `SET c = c + n`, errors included."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pytest
from handlersocket2 import Client, Index, ReplyError
from support.database import Database, Sql

# For each type, the values to which something is added.
TYPES: Mapping[str, tuple[str, Sequence[str]]] = {
    "bit1": ("BIT(1)", ["b'0'", "b'1'"]),
    "bit64": ("BIT(64)", ["0", "10", "b'" + 64 * "1" + "'"]),
    "tinyint": ("TINYINT", ["0", "-3", "126"]),
    "mediumint_unsigned": ("MEDIUMINT UNSIGNED", ["0", "7", "16777215"]),
    "zerofill": ("INT(8) ZEROFILL", ["0", "7"]),
    "float": ("FLOAT", ["0", "1.5", "-3e38"]),
    "float_unsigned": ("FLOAT UNSIGNED", ["0", "1.5"]),
    "decimal": ("DECIMAL(5,2)", ["0", "999.99", "-1.25"]),
    "decimal_unsigned": ("DECIMAL(5,2) UNSIGNED", ["0", "999.99"]),
    "year": ("YEAR", ["0", "1901", "2024", "2155"]),
    "date": ("DATE", ["'2024-02-28'", "'2024-02-29'", "'1999-12-31'"]),
    "time": ("TIME", ["0", "'00:00:59'", "'-10:00:00'", "'838:59:59'"]),
    "time3": ("TIME(3)", ["'00:00:01.500'", "'-00:00:10.250'"]),
    "datetime": ("DATETIME", ["'2024-02-28 12:34:56'", "'2024-02-28 23:59:59'"]),
    "datetime6": ("DATETIME(6)", ["'2024-02-28 12:34:56.123456'"]),
    "timestamp": ("TIMESTAMP NULL", ["'2024-02-28 12:34:56'"]),
    "timestamp2": ("TIMESTAMP(2) NULL", ["'2024-02-28 12:34:56.25'"]),
    "char": ("CHAR(5)", ["''", "'12'", "'1.5'", "'-3'", "'99999'"]),
    "varchar": ("VARCHAR(9)", ["''", "'12'", "'1e3'", "' 7'", "'x'", "'7x'"]),
    "ucs2": ("VARCHAR(9) CHARACTER SET ucs2", ["'12'", "'x'"]),
    "binary": ("BINARY(4)", ["'1'", "'1234'"]),
    "varbinary": ("VARBINARY(9)", ["'12'", "'x'"]),
    "text": ("TEXT", ["''", "'12'", "'x'"]),
    "blob": ("BLOB", ["'12'", "'x'"]),
    "enum": ("ENUM('a','b','7')", ["'a'", "'b'", "'7'"]),
    "set": ("SET('a','b','c')", ["''", "'a'", "'a,b'", "'a,b,c'"]),
    "json": ("JSON", ["'5'", "'\"7\"'", "'[1]'", "'{}'", "'true'", "'null'"]),
}
ADDED = ["1", "0", "-2", "100", "0.5", "1e2", "70000000"]
MODES = ["STRICT_TRANS_TABLES", ""]


def change(index: Index, number: int, sign: str, added: str) -> object:
    """Returns the error, or how many rows were changed."""
    modify = index.increment if sign == "+" else index.decrement
    try:
        return modify(number, [added])
    except ReplyError as refused:
        return {"error": refused.number}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode or "lax")
@pytest.mark.parametrize("kind", TYPES)
def test_sums(kind: str, mode: str, writer: Client, sql: Sql, database: Database) -> None:
    column, values = TYPES[kind]
    changes = list(itertools.product([*values, "NULL"], ADDED, "+-"))
    for table in ("by_sql", "by_plugin"):
        sql.run(f"CREATE TABLE {table} (id INT PRIMARY KEY, c {column})")
        rows = [f"({number}, {value})" for number, (value, _, _) in enumerate(changes)]
        sql.run(f"INSERT INTO {table} VALUES {', '.join(rows)}")
    index = writer.index(database.name, "by_plugin", ["c"])
    sql.run(f"SET GLOBAL sql_mode = '{mode}'", f"SET SESSION sql_mode = '{mode}'")
    differences = []
    try:
        for number, (value, added, sign) in enumerate(changes):
            found = change(index, number, sign, added)
            if found == 0:
                continue  # it would have crossed zero, for which the protocol has its own rule
            error = sql.error(f"UPDATE by_sql SET c = c {sign} {added} WHERE id = {number}")
            expected = 1 if error is None else {"error": error}
            by_sql, by_plugin = (
                sql.row(f"SELECT HEX(CONCAT(c)) FROM {table} WHERE id = {number}")
                for table in ("by_sql", "by_plugin")
            )
            if (found, by_plugin) != (expected, by_sql):
                differences.append(
                    f"{value} {sign} {added}: SQL {expected} {by_sql}, plugin {found} {by_plugin}"
                )
    finally:
        sql.run("SET GLOBAL sql_mode = DEFAULT")
    assert not differences, "\n".join(differences)
