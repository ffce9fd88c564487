"""The client for Node.js with real servers: descriptions, lists, error texts, servers' times."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymysql
import pytest
from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import ON_MYSQL, needs_original
from support_listed import LISTED
from support_node import installed_client, lines, ports, readme_blocks, readme_program

#: Types, what their values are in JavaScript, and two values as SQL writes them.
TYPES = (
    ("TINYINT", "number", "-128", "127"),
    ("TINYINT UNSIGNED", "number", "0", "255"),
    ("BOOL", "number", "0", "1"),
    ("SMALLINT", "number", "-32768", "32767"),
    ("MEDIUMINT", "number", "-8388608", "8388607"),
    ("INT", "number", "-2147483648", "2147483647"),
    ("INT(30) UNSIGNED ZEROFILL", "number", "0", "4294967295"),
    ("BIGINT", "bigint", "-9223372036854775808", "9223372036854775807"),
    ("BIGINT UNSIGNED", "bigint", "0", "18446744073709551615"),
    ("BIGINT(30) UNSIGNED ZEROFILL", "bigint", "0", "42"),
    ("YEAR", "number", "1901", "2155"),
    ("DECIMAL(10,2)", "text", "-12345678.90", "0.01"),
    ("DECIMAL(65,30)", "text", "1", f"-{'9' * 35}.{'8' * 30}"),
    ("DECIMAL(5) UNSIGNED", "text", "0", "99999"),
    ("FLOAT", "double", "0.1", "-3.40282e38"),
    ("FLOAT(7,2) UNSIGNED ZEROFILL", "double", "0.5", "12345.25"),
    ("DOUBLE", "double", "0.1", "-1.7976931348623157e308"),
    ("DOUBLE(10,3)", "double", "-1234567.125", "0"),
    ("CHAR(4)", "text", "'é'", "''"),
    ("VARCHAR(50)", "text", "CONCAT('a', CHAR(9), 'b', CHAR(10), CHAR(1), CHAR(0), 'é')", "'😀'"),
    ("VARCHAR(10) CHARACTER SET latin1", "text", "'é'", "''"),
    ("VARCHAR(10) CHARACTER SET utf16", "text", "'é😀'", "'plain'"),
    ("TINYTEXT", "text", "'t'", "''"),
    ("TEXT", "text", "REPEAT('text ', 5000)", "''"),
    ("MEDIUMTEXT", "text", "'m'", "''"),
    ("LONGTEXT", "text", "'l'", "''"),
    ("ENUM('a', 'b (c)')", "text", "'a'", "'b (c)'"),
    ("SET('x', 'y')", "text", "'x,y'", "''"),
    ("JSON", "text", """'{"a": [1, "é"]}'""", "'1'"),
    ("BINARY(3)", "bytes", "X'00FF09'", "X'000000'"),
    ("VARBINARY(50)", "bytes", "X'00010A0DFF'", "''"),
    ("TINYBLOB", "bytes", "X'FF'", "''"),
    ("BLOB", "bytes", "X'0001'", "''"),
    ("MEDIUMBLOB", "bytes", "X'0001'", "''"),
    ("LONGBLOB", "bytes", "X'0001'", "''"),
    ("BIT(1)", "bytes", "b'1'", "b'0'"),
    ("BIT(64)", "bytes", "X'8000000000000001'", "b'0'"),
    ("GEOMETRY", "bytes", "ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(-1 0.5)')"),
    ("POLYGON", "bytes", *[f"ST_GeomFromText('POLYGON((0 0,{n} 0,0 1,0 0))')" for n in (1, 2)]),
    ("DATE", "text", "'1000-01-01'", "'9999-12-31'"),
    ("DATETIME", "text", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"),
    ("DATETIME(6)", "text", "'2024-02-29 01:02:03.000004'", "'2024-02-29 00:00:00'"),
    ("TIMESTAMP NULL", "text", "'2024-02-29 01:02:03'", "'2038-01-18 03:14:07'"),
    ("TIMESTAMP(3) NULL", "text", "'2024-02-29 01:02:03.123'", "'1970-01-02 00:00:00'"),
    ("TIME", "time", "'-838:59:59'", "'838:59:59'"),
    ("TIME(6)", "time", "'-00:00:00.000001'", "'26:30:00.5'"),
)
OF_MARIADB = (
    ("UUID", "text", "'01234567-89ab-4def-8123-456789abcdef'", "UUID()"),
    ("INET4", "text", "'10.1.2.3'", "'0.0.0.0'"),
    ("INET6", "text", "'2001:db8::1'", "'::'"),
)
OF_MYSQL = (
    ("GEOMETRYCOLLECTION", "bytes", *["ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 2))')"] * 2),
    ("VECTOR(2)", "bytes", "STRING_TO_VECTOR('[1,2.5]')", "STRING_TO_VECTOR('[0,0]')"),
)
VISITOR = (
    "CREATE TABLE visitor (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL,"
    " visits INT, KEY by_name (name, visits)) DEFAULT CHARSET=utf8mb4"
)


@pytest.fixture(scope="module")
def node() -> Callable[..., str]:
    return installed_client()


def value_of(kind: str, text: bytes | None) -> Any:
    """What the program shows of a value of which SQL shows this text."""
    if text is None:
        return None
    if kind in {"number", "bigint"}:
        return [kind, str(int(text))]
    if kind == "double":
        return ["number", float(text)]
    if kind == "bytes":
        return ["bytes", text.hex()]
    if kind == "text":
        return ["string", text.decode()]
    hours, minutes, seconds = text.decode().lstrip("-").split(":")
    whole, _, fraction = seconds.partition(".")
    micros = ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 1_000_000
    micros += int(fraction.ljust(6, "0") or 0)
    return ["number", (-micros if text.startswith(b"-") else micros) / 1000]


def wait_for(file: Path, program: threading.Thread) -> None:
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end and program.is_alive(), "the program found nothing"
        time.sleep(0.05)


@pytest.mark.timeout(400)
def test_every_type(node: Callable[..., str], sql: Sql, database: Database) -> None:
    types = TYPES + (OF_MYSQL if ON_MYSQL else OF_MARIADB)
    columns = ", ".join(f"c{at} {kind}" for at, (kind, *_) in enumerate(types))
    for table in ("every", "again"):
        sql.run(f"CREATE TABLE `{table}` (id INT PRIMARY KEY, {columns}) CHARSET=utf8mb4")
    for at, values in enumerate(list(zip(*types, strict=True))[2:], 1):
        sql.run(f"INSERT INTO `every` VALUES ({at}, {', '.join(values)})")
    sql.run("INSERT INTO `every` (id) VALUES (3)")
    rows = sql.rows("SELECT * FROM `every` ORDER BY id")
    assert len(rows) == 3
    kinds = ["number", *(kind for _, kind, *_ in types)]
    given = lines(node("every_type.mjs", *ports(database)))
    names = ["id", *(f"c{at}" for at in range(len(types)))]
    for row, found in zip(rows, given, strict=True):
        assert list(found) == names
        for (name, value), kind, text in zip(found.items(), kinds, row, strict=True):
            assert value == value_of(kind, text), (name, kind)
    # What was read is written, and is the same.
    assert sql.rows("SELECT * FROM again ORDER BY id") == rows


@pytest.mark.timeout(400)
def test_descriptions(node: Callable[..., str], sql: Sql, database: Database) -> None:
    sql.run(VISITOR, "INSERT INTO visitor VALUES (1, 'Ann', 1), (2, 'Bob', NULL)")
    given = dict(lines(node("describing.mjs", *ports(database))))
    own = {
        (table.decode(), name.decode()): (kind, null, charset)
        for table, name, kind, null, charset in sql.rows(
            "SELECT table_name, column_name, column_type, is_nullable, character_set_name"
            f" FROM information_schema.columns WHERE table_schema = '{database.name}'"
        )
    }

    def column(name: str) -> dict[str, Any]:
        kind, null, charset = own["visitor", name]
        return {
            "name": name,
            "type": kind and kind.decode(),
            "nullable": null == b"YES",
            "unsigned": False,
            "decimals": 0,
            "charset": charset and charset.decode(),
        }

    place = {"database": database.name, "table": "visitor"}
    assert given["all"] == {
        **place,
        "index": "PRIMARY",
        "columns": [column(name) for name in ("id", "name", "visits")],
        "filterColumns": [],
        "key": [column("id")],
    }
    assert given["some"] == {
        **place,
        "index": "by_name",
        "columns": [column("visits")],
        "filterColumns": [column("id"), column("name")],
        "key": [column("name"), column("visits")],
    }
    assert given["names only"] == [[], ["id"]]
    assert given["key by name"] == [[1]]
    assert given["filter"] == [[None]]
    assert given["own types"] == {"id": "1n", "name": "Ann", "visits": 1}
    assert given["pipeline"] == [1, {"id": 1, "name": "Ann", "visits": 2}]
    assert given["group"] == [1, {"id": 1, "name": "Ann", "visits": 3}]
    assert given["iterate"] == ["Ann", "Bob"]
    assert given["insert by name"] == {"id": 3, "name": "Cleo", "visits": None}
    assert given["no table"] == [1, "open_table"]
    assert given["no index"] == [2, "idxnum"]
    assert given["no column"] == [2, "fld"]
    assert given["hello"][:3] == ["plugin", "server", "protocol"]
    assert given["protocol"] == "2"
    assert "within" in given["requests"].split()
    assert given["connections"] == [2, 0]


def listed(name: str, *parts: tuple[str, bool, bool], **kind: bool) -> dict[str, Any]:
    return {
        "name": name,
        "unique": True,
        "ordered": True,
        **kind,
        "parts": [
            {"column": column, "descends": descends, "prefix": prefix}
            for column, descends, prefix in parts
        ],
    }


@pytest.mark.timeout(400)
def test_lists(node: Callable[..., str], sql: Sql, database: Database) -> None:
    sql.run(*LISTED)
    given = dict(lines(node("lists.mjs", *ports(database))))
    assert database.name in given["databases"]
    assert "information_schema" not in given["databases"]
    assert given["tables"] == given["the same"] == ["bare", "hashed", "listed", "über"]
    assert given["bare"] == []
    assert given["hashed"] == [listed("by_id", ("id", False, False), unique=False, ordered=False)]
    assert given["listed"] == [
        listed("PRIMARY", ("id", False, False)),
        listed("pair", ("a", False, False), ("id", False, False)),
        listed("beginning", ("word", False, True), ("a", True, False), unique=False),
    ]
    assert given["über"] == [listed("PRIMARY", ("größe", False, False))]
    assert given["no database"] == given["no table"] == ["reply", False]
    assert given["connections"] == 1


@pytest.mark.timeout(400)
def test_a_description_from_before_an_alter_table(
    node: Callable[..., str], sql: Sql, database: Database
) -> None:
    sql.run(VISITOR, "INSERT INTO visitor VALUES (1, 'Ann', 1), (2, 'Bob', 2)")

    def step(*arguments: object) -> Any:
        (result,) = lines(node("description_kept.mjs", *ports(database), *arguments))
        return result

    before = json.dumps(step("describe"))
    assert step("find", before) == {"id": 1, "name": "Ann", "visits": 1}
    # Another column changes nothing, wherever it stands.
    sql.run("ALTER TABLE visitor ADD COLUMN first INT NOT NULL DEFAULT 7 FIRST")
    assert step("find", before) == {"id": 1, "name": "Ann", "visits": 1}
    after = json.dumps(step("describe"))
    assert step("find", after) == {"first": 7, "id": 1, "name": "Ann", "visits": 1}
    # What still fits its old type is read, and the rest is an error that costs no connection.
    sql.run("ALTER TABLE visitor MODIFY visits VARCHAR(20)")
    assert step("find", before) == {"id": 1, "name": "Ann", "visits": 1}
    sql.run("UPDATE visitor SET visits = 'many'")
    decode = ["decode", None, True, False, 0]
    assert step("find", before) == decode
    assert step("find", json.dumps(step("describe")))["visits"] == "many"
    sql.run(
        "UPDATE visitor SET visits = '3'",
        "ALTER TABLE visitor MODIFY visits DECIMAL(10,1)",
    )
    assert step("find", before) == decode
    sql.run(
        "ALTER TABLE visitor DROP KEY by_name",
        "ALTER TABLE visitor MODIFY visits INT, MODIFY name VARCHAR(20)",
        "UPDATE visitor SET name = NULL",
    )
    assert step("find", before) == decode
    # An index without a column that it names is not open, and is described no more.
    sql.run("ALTER TABLE visitor DROP COLUMN name")
    assert step("find", before) == ["reply", "fld", True, False, 0]
    assert step("find", json.dumps(step("describe"))) == {"first": 7, "id": 1, "visits": 3}


@pytest.mark.timeout(400)
def test_an_index_with_types_is_opened_again(
    node: Callable[..., str], make_server: Any, tmp_path: Path
) -> None:
    server: ServerInstance = make_server()
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE app", "USE app", VISITOR)
        sql.run("INSERT INTO app.visitor VALUES (1, 'Ann', 1)")
    result: list[Any] = []
    arguments = ("described_again.mjs", server.hs_port, server.hs_port_wr, "app", tmp_path)
    thread = threading.Thread(target=lambda: result.extend(lines(node(*arguments))))
    thread.start()
    wait_for(tmp_path / "found", thread)
    server.stop()
    server.start()
    (tmp_path / "again").touch()
    thread.join(timeout=100)
    row = {"id": 1, "name": "Ann", "visits": 1}
    assert result == [[row, row, {**row, "visits": 2}]]


@pytest.mark.timeout(400)
def test_the_servers_own_words(node: Callable[..., str], sql: Sql, database: Database) -> None:
    sql.run(VISITOR, "INSERT INTO visitor VALUES (1, 'Ann', 1)")
    with pytest.raises(pymysql.err.MySQLError) as told:
        sql.run("INSERT INTO visitor VALUES (1, 'secret', 1)")
    number, message = told.value.args
    given = dict(lines(node("texts.mjs", *ports(database))))
    duplicate = ["121", "duplicate", number, "23000", message]
    assert given["on"] == {"insert": duplicate, "group": [*duplicate, 2], "shown": False}
    assert given["off"] == {
        "insert": ["121", "duplicate", 121, "23000", None],
        "group": ["121", "duplicate", 121, "23000", None, 2],
        "shown": False,
    }
    assert given["no table"][:2] == ["open_table", "schema"]
    assert given["no table"][2:] == [
        1146,
        "42S02",
        "There is no such table, or it cannot be used here",
    ]
    assert given["hello"] == ["1", None]


@pytest.mark.timeout(400)
def test_a_time_for_the_server(node: Callable[..., str], sql: Sql, database: Database) -> None:
    sql.run(VISITOR, "INSERT INTO visitor VALUES (1, 'Ann', 1), (2, 'Bob', 2)")
    locking = database.connect()
    try:
        locking.run("BEGIN")
        locking.rows("SELECT * FROM visitor WHERE id = 1 FOR UPDATE")
        given = dict(lines(node("within.mjs", *ports(database))))
        locking.run("ROLLBACK")
    finally:
        locking.close()
    over = ["max_request_time", True, False, True]
    assert given == {
        "find": {"id": 1, "name": "Ann", "visits": 1},
        "count": 2,
        "iterate": [1, 2],
        "update": over,
        "group": over,
        "pipeline": ["max_request_time", 1],
        "insert": "3",
        "connections": [4, 0],
    }
    rows = [(b"1", b"Ann", b"1"), (b"2", b"Bob", b"3"), (b"3", b"Cleo", b"3")]
    assert sql.rows("SELECT * FROM visitor ORDER BY id") == rows


@pytest.mark.timeout(400)
def test_too_many_open_indexes(node: Callable[..., str], make_server: Any) -> None:
    """All columns are an index of their own, which counts."""
    server: ServerInstance = make_server(handlersocket_max_open_indexes=3)
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE app", "USE app", VISITOR)
        sql.run("INSERT INTO app.visitor VALUES (1, 'Ann', 1)")
    given = lines(node("described_often.mjs", server.hs_port, server.hs_port_wr, "app"))
    row = {"id": 1, "name": "Ann", "visits": 1}
    assert given == [{"id": 1}, row, ["no error", "no error"], [3, 3], {"id": 1}, row, [3, 0]]


@pytest.mark.timeout(400)
def test_who_describes_again_gets_what_there_is(
    node: Callable[..., str], sql: Sql, database: Database, tmp_path: Path
) -> None:
    sql.run(VISITOR, "INSERT INTO visitor VALUES (1, 'Ann', 1)")
    result: list[Any] = []
    arguments = ("described_twice.mjs", *ports(database), tmp_path)
    thread = threading.Thread(target=lambda: result.extend(lines(node(*arguments))))
    thread.start()
    wait_for(tmp_path / "found", thread)
    sql.run("ALTER TABLE visitor ADD COLUMN born YEAR AFTER id, DROP KEY by_name, DROP COLUMN name")
    (tmp_path / "again").touch()
    thread.join(timeout=100)
    assert result == [
        [{"id": 1, "name": "Ann", "visits": 1}, "fld", {"id": 1, "born": None, "visits": 1}, 1]
    ]


@needs_original
@pytest.mark.timeout(400)
def test_with_the_original(node: Callable[..., str], make_original: Any) -> None:
    server: ServerInstance = make_original()
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE app", "USE app", VISITOR)
        sql.run("INSERT INTO app.visitor VALUES (1, 'Ann', 1)")
    given = lines(node("described_original.mjs", server.hs_port, server.hs_port_wr, "app"))
    assert given == [["cmd"] * 3, ["1", "Ann"], ["121", None], [2, 0]]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("call", ["describe(", "indexes("])
def test_the_examples_of_its_readme(
    node: Callable[..., str], sql: Sql, database: Database, tmp_path: Path, call: str
) -> None:
    sql.run(
        "CREATE TABLE user (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), visits INT)"
    )
    first = readme_blocks("js")[0]
    (asking,) = [block for block in readme_blocks("ts") if call in block]
    closing = "await client.close();\n"
    assert first.endswith(closing)
    example = first.removesuffix(closing) + asking + closing
    program, said = readme_program(tmp_path, database, example)
    assert node(program).splitlines() == said
