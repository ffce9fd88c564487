"""Random finds, counts, updates and deletes of Redis's clients, beside what SQL makes of them.

As many selections as HS_DIFF_CASES says are tried, from HS_SEED on, on tables of their own.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.resp import Error, Resp, Word, pairs
from support_redis import connect, redis_server
from support_servers import fresh_session

SEED = int(os.environ.get("HS_SEED", "1"))
CASES = int(os.environ.get("HS_DIFF_CASES", "120"))
ROWS = 60
NULL = "\x01null"
INDEXES = {
    "PRIMARY": ("id",),
    "ab": ("a", "b"),
    "ba": ("b", "a"),
    "c": ("c",),
    "acb": ("a", "c", "b"),
    "u": ("a", "u"),
}
TABLE = (
    "CREATE TABLE r (id INT PRIMARY KEY, a INT, b VARCHAR(9), c DECIMAL(5, 1), u INT NOT NULL,"
    " KEY ab (a, b), KEY ba (b, a), KEY c (c), KEY acb (a, c, b), UNIQUE KEY u (a, u))"
    " CHARSET utf8mb4 COLLATE utf8mb4_general_ci"
)
VALUES: dict[str, list[str | None]] = {
    "id": [str(number) for number in range(0, ROWS + 3, 3)],
    "a": [None, "0", "1", "2", "3", "-1"],
    "b": [None, "", "a", "A", "ab", "AB", "b", "zz"],
    "c": [None, "0.0", "1.5", "1.6", "-2.0", "99.0"],
    "u": [str(number) for number in range(0, ROWS + 3, 7)],
}
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


def literal(value: str | None) -> str:
    return "NULL" if value is None else f"'{value}'"


def holds(column: str, operator: str, value: str | None) -> str:
    """The condition as SQL says it: NULL is below every value, and equals NULL."""
    of = literal(value)
    match operator:
        case "=":
            return f"{column} <=> {of}"
        case "!=":
            return f"NOT ({column} <=> {of})"
        case ">":
            above = f"{column} IS NOT NULL" if value is None else f"{column} > {of}"
            return f"COALESCE({above}, 0)"
        case "<=":
            return f"NOT {holds(column, '>', value)}"
        case "<":
            below = "0" if value is None else f"{column} IS NULL OR {column} < {of}"
            return f"COALESCE({below}, 0)"
        case _:
            return f"NOT {holds(column, '<', value)}"


def word(value: str | None) -> str:
    return NULL if value is None else value


@dataclass
class Selection:
    """What is selected, as words and as SQL."""

    index: str
    words: list[Word] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)  # all of them hold
    in_part: str = ""
    in_values: list[str | None] = field(default_factory=list)
    down: bool = False
    filters: list[tuple[bool, str]] = field(default_factory=list)  # whether it ends the find
    offset: int = 0

    @property
    def table(self) -> str:
        return "r" if self.index == "PRIMARY" else f"r@{self.index}"

    def expected(self, sql: Sql) -> list[bytes]:
        columns = [*(f"{text} AS f{number}" for number, (_, text) in enumerate(self.filters))]
        way = " DESC" if self.down else ""
        order = ", ".join(f"{one}{way}" for one in (*INDEXES[self.index], "id"))
        ids: list[bytes] = []
        skipped = 0
        for condition in self._in_turn(sql):
            for row in sql.rows(
                f"SELECT {', '.join(['id', *columns])} FROM r WHERE"
                f" {' AND '.join(condition) or '1'} ORDER BY {order}"
            ):
                failed = [
                    ends
                    for (ends, _), value in zip(self.filters, row[1:], strict=True)
                    if value != b"1"
                ]
                if failed and failed[0]:
                    return ids
                if failed:
                    continue
                if skipped < self.offset:
                    skipped += 1
                    continue
                assert row[0] is not None
                ids.append(row[0])
        return ids

    def _in_turn(self, sql: Sql) -> Iterator[list[str]]:
        if not self.in_part:
            yield self.conditions
            return
        seen: list[str | None] = []
        for value in self.in_values:
            same = "utf8mb4_general_ci" if self.in_part == "b" else None
            key = value if value is None or same is None else value.lower()
            if key in seen:
                continue
            seen.append(key)
            yield [*self.conditions, holds(self.in_part, "=", value)]


def chosen(rng: random.Random) -> Selection:
    index = rng.choice(list(INDEXES))
    parts = INDEXES[index]
    one = Selection(index)
    fixed = rng.randint(0, len(parts))
    in_part = rng.choice(parts[:fixed]) if fixed and rng.random() < 0.3 else ""
    key: list[str | None] = []
    for part in parts[:fixed]:
        if part == in_part:
            continue
        key.append(rng.choice(VALUES[part]))
        one.conditions.append(holds(part, "=", key[-1]))
    options: list[list[Word]] = []
    if key:
        options.append(["KEY", len(key), *map(word, key)])
    if in_part:
        one.in_part = in_part
        one.in_values = [rng.choice(VALUES[in_part]) for _ in range(rng.randint(1, 5))]
        options.append(["IN", in_part, len(one.in_values), *map(word, one.in_values)])
    if fixed < len(parts) and rng.random() < 0.6:
        options += ends(rng, one, parts[fixed:])
    one.down = rng.random() < 0.4
    # Without a word for it, the rows of a key come as the index has them, which is up.
    if one.down or rng.random() < 0.5:
        options.append(["DESC" if one.down else "asc"])
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        column, operator = rng.choice(list(VALUES)), rng.choice(OPERATORS)
        value, stops = rng.choice(VALUES[column]), rng.random() < 0.2
        one.filters.append((stops, holds(column, operator, value)))
        options.append(["WHILE" if stops else "FILTER", column, operator, word(value)])
    if rng.random() < 0.2:
        one.offset = rng.randint(0, 5)
        options.append(["OFFSET", one.offset])
    # The filters keep their order.
    others = [option for option in options if option[0] not in ("FILTER", "WHILE")]
    rng.shuffle(others)
    filters = [option for option in options if option[0] in ("FILTER", "WHILE")]
    one.words = ["NULL", NULL, *(one_word for option in [*others, *filters] for one_word in option)]
    return one


def ends(rng: random.Random, one: Selection, parts: tuple[str, ...]) -> list[list[Word]]:
    column = parts[0]
    if column == "b" and rng.random() < 0.4:
        begin = rng.choice(["a", "A", "ab", "z", "q"])
        one.conditions.append(f"{column} LIKE '{begin}%'")
        return [["BEGINS", begin]]
    options: list[list[Word]] = []
    lower = rng.random() < 0.7
    for is_lower in (True, False):
        if is_lower != lower and rng.random() < 0.5:
            continue
        operator = rng.choice((">", ">=") if is_lower else ("<", "<="))
        value = rng.choice([value for value in VALUES[column] if value is not None])
        option: list[Word] = ["FROM" if is_lower else "TO", operator, value]
        condition = f"COALESCE({column} {operator} {literal(value)}, 0)"
        if len(parts) > 1 and rng.random() < 0.3:
            second = rng.choice([value for value in VALUES[parts[1]] if value is not None])
            option += ["THEN", second]
            strict = operator[0]
            condition = (
                f"(COALESCE({column} {strict} {literal(value)}, 0) OR {column} <=> {literal(value)}"
                f" AND {holds(parts[1], operator, second)})"
            )
        one.conditions.append(condition)
        options.append(option)
    if options and all(option[0] == "TO" for option in options):
        one.conditions.append(f"{column} IS NOT NULL")
    return options


def rows_of(rng: random.Random) -> str:
    rows = []
    for number in range(ROWS):
        values = [str(number), *(rng.choice(VALUES[one]) for one in ("a", "b", "c")), str(number)]
        rows.append("(" + ", ".join(map(literal, values)) + ")")
    return "INSERT INTO r VALUES " + ", ".join(rows)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_threads": 2, "handlersocket_default_database": "randomly"}
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "randomly", TABLE) as session:
        yield session


def find_ids(wire: Resp, one: Selection, limit: int) -> list[bytes]:
    ids: list[bytes] = []
    position: Word = "0"
    for _ in range(ROWS + 2):
        reply = wire.ask("HS.FIND", one.table, "FIELDS", 2, "id", "b", *one.words, "LIMIT", limit,
                         "AFTER", position)  # fmt: skip
        assert not isinstance(reply, Error), reply
        told = pairs(reply)
        ids += [pairs(row)[b"id"] for row in told[b"rows"]]
        if told[b"next"] is None:
            return ids
        position = told[b"next"]
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("protocol", [2, 3])
def test_finds_and_counts(server: ServerInstance, sql: Sql, protocol: int) -> None:
    with connect(server, protocol=protocol) as wire:
        for seed in range(SEED, SEED + CASES):
            rng = random.Random(seed)
            if seed % 10 == SEED % 10:
                sql.run("DELETE FROM r", rows_of(rng))
                table_of = seed
            for _ in range(10):
                one = chosen(rng)
                expected = one.expected(sql)
                told = (f"HS_SEED={table_of}, case {seed}", one)
                assert find_ids(wire, one, rng.choice((1, 2, 7, 100))) == expected, told
                assert wire.ask("HS.COUNT", one.table, *one.words) == len(expected), told


def test_changes(server: ServerInstance, sql: Sql) -> None:
    with connect(server) as wire:
        for seed in range(SEED, SEED + CASES):
            rng = random.Random(-seed)
            sql.run("DELETE FROM r", rows_of(rng))
            one = chosen(rng)
            limit = rng.choice((1, 3, 1000))
            expected = one.expected(sql)[:limit]
            ids = ", ".join(["-1", *(number.decode() for number in expected)])
            told = (f"HS_SEED={seed}", one)
            sql.run("DROP TABLE IF EXISTS twin", "CREATE TABLE twin SELECT * FROM r")
            words: tuple[Word, ...]
            if rng.random() < 0.5:
                value = rng.choice(VALUES["c"])
                sql.run(f"UPDATE twin SET c = {literal(value)}, b = 'new' WHERE id IN ({ids})")
                words = ("HS.UPDATE", one.table, "SET", 2, "c", word(value), "b", "new")
            else:
                sql.run(f"DELETE FROM twin WHERE id IN ({ids})")
                words = ("HS.DELETE", one.table)
            assert wire.ask(*words, *one.words, "LIMIT", limit) == len(expected), told
            assert sql.rows("SELECT * FROM r ORDER BY id") == sql.rows(
                "SELECT * FROM twin ORDER BY id"
            ), told
