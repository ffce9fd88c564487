"""`insert ... else ...` beside SQL on a twin.

SQL has INSERT, INSERT IGNORE, REPLACE and INSERT ... ON DUPLICATE KEY UPDATE for it. The in-memory
store is held to the same by src/store/memory_inserts_test.cc.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pymysql.err import Error as SqlError
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_binlog import Image, RowEvent, begin_log, row_events
from support_servers import LOGGING, fresh_session, running_server

Cell = str | None

COLUMNS = ["id", "k", "s", "n", "parent", "b"]
TABLE = (
    "CREATE TABLE {0}_parents (id INT PRIMARY KEY)",
    "INSERT INTO {0}_parents VALUES (1), (2)",
    "CREATE TABLE {0} (id INT AUTO_INCREMENT PRIMARY KEY, k INT, s VARCHAR(10),"
    " n INT NOT NULL DEFAULT 3, parent INT, b BLOB,"
    " at_now DATETIME DEFAULT '2001-01-01' ON UPDATE CURRENT_TIMESTAMP,"
    " doubled BIGINT AS (n * 2) STORED,"
    " UNIQUE KEY by_k (k), UNIQUE KEY by_s (s), KEY by_parent (parent){1})",
    "INSERT INTO {0} (k, s, n, b) VALUES (1, 'a', 1, 'x'), (2, 'b', 2, NULL), (NULL, NULL, 3, '')",
)
BOUND = (
    ", CONSTRAINT {0}_fk FOREIGN KEY (parent) REFERENCES {0}_parents (id),"
    " CONSTRAINT {0}_small CHECK (n < 1000)"
)
CHILDREN = (
    "CREATE TABLE {0}_children (of_id INT, FOREIGN KEY (of_id) REFERENCES {0} (id))",
    "INSERT INTO {0}_children VALUES (1)",
)
TRIGGERS = (
    "CREATE TABLE {0}_log (what VARCHAR(10), old_n INT, new_n INT)",
    "CREATE TRIGGER {0}_bi BEFORE INSERT ON {0} FOR EACH ROW SET NEW.s = LOWER(NEW.s)",
    "CREATE TRIGGER {0}_bu BEFORE UPDATE ON {0} FOR EACH ROW SET NEW.b = CONCAT(NEW.b, 'u')",
    "CREATE TRIGGER {0}_ai AFTER INSERT ON {0} FOR EACH ROW"
    " INSERT INTO {0}_log VALUES ('insert', NULL, NEW.n)",
    "CREATE TRIGGER {0}_au AFTER UPDATE ON {0} FOR EACH ROW"
    " INSERT INTO {0}_log VALUES ('update', OLD.n, NEW.n)",
    "CREATE TRIGGER {0}_ad AFTER DELETE ON {0} FOR EACH ROW"
    " INSERT INTO {0}_log VALUES ('delete', OLD.n, NULL)",
)
KINDS = {
    "plain": ("", ()),
    "bound": (BOUND, CHILDREN),
    "triggers": ("", TRIGGERS),
    "myisam": (") ENGINE=MyISAM -- ", ()),
}
VALUES: dict[str, list[Cell]] = {
    "id": [None, None, None, "0", "1", "2", "3", "7", "20"],
    "k": [None, "1", "2", "3", "4", "5"],
    "s": [None, "a", "b", "c", "D", "e", "a text too long"],
    "n": ["1", "2", "5", "999", "1000", "70000000000", None],
    "parent": [None, None, "1", "2", "9"],
    "b": [None, "", "x", "long" * 3],
}
USUAL = {"s": 6, "n": 5, "parent": 4}
FATES = {"inserted": 1, "updated": 2, "unchanged": 0, "ignored": 0, "unmet": 0}
# How a column is assigned, and what SQL sets.
ASSIGNMENTS = [
    ("n", "+", "1", "n + 1"),
    ("n", "new", "", "VALUES(n)"),
    ("n", "=", "7", "7"),
    ("n", "=", None, "NULL"),
    ("n", "max", "4", "GREATEST(n, 4)"),
    ("s", "new", "", "VALUES(s)"),
    ("s", "default", "", "DEFAULT"),
    ("s", "append", "z", "CONCAT(s, 'z')"),
    ("k", "new", "", "VALUES(k)"),
    ("k", "=", "4", "4"),
    ("b", "new", "", "VALUES(b)"),
    ("b", "append", "yy", "CONCAT(b, 'yy')"),
    ("parent", "new", "", "VALUES(parent)"),
    ("id", "+", "10", "id + 10"),
]
# SQL's errors for which clients get the engine's number.
OF_ENGINE = {1062: 121, 1452: 151, 1451: 152}


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch) as instance:
        yield instance


@pytest.fixture(scope="module")
def drawing_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    # On a busy machine a slow write would be executed again aside, and draw a second number.
    settings = {**LOGGING, "handlersocket_row_wait": 0}
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture(params=list(KINDS))
def sql(drawing_server: ServerInstance, request: pytest.FixtureRequest) -> Iterator[Sql]:
    more, others = KINDS[request.param]
    both = [
        line.format(name, more.format(name))
        for name in ("mine", "twin")
        for line in (*TABLE, *others)
    ]
    with fresh_session(drawing_server, "hst", *both) as session:
        if ON_MYSQL:  # or AUTO_INCREMENT would be told as it was a day ago
            session.run("SET SESSION information_schema_stats_expiry = 0")
        begin_log(session)
        yield session


@dataclass
class Request:
    rows: list[list[Cell]]
    action: str
    assignments: list[tuple[str, str, Cell, str]] = field(default_factory=list)
    limit: str | None = None  # the condition: n is below it

    def line(self) -> bytes:
        tokens: list[Cell] = ["1", "insert", str(len(self.rows)), str(len(self.rows[0]))]
        tokens += [cell for row in self.rows for cell in row]
        tokens += ["else", self.action]
        if self.assignments:
            tokens.append(str(len(self.assignments)))
            for column, how, value, _ in self.assignments:
                tokens += [str(COLUMNS.index(column)), how, value]
        if self.limit is not None:
            tokens += ["F", "<", "0", self.limit]
        return "\t".join("\0" if token is None else token for token in tokens).encode() + b"\n"

    def statement(self) -> str:
        columns = COLUMNS[: len(self.rows[0])]
        verb = {"ignore": "INSERT IGNORE", "replace": "REPLACE"}.get(self.action, "INSERT")
        rows = ", ".join(f"({', '.join(_literal(cell) for cell in row)})" for row in self.rows)
        statement = f"{verb} INTO twin ({', '.join(columns)}) VALUES {rows}"
        if not self.assignments:
            return statement
        parts = []
        for number, (column, _, _, value) in enumerate(self.assignments):
            condition = f"(@met := n < {self.limit})" if number == 0 else "@met"
            met = f"IF({condition}, {value.replace('DEFAULT', 'NULL')}, {column})"
            parts.append(f"{column} = {value if self.limit is None else met}")
        return f"{statement} ON DUPLICATE KEY UPDATE {', '.join(parts)}"


def _literal(cell: Cell) -> str:
    return "NULL" if cell is None else f"'{cell}'"


def _random_request(rng: random.Random, conditions: bool) -> Request:
    width = rng.choice([4, 5, 6, 6])
    # Most values are good ones.
    rows = [
        [
            rng.choice(VALUES[name] if rng.random() < 0.1 else VALUES[name][: USUAL.get(name)])
            if name != "n" or rng.random() < 0.15
            else rng.choice(["1", "2", "5"])
            for name in COLUMNS[:width]
        ]
        for _ in range(rng.choice([1, 1, 2, 3]))
    ]
    action = rng.choice(["fail", "ignore", "replace", "update", "update", "update"])
    request = Request(rows, action)
    if action == "update":
        request.assignments = rng.sample(ASSIGNMENTS, rng.randint(1, 3))
        # MariaDB's VALUES() of a BLOB that was assigned before gives bytes of both.
        if sum(column == "b" for column, *_ in request.assignments) > 1:
            request.assignments = ASSIGNMENTS[:1]
        # SQL would assign the id that a row has, and MySQL may refuse that.
        gives_id = any(column == "id" for column, *_ in request.assignments)
        if conditions and not gives_id and rng.random() < 0.3:
            request.limit = rng.choice(["2", "4"])
    return request


def _table(sql: Sql, name: str) -> list[Any]:
    return sql.rows(
        f"SELECT {', '.join(COLUMNS)}, doubled, at_now > '2020-01-01' FROM {name} ORDER BY id"
    )


def _next_id(sql: Sql, name: str) -> int:
    return sql.number(
        "SELECT AUTO_INCREMENT FROM information_schema.TABLES"
        f" WHERE TABLE_SCHEMA = 'hst' AND TABLE_NAME = '{name}'"
    )


def _comparable(event: RowEvent) -> tuple[Any, ...]:
    clock = len(COLUMNS) + 1
    images = [
        {number: value for number, value in image.items() if number != clock}
        for image in (event.before, event.after)
    ]
    return event.kind, event.table.replace("twin", "mine"), *images


def _check_fates(reply: bytes, request: Request, affected: int, story: str) -> list[str]:
    code, columns, *values = reply.decode("latin1").split("\t")
    assert (code, columns) == ("0", "2") and len(values) == 2 * len(request.rows), story
    fates = values[::2]
    if "replaced" in fates:
        # SQL counts the rows that it has deleted, too, unless it has found one to be the same.
        assert request.action == "replace" and affected >= len(fates), story
    else:
        # If only a trigger has made a row what it was, SQL may count it once.
        surplus = affected - sum(FATES[fate] for fate in fates)
        assert 0 <= surplus <= fates.count("unchanged"), story
    for fate, given in zip(fates, values[1::2], strict=True):
        assert (given == "\0") == (fate == "ignored"), story
    return fates


def test_random_upserts(
    drawing_server: ServerInstance, sql: Sql, request: pytest.FixtureRequest
) -> None:
    seed = int(os.environ.get("UPSERT_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed}")
    rng = random.Random(seed)
    kind = request.node.callspec.params["sql"]
    outcomes: dict[str, int] = {}
    # MySQL computes a table's next number anew when one more thread opens it, and counts rows
    # that were taken back then. So the twin, too, is written by one thread and looked at by
    # another.
    with (
        Wire(drawing_server.hs_port_wr) as wire,
        Sql(drawing_server.socket, database="hst") as writer,
    ):
        assert wire.ask(f"P\t1\thst\tmine\t\t{','.join(COLUMNS)}\tn\n".encode()) == b"0\t1"
        for _ in range(400):
            # If a condition does not hold, SQL's twin updates nothing, with its triggers.
            made = _random_request(rng, kind != "triggers")
            try:
                writer.run(made.statement())
                affected = writer.number("SELECT ROW_COUNT()")
                expected = "ok"
            except SqlError as error:
                expected = str(OF_ENGINE.get(error.args[0], error.args[0]))
            reply = wire.ask(made.line())
            story = f"{made.statement()}: SQL {expected}, plugin {reply!r}"
            got = "ok" if reply.startswith(b"0\t2") else reply.decode().split("\t")[2]
            assert got == expected, story
            outcomes[got] = outcomes.get(got, 0) + 1
            assert _table(sql, "mine") == _table(sql, "twin"), story
            assert _next_id(sql, "mine") == _next_id(sql, "twin"), story
            if got == "ok":
                for fate in _check_fates(reply, made, affected, story):
                    outcomes[fate] = outcomes.get(fate, 0) + 1
            if rng.random() < 0.1:
                sql.run(*(f"DELETE FROM {name} WHERE id > 3" for name in ("mine", "twin")))
    assert outcomes["ok"] > 150 and outcomes["121"] > 10, outcomes
    assert all(outcomes.get(fate, 0) > 3 for fate in ("inserted", "updated", "ignored", "replaced"))
    if kind == "triggers":
        assert sql.rows("SELECT * FROM mine_log") == sql.rows("SELECT * FROM twin_log")
    events = row_events(drawing_server, sql)
    by_plugin, by_sql = (
        [_comparable(event) for event in events if event.table.startswith(name)]
        for name in ("mine", "twin")
    )
    assert by_plugin == by_sql


@pytest.mark.parametrize("action", ["fail", "ignore", "replace", "update\t1\t1\tnew\t"])
def test_many_rows_are_one_statement(drawing_server: ServerInstance, action: str) -> None:
    with fresh_session(
        drawing_server,
        "hst",
        "CREATE TABLE many (id INT AUTO_INCREMENT PRIMARY KEY, v INT NOT NULL)",
    ) as sql:
        with Wire(drawing_server.hs_port_wr) as wire:
            assert wire.ask(b"P\t1\thst\tmany\t\tid,v\n") == b"0\t1"
            values = "\t".join(f"\0\t{number}" for number in range(1000))
            reply = wire.ask(f"1\tinsert\t1000\t2\t{values}\telse\t{action}\n".encode())
            assert reply.split(b"\t")[2:] == [
                cell for number in range(1, 1001) for cell in (b"inserted", b"%d" % number)
            ]
            bad = f"1\tinsert\t1000\t2\t{values[:-3]}\0\telse\t{action}\n".encode()
            if action != "ignore":
                assert wire.ask(bad) == b"1\t1\t1048"
        assert sql.rows("SELECT COUNT(*), MAX(id) FROM many") == [(b"1000", b"1000")]


def test_a_new_blob_is_what_the_insert_would_have_stored(server: ServerInstance) -> None:
    table = (
        "CREATE TABLE texts (id INT PRIMARY KEY, a MEDIUMTEXT CHARACTER SET latin1, b BLOB,"
        " bits BIT(13), c CHAR(5), d DECIMAL(20, 5), t DATETIME(6), e ENUM('x', 'y'), f FLOAT)"
    )
    with fresh_session(server, "hst", table) as sql, Wire(server.hs_port_wr) as wire:
        assert wire.ask(b"P\t1\thst\ttexts\t\tid,a,b,bits,c,d,t,e,f\n") == b"0\t1"
        setters = "\t".join(f"{column}\tnew\t" for column in range(1, 9))
        for number in range(4):
            letter = "ax\u00e4y"[number]
            values = [
                "1",
                letter * 3000 * number,
                letter * 5,
                "\x0f" + "axby"[number],
                letter + " ",
                f"{number}.12345",
                f"2026-01-0{number + 1} 01:02:03.456789",
                "xy"[number % 2],
                f"{number}.1",
            ]
            line = "\t".join(value.replace("\x0f", "\x01\x4f") for value in values)
            reply = wire.ask(f"1\tinsert\t1\t9\t{line}\telse\tupdate\t8\t{setters}\n".encode())
            assert reply.split(b"\t")[2] == (b"updated" if number else b"inserted")
            sql.run("DROP TABLE IF EXISTS other", "CREATE TABLE other LIKE texts")
            assert wire.ask(b"P\t2\thst\tother\t\tid,a,b,bits,c,d,t,e,f\n") == b"0\t1"
            assert wire.ask(f"2\t+\t9\t{line}\n".encode()) == b"0\t1"
            assert sql.rows("SELECT * FROM texts") == sql.rows("SELECT * FROM other")


def beside_sql(sql: Sql, wire: Wire, rows: list[list[Cell]], column: str, value: str) -> None:
    """Adds `value` to a column of those rows of `mine` and `twin` that are there."""
    values = ", ".join(f"({', '.join(_literal(cell) for cell in row)})" for row in rows)
    names = ", ".join(["id", "k", "b", "n"][: len(rows[0])])
    sql.run(
        f"INSERT INTO twin ({names}) VALUES {values}"
        f" ON DUPLICATE KEY UPDATE {column} = {column} + {value}"
    )
    tokens = ["1", "insert", str(len(rows)), str(len(rows[0]))]
    tokens += ["\0" if cell is None else cell for row in rows for cell in row]
    tokens += ["else", "update", "1", str(["id", "k", "b", "n"].index(column)), "+", value]
    reply = wire.ask("\t".join(tokens).encode() + b"\n")
    assert reply.startswith(b"0\t2\t"), reply
    query = "SELECT * FROM {} ORDER BY id"
    assert sql.rows(query.format("mine")) == sql.rows(query.format("twin")), reply


# MariaDB checks a UNIQUE key on whole texts itself, and tells where it has found one.
OF_TEXTS = (
    "CREATE TABLE {0} (id INT PRIMARY KEY, k INT, b TEXT, n INT NOT NULL DEFAULT 3,"
    f" UNIQUE KEY by_k (k), UNIQUE KEY whole (b{'(100)' if ON_MYSQL else ''}))",
    "INSERT INTO {0} VALUES (3, 5, 'xxx', 0), (30, NULL, 'x', 3), (31, 3, '', 3)",
)


def test_a_unique_key_on_whole_texts(drawing_server: ServerInstance) -> None:
    both = [line.format(name) for name in ("mine", "twin") for line in OF_TEXTS]
    with fresh_session(drawing_server, "hst", *both) as sql:
        with Wire(drawing_server.hs_port_wr) as wire:
            assert wire.ask(b"P\t1\thst\tmine\t\tid,k,b,n\n") == b"0\t1"
            for rows in (
                [["50", "9", "x", "2"]],
                [["-3", "3", "new", "2"], ["3", "8", "", "2"]],
                [["-3", "3", "new", "2"], ["3", "3", "", "2"], ["60", "9", "x", "1"]],
                [["61", "61", "61", "1"], ["62", "3", "x", "1"], ["30", "5", "", "1"]],
            ):
                beside_sql(sql, wire, rows, "n", "1")


# The server computes `g`, which is logged with a row behind one that was updated.
OF_VERSIONS = (
    "CREATE TABLE {0} (id INT PRIMARY KEY, k INT, b TEXT, n INT NOT NULL DEFAULT 3,"
    " g BIGINT AS (n * 2) VIRTUAL) WITH SYSTEM VERSIONING",
    OF_TEXTS[1].replace("VALUES", "(id, k, b, n) VALUES"),
)
NOT_ON_MYSQL = pytest.mark.skipif(ON_MYSQL, reason="MySQL has no system versioning")


# With NOBLOB, what history has of BLOBs differs in SQL itself: see test_upserts_over_tables.py.
@pytest.mark.parametrize(
    ("table", "image"),
    [
        *[(OF_TEXTS, image) for image in ("FULL", "MINIMAL", "NOBLOB")],
        *[pytest.param(OF_VERSIONS, image, marks=NOT_ON_MYSQL) for image in ("FULL", "MINIMAL")],
    ],
)
def test_the_images_of_rows_in_the_binary_log(
    drawing_server: ServerInstance, table: Sequence[str], image: str
) -> None:
    both = [line.format(name) for name in ("mine", "twin") for line in table]
    with fresh_session(drawing_server, "hst", *both) as sql:
        try:
            for scope in ("GLOBAL", "SESSION"):
                sql.run(f"SET {scope} binlog_row_image = {image}")
            begin_log(sql)
            with Wire(drawing_server.hs_port_wr) as wire:
                assert wire.ask(b"P\t1\thst\tmine\t\tid,k,b,n\n") == b"0\t1"
                for column in ("k", "n"):
                    first = "7" if column == "k" else "8"
                    rows: list[list[Cell]] = [[first, first], ["3", first * 2], [first * 3, None]]
                    beside_sql(sql, wire, rows, column, "1")
        finally:
            sql.run("SET GLOBAL binlog_row_image = FULL")

        def without_times(image: Image) -> Image:
            return {number: value for number, value in image.items() if number <= 5}

        images = [
            [(e.kind, without_times(e.before), without_times(e.after)) for e in events]
            for events in (
                [event for event in row_events(drawing_server, sql) if event.table == name]
                for name in ("mine", "twin")
            )
        ]
        assert images[0] == images[1] and len(images[0]) >= 6


TWO_ROWS = "insert\t2\t2\t\0\t1\t\0\t2"


@pytest.mark.parametrize(
    "request_",
    ["+\t2\t\0\t1", TWO_ROWS, f"{TWO_ROWS}\telse\tupdate\t1\t1\t+\t1"],
    ids=["single", "fail", "update"],
)
def test_the_number_of_a_row_that_fails(drawing_server: ServerInstance, request_: str) -> None:
    """No partition takes the row. The next one has its number, as with SQL."""
    table = (
        "CREATE TABLE {0} (id INT AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT = 10"
        " PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10))"
    )
    grow = "ALTER TABLE {0} ADD PARTITION (PARTITION b VALUES LESS THAN (100))"
    both = [table.format(name) for name in ("mine", "twin")]
    with fresh_session(drawing_server, "hst", *both) as sql:
        with Wire(drawing_server.hs_port_wr) as wire:
            assert wire.ask(b"P\t1\thst\tmine\t\tid,v\n") == b"0\t1"
            line = f"1\t{request_}\n".encode()
            assert wire.ask(line) == b"1\t1\t1526"
            more = ", (NULL, 2)" if "insert" in request_ else ""
            on = " ON DUPLICATE KEY UPDATE v = v + 1" if "update" in request_ else ""
            statement = f"INSERT INTO twin VALUES (NULL, 1){more}{on}"
            assert sql.error(statement) == 1526
            assert _next_id(sql, "mine") == _next_id(sql, "twin")
            sql.run(grow.format("mine"), grow.format("twin"), statement)
            assert wire.ask(line).startswith(b"0\t")
            assert sql.rows("SELECT * FROM mine") == sql.rows("SELECT * FROM twin")


@pytest.mark.parametrize("ids", ["", " AUTO_INCREMENT"], ids=["given", "drawn"])
@pytest.mark.parametrize("action", ["ignore", "replace", "update\t1\t1\tnew\t"])
def test_a_locked_row_is_waited_for(server: ServerInstance, action: str, ids: str) -> None:
    table = f"CREATE TABLE held (id INT{ids} PRIMARY KEY, v INT)"
    with fresh_session(server, "hst", table, "INSERT INTO held VALUES (1, 1), (2, 2)") as sql:
        with Wire(server.hs_port_wr) as wire, Wire(server.hs_port_wr) as other:
            for each in (wire, other):
                assert each.ask(b"P\t1\thst\theld\t\tid,v\n") == b"0\t1"
            sql.run("BEGIN", "UPDATE held SET v = 7 WHERE id = 1")
            wire.send(f"1\tinsert\t1\t2\t1\t5\telse\t{action}\n".encode())
            assert other.ask(b"1\t=\t1\t2\t1\t0\tU?\t2\n") == b"0\t2\t2\t2"
            sql.run("COMMIT")
            assert wire.lines(1)[0].split(b"\t")[2] in (b"ignored", b"replaced", b"updated")
            expected = b"7" if action == "ignore" else b"5"
            assert sql.row("SELECT v FROM held WHERE id = 1") == (expected,)


def test_privileges_of_what_may_be_done(server: ServerInstance) -> None:
    table = "CREATE TABLE owned (id INT PRIMARY KEY, v INT)"
    user = (
        "DROP USER IF EXISTS upserts@localhost",
        "CREATE USER upserts@localhost IDENTIFIED BY 'secret'",
    )
    new, plus = "update\t1\t1\tnew\t", "update\t1\t1\t+\t1"
    with fresh_session(server, "hst", table, *user) as sql, Wire(server.hs_port_wr) as wire:

        def answers(*granted: str) -> list[bytes]:
            sql.run(
                *(f"GRANT {privilege} ON hst.owned TO upserts@localhost" for privilege in granted)
            )
            if b"1142" in wire.ask(b"P\t1\thst\towned\t\tid,v\tv\n"):
                return []
            actions = ["ignore", "replace", new, plus, f"{new}\tF\t<\t0\t9"]
            lines = [f"1\tinsert\t1\t2\t1\t5\telse\t{action}\n".encode() for action in actions]
            return [wire.ask(line).split(b"\t")[2] for line in lines]

        assert wire.ask(b"A\t2\tupserts\tsecret\n") == b"0\t1"
        assert answers() == []
        assert answers("INSERT") == [b"inserted", b"1142", b"1142", b"1142", b"1142"]
        assert answers("UPDATE (v)") == [b"ignored", b"1142", b"unchanged", b"1143", b"1143"]
        assert answers("SELECT (v)") == [b"ignored", b"1142", b"unchanged", b"updated", b"updated"]
        assert answers("DELETE")[1] == b"replaced"
        sql.run("DROP USER upserts@localhost")


def test_a_row_that_is_ignored_costs_no_other(server: ServerInstance) -> None:
    """Also where MySQL's SQL would end at the second row, without an error."""
    table = "CREATE TABLE lacking (id INT PRIMARY KEY, s VARCHAR(8) NOT NULL)"
    trigger = "CREATE TRIGGER t BEFORE INSERT ON lacking FOR EACH ROW SET NEW.s = LOWER(NEW.s)"
    with fresh_session(server, "hst", table, trigger) as sql, Wire(server.hs_port_wr) as wire:
        assert wire.ask(b"P\t1\thst\tlacking\t\tid,s\n") == b"0\t1"
        reply = wire.ask(b"1\tinsert\t3\t2\t1\tA\t2\t\0\t3\tC\telse\tignore\n")
        # MariaDB's SQL inserts an empty text instead, with a warning.
        second = b"ignored" if ON_MYSQL else b"inserted"
        assert reply.split(b"\t")[2::2] == [b"inserted", second, b"inserted"]
        rows = sql.rows("SELECT id, s FROM lacking ORDER BY id")
        assert rows == [(b"1", b"a"), *([] if ON_MYSQL else [(b"2", b"")]), (b"3", b"c")]
