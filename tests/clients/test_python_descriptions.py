"""What a server says of its indexes, itself and its errors, to both faces of the Python client."""

from __future__ import annotations

import asyncio
import time as clock
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pymysql
import pytest
from handlersocket2 import (
    AsyncClient,
    Client,
    ColumnDescription,
    DataError,
    DecodeError,
    DuplicateKeyError,
    Filter,
    ReplyError,
    SchemaError,
)
from server_instance import ServerInstance
from support.database import Database, Sql
from support.python_faces import Blocking, connected
from support.servers import ON_MYSQL, needs_original

CONNECTIONS = f"{'performance' if ON_MYSQL else 'information'}_schema.handlersocket_connections"
# Each type, its Python type, and two values of it as SQL writes them.
TYPES: list[tuple[str, type, str, str]] = [
    ("TINYINT", int, "-128", "127"),
    ("BOOL", int, "0", "1"),
    ("SMALLINT UNSIGNED", int, "0", "65535"),
    ("MEDIUMINT", int, "-8388608", "7"),
    ("INT(10) UNSIGNED ZEROFILL", int, "7", "4294967295"),
    ("BIGINT", int, "-9223372036854775808", "0"),
    ("BIGINT UNSIGNED", int, "18446744073709551615", "0"),
    ("YEAR", int, "1901", "2155"),
    ("DECIMAL(65,30)", Decimal, f"-{'9' * 35}.{'9' * 30}", "0.1"),
    ("DECIMAL(5,0) UNSIGNED", Decimal, "99999", "0"),
    ("FLOAT", float, "1.5", "-1e30"),
    ("DOUBLE", float, "0.1", "-1.7976931348623157e308"),
    ("DOUBLE(10,3)", float, "1234.567", "0"),
    ("CHAR(5)", str, "'a'", "''"),
    ("VARCHAR(50) CHARACTER SET latin1", str, "'Zo\u00eb'", "'a\\tb\\nc\\0d'"),
    ("TINYTEXT", str, "'tiny'", "''"),
    ("TEXT", str, "'\u65e5\u672c'", "'x'"),
    ("MEDIUMTEXT", str, "'medium'", "''"),
    ("LONGTEXT CHARACTER SET utf8mb4", str, "'\U0001f600'", "''"),
    ("ENUM('a', 'b (c)')", str, "'a'", "'b (c)'"),
    ("SET('x', 'y')", str, "'x,y'", "''"),
    ("BINARY(3)", bytes, "x'000109'", "x'ffffff'"),
    ("VARBINARY(50)", bytes, "x'00ff0a'", "''"),
    ("TINYBLOB", bytes, "x'01'", "''"),
    ("BLOB", bytes, "x'000102030405060708090a0b0c0d0e0f10'", "''"),
    ("MEDIUMBLOB", bytes, "x'80'", "''"),
    ("LONGBLOB", bytes, "x'fe'", "''"),
    ("BIT(1)", bytes, "b'1'", "b'0'"),
    ("BIT(64)", bytes, "0x0102030405060708", "1"),
    ("GEOMETRY", bytes, "ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(0 0)')"),
    ("POINT", bytes, "ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(0 0)')"),
    ("JSON", str, "'{\"a\": [1, null]}'", "'[]'"),
    ("DATE", date, "'2024-02-29'", "'9999-12-31'"),
    ("DATETIME", datetime, "'1000-01-01 00:00:00'", "'2024-02-29 12:30:00'"),
    ("DATETIME(6)", datetime, "'2024-02-29 12:30:00.000001'", "'9999-12-31 23:59:59.999999'"),
    ("TIMESTAMP(3) NULL", datetime, "'2024-02-29 12:30:00.500'", "'1971-01-01 00:00:00'"),
    ("TIME", timedelta, "'-838:59:59'", "'00:00:01'"),
    ("TIME(6)", timedelta, "'-00:00:00.000001'", "'838:59:58.999999'"),
]
if not ON_MYSQL:
    TYPES += [
        ("UUID", UUID, "'123e4567-e89b-12d3-a456-426655440000'", f"'{UUID(int=0)}'"),
        ("INET4", str, "'192.0.2.1'", "'0.0.0.0'"),
        ("INET6", str, "'2001:db8::1'", "'::'"),
    ]


@pytest.fixture(params=[Client, Blocking], ids=["threads", "asyncio"])
def face(request: pytest.FixtureRequest) -> Any:
    return request.param


def rows_of_the_driver(database: Database, query: str) -> list[tuple[Any, ...]]:
    """What SQL's driver makes of the rows, by the types that the server names to it."""
    connection = pymysql.connect(
        unix_socket=str(database.server.socket),
        user="root",
        database=database.name,
        charset="utf8mb4",
        ssl_disabled=True,
    )
    try:
        with connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())
    finally:
        connection.close()


#: Of these the server itself has more to say than SQL shows.
ODD = ("year", "bit", "timestamp", "uuid", "inet")


def said(column: ColumnDescription) -> tuple[object, ...]:
    odd = (column.type or "").startswith(ODD)
    what = (False, None) if odd else (column.unsigned, column.charset)
    return column.name, column.type, column.nullable, *what


def said_by_sql(database: Database) -> list[tuple[object, ...]]:
    rows = database.sql.rows(
        "SELECT column_name, column_type, is_nullable, character_set_name"
        " FROM information_schema.columns WHERE table_schema = %s AND table_name = 'every'"
        " ORDER BY ordinal_position",
        [database.name],
    )
    described = []
    for cells in rows:
        name, kind, nullable, charset = (cell and cell.decode() for cell in cells)
        assert kind
        described.append((name, kind, nullable == "YES", "unsigned" in kind, charset))
    return described


@pytest.mark.parametrize("nullable", [True, False], ids=["nullable", "not null"])
def test_every_type(face: Any, nullable: bool, sql: Sql, database: Database) -> None:
    not_null = "" if nullable else " NOT NULL"
    columns = [f"c{number} {kind}{not_null}" for number, (kind, *_) in enumerate(TYPES)]
    if not nullable:
        columns = [column.replace(" NULL NOT NULL", " NOT NULL") for column in columns]
    rows = [(str(number), *(row[number + 1] for row in TYPES)) for number in (1, 2)]
    if nullable:
        rows.append(("3", *["NULL"] * len(TYPES)))
    sql.run(
        "SET time_zone = '+00:00'",
        f"CREATE TABLE every (id INT NOT NULL PRIMARY KEY, {', '.join(columns)})"
        " CHARACTER SET utf8mb4",
        *(f"INSERT INTO every VALUES ({', '.join(row)})" for row in rows),
    )
    with connected(face, database.server) as client:
        described = client.describe(database.name, "every")
        assert list(map(said, described.columns)) == said_by_sql(database)
        assert described.filter_columns == ()
        assert [part.name for part in described.key] == ["id"]
        kinds = {f"c{number}": kind for number, (_, kind, *_) in enumerate(TYPES)}
        expected_types = {name: kind | None if nullable else kind for name, kind in kinds.items()}
        assert described.types == {"id": int, **expected_types}

        index = client.described_index(database.name, "every")
        found = index.find(0, op=">", limit=9)
        by_driver = rows_of_the_driver(database, "SELECT * FROM every ORDER BY id")
        # The driver has no UUIDs.
        expected_rows = [
            tuple(
                UUID(value) if kinds.get(name) is UUID and value is not None else value
                for name, value in zip(described.types, row, strict=True)
            )
            for row in by_driver
        ]
        assert found == expected_rows
        assert list(index.iterate(0, op=">")) == expected_rows
        for name, kind in kinds.items():
            assert [type(getattr(row, name)) for row in found[:2]] == [kind, kind], name
        # What was read can be written: the row is the same afterwards.
        written = {name: getattr(found[0], name) for name in kinds if kinds[name] is not float}
        assert index.update(2, written) == 1
        assert (
            index.find_one(2).as_dict()
            | {"id": 1}
            | {name: value for name, value in found[0].as_dict().items() if name not in written}
            == found[0].as_dict()
        )


def test_columns_filters_and_a_key_of_two_parts(face: Any, sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, made DATETIME NOT NULL, word VARCHAR(9), n BIGINT,"
        " KEY by_made (made, word))",
        "INSERT INTO t VALUES (1, '2024-02-29 12:30:00', 'a', 5), (2, '2024-02-29 12:30:00', 'b',"
        " NULL)",
    )
    named = {"index": "by_made", "filter_columns": ["id"]}
    with connected(face, database.server) as client:
        described = client.describe(database.name, "t", ["n", "made"], **named)
        assert described.types == {"n": int | None, "made": datetime}
        assert [column.name for column in described.filter_columns] == ["id"]
        assert [(part.name, part.python_type) for part in described.key] == [
            ("made", datetime),
            ("word", str | None),
        ]
        index = client.described_index(database.name, "t", ["n", "made"], **named)
        moment = datetime(2024, 2, 29, 12, 30)
        assert index.find(moment, limit=9) == [(5, moment), (None, moment)]
        assert index.find([moment, "b"]) == [(None, moment)]
        assert index.find(moment, limit=9, filters=[Filter("=", "id", 1)]) == [(5, moment)]
        assert index.find_one([moment, "a"]).as_dict() == {"n": 5, "made": moment}
        no_column = client.describe(database.name, "t", [])
        assert no_column.columns == () and [part.name for part in no_column.key] == ["id"]
        for wrong in ({"index": "nowhere"}, {"filter_columns": ["nowhere"]}):
            with pytest.raises(SchemaError):
                client.describe(database.name, "t", ["n"], **wrong)
        with pytest.raises(SchemaError) as raised:
            client.described_index(database.name, "nowhere")
        assert raised.value.text == "open_table"
        assert index.count([moment, "a"], limit=5) == 1


def test_alter_table_between_describing_and_finding(
    face: Any, sql: Sql, database: Database
) -> None:
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT)", "INSERT INTO t VALUES (1, 2, 3)")
    with connected(face, database.server) as client:
        index = client.described_index(database.name, "t")
        assert index.find_one(1) == (1, 2, 3)
        sql.run("ALTER TABLE t ADD COLUMN x INT FIRST")
        assert index.find_one(1) == (1, 2, 3)
        sql.run("ALTER TABLE t MODIFY v VARCHAR(9)", "UPDATE t SET v = 'secret'")
        with pytest.raises(DecodeError, match="column 'v'") as raised:
            index.find_one(1)
        assert "secret" not in str(raised.value)
        assert client.described_index(database.name, "t").find_one(1).v == "secret"
        sql.run("ALTER TABLE t MODIFY v VARCHAR(9) NOT NULL", "ALTER TABLE t DROP COLUMN w")
        with pytest.raises(SchemaError) as gone:
            index.find_one(1)
        assert gone.value.text == "fld"
        assert client.described_index(database.name, "t").find_one(1) == (None, 1, "secret")
        sql.run("DROP TABLE t")
        with pytest.raises(SchemaError) as gone:
            client.describe(database.name, "t")
        assert gone.value.text == "open_table"
        sql.run("CREATE TABLE t (id INT PRIMARY KEY, other DATE)", "INSERT INTO t VALUES (7, NULL)")
        assert client.described_index(database.name, "t").find_one(7) == (7, None)


def test_what_an_account_may_not_see(face: Any, make_server: Callable[..., ServerInstance]) -> None:
    server = make_server()
    with Sql(server.socket, "test") as sql:
        sql.run(
            "CREATE TABLE t (id INT PRIMARY KEY, small TINYINT, word TEXT)",
            "INSERT INTO t VALUES (1, 2, 'three')",
            "CREATE USER half@localhost IDENTIFIED BY 'half'",
            "GRANT SELECT (id, small) ON test.t TO half@localhost",
        )
        with connected(face, server, user="half", password="half") as client:
            described = client.describe("test", "t", ["small", "word"])
            assert described.columns[1] == ColumnDescription("word", *[None] * 5)
            assert described.types == {"small": int | None, "word": bytes | None}
            assert client.described_index("test", "t", ["id", "small"]).find_one(1) == (1, 2)


def close_connections(sql: Sql) -> None:
    for (identity,) in sql.rows(f"SELECT ID FROM {CONNECTIONS}"):
        sql.run(f"SET GLOBAL handlersocket_close_connection = {int(identity or 0)}")
    deadline = clock.monotonic() + 10
    while sql.number(f"SELECT COUNT(*) FROM {CONNECTIONS}"):
        assert clock.monotonic() < deadline
        clock.sleep(0.01)


def test_a_connection_that_is_made_again(face: Any, sql: Sql, database: Database) -> None:
    """It opens the index again, and the option is on there, too."""
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 2)")
    with connected(face, database.server, texts=True) as client:
        index = client.described_index(database.name, "t")
        for _ in range(3):
            assert index.find_one(1) == (1, 2)
            with pytest.raises(DuplicateKeyError) as raised:
                index.insert([1, 5])
            assert raised.value.message
            close_connections(sql)


def test_texts(face: Any, sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))",
        "CREATE TRIGGER refuses BEFORE UPDATE ON t FOR EACH ROW"
        " SIGNAL SQLSTATE '45001' SET MYSQL_ERRNO = 31999, MESSAGE_TEXT = 'never s3cret'",
        "INSERT INTO t VALUES (1, 's3cret')",
    )
    with connected(face, database.server, texts=True) as client:
        index = client.index(database.name, "t", ["id", "v"])
        with pytest.raises(DuplicateKeyError) as raised:
            index.insert([1, "s3cret"])
        error = raised.value
        assert (error.code, error.text, error.number, error.sqlstate) == (1, "121", 1062, "23000")
        assert error.message is not None and error.message.startswith("Duplicate entry '1' for key")
        assert "entry" not in f"{error} {error!r}"
        with pytest.raises(DataError) as too_long:
            index.insert([2, "s3cret and longer than that"])
        assert too_long.value.number == 1406
        with pytest.raises(ReplyError) as refused:
            index.update(1, [1, "x"])
        assert (refused.value.sqlstate, refused.value.message) == ("45001", "never s3cret")
        assert "s3cret" not in f"{refused.value} {refused.value!r}"
        with pytest.raises(SchemaError) as nowhere:
            client.index(database.name, "nowhere", ["id"]).find(1)
        assert nowhere.value.text == "open_table" and nowhere.value.message
        with pytest.raises(SchemaError) as nowhere:
            list(client.index(database.name, "nowhere", ["id"]).iterate(1))
        assert nowhere.value.text == "open_table" and nowhere.value.message
        assert list(index.iterate(1)) == [(b"1", b"s3cret")]
        group = client.group()
        group.on(index).insert([3, "x"])
        group.on(index).insert([1, "x"])
        with pytest.raises(DuplicateKeyError) as undone:
            group.run()
        assert undone.value.line == 2 and undone.value.number == 1062
        assert undone.value.message is not None and "Duplicate entry" in undone.value.message
        assert client.hello()["texts"] == "1"
        with pytest.raises(DuplicateKeyError) as still:
            index.insert([1, "x"])
        assert still.value.message


def test_hello(face: Any, sql: Sql, database: Database) -> None:
    with connected(face, database.server) as client:
        told = client.hello()
        assert list(told)[:4] == ["plugin", "server", "protocol", "requests"]
        assert told["server"].encode() == sql.row("SELECT VERSION()")[0]
        assert "texts" not in told
        assert {"D", "G", "within"} <= set(told["requests"].split(" "))


def test_a_time_for_the_server(face: Any, sql: Sql, database: Database) -> None:
    """The server ends what waits for a locked row, and nothing is done."""
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 2)")
    with connected(face, database.server) as client:
        index = client.described_index(database.name, "t")
        sql.run("BEGIN", "UPDATE t SET v = 3")
        began = clock.monotonic()
        with pytest.raises(ReplyError) as raised:
            index.update(1, {"v": 9}, within=0.1)
        group = client.group(within=0.1)
        group.on(index).update(1, {"v": 9})
        with pytest.raises(ReplyError) as of_group:
            group.run()
        assert raised.value.text == of_group.value.text == "max_request_time"
        assert not raised.value.maybe_executed
        assert 0.2 <= clock.monotonic() - began < 10
        assert index.find_one(1, within=2**31 / 1000) == (1, 2)
        sql.run("ROLLBACK")
        assert index.find_one(1) == (1, 2)


def test_one_port(sql: Sql, database: Database) -> None:
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    with database.writer(texts=True) as client:
        index = client.described_index(database.name, "t")
        index.insert([1, 2])
        assert index.find_one(1) == (1, 2)
        assert client.describe(database.name, "t", ["v"]).types == {"v": int | None}
        assert client.hello()["texts"] == "1"
        with pytest.raises(DuplicateKeyError) as raised:
            index.insert([1, 2])
        assert raised.value.number == 1062


def test_many_tables_at_once(sql: Sql, database: Database) -> None:
    """Tasks describe tables while others read: each has its own."""
    for number in range(40):
        sql.run(
            f"CREATE TABLE t{number} (id INT PRIMARY KEY, c{number} VARCHAR(9))",
            f"INSERT INTO t{number} VALUES (1, 'v{number}')",
        )

    async def one(client: AsyncClient, number: int) -> None:
        index = await client.described_index(database.name, f"t{number}")
        assert (await index.find_one(1)).as_dict() == {"id": 1, f"c{number}": f"v{number}"}

    async def main() -> None:
        server = database.server
        read, write = (("127.0.0.1", port) for port in (server.hs_port, server.hs_port_wr))
        async with AsyncClient(read, write=write) as client:
            await asyncio.gather(*(one(client, number) for number in range(40)))

    asyncio.run(main())


@needs_original
def test_the_original(face: Any, make_original: Callable[..., ServerInstance]) -> None:
    """It has none of this, and says so. The connection goes on."""
    server = make_original(handlersocket_plain_secret="r", handlersocket_plain_secret_wr="r")
    with Sql(server.socket, "test") as sql:
        sql.run("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 2)")
    with connected(face, server, secret="r", texts=True) as client:
        index = client.index("test", "t", {"id": int, "v": int})
        assert index.find_one(1) == (1, 2)
        for asks in (
            client.hello,
            lambda: client.describe("test", "t", ["id"]),
            lambda: client.described_index("test", "t", ["id"]),
        ):
            with pytest.raises(ReplyError) as raised:
                asks()
            assert (raised.value.code, raised.value.text) == (2, "cmd")
        assert list(index.iterate(1)) == [(1, 2)]
        with pytest.raises(ReplyError) as raised:
            index.insert([1, 1])
        assert raised.value.message is None
        assert index.find_one(1) == (1, 2)
