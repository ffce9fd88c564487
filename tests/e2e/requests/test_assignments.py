"""What assignments make of a column: `assign` of the tests' line protocol, beside SQL on a twin.

The in-memory store is held to the same by src/store/memory_assign_test.cc.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymysql.err import Error as SqlError
from server_instance import ServerInstance, free_port
from support.database import Sql
from support_binlog import RowEvent, begin_log, row_events
from support_line_port import build_plugin, say
from support_servers import LOGGING, fresh_session, running_server

COLUMNS = ["id", "n", "u", "d", "f", "s", "b", "at_now", "day", "doubled", "bits"]
TABLE = (
    "CREATE TABLE {} (id INT PRIMARY KEY, n INT DEFAULT 7, u BIGINT UNSIGNED NOT NULL DEFAULT 3,"
    " d DECIMAL(8, 2), f DOUBLE, s VARCHAR(12) CHARACTER SET latin1 COLLATE latin1_swedish_ci,"
    " b BLOB, at_now DATETIME DEFAULT CURRENT_TIMESTAMP, day DATE,"
    " doubled BIGINT AS (n * 2) VIRTUAL, bits TINYINT UNSIGNED)"
)
LOG = (
    "CREATE TABLE {0}_log (old_n INT, new_n INT)",
    "CREATE TRIGGER {0}_before BEFORE UPDATE ON {0} FOR EACH ROW SET NEW.f = NEW.f + 1",
    "CREATE TRIGGER {0}_after AFTER UPDATE ON {0} FOR EACH ROW"
    " INSERT INTO {0}_log VALUES (OLD.n, NEW.n)",
)
ROW = (
    "INSERT INTO {} (id, n, u, d, f, s, b, at_now, day, bits) VALUES"
    " (1, 10, 20, 1.50, 2.5, 'abc', 'xyz', '2001-02-03 04:05:06', '2001-02-03', 12),"
    " (2, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
)
NUMBERS = ["0", "1", "5", "-3", "2147483647", "0.25", "18446744073709551615"]
# Of each column: the values that its kinds are tried with.
VALUES = {
    "n": NUMBERS,
    "u": NUMBERS,
    "d": NUMBERS,
    "f": [*NUMBERS, "1e3"],
    "s": ["", "b", "ABC", "zz", "0123456789", "\u00e4"],
    "b": ["", "a", "zz"],
    "at_now": ["2000-01-01 00:00:00", "2002-01-01 00:00:00"],
    "day": ["2000-01-01", "2002-01-01"],
    "bits": ["3", "10", "255", "1000"],
}
ARITHMETIC = ["n", "u", "d", "f", "bits"]
KINDS = {
    "set": list(VALUES),
    "default": ["n", "u", "at_now", "s", "doubled"],
    "now": ["at_now", "day"],
    "add": ARITHMETIC,
    "subtract": ARITHMETIC,
    "append": ["s", "b"],
    "prepend": ["s", "b"],
    "at_least": list(VALUES),
    "at_most": list(VALUES),
    "and": ["n", "u", "bits"],
    "or": ["n", "u", "bits"],
    "xor": ["n", "u", "bits"],
}


@pytest.fixture(scope="module")
def line_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(data_root: Path, line_port: int, watch: Any) -> Iterator[ServerInstance]:
    settings = {**LOGGING, "handlersocket_threads_wr": 1, "handlersocket_line_port": line_port}
    with running_server(data_root, watch, plugin_dir=build_plugin(), **settings) as instance:
        yield instance


@pytest.fixture(params=[False, True], ids=["plain", "triggers"])
def sql(server: ServerInstance, request: pytest.FixtureRequest) -> Iterator[Sql]:
    statements = [TABLE, ROW] + (list(LOG) if request.param else [])
    both = [line.format(name) for name in ("assigned", "twin") for line in statements]
    with fresh_session(server, "hst", *both) as session:
        begin_log(session)
        yield session


def literal(column: str, value: str | None) -> str:
    if value is None:
        return "NULL"
    return value if column in ARITHMETIC else f"'{value}'"


def expression(column: str, kind: str, value: str | None, bounds: list[str | None]) -> str:
    """What SQL assigns. A NULL in the request leaves the column alone, unless it is set."""
    given = literal(column, value)
    if value is None and kind not in ("set", "default", "now"):
        return column
    if kind in ("add", "subtract"):
        # Bounds hold for the sum itself. SQL's sum of BIGINTs would be an error before that.
        term = f"CAST({column} AS DECIMAL(40, 2))" if bounds and column != "f" else column
        result = f"{term} {'+' if kind == 'add' else '-'} {given}"
        if bounds and bounds[0] is not None:
            result = f"GREATEST({result}, {bounds[0]})"
        if bounds and bounds[1] is not None:
            result = f"LEAST({result}, {bounds[1]})"
        return result
    return {
        "set": given,
        "default": "DEFAULT",
        "now": "NOW()",
        "append": f"CONCAT({column}, {given})",
        "prepend": f"CONCAT({given}, {column})",
        "at_least": f"IF({column} < {given}, {given}, {column})",
        "at_most": f"IF({column} > {given}, {given}, {column})",
        "and": f"{column} & {given}",
        "or": f"{column} | {given}",
        "xor": f"{column} ^ {given}",
    }[kind]


def random_assignment(rng: random.Random) -> tuple[str, str]:
    """The word of the line protocol, and what SQL sets."""
    kind = rng.choice(list(KINDS))
    column = rng.choice(KINDS[kind])
    value = None if rng.random() < 0.1 else rng.choice(VALUES.get(column, [""]))
    if kind in ("and", "or", "xor") and value is not None and "." in value:
        value = "6"
    bounds: list[str | None] = []
    if kind in ("add", "subtract") and value is not None and rng.random() < 0.4:
        bounds = [rng.choice([None, "0", "5"]), rng.choice([None, "15", "100"])]
    parts = [str(COLUMNS.index(column)), kind]
    if kind not in ("default", "now"):
        parts += ["~" if text is None else text.replace(" ", "_") for text in [value, *bounds]]
    return ":".join(parts), f"{column} = {expression(column, kind, value, bounds)}"


def shown(sql: Sql, table: str, key: int) -> str:
    now = "IF(at_now > '2020-01-01', 'now', at_now)"
    day = "IF(day > '2020-01-01', 'now', day)"
    columns = ", ".join({"at_now": now, "day": day}.get(name, name) for name in COLUMNS)
    (row,) = sql.rows(f"SELECT {columns} FROM {table} WHERE id = {key}")
    return ",".join("~" if value is None else value.decode("latin1") for value in row)


def without_clocks(events: list[RowEvent], table: str) -> list[tuple[Any, ...]]:
    """Those of a table. One that changes clocks alone is left out: the twin is changed in another
    second, perhaps in that in which it was changed before, and then SQL has nothing to log."""
    clocks = {COLUMNS.index("at_now") + 1, COLUMNS.index("day") + 1}
    kept = []
    for event in events:
        before, after = (
            {number: value for number, value in image.items() if number not in clocks}
            for image in (event.before, event.after)
        )
        if event.table.startswith(table) and (before != after or event.before == event.after):
            kept.append((event.kind, event.table.replace("twin", "assigned"), before, after))
    return kept


def test_random_assignments(server: ServerInstance, line_port: int, sql: Sql) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    outcomes: dict[str, int] = {}
    for _ in range(400):
        key = rng.choice([1, 1, 2])
        # A colon separates the words' parts, so moments are set by SQL alone.
        made = [random_assignment(rng) for _ in range(rng.randint(1, 3))]
        made = [one for one in made if "00:00" not in one[0]] or [("1:set:1", "n = 1")]
        statement = f"UPDATE twin SET {', '.join(part for _, part in made)} WHERE id = {key}"
        try:
            sql.run(statement)
            expected = "ok"
        except SqlError as error:
            expected = str(error.args[0])
        reply = say(line_port, f"assign {key} {' '.join(word for word, _ in made)}\n")
        got = "ok" if reply.startswith("ROW") else reply.strip().removeprefix("ERROR ")
        if expected in ("1264", "1690", "1406"):
            expected = "too much"
        outcomes[expected] = outcomes.get(expected, 0) + 1
        story = f"{made}: SQL {expected}, plugin {reply}"
        assert got == expected, story
        assert shown(sql, "assigned", key) == shown(sql, "twin", key), story
    assert outcomes["ok"] > 100 and outcomes["too much"] > 5, outcomes
    if sql.rows("SHOW TABLES LIKE 'twin_log'"):
        assert sql.rows("SELECT * FROM assigned_log") == sql.rows("SELECT * FROM twin_log")
    events = row_events(server, sql)
    assert without_clocks(events, "assigned") == without_clocks(events, "twin")


def test_rows_before_and_after(line_port: int, sql: Sql) -> None:
    reply = say(line_port, "assign 1 1:add:5\nassign 9 1:add:5\n")
    before, after, none = reply.splitlines()
    assert before.split(",")[1] == "10" and before.split(",")[9] == "20"
    assert after.split(",")[1] == "15" and after.split(",")[9] == "30", "virtual columns, too"
    assert none == "NONE"
