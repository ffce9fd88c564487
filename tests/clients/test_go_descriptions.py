"""The Go client's descriptions, hello, texts, times and lists, against a real server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import ON_MYSQL, needs_original
from support_go import TABLES, go_tests
from support_listed import LISTED

#: Types, what their values are in Go, and two values as SQL writes them.
TYPES = (
    ("TINYINT", "int64", "-128", "127"),
    ("TINYINT UNSIGNED", "uint64", "0", "255"),
    ("BOOL", "int64", "0", "1"),
    ("SMALLINT", "int64", "-32768", "32767"),
    ("MEDIUMINT", "int64", "-8388608", "8388607"),
    ("INT", "int64", "-2147483648", "2147483647"),
    ("INT(30) UNSIGNED ZEROFILL", "uint64", "0", "42"),
    ("BIGINT", "int64", "-9223372036854775808", "9223372036854775807"),
    ("BIGINT UNSIGNED", "uint64", "0", "18446744073709551615"),
    ("YEAR", "int64", "1901", "2155"),
    ("DECIMAL(10,2)", "string", "-12345678.90", "0.01"),
    ("DECIMAL(65,30)", "string", "1", f"-{'9' * 35}.{'8' * 30}"),
    ("DECIMAL(5) UNSIGNED", "string", "0", "99999"),
    ("FLOAT", "float64", "0.1", "-3.40282e38"),
    ("DOUBLE", "float64", "0.1", "-1.7976931348623157e308"),
    ("DOUBLE(10,3)", "float64", "-1234567.125", "0"),
    ("CHAR(4)", "string", "'é'", "''"),
    ("VARCHAR(50)", "string", "CONCAT('a', CHAR(9), 'b', CHAR(10), CHAR(1), CHAR(0), 'é')", "'😀'"),
    ("VARCHAR(10) CHARACTER SET latin1", "string", "'é'", "''"),
    ("TINYTEXT", "string", "'t'", "''"),
    ("TEXT", "string", "REPEAT('text ', 5000)", "''"),
    ("MEDIUMTEXT", "string", "'m'", "''"),
    ("LONGTEXT", "string", "'l'", "''"),
    ("ENUM('a', 'b (c)')", "string", "'a'", "'b (c)'"),
    ("SET('x', 'y')", "string", "'x,y'", "''"),
    ("JSON", "string", """'{"a": [1, "é"]}'""", "'1'"),
    ("BINARY(3)", "[]uint8", "X'00FF09'", "X'000000'"),
    ("VARBINARY(50)", "[]uint8", "X'00010A0DFF'", "''"),
    ("TINYBLOB", "[]uint8", "X'FF'", "''"),
    ("BLOB", "[]uint8", "X'0001'", "''"),
    ("MEDIUMBLOB", "[]uint8", "X'0001'", "''"),
    ("LONGBLOB", "[]uint8", "X'0001'", "''"),
    ("BIT(1)", "[]uint8", "b'1'", "b'0'"),
    ("BIT(64)", "[]uint8", "X'8000000000000001'", "b'0'"),
    ("GEOMETRY", "[]uint8", "ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(-1 0.5)')"),
    ("POLYGON", "[]uint8", *[f"ST_GeomFromText('POLYGON((0 0,{n} 0,0 1,0 0))')" for n in (1, 2)]),
    ("DATE", "handlersocket.Date", "'1000-01-01'", "'9999-12-31'"),
    ("DATETIME", "time.Time", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"),
    ("DATETIME(6)", "time.Time", "'2024-02-29 01:02:03.000004'", "'2024-02-29 00:00:00'"),
    ("TIMESTAMP NULL", "time.Time", "'2024-02-29 01:02:03'", "'2038-01-19 03:14:07'"),
    ("TIMESTAMP(3) NULL", "time.Time", "'2024-02-29 01:02:03.123'", "'1970-01-02 00:00:00'"),
    ("TIME", "time.Duration", "'-838:59:59'", "'838:59:59'"),
    ("TIME(6)", "time.Duration", "'-00:00:00.000001'", "'26:30:00.5'"),
)
OF_MARIADB = (
    ("UUID", "string", "'01234567-89ab-4def-8123-456789abcdef'", "UUID()"),
    ("INET4", "string", "'10.1.2.3'", "'0.0.0.0'"),
    ("INET6", "string", "'2001:db8::1'", "'::'"),
)
OF_MYSQL = (
    ("GEOMETRYCOLLECTION", "[]uint8", *["ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 2))')"] * 2),
    ("VECTOR(2)", "[]uint8", "STRING_TO_VECTOR('[1,2.5]')", "STRING_TO_VECTOR('[0,0]')"),
)


def test_every_type(database: Database, sql: Sql, tmp_path: Path) -> None:
    types = TYPES + (OF_MYSQL if ON_MYSQL else OF_MARIADB)
    columns = ", ".join(f"c{at} {kind}" for at, (kind, *_) in enumerate(types))
    for table in ("every", "again"):
        sql.run(f"CREATE TABLE `{table}` (id INT PRIMARY KEY, {columns}) CHARSET=utf8mb4")
    for at, values in enumerate(list(zip(*types, strict=True))[2:], 1):
        sql.run(f"INSERT INTO `every` VALUES ({at}, {', '.join(values)})")
    sql.run("INSERT INTO `every` (id) VALUES (3)")
    described = [
        {
            "name": text(name),
            "type": text(kind),
            "charset": text(charset),
            "nullable": nullable == b"YES",
            "is": is_in_go,
        }
        for (name, kind, charset, nullable), is_in_go in zip(
            sql.rows(
                "SELECT column_name, column_type, COALESCE(character_set_name, ''), is_nullable"
                " FROM information_schema.columns WHERE table_schema = DATABASE()"
                " AND table_name = 'every' ORDER BY ordinal_position"
            ),
            ("int64", *(is_in_go for _, is_in_go, *_ in types)),
            strict=True,
        )
    ]
    rows = sql.rows("SELECT * FROM `every` ORDER BY id")
    (tmp_path / "shown").write_text(
        json.dumps(
            {
                "columns": described,
                "rows": [
                    [None if value is None else value.decode("latin-1") for value in row]
                    for row in rows
                ],
            }
        )
    )
    go_tests("TestE2EEveryType$", database, HS_E2E_SHOWN=str(tmp_path / "shown"))
    assert sql.rows("SELECT * FROM again ORDER BY id") == rows


def text(value: bytes | None) -> str:
    assert value is not None
    return value.decode()


@contextmanager
def steps(database: Database, *all_steps: tuple[str, ...]) -> Iterator[None]:
    """Does each step's statements when the program asks for it, by a row of the table steps."""
    over = threading.Event()
    database.sql.run("CREATE TABLE steps (number INT PRIMARY KEY, done INT NOT NULL)")

    def run() -> None:
        with database.connect() as sql, database.connect() as asking:
            for number, statements in enumerate(all_steps, 1):
                while not asking.number(f"SELECT COUNT(*) FROM steps WHERE number = {number}"):
                    if over.wait(0.01):
                        return
                sql.run(*statements)
                asking.run(f"UPDATE steps SET done = 1 WHERE number = {number}")

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_description_is_from_one_moment(database: Database, sql: Sql) -> None:
    sql.run(
        "CREATE TABLE changing (id INT PRIMARY KEY, n INT, word VARCHAR(9))",
        "INSERT INTO changing VALUES (1, 7, 'one')",
    )
    altered = (
        "ALTER TABLE changing MODIFY n VARCHAR(9), ADD COLUMN more INT DEFAULT 1 AFTER id",
        "UPDATE changing SET n = 'seven'",
    )
    with steps(database, altered, ("ALTER TABLE changing DROP COLUMN word",)):
        go_tests("TestE2EAlter$", database)


def test_hello_texts_and_many_indexes(database: Database, sql: Sql) -> None:
    sql.run(*TABLES)
    version = text(sql.row("SELECT VERSION()")[0])
    output = go_tests("TestE2E(Hello|Texts|ManyIndexes)$", database, HS_E2E_VERSION=version)
    assert output.count("--- PASS: TestE2E") == 3


def test_lists(database: Database, sql: Sql) -> None:
    sql.run(*LISTED)
    go_tests("TestE2ELists$", database)


def test_a_time_for_the_server(database: Database, sql: Sql) -> None:
    sql.run(*TABLES)
    with steps(database, ("LOCK TABLES visitors WRITE",), ("UNLOCK TABLES",)):
        go_tests("TestE2EWithin$", database)


@needs_original
def test_the_original(make_original) -> None:
    server: ServerInstance = make_original()
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE original")
    database = Database(server, "original")
    database.sql.run(*TABLES)
    go_tests("TestE2EOriginalTexts$", database)
    database.close()
