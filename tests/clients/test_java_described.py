"""What the Java client makes of descriptions, hello, error texts and `within`, on a server.

The programs are those of test_java_client.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from decimal import Decimal
from typing import IO

import pymysql
import pytest
from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import ON_MYSQL
from support_column_types import ColumnType, every_type
from test_java_client import run, start, url

#: The class as which a type is read, by the word that begins it, as SHOW CREATE TABLE has it.
CLASSES = {
    "Long": "tinyint smallint mediumint int bigint year",
    "BigDecimal": "decimal",
    "Double": "float double",
    "String": "char varchar tinytext text mediumtext longtext enum set json inet4 inet6",
    "byte[]": "binary varbinary tinyblob blob mediumblob longblob bit vector point geometry",
    "LocalDate": "date",
    "LocalDateTime": "datetime timestamp",
    "Duration": "time",
    "UUID": "uuid",
}
CLASS_OF = {word: name for name, words in CLASSES.items() for word in words.split()}


def nanoseconds(time: str) -> int:
    hours, minutes, seconds = time.lstrip("-").split(":")
    whole, _, fraction = seconds.partition(".")
    total = (int(hours) * 60 + int(minutes)) * 60 + int(whole)
    nanos = total * 10**9 + int(fraction.ljust(9, "0"))
    return -nanos if time.startswith("-") else nanos


def is_zero(date: str) -> bool:
    return "00" in (date[5:7], date[8:10])


def shown(name: str, value: bytes | None) -> str:
    """What the program shows of a value of which SQL shows this."""
    if value is None:
        return "null"
    if name in ("String", "byte[]"):
        return f"{name} {zlib.crc32(value)}"
    text = value.decode()
    if name in ("Long", "BigInteger"):
        return f"{name} {int(text)}"
    if name == "BigDecimal":
        return f"{name} {Decimal(text):f}"
    if name == "Double":
        return f"{name} {float(text)!r}"
    if name == "Duration":
        return f"{name} {nanoseconds(text)}"
    if name.startswith("LocalDate") and is_zero(text):
        return f"decode {text}"
    if name == "LocalDateTime":
        whole, _, fraction = text.partition(".")
        return f"{name} {whole}.{fraction.ljust(9, '0')}"
    return f"{name} {text}"


def same_double(line: str) -> str:
    """Java and Python write the same number in different ways."""
    row, _, value = line.partition(" Double ")
    return f"{row} Double {float(value)!r}" if value else line


def create(sql: Sql, table: str, kind: ColumnType) -> None:
    sql.run(f"CREATE TABLE {table} (id INT PRIMARY KEY, v {kind.sql})")
    sql.run(f"CREATE TABLE c{table[1:]} LIKE {table}")
    sql.run(f"INSERT INTO {table} VALUES (0, NULL)")
    with sql.connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", list(enumerate(kind.values, 1)))


@pytest.mark.timeout(300)
def test_a_table_of_every_type(sql: Sql, database: Database) -> None:
    """Each value is what SQL shows, as the type that the specification says, and is written so."""
    kinds = every_type()
    sql.run("SET SESSION sql_mode = ''")
    for number, kind in enumerate(kinds):
        create(sql, f"t{number}", kind)
    described: dict[int, str] = {}
    rows: dict[int, list[str]] = {number: [] for number in range(len(kinds))}
    for step, result in run("described", url(database.server, database.name), str(len(kinds))):
        what, number = step.split()
        if what == "type":
            described[int(number)] = result
        else:
            rows[int(number)].append(same_double(result))
    seen = set()
    for number, kind in enumerate(kinds):
        (sql_type,) = sql.row(
            "SELECT column_type FROM information_schema.columns"
            f" WHERE table_schema = DATABASE() AND table_name = 't{number}' AND column_name = 'v'"
        )
        assert sql_type is not None
        assert described[number] == f"{sql_type.decode()} id", kind.name
        word = sql_type.decode().split("(")[0].split(" ")[0]
        name = CLASS_OF[word]
        if word == "bigint" and b"unsigned" in sql_type:
            name = "BigInteger"
        seen.add(name)
        wanted = [
            f"{int(key or 0)} {shown(name, value)}"
            for key, value in sql.rows(f"SELECT id, v FROM t{number} ORDER BY id")
        ]
        assert rows[number] == wanted, kind.name
        zero = {row.split()[0] for row in wanted if " decode " in row}
        # SQL shows not all digits of a FLOAT, and takes the text 0 for the year 2000.
        stored = "v" if word == "float" else "HEX(v)"
        known = "id <> 1" if word == "year" else "1"
        (given, copied) = (
            sql.rows(f"SELECT id, {stored} FROM {table}{number} WHERE {known} ORDER BY id")
            for table in "tc"
        )
        assert copied == [row for row in given if str(int(row[0] or 0)) not in zero], kind.name
    assert seen == {"BigInteger", *CLASSES} - ({"UUID"} if ON_MYSQL else set())


@pytest.mark.timeout(300)
def test_a_table_that_changes(make_server: Callable[..., ServerInstance]) -> None:
    """A description is of one moment; an index with types is opened again after a restart."""
    server = make_server()

    def change(*statements: str) -> Callable[[IO[str]], None]:
        def begin(program_input: IO[str]) -> None:
            with Sql(server.socket, "described") as sql:
                sql.run(*statements)
            program_input.write("\n")
            program_input.flush()

        return begin

    with Sql(server.socket) as sql:
        sql.run(
            "CREATE DATABASE described",
            "CREATE TABLE described.t (id INT PRIMARY KEY, v INT)",
            "INSERT INTO described.t VALUES (1, 5), (2, 6)",
        )
    program = start("altered", url(server, "described", options="?retry_reads=3"), piped=True)
    assert program.stdin is not None and program.stdout is not None
    try:
        nothing = "type=null, nullable=null, unsigned=null, decimals=null, charset=null"
        nothing = "type=null, nullable=null, unsigned=null, decimals=null, charset=null"
        wanted = (
            ("first", "Optional[{id=1, v=5}]"),
            ("wider", "Optional[{id=1, v=5}] 3"),
            ("another type", "DECODE x"),
            ("described again", "Optional[{id=1, n=null, v=x}]"),
            ("no column", "fld 1"),
            ("its name", f"Column[name=v, {nothing}]"),
            ("restarted", "Optional[{id=1, n=null}] 2"),
        )
        changes = {
            "wider": change("ALTER TABLE t ADD COLUMN n INT AFTER id"),
            "another type": change(
                "ALTER TABLE t MODIFY v VARCHAR(9)", "UPDATE t SET v = 'x' WHERE id = 1"
            ),
            "no column": change("ALTER TABLE t DROP COLUMN v"),
        }
        for name, result in wanted:
            if name == "restarted":
                server.restart()
                changes[name] = change("SELECT 1")
            if name in changes:
                changes[name](program.stdin)
            assert program.stdout.readline() == f"{name}\t{result}\n"
        assert program.wait(60) == 0, program.stderr and program.stderr.read()
    finally:
        program.kill()


def sql_error(sql: Sql, statement: str) -> list[str]:
    with pytest.raises(pymysql.err.Error):
        sql.rows(statement)
    number, text = sql.row("SHOW ERRORS LIMIT 1")[1:]
    sql.rows("GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE")
    (state,) = sql.row("SELECT @state")
    assert number is not None and text is not None and state is not None
    return [number.decode(), state.decode(), text.decode()]


@pytest.mark.timeout(300)
def test_texts_are_those_of_sql(sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, small TINYINT, word VARCHAR(3) NOT NULL)",
        "INSERT INTO t VALUES (1, 1, 'one')",
    )
    steps = dict(run("texts", url(database.server, database.name, options="?texts=on")))
    duplicate = sql_error(sql, "INSERT INTO t VALUES (1, 0, 'x')")
    assert steps["duplicate"].split("\t") == [*duplicate, "0"]
    assert steps["several"].split("\t") == [*duplicate, "0"]
    assert steps["group"].split("\t") == [*duplicate, "2"]
    large = sql_error(sql, "INSERT INTO t VALUES (9, 400, 'x')")
    assert steps["range"].split("\t") == [*large, "0"]
    number, state, text, _ = steps["iterate"].split("\t")
    assert number != "0" and len(state) == 5 and text != "-"
    assert steps["hello"].startswith("{plugin=") and steps["hello"].endswith("texts=1}")
    plain = dict(run("texts", url(database.server, database.name)))
    assert plain["duplicate"].split("\t") == ["121", "23000", "-", "0"]
    assert plain["group"].split("\t") == ["121", "23000", "-", "2"]
    assert "texts" not in plain["hello"].replace("requests", "")
    assert sql.number("SELECT COUNT(*) FROM t") == 1


@pytest.mark.timeout(300)
def test_a_time_for_the_server(sql: Sql, database: Database) -> None:
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1), (2, 2)")
    with database.connect() as other:
        other.run("BEGIN")
        other.rows("SELECT * FROM t WHERE id = 1 FOR UPDATE")
        assert dict(run("within", url(database.server, database.name))) == {
            "update": "Optional[max_request_time]",
            "group": "Optional[max_request_time] true",
            "quick": "true",
            "in time": "Optional[{id=1, v=1}] 1",
            "iterated": "2 2",
        }
    assert sql.rows("SELECT * FROM t ORDER BY id") == [(b"1", b"1"), (b"2", b"8")]
