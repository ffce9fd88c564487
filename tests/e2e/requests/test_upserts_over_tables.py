"""`insert ... else ...` beside SQL on a twin, over random tables and settings of the server.

test_upserts.py knows four tables well. Here a table has any unique keys, engine, triggers, foreign
keys and columns that the server computes, and the server any sql_mode, row image and numbering of
ids.
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
from support_binlog import begin_log, row_events
from support_servers import LOGGING, running_server

Cell = str | None
#: So many tables are compared, with so many requests each. UPSERT_TABLES=1000 looks longer.
TABLES = int(os.environ.get("UPSERT_TABLES", "10"))
REQUESTS = 40
#: Compares the binary log behind each request, to see which one has written something else.
CLOSELY = bool(os.environ.get("UPSERT_CLOSELY"))
STRICT = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
OF_ENGINE = {1062: 121, 1586: 121, 1169: 121, 1452: 151, 1216: 151, 1451: 152, 1217: 152}
CHANGES = {"inserted": 1, "updated": 2, "unchanged": 0, "ignored": 0, "unmet": 0}


@dataclass
class Column:
    name: str
    sql: str
    values: Sequence[Cell]
    #: `how`, its value, and what SQL sets
    sets: Sequence[tuple[str, Cell, str]] = ()


@dataclass
class Shape:
    columns: list[Column]
    lines: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # tables to compare, too
    engine: str = "InnoDB"
    tail: str = ""
    has_id: bool = True
    fires: bool = False

    def statements(self, name: str) -> list[str]:
        columns = [f"{column.name} {column.sql}" for column in self.columns]
        create = f"CREATE TABLE {name} ({', '.join([*columns, *self.lines])})"
        create = f"{create} ENGINE={self.engine}{self.tail}"
        return [s.replace("{0}", name) for s in [*self.before, create, *self.after]]


def _id(rng: random.Random, shape: Shape) -> Column:
    kind = rng.choice(["INT", "TINYINT", "BIGINT UNSIGNED", "INT", "SMALLINT UNSIGNED"])
    shape.has_id = rng.random() < 0.7
    drawn = " AUTO_INCREMENT" if shape.has_id else ""
    values: list[Cell] = ["1", "2", "3", "5", "9", "20"]
    if shape.has_id:
        values += [None, None, None, None, None, "0"]
        values += ["126"] if kind == "TINYINT" and rng.random() < 0.3 else []
        values += ["-3"] if "UNSIGNED" not in kind and rng.random() < 0.3 else []
    sets = [("new", "", "VALUES(id)"), ("+", "10", "id + 10")] if rng.random() < 0.3 else []
    return Column("id", f"{kind} NOT NULL{drawn}", values, sets)


def _shape(rng: random.Random) -> Shape:
    shape = Shape([])
    shape.engine = rng.choice(["InnoDB"] * 5 + ["MyISAM", "MEMORY" if ON_MYSQL else "Aria"])
    in_innodb = shape.engine == "InnoDB"
    partitioned = in_innodb and rng.random() < 0.25
    shape.columns = [
        _id(rng, shape),
        Column("k", rng.choice(["INT", "INT NOT NULL DEFAULT 4", "DECIMAL(5,2)"]),
               ["1", "2", "3", "4", None],
               [("new", "", "VALUES(k)"), ("=", "4", "4"), ("+", "1", "k + 1"),
                ("default", "", "DEFAULT(k)")]),
        Column("s", rng.choice(["VARCHAR(8)", "CHAR(4) NOT NULL", "VARCHAR(8) COLLATE utf8mb4_bin",
                                "VARBINARY(6)"]),
               ["a", "A", "b", "c", "a ", "too long a text", None, "é"],
               [("new", "", "VALUES(s)"), ("append", "z", "CONCAT(s, 'z')"), ("=", "b", "'b'")]),
        Column("n", rng.choice(["INT NOT NULL DEFAULT 3", "SMALLINT NOT NULL", "BIGINT", "DOUBLE"]),
               ["1", "1", "2", "2", "3", "4", "5", "7", "40000", "x", None],
               [("+", "1", "n + 1"), ("new", "", "VALUES(n)"), ("-", "1", "n - 1"),
                ("max", "4", "GREATEST(n, 4)"), ("=", None, "NULL"), ("=", "7", "7")]),
        Column("b", rng.choice(["BLOB", "TEXT", "MEDIUMTEXT CHARACTER SET latin1"]),
               ["", "x", "long" * 3, "x" * 40, None],
               [("new", "", "VALUES(b)"), ("append", "yy", "CONCAT(b, 'yy')")]),
    ]  # fmt: skip
    if rng.random() < 0.5:
        shape.columns[1:] = rng.sample(shape.columns[1:], 4)
    _columns_of_the_server(rng, shape)
    within = ", id" if partitioned else ""
    key = rng.choice(["PRIMARY KEY", "PRIMARY KEY", "UNIQUE KEY by_id", "KEY by_id"])
    if partitioned and key == "KEY by_id":
        key = "PRIMARY KEY"
    shape.lines.append(f"{key} (id)")
    keys = [f"(k{within})", f"(s{within})", f"(k, s{within})", f"(b(3){within})", f"(n, k{within})"]
    keys += [f"(s(1){within})", f"(n DESC, s{within})"]
    if any(column.name == "g" for column in shape.columns):
        keys.append(f"(g{within})")
    for number, parts in enumerate(rng.sample(keys, rng.randint(0, 3))):
        shape.lines.append(f"UNIQUE KEY u{number} {parts}")
    if not ON_MYSQL and not partitioned and rng.random() < 0.15:
        shape.lines.append("UNIQUE KEY whole (b)")
    if rng.random() < 0.3:
        shape.lines.append("CHECK (n < 7 OR n IS NULL)")
    if partitioned:
        shape.tail = rng.choice([" PARTITION BY HASH (id) PARTITIONS 3",
                                 " PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (4),"
                                 " PARTITION b VALUES LESS THAN (30))"])  # fmt: skip
    elif in_innodb and not ON_MYSQL and rng.random() < 0.15:
        shape.tail = " WITH SYSTEM VERSIONING"
    elif in_innodb and key == "PRIMARY KEY" and rng.random() < 0.4:
        _relatives(rng, shape)
    if rng.random() < 0.4:
        _triggers(rng, shape)
    return shape


def _columns_of_the_server(rng: random.Random, shape: Shape) -> None:
    if rng.random() < 0.4:
        stored = rng.choice(["STORED", "VIRTUAL"])
        shape.columns.append(Column("g", f"BIGINT AS (n * 2) {stored}", []))
    if rng.random() < 0.4:
        shape.columns.append(Column("e", "INT DEFAULT (1 + 1)", []))
    # In strict mode no row is ever inserted into such a table.
    if rng.random() < 0.12:
        shape.columns.append(Column("must", "INT NOT NULL", []))
    if rng.random() < 0.3:
        change = "DATETIME DEFAULT '2001-01-01' ON UPDATE CURRENT_TIMESTAMP"
        shape.columns.append(Column("at_now", change, []))
    if rng.random() < 0.2:
        shape.columns.append(Column("kind", "ENUM('p', 'q') NOT NULL", []))


def _relatives(rng: random.Random, shape: Shape) -> None:
    id_type = shape.columns[0].sql.split(" NOT")[0]
    if rng.random() < 0.6:
        k = next(column for column in shape.columns if column.name == "k")
        k.sql = rng.choice(["INT", "INT NOT NULL DEFAULT 1"])
        shape.before += [
            "CREATE TABLE {0}_up (id INT PRIMARY KEY)",
            "INSERT INTO {0}_up VALUES (1), (2), (3)",
        ]
        shape.lines.append("CONSTRAINT {0}_fk FOREIGN KEY (k) REFERENCES {0}_up (id)")
    if rng.random() < 0.7:
        on = rng.choice(["ON DELETE CASCADE ON UPDATE CASCADE", "ON DELETE SET NULL", "",
                         "ON DELETE CASCADE", "ON UPDATE CASCADE"])  # fmt: skip
        shape.after += [
            f"CREATE TABLE {{0}}_down (of_id {id_type},"
            f" CONSTRAINT {{0}}_dn FOREIGN KEY (of_id) REFERENCES {{0}} (id) {on})",
        ]
        shape.others.append("{0}_down")


TRIGGERS = {
    "BEFORE INSERT": [
        "SET NEW.n = COALESCE(NEW.n, 2)",
        "SET NEW.s = LOWER(NEW.s)",
        "IF NEW.n = 5 THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1644; END IF",
        "SET NEW.k = 3",
    ],
    "AFTER INSERT": ["INSERT INTO {0}_log VALUES ('ai', NULL, NEW.n)"],
    "BEFORE UPDATE": [
        "SET NEW.b = CONCAT(NEW.b, 'u')",
        "IF NEW.n = 4 THEN SIGNAL SQLSTATE '45000'; END IF",
        "SET NEW.n = OLD.n",
    ],
    "AFTER UPDATE": ["INSERT INTO {0}_log VALUES ('au', OLD.n, NEW.n)"],
    "BEFORE DELETE": ["IF OLD.n = 2 THEN SIGNAL SQLSTATE '45000'; END IF"],
    "AFTER DELETE": ["INSERT INTO {0}_log VALUES ('ad', OLD.n, NULL)"],
}


def _triggers(rng: random.Random, shape: Shape) -> None:
    shape.fires = True
    shape.before.append(
        "CREATE TABLE {0}_log (what CHAR(2), old_n TEXT, new_n TEXT,"
        f" number INT AUTO_INCREMENT PRIMARY KEY) ENGINE={shape.engine}"
    )
    shape.others.append("{0}_log")
    for number, event in enumerate(rng.sample(list(TRIGGERS), rng.randint(1, 4))):
        body = rng.choice(TRIGGERS[event])
        if event.startswith("AFTER"):
            body = body.replace(" VALUES", " (what, old_n, new_n) VALUES")
        shape.after.append(
            f"CREATE TRIGGER {{0}}_t{number} {event} ON {{0}} FOR EACH ROW BEGIN {body}; END"
        )


@dataclass
class Request:
    columns: list[str]
    rows: list[list[Cell]]
    action: str
    sets: list[tuple[str, str, Cell, str]]
    limit: str | None = None

    def line(self, all_columns: list[str]) -> bytes:
        tokens: list[Cell] = ["1", "insert", str(len(self.rows)), str(len(self.rows[0]))]
        tokens += [cell for row in self.rows for cell in row] + ["else", self.action]
        if self.sets:
            tokens.append(str(len(self.sets)))
            for column, how, value, _ in self.sets:
                tokens += [str(all_columns.index(column)), how, value]
        if self.limit is not None:
            tokens += ["F", "<", "0", self.limit]
        return "\t".join("\0" if token is None else token for token in tokens).encode() + b"\n"

    def statement(self, table: str) -> str:
        verb = {"ignore": "INSERT IGNORE", "replace": "REPLACE"}.get(self.action, "INSERT")
        rows = ", ".join(f"({', '.join(_literal(cell) for cell in row)})" for row in self.rows)
        statement = f"{verb} INTO {table} ({', '.join(self.columns)}) VALUES {rows}"
        if not self.sets:
            return statement
        parts = []
        for number, (column, _, _, value) in enumerate(self.sets):
            condition = f"(@met := n IS NULL OR n < {self.limit})" if number == 0 else "@met"
            met = f"IF({condition}, {value}, {column})"
            parts.append(f"{column} = {value if self.limit is None else met}")
        return f"{statement} ON DUPLICATE KEY UPDATE {', '.join(parts)}"


def _literal(cell: Cell) -> str:
    return "NULL" if cell is None else f"'{cell}'"


def _request(rng: random.Random, shape: Shape) -> Request:
    given = [column for column in shape.columns if column.values]
    given = given[: rng.randint(2, len(given))]
    # Most values are good ones.
    rows = [
        [rng.choice(c.values if rng.random() < 0.3 else c.values[:4]) for c in given]
        for _ in range(rng.choice([1, 1, 1, 2, 3, 6]))
    ]
    if shape.has_id:
        for row in rows:
            row[0] = None if rng.random() < 0.5 else rng.choice(shape.columns[0].values)
    action = rng.choice(["fail", "ignore", "replace", "update", "update", "update"])
    # With such a trigger, MySQL's SQL ends at the first row that lacks a value, without an error.
    if ON_MYSQL and action == "ignore" and any("BEFORE INSERT" in line for line in shape.after):
        rows = rows[:1]
    request = Request([column.name for column in given], rows, action, [])
    if action == "update":
        if not ON_MYSQL and shape.has_id and len(rows) > 3:
            # MariaDB's SQL may draw a number twice if another id is given in between.
            drawn = rng.random() < 0.5
            for row in rows:
                row[0] = None if drawn else rng.choice(shape.columns[0].values[:6])
        every = [(c.name, *each) for c in shape.columns for each in c.sets]
        # Without transactions, SQL is strict only until it has changed something. MariaDB's SQL
        # may take a NULL that stays a NULL for a change, by the bytes that were left under it.
        if not ON_MYSQL and shape.engine != "InnoDB" and len(rows) > 1:
            every = [each for each in every if each[1] == "=" and each[2] is not None]
        request.sets = rng.sample(every, rng.randint(1, min(3, len(every))))
        names = [name for name, *_ in request.sets]
        # MariaDB's VALUES() of a column that was assigned before may give the value of both.
        if len(set(names)) < len(names):
            request.sets = request.sets[:1]
        # If a condition does not hold, SQL's twin updates nothing, with triggers and history, and
        # engines differ in what they call a change.
        plain = shape.engine == "InnoDB" and not shape.fires and "VERSIONING" not in shape.tail
        if plain and "id" not in names and rng.random() < 0.25:
            request.limit = rng.choice(["2", "4"])
    return request


class Twins:
    def __init__(self, server: ServerInstance, rng: random.Random, shape: Shape) -> None:
        self.server, self.rng, self.shape = server, rng, shape
        self.sql = Sql(server.socket)
        self.settings = {
            "sql_mode": rng.choice([STRICT, STRICT, STRICT, "", f"{STRICT},NO_AUTO_VALUE_ON_ZERO"]),
            "binlog_row_image": rng.choice(["FULL", "FULL", "MINIMAL", "NOBLOB"]),
            "auto_increment_increment": rng.choice(["1", "1", "1", "3"]),
            "auto_increment_offset": rng.choice(["1", "1", "2"]),
        }
        # Of a row of history that an upsert leaves, the plugin logs a BLOB that SQL leaves out.
        if "VERSIONING" in shape.tail and self.settings["binlog_row_image"] == "NOBLOB":
            self.settings["binlog_row_image"] = "FULL"

    def make(self) -> str | None:
        """Why the tables cannot be made, if so."""
        self.sql.run("DROP DATABASE IF EXISTS hst", "CREATE DATABASE hst", "USE hst")
        for name, value in self.settings.items():
            for scope in ("GLOBAL", "SESSION"):
                self.sql.run(f"SET {scope} {name} = '{value}'" if name[0] in "sb"
                             else f"SET {scope} {name} = {value}")  # fmt: skip
        try:
            for name in ("mine", "twin"):
                self.sql.run(*self.shape.statements(name))
        except SqlError as error:
            return str(error)
        return None

    def story(self) -> str:
        return "\n".join([*self.shape.statements("mine"), str(self.settings)])

    def state(self, name: str) -> list[Any]:
        columns = [
            f"{c.name} > '2020-01-01'" if c.name == "at_now" else c.name for c in self.shape.columns
        ]
        found: list[Any] = [
            sorted(self.sql.rows(f"SELECT {', '.join(columns)} FROM {name}"), key=str)
        ]
        for other in self.shape.others:
            table = other.replace("{0}", name)
            found.append(sorted(self.sql.rows(f"SELECT * FROM {table}"), key=str))
        # MySQL may tell of a number that only a row that was left out has had. The ids of the rows
        # that come afterwards are compared in any case.
        if self.shape.has_id and not ON_MYSQL:
            shown = self.sql.rows(
                "SELECT AUTO_INCREMENT FROM information_schema.TABLES"
                f" WHERE TABLE_SCHEMA = 'hst' AND TABLE_NAME = '{name}'"
            )
            found.append([self._next_id(int(row[0] or 0)) for row in shown])
        return found

    def _next_id(self, shown: int) -> int:
        """The id that is drawn next: the first of the settings' series from the shown one on."""
        step = int(self.settings.get("auto_increment_increment", 1))
        offset = int(self.settings.get("auto_increment_offset", 1))
        return shown + (offset - shown) % step if offset <= step else shown

    def compare(self, outcomes: dict[str, int]) -> None:
        names = [column.name for column in self.shape.columns]
        begin_log(self.sql)
        # In lock mode 0, MySQL corrects a table's AUTO_INCREMENT when a further session opens it.
        for name in ("mine", "twin"):
            self.state(name)
        done: list[str] = []
        with Wire(self.server.hs_port_wr) as wire:
            opened = wire.ask(f"P\t1\thst\tmine\t\t{','.join(names)}\tn\n".encode())
            if opened != b"0\t1":  # no primary key
                index = "by_id"
                opened = wire.ask(f"P\t1\thst\tmine\t{index}\t{','.join(names)}\tn\n".encode())
            assert opened == b"0\t1", opened
            for _ in range(REQUESTS):
                self._relate()
                made = _request(self.rng, self.shape)
                done.append(made.statement("mine"))
                affected = 0
                # MySQL leaves the count as it was if INSERT IGNORE meets an error.
                self.sql.run("DO 0")
                try:
                    self.sql.run(made.statement("twin"))
                    affected = self.sql.number("SELECT ROW_COUNT()")
                    expected = "ok"
                except SqlError as error:
                    expected = str(OF_ENGINE.get(error.args[0], error.args[0]))
                reply = wire.ask(made.line(names))
                got = "ok" if reply.startswith(b"0\t2") else reply.decode().split("\t")[2]
                outcomes[got] = outcomes.get(got, 0) + 1
                story = f"{made.statement('mine')}\nSQL {expected} {affected}, plugin {reply!r}"
                # MySQL calls an exhausted counter a value out of range.
                no_number = {got, expected} == {"167", "1264"} and ON_MYSQL and self.shape.has_id
                assert got == expected or no_number, story
                mine, twin = self.state("mine"), self.state("twin")
                assert mine == twin, f"{story}\nmine {mine}\ntwin {twin}\n" + "\n".join(done[-12:])
                if got == "ok":
                    self._check_fates(reply, made, affected, story)
                if CLOSELY:
                    self._compare_events(story)
                    begin_log(self.sql)
        self._compare_events("")

    def _relate(self) -> None:
        """Now and then a row gets a child."""
        if "{0}_down" in self.shape.others and self.rng.random() < 0.3:
            kept = self.sql.rows("SELECT MAX(id) FROM twin")[0][0]
            if kept is not None:
                for name in ("mine", "twin"):
                    self.sql.run(f"INSERT INTO {name}_down VALUES ({kept.decode()})")
        # The order tells in which the rows are logged. Without it, it is the optimizer's to choose.
        if self.rng.random() < 0.1:
            for name in ("mine", "twin"):
                self.sql.error(f"DELETE FROM {name} WHERE id > 9 ORDER BY id, k, HEX(s), n, HEX(b)")

    def _check_fates(self, reply: bytes, made: Request, affected: int, story: str) -> None:
        _, columns, *values = reply.decode("latin1").split("\t")
        assert columns == "2" and len(values) == 2 * len(made.rows), story
        fates = values[::2]
        if "replaced" in fates:
            assert made.action == "replace" and affected >= len(fates), story
        else:
            surplus = affected - sum(CHANGES[fate] for fate in fates)
            # SQL counts a row of history, too.
            more = fates.count("updated") if "VERSIONING" in self.shape.tail else 0
            assert 0 <= surplus <= fates.count("unchanged") + more, story
        for fate, given in zip(fates, values[1::2], strict=True):
            assert (given == "\0") == (fate == "ignored" or not self.shape.has_id), story

    def _compare_events(self, story: str) -> None:
        events = row_events(self.server, self.sql)
        clock = [column.name for column in self.shape.columns].index("at_now") + 1 if any(
            column.name == "at_now" for column in self.shape.columns
        ) else 0  # fmt: skip
        hidden = len(self.shape.columns)

        def of(name: str) -> list[Any]:
            return [
                (event.kind, event.table.replace(name, ""), *(
                    {n: v for n, v in image.items() if n != clock and n <= hidden}
                    for image in (event.before, event.after)))
                for event in events
                if event.database == "hst" and event.table.startswith(name)
            ]  # fmt: skip

        mine, twin = of("mine"), of("twin")
        for number, (one, other) in enumerate(zip(mine, twin, strict=False)):
            assert one == other, f"event {number}: {one} {other} {story}"
        assert len(mine) == len(twin), story


@pytest.fixture(scope="module", params=["0", "1", "2"], ids="lock_mode_{}".format)
def server(data_root: Path, watch: Any, request: pytest.FixtureRequest) -> Iterator[ServerInstance]:
    # On a busy machine a slow write would be executed again aside, and draw a second number.
    settings = {**LOGGING, "handlersocket_row_wait": 0}
    settings["innodb_autoinc_lock_mode"] = int(request.param)
    if ON_MYSQL:
        settings["information_schema_stats_expiry"] = 0
    with running_server(data_root, watch, **settings) as instance:
        yield instance


def test_random_tables(server: ServerInstance) -> None:
    given = os.environ.get("UPSERT_SEED") or os.environ.get("HS_SEED")
    seed = int(given or random.SystemRandom().randrange(1 << 32))
    outcomes: dict[str, int] = {}
    made = 0
    # In place of a table that the server cannot make, another one is made.
    for number in range(3 * TABLES):
        if made == TABLES:
            break
        rng = random.Random(f"{seed}/{number}")
        twins = Twins(server, rng, _shape(rng))
        if why := twins.make():
            outcomes[f"no table: {why[:60]}"] = outcomes.get(f"no table: {why[:60]}", 0) + 1
            continue
        made += 1
        try:
            twins.compare(outcomes)
        except AssertionError:
            print(f"seed {seed}/{number}\n{twins.story()}")
            raise
        twins.sql.close()
    print(outcomes)
    assert made == TABLES, outcomes
    assert outcomes["ok"] > made * REQUESTS // 6 and outcomes["121"] > 0, outcomes
