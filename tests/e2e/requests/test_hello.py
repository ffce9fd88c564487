"""What a client of HandlerSocket gets if it says hello: texts of errors, escaped names.

And a star in the place of columns, which needs no hello.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import fresh_session, running_server

TABLES = (
    "CREATE TABLE parent (id INT PRIMARY KEY)",
    "INSERT INTO parent VALUES (1)",
    "CREATE TABLE t (id INT PRIMARY KEY, small TINYINT, word VARCHAR(3) NOT NULL, parent INT,"
    " UNIQUE (word), CONSTRAINT family FOREIGN KEY (parent) REFERENCES parent (id),"
    " CONSTRAINT bounded CHECK (small < 100))",
    "INSERT INTO t VALUES (1, 1, 'one', NULL), (2, 2, 'two', 1)",
    "CREATE TRIGGER refuse BEFORE UPDATE ON t FOR EACH ROW BEGIN"
    " IF NEW.word = 'no' THEN SIGNAL SQLSTATE '45012' SET MESSAGE_TEXT = 'not\tso\nwörd';"
    " END IF; END",
)
OPEN = b"P\t1\thst\tt\t\tid,small,word,parent\n"
WORDS = b"H\ttexts\n"
#: A request, and the statement that does the same.
FAILING = {
    "a duplicate key": ("1\t+\t3\t1\t0\tx", "INSERT INTO t (id, small, word) VALUES (1, 0, 'x')"),
    "of another index": (
        "1\t+\t3\t9\t0\tone",
        "INSERT INTO t (id, small, word) VALUES (9, 0, 'one')",
    ),
    "by an update": ("1\t=\t1\t2\t1\t0\tU\t1", "UPDATE t SET id = 1 WHERE id = 2"),
    "of several rows": (
        "1\tinsert\t2\t3\t8\t0\teig\t1\t0\tx",
        "INSERT INTO t (id, small, word) VALUES (8, 0, 'eig'), (1, 0, 'x')",
    ),
    "no parent": (
        "1\t+\t4\t9\t0\tx\t77",
        "INSERT INTO t (id, small, word, parent) VALUES (9, 0, 'x', 77)",
    ),
    "a child": ("2\t=\t1\t1\t1\t0\tD", "DELETE FROM parent WHERE id = 1"),
    "a check": ("1\t+\t3\t9\t100\tx", "INSERT INTO t (id, small, word) VALUES (9, 100, 'x')"),
    "no default": ("1\t+\t2\t9\t0", "INSERT INTO t (id, small) VALUES (9, 0)"),
    "a NULL": ("1\t=\t1\t1\t1\t0\tset\t1\t2\t=\t\0", "UPDATE t SET word = NULL WHERE id = 1"),
    "a large number": ("1\t=\t1\t1\t1\t0\tset\t1\t1\t=\t400", "UPDATE t SET small = 400"),
    "of the second row": (
        "1\tinsert\t2\t3\t8\t0\teig\t9\t400\tx",
        "INSERT INTO t (id, small, word) VALUES (8, 0, 'eig'), (9, 400, 'x')",
    ),
    "of a row": ("1\t+\t3\t9\t400\tx", "INSERT INTO t (id, small, word) VALUES (9, 400, 'x')"),
    "a long text": ("1\t=\t1\t1\t1\t0\tset\t1\t2\t=\tlonger", "UPDATE t SET word = 'longer'"),
    "a trigger": ("1\t=\t1\t1\t1\t0\tset\t1\t2\t=\tno", "UPDATE t SET word = 'no' WHERE id = 1"),
}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "hst", *TABLES) as session:
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Wire]:
    with Wire(server.hs_port_wr) as connection:
        assert connection.ask(OPEN) == b"0\t1"
        assert connection.ask(b"P\t2\thst\tparent\t\tid\n") == b"0\t1"
        yield connection


def unescaped(token: bytes) -> str:
    out = bytearray()
    rest = iter(token)
    for byte in rest:
        out.append(byte if byte != 1 else next(rest) - 0x40)
    return out.decode()


def sql_error(sql: Sql, statement: str) -> tuple[int, str, str]:
    with pytest.raises(pymysql.err.Error):
        sql.rows(statement)
    number, text = sql.row("SHOW ERRORS LIMIT 1")[1:]
    sql.rows("GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE")
    (state,) = sql.row("SELECT @state")
    assert number is not None and text is not None and state is not None
    return int(number), state.decode(), text.decode()


@pytest.mark.parametrize("kind", FAILING)
def test_texts_are_those_of_sql(wire: Wire, sql: Sql, kind: str) -> None:
    request, statement = FAILING[kind]
    plain = wire.ask(request.encode() + b"\n").split(b"\t")
    wire.ask(WORDS)
    code, count, word, number, state, text = wire.ask(request.encode() + b"\n").split(b"\t")
    assert [code, word, count] == [plain[0], plain[2], b"4"]
    assert (int(number), state.decode(), unescaped(text)) == sql_error(sql, statement)
    # Within a group, each other line says that it is undone.
    wire.send(b"G\t2\n2\t+\t1\t5\n" + request.encode() + b"\n")
    first, other, failed = wire.lines(3)
    assert first == b"1\t5\tundone\t1180\tHY000\tAnother line of the group has failed\t2"
    assert other == b"1\t4\tundone\t1180\tHY000\tAnother line of the group has failed"
    assert failed.split(b"\t")[2:] == [word, number, state, text]


def test_a_request_that_a_streamer_executes_has_its_text(wire: Wire, sql: Sql) -> None:
    sql.run(
        "CREATE TABLE many (id INT PRIMARY KEY, n TINYINT)",
        "INSERT INTO many SELECT seq, 0 FROM (WITH RECURSIVE s AS (SELECT 1 AS seq UNION ALL"
        " SELECT seq + 1 FROM s WHERE seq < 900) SELECT seq FROM s) AS s",
        "INSERT INTO many SELECT id + 1000, 0 FROM many",
        "INSERT INTO many SELECT id + 2000, 0 FROM many",
        "UPDATE many SET n = 100 WHERE id = 3900",
    )
    assert wire.ask(b"P\t3\thst\tmany\t\tn\n") == b"0\t1"
    wire.ask(WORDS)
    reply = wire.ask(b"3\tup\t0\t100000\t0\tset\t1\t0\t+\t100\n").split(b"\t")
    number, state, text = sql_error(sql, "UPDATE many SET n = n + 100")
    assert reply == [b"1", b"4", b"1264", b"%d" % number, state.encode(), text.encode()]


def test_a_group_that_a_streamer_executes_has_its_text(wire: Wire, sql: Sql) -> None:
    """As in a worker: of the line that has failed."""
    wire.ask(WORDS)
    aside = sql.status("handlersocket_writes_aside")
    touched = b"2\t=\t1\t1\t1\t0\tU\t1\n"
    wire.send(b"G\t401\n" + touched * 400 + b"1\t+\t3\t1\t0\tx\n")
    failed = wire.lines(402)[-1].split(b"\t")
    assert sql.status("handlersocket_writes_aside") == aside + 1
    number, state, text = sql_error(sql, "INSERT INTO t (id, small, word) VALUES (1, 0, 'x')")
    assert failed == [b"1", b"4", b"121", b"%d" % number, state.encode(), text.encode()]


def test_other_errors_have_texts_of_the_plugin(wire: Wire) -> None:
    wire.ask(WORDS)
    assert wire.ask(b"X\n") == (
        b"2\t4\tcmd\t1149\t42000\tThis is no request, or none that may stand here"
    )
    assert (
        wire.ask(b"9\t=\t1\t1\n") == b"2\t4\tstmtnum\t1243\tHY000\tNo index is open by this number"
    )
    assert wire.ask(b"1\t=\t1\t1\n") == b"0\t4\t1\t1\tone\t\0"
    assert wire.ask(b"H\n").startswith(b"0\t2\tplugin\t2.0.0\tserver\t")
    assert wire.ask(b"X\n") == b"2\t1\tcmd"


def test_hello_tells_what_is_there(wire: Wire, sql: Sql) -> None:
    words = wire.ask(b"H\tnames\ttexts\tnosuch\n").split(b"\t")
    assert words[:2] == [b"0", b"2"]
    told = dict(zip(words[2::2], words[3::2], strict=True))
    (version,) = sql.row("SELECT VERSION()")
    assert told[b"server"] == version
    assert told[b"protocol"] == b"2"
    assert set(b"up C insert G *".split()) < set(told[b"requests"].split())
    assert told[b"names"] == told[b"texts"] == b"1"
    assert b"nosuch" not in told


def test_names_are_escaped_for_who_says_so(wire: Wire, sql: Sql) -> None:
    sql.run(
        "CREATE TABLE `a\tb` (id INT PRIMARY KEY, `x\ty` INT, `\tz` INT)",
        "INSERT INTO `a\tb` VALUES (1, 2, 3)",
    )
    opening = b"P\t3\thst\ta\x01Ib\t\tid,x\x01Iy,\x01Iz\n"
    assert wire.ask(opening) == b"1\t1\topen_table"
    wire.ask(b"H\tnames\n")
    assert wire.ask(opening) == b"0\t1"
    assert wire.ask(b"3\t=\t1\t1\n") == b"0\t3\t1\t2\t3"
    assert wire.ask(b"3\t=\t1\t1\t1\t0\tU\t1\t5\t6\n") == b"0\t1\t1"
    assert wire.ask(b"P\t4\thst\ta\x01xb\t\tid\n") == b"2\t1\tescape"
    assert wire.ask(b"P\t4\thst\ta\x01Ib\t\t*\n") == b"0\t1"
    assert wire.ask(b"4\t=\t1\t1\n") == b"0\t3\t1\t5\t6"


def test_a_star_is_what_select_star_gives(wire: Wire, sql: Sql) -> None:
    sql.run(
        "CREATE TABLE wide (id INT PRIMARY KEY, a INT, twice INT AS (a * 2) VIRTUAL,"
        " hidden INT INVISIBLE, b VARCHAR(9), `with,comma` INT)",
        "INSERT INTO wide (id, a, b, `with,comma`, hidden) VALUES (1, 2, 'b', 3, 4)",
    )
    assert wire.ask(b"P\t3\thst\twide\t\t*\n") == b"2\t1\tfld"  # a list cannot name the last one
    sql.run("ALTER TABLE wide DROP COLUMN `with,comma`")
    assert wire.ask(b"P\t3\thst\twide\t\t*\ta\n") == b"0\t1"
    row = sql.row("SELECT * FROM wide")
    reply = wire.ask(b"3\t=\t1\t1\n").split(b"\t")
    assert reply[1:] == [b"%d" % len(row), *(value or b"" for value in row)]
    # The rows keep their width when the table gets another column.
    sql.run("ALTER TABLE wide ADD COLUMN c INT DEFAULT 7 AFTER id")
    assert wire.ask(b"3\t=\t1\t1\n").split(b"\t") == reply
    assert wire.ask(b"P\t3\thst\twide\t\t*\n") == b"0\t1"
    assert wire.ask(b"3\t=\t1\t1\n") == b"0\t5\t1\t7\t2\t4\tb"


def test_an_open_index_is_described(wire: Wire, sql: Sql) -> None:
    sql.run(
        "CREATE TABLE kinds (id INT UNSIGNED, amount DECIMAL(10,3) NOT NULL, born DATETIME(4),"
        " word VARCHAR(20) CHARACTER SET latin1, bytes VARBINARY(9), kind ENUM('a', 'b'),"
        " price DOUBLE, PRIMARY KEY (id, amount), KEY (word, born))",
    )
    names = "id,amount,born,word,bytes,kind,price,flags,stamp,year,small,body"
    sql.run(
        "ALTER TABLE kinds ADD flags BIT(3), ADD stamp TIMESTAMP NULL, ADD year YEAR,"
        " ADD small TINYINT UNSIGNED ZEROFILL, ADD body TEXT CHARACTER SET utf8mb4"
    )
    if not ON_MYSQL:
        sql.run("ALTER TABLE kinds ADD u UUID, ADD i INET6, ADD packed TEXT COMPRESSED")
        names += ",u,i,packed"
    assert wire.ask(f"P\t3\thst\tkinds\t1\t{names}\tprice\n".encode()) == b"0\t1"
    code, count, *values = wire.ask(b"D\t3\n").split(b"\t")
    assert (code, count) == (b"0", b"7")
    rows = [tuple(values[at : at + 7]) for at in range(0, len(values), 7)]
    expected = {
        name: (
            name,
            kind,
            b"01"[nullable == b"YES" :][:1],
            b"01"[b"unsigned" in (kind or b"") :][:1],
            scale or b"0",
            characters or b"\0",
        )
        for name, kind, nullable, scale, characters in sql.rows(
            "SELECT column_name, column_type, is_nullable,"
            " COALESCE(numeric_scale, datetime_precision), character_set_name"
            " FROM information_schema.columns WHERE table_schema = 'hst' AND table_name = 'kinds'"
        )
    }
    kinds = [(b"column", name.encode()) for name in names.split(",")]
    kinds += [(b"filter", b"price"), (b"key", b"word"), (b"key", b"born")]
    assert rows == [(kind, *expected[name]) for kind, name in kinds]


def test_what_an_account_may_not_see_is_not_described(server: ServerInstance, sql: Sql) -> None:
    sql.run(
        "CREATE USER half@localhost IDENTIFIED BY 'half'",
        "GRANT SELECT (id, small) ON hst.t TO half@localhost",
    )
    try:
        with Wire(server.hs_port) as wire:
            assert wire.ask(b"A\t2\thalf\thalf\n") == b"0\t1"
            assert wire.ask(b"P\t1\thst\tt\t\tid,word\n") == b"0\t1"
            told = wire.ask(b"D\t1\n").split(b"\t")[2:]
            assert told[:2] == [b"column", b"id"]
            assert told[7:14] == [b"column", b"word", *[b"\0"] * 5]
            assert wire.ask(b"P\t1\thst\tt\tword\tid\n") == b"0\t1"
            assert wire.ask(b"D\t1\n") == b"2\t1\tidxnum"
            # Nor are its names learned by a word for all of them.
            assert wire.ask(b"P\t2\thst\tt\t\t*\n") == b"1\t1\t1142"
            sql.run("GRANT SELECT ON hst.t TO half@localhost")
            assert wire.ask(b"P\t2\thst\tt\t\t*\n") == b"0\t1"
    finally:
        sql.run("DROP USER half@localhost")


@pytest.mark.parametrize("port", ["hs_port", "hs_port_wr"])
def test_whoever_may_write_a_column_sees_it(server: ServerInstance, sql: Sql, port: str) -> None:
    """As with SHOW COLUMNS, on a port for reading, too."""
    sql.run(
        "CREATE USER mixed@localhost IDENTIFIED BY 'mixed'",
        "GRANT SELECT (id), UPDATE (word), INSERT (parent) ON hst.t TO mixed@localhost",
    )
    try:
        with Wire(getattr(server, port)) as wire:
            assert wire.ask(b"A\t2\tmixed\tmixed\n") == b"0\t1"
            assert wire.ask(OPEN) == b"0\t1"
            told = wire.ask(b"D\t1\n").split(b"\t")[2:]
            rows = [told[begin : begin + 7] for begin in range(0, len(told), 7)]
            seen = [name for _, name, kind, *_ in rows if kind != b"\0"]
            with Sql(server.socket, "hst", user="mixed", password="mixed") as own:
                shown = [name for name, *_ in own.rows("SHOW COLUMNS FROM t")]
            assert seen == [*shown, b"id"] == [b"id", b"word", b"parent", b"id"]
    finally:
        sql.run("DROP USER mixed@localhost")


def test_the_work_grows_with_the_columns_alone(server: ServerInstance, sql: Sql) -> None:
    """Others of the worker wait for a description. Ten times the columns are ten times the work."""
    rounds, requests, factor = 7, 40, 10

    def seconds(wire: Wire) -> float:
        begun = time.perf_counter()
        wire.send(b"D\t1\n" * requests)
        wire.lines(requests)
        return time.perf_counter() - begun

    with Wire(server.hs_port) as narrow, Wire(server.hs_port) as wide:
        for wire, columns in ((narrow, 100), (wide, 100 * factor)):
            names = [f"a_column_with_a_long_name_{number:04}" for number in range(columns)]
            kinds = ", ".join(f"{name} INT" for name in names)
            sql.run(f"CREATE TABLE w{columns} (id INT PRIMARY KEY, {kinds})")
            every = ",".join([names[-1]] * 4 * columns)
            assert wire.ask(f"P\t1\thst\tw{columns}\t\t{every}\n".encode()) == b"0\t1"
        quick = min(seconds(narrow) for _ in range(rounds))
        slow = min(seconds(wide) for _ in range(rounds))
        assert slow < 3 * factor * quick, slow / quick
