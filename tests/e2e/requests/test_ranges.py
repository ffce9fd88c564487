"""Ranges with two ends on the server's tables, over random rows and every kind of index.

HandlerSocket's protocol has no words for them. So they are asked for by the line protocol, as
src/passes/test_line_range.h describes it. What SQL answers is right.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, free_port
from support.database import Sql, SqlRow
from support.servers import ON_MYSQL
from support_line_port import build_plugin, say
from support_servers import fresh_session, running_server

Value = str | None


@dataclass(frozen=True)
class Part:
    column: str
    type: str
    values: tuple[Value, ...]
    prefix: int = 0
    descends: bool = False
    #: The column is computed from the first one.
    generated: str = ""
    #: There is no such column: the index has the expression.
    is_expression: bool = False

    def key_sql(self) -> str:
        length = f"({self.prefix})" if self.prefix else ""
        return f"{self.column}{length}{' DESC' if self.descends else ''}"

    def order(self, *, up: bool) -> str:
        held = f"LEFT({self.column}, {self.prefix})" if self.prefix else self.column
        return f"{held} {'ASC' if up else 'DESC'}"


NUMBERS = ("-3", "0", "1", "1", "2", "5", "9", None)
WORDS = (
    "",
    "a",
    "A",
    "ab",
    "abc",
    "ABD",
    "abc ",
    "b",
    "bcd",
    "bce",
    "é",
    "zz",
    "a%c",
    "a_",
    None,
)
#: With characters that take two words of UTF-16.
WIDE_WORDS = (*WORDS, "a𝄞", "𝄞")
PREFIXES = (
    "",
    "a",
    "A",
    "ab",
    "aB",
    "abc",
    "abc ",
    "abcd",
    "b",
    "E",
    "é",
    "z",
    "zzz",
    "%",
    "a%",
    "a_",
)


def number(column: str, **options: Any) -> Part:
    return Part(column, "INT", NUMBERS, **options)


def text(column: str, definition: str, **options: Any) -> Part:
    return Part(column, definition, WORDS, **options)


def wide_text(column: str, definition: str, **options: Any) -> Part:
    return Part(column, definition, WIDE_WORDS, **options)


NO_PAD = "utf8mb4_0900_ai_ci" if ON_MYSQL else "utf8mb4_nopad_bin"
UTF8 = "CHARACTER SET utf8mb4"
TEXT = f"VARCHAR(20) {UTF8} COLLATE utf8mb4_general_ci"
DATES = ("2024-01-01 00:00:00", "2024-01-02 10:00:00", "2024-03-01 00:00:00", "1999-01-01 00:00:00")

#: The parts of the index, and the table's options.
LAYOUTS: dict[str, tuple[tuple[Part, ...], str]] = {
    "integers": ((number("a"), number("b")), ""),
    "descending": ((number("a"), number("b", descends=True)), ""),
    "first descends": ((number("a", descends=True), number("b")), ""),
    "both descend": ((number("a", descends=True), number("b", descends=True)), ""),
    "text": ((number("a"), text("b", TEXT)), ""),
    "text first": ((wide_text("a", TEXT), number("b")), ""),
    "descending text": ((text("a", TEXT, descends=True), number("b")), ""),
    "prefix": ((number("a"), text("b", TEXT, prefix=2)), ""),
    "prefix of TEXT": ((text("a", f"TEXT {UTF8} COLLATE utf8mb4_general_ci", prefix=2),), ""),
    "prefix first": ((text("a", TEXT, prefix=2), number("b")), ""),
    "binary": ((number("a"), text("b", "VARBINARY(20)")), ""),
    "without padding": ((wide_text("a", f"VARCHAR(20) {UTF8} COLLATE {NO_PAD}"), number("b")), ""),
    "char": ((number("a"), text("b", f"CHAR(20) {UTF8} COLLATE utf8mb4_general_ci")), ""),
    "latin1": ((text("a", "VARCHAR(20) CHARACTER SET latin1"), number("b")), ""),
    "ucs2": ((number("a"), text("b", "VARCHAR(20) CHARACTER SET ucs2", descends=True)), ""),
    "unicode": (
        (wide_text("a", f"VARCHAR(20) {UTF8} COLLATE utf8mb4_unicode_ci"), number("b")),
        "",
    ),
    "gbk": ((text("a", "VARCHAR(20) CHARACTER SET gbk"), number("b")), ""),
    "numbers of characters": (
        (wide_text("a", f"VARCHAR(20) {UTF8} COLLATE utf8mb4_bin", descends=True), number("b")),
        "",
    ),
    "numbers of characters in two words": (
        (number("a"), wide_text("b", "CHAR(20) CHARACTER SET utf16 COLLATE utf16_bin")),
        "",
    ),
    "blob": ((number("a"), text("b", "BLOB", prefix=2)), ""),
    "times": ((number("a"), Part("b", "DATETIME", (*DATES, None), descends=True)), ""),
    "decimals": ((number("a"), Part("b", "DECIMAL(6,2)", ("-1.5", "0", "1.25", "7", None))), ""),
    "computed": (
        (number("a"), Part("b", "INT AS (a * 2 % 7) VIRTUAL", NUMBERS, generated="a")),
        "",
    ),
    "partitions": ((number("a"), number("b")), "PARTITION BY HASH (id) PARTITIONS 3"),
    "MyISAM": ((number("a"), text("b", TEXT)), "ENGINE=MyISAM"),
    "MEMORY": ((number("a"), number("b")), "ENGINE=MEMORY"),
}
if ON_MYSQL:
    LAYOUTS["functional"] = (
        (number("a"), number("(a * 2 % 7)", generated="a", is_expression=True)),
        "",
    )
    LAYOUTS["functional and descending"] = (
        (number("(1 - a)", generated="a", is_expression=True, descends=True), number("a")),
        "",
    )
else:
    LAYOUTS["Aria"] = ((number("a"), text("b", TEXT)), "ENGINE=Aria")
    LAYOUTS["versioned"] = ((number("a"), number("b")), "WITH SYSTEM VERSIONING")


@dataclass(frozen=True)
class End:
    values: tuple[Value, ...]
    is_open: bool
    #: A lower end: the text with which the rows begin.
    begins: bool = False


@dataclass(frozen=True)
class Range:
    up: bool
    limit: int
    key: tuple[Value, ...]
    lower: End | None
    upper: End | None
    #: The key part of an IN and its values.
    in_part: int = 0
    in_values: tuple[Value, ...] = ()

    def line(self) -> str:
        ends = [_end_line(self.lower), _end_line(self.upper)]
        words = ["range", "up" if self.up else "down", str(self.limit), _values_line(self.key)]
        in_words = [str(self.in_part), _values_line(self.in_values)] if self.in_values else []
        return " ".join([*words, *ends, *in_words])

    def of_each_value(self) -> list[Range]:
        """The ranges of which this one consists: that of each value of IN."""
        if not self.in_values:
            return [self]
        keys = [list(self.key) for _ in dict.fromkeys(self.in_values)]
        for key, value in zip(keys, dict.fromkeys(self.in_values), strict=True):
            key[self.in_part] = value
        return [replace(self, key=tuple(key), in_values=()) for key in keys]


def _values_line(values: Sequence[Value]) -> str:
    written = ["~" if value is None else "x" + value.encode().hex() for value in values]
    return ",".join(written) or "-"


def _end_line(end: End | None) -> str:
    if end is None:
        return "-"
    return ("^" if end.begins else "(" if end.is_open else "[") + _values_line(end.values)


def _same(column: str, value: Value) -> str:
    return f"{column} IS NULL" if value is None else f"{column} = '{value}'"


def _beyond(column: str, value: Value, *, above: bool) -> str:
    """The rows whose place is above (or below) the value's."""
    if value is None:
        return f"{column} IS NOT NULL" if above else "FALSE"
    if above:
        return f"{column} > '{value}'"
    return f"({column} < '{value}' OR {column} IS NULL)"


def _begins(column: str, value: Value) -> str:
    if value is None:
        return "FALSE"
    pattern = "".join("|" + one if one in "|%_" else one for one in value)
    return f"{column} LIKE '{pattern}%' ESCAPE '|'"


def condition(parts: Sequence[Part], request: Range) -> str:
    terms = [_same(part.column, value) for part, value in zip(parts, request.key, strict=False)]
    rest = parts[len(request.key) :]
    for end, above in ((request.lower, True), (request.upper, False)):
        if end is None:
            continue
        if end.begins:
            terms.append(_begins(rest[0].column, end.values[0]))
            continue
        ways = []
        equal: list[str] = []
        for part, value in zip(rest, end.values, strict=False):
            turned = part.descends != rest[0].descends
            ways.append([*equal, _beyond(part.column, value, above=above != turned)])
            equal.append(_same(part.column, value))
        if not end.is_open:
            ways.append(equal)
        terms.append("(" + " OR ".join("(" + " AND ".join(way) + ")" for way in ways) + ")")
    if request.upper is not None and request.lower is None:
        terms.append(f"{rest[0].column} IS NOT NULL")
    return " AND ".join(terms) or "TRUE"


def order(parts: Sequence[Part], request: Range) -> str:
    rest = parts[len(request.key) :]
    return ", ".join(
        part.order(up=request.up != (part.descends != rest[0].descends)) for part in rest
    )


def ends(rng: random.Random, parts: Sequence[Part]) -> End | None:
    if rng.random() < 0.25 or not parts:
        return None
    values = [rng.choice(parts[0].values)]
    # Behind the beginning of a value, an index orders equal beginnings and not equal values.
    if len(parts) > 1 and not parts[0].prefix and rng.random() < 0.3:
        values.append(rng.choice([value for value in parts[1].values if value is not None]))
    return End(tuple(values), rng.random() < 0.5)


def requests(rng: random.Random, parts: Sequence[Part], count: int) -> list[Range]:
    made = []
    for _ in range(count):
        keyed = rng.randint(0, len(parts))
        key = tuple(rng.choice(part.values) for part in parts[:keyed])
        rest = parts[keyed:]
        limit = rng.choice([1000, 1000, 3])
        lower, upper = ends(rng, rest), ends(rng, rest)
        if rest and rest[0].values in (WORDS, WIDE_WORDS) and rng.random() < 0.4:
            lower, upper = End((rng.choice(PREFIXES),), is_open=False, begins=True), None
        made.append(Range(rng.random() < 0.5, limit, key, lower, upper))
        part = rng.randrange(keyed) if keyed else 0
        # Of texts the collation decides which are the same.
        if keyed and parts[part].values is NUMBERS and rng.random() < 0.3:
            values = tuple(rng.choice(NUMBERS) for _ in range(rng.randint(1, 4)))
            made[-1] = replace(made[-1], in_part=part, in_values=values)
    return made


@pytest.fixture(scope="module")
def line_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(data_root: Path, line_port: int, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_line_port": line_port}
    with running_server(data_root, watch, plugin_dir=build_plugin(), **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "hst") as session:
        yield session


def found(port: int, lines: Sequence[str]) -> list[list[str]]:
    """The ids that each request finds."""
    replies = say(port, "".join(line + "\n" for line in lines)).split("END\n")
    assert replies.pop() == ""
    return [[line.split(" ", 2)[2] for line in reply.splitlines()] for reply in replies]


def fill(sql: Sql, rng: random.Random, parts: Sequence[Part], options: str) -> None:
    columns = ", ".join(f"{part.column} {part.type}" for part in parts if not part.is_expression)
    key = ", ".join(part.key_sql() for part in parts)
    using = " USING BTREE" if "MEMORY" in options else ""
    sql.run(
        "DROP TABLE IF EXISTS ranges",
        f"CREATE TABLE ranges (id INT PRIMARY KEY, {columns}, KEY r ({key}){using}) {options}",
    )
    given = [part for part in parts if not part.generated]
    names = ", ".join(["id", *(part.column for part in given)])
    marks = ", ".join(["%s"] * (len(given) + 1))
    for number_of_row in range(120):
        row = [number_of_row, *(rng.choice(part.values) for part in given)]
        sql.rows(f"INSERT INTO ranges ({names}) VALUES ({marks})", row)
    if "VERSIONING" in options:
        sql.run("UPDATE ranges SET b = 3 WHERE id % 11 = 5", "UPDATE ranges SET a = 9 WHERE b = 3")
    if "MyISAM" in options or "Aria" in options or "VERSIONING" in options:
        sql.run("DELETE FROM ranges WHERE id % 17 = 3")


def rows_by_rank(sql: Sql, parts: Sequence[Part], request: Range) -> list[SqlRow]:
    """What SQL answers without the index: the rows' ids, and their places in the order.

    Some may be equal. By the index SQL does not find all texts that begin with another one.
    """
    by = order(parts, request) or "id - id"
    return sql.rows(
        f"SELECT id, DENSE_RANK() OVER (ORDER BY {by}) FROM ranges IGNORE INDEX (r)"
        f" WHERE {condition(parts, request)} ORDER BY 2"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sql_finds_the_same_rows(sql: Sql, line_port: int, layout: str) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    rng = random.Random(seed)
    parts, options = LAYOUTS[layout]
    fill(sql, rng, parts, options)
    asked = requests(rng, parts, 150)
    answers = found(line_port, [request.line() for request in asked])
    assert len(answers) == len(asked)
    counts = say(line_port, "".join(f"count{request.line()[5:]}\n" for request in asked))
    assert counts == "".join(f"COUNT {len(answer)}\n" for answer in answers), f"seed {seed}"
    for request, answer in zip(asked, answers, strict=True):
        rows = [
            (str(int(row[0] or b"")), (number_of_value, int(row[1] or b"")))
            for number_of_value, one in enumerate(request.of_each_value())
            for row in rows_by_rank(sql, parts, one)
        ]
        ranks = dict(rows)
        told = f"seed {seed}: {request} with {condition(parts, request)}"
        assert len(set(answer)) == len(answer), told
        assert set(answer) <= ranks.keys(), told
        expected = [rank for _, rank in rows][: request.limit]
        assert [ranks[row] for row in answer] == expected, told


def test_ranges_of_a_hash_index_are_refused(sql: Sql, line_port: int) -> None:
    sql.run("CREATE TABLE ranges (id INT PRIMARY KEY, a INT, KEY r (a) USING HASH) ENGINE=MEMORY")
    assert say(line_port, "range up 5 - - -\nrange up 5 - [x31 -\n") == "ERROR 131\n" * 2


def test_too_many_values_are_refused(sql: Sql, line_port: int) -> None:
    sql.run("CREATE TABLE ranges (id INT PRIMARY KEY, a INT, KEY r (a))")
    assert say(line_port, "range up 5 x31 [x31 -\nrange up 5 - [x31,x31 -\n").count("ERROR") == 2


def test_each_value_of_in_has_the_range(sql: Sql, line_port: int) -> None:
    sql.run(
        "CREATE TABLE ranges (id INT PRIMARY KEY, a INT, b INT, KEY r (a, b))",
        "INSERT INTO ranges VALUES (1,1,1),(2,1,2),(3,1,3),(4,2,1),(5,2,2),(6,2,NULL),(7,3,2)",
    )
    line = "range down 9 x31 - [x32 0 x32,x31,x32"
    assert found(line_port, [line]) == [["5", "4", "2", "1"]]


def test_a_long_count_is_aside_and_counts_all(sql: Sql, line_port: int) -> None:
    values = ",".join(f"({number}, {number % 7}, 1)" for number in range(50_000))
    sql.run(
        "CREATE TABLE ranges (id INT PRIMARY KEY, a INT, b INT, KEY r (a, b))",
        f"INSERT INTO ranges VALUES {values}",
    )
    before = sql.status("handlersocket_long_finds")
    asked = ["count up 99999 - - -", "count down 99999 x30 - -", "count up 1 - - [x32"]
    expected = [50_000, sum(number % 7 == 0 for number in range(50_000)), 1]
    replies = say(line_port, "".join(line + "\n" for line in asked))
    assert replies == "".join(f"COUNT {rows}\n" for rows in expected)
    assert sql.status("handlersocket_long_finds") == before + 2


def test_a_long_range_is_streamed_and_ends_where_it_must(sql: Sql, line_port: int) -> None:
    value = ",".join(f"({number}, {number % 7}, {number})" for number in range(20_000))
    sql.run(
        "CREATE TABLE ranges (id INT PRIMARY KEY, a INT, b INT, KEY r (a, b))",
        f"INSERT INTO ranges VALUES {value}",
    )
    before = sql.status("handlersocket_long_finds")
    (answer,) = found(line_port, [f"range down 99999 - [x31 (x{b'6'.hex()}"])
    assert sql.status("handlersocket_long_finds") == before + 1
    expected = sql.rows("SELECT id FROM ranges WHERE a >= 1 AND a < 6 ORDER BY a DESC, b DESC")
    assert answer == [str(int(row[0] or b"")) for row in expected]


BINARY_COLLATIONS = ["latin1_bin", "cp850_bin", "utf8mb4_bin", "utf8mb3_bin", "ucs2_bin", "gbk_bin"]


@pytest.mark.parametrize("type_of", ["VARCHAR(8)", "CHAR(8)", "VARBINARY(8)", "TEXT"])
@pytest.mark.parametrize("direction", ["", " DESC"])
@pytest.mark.parametrize("collation", [*BINARY_COLLATIONS, "latin1_swedish_ci"])
def test_what_is_below_a_blank_may_follow_a_prefix(
    sql: Sql, line_port: int, collation: str, direction: str, type_of: str
) -> None:
    """Where a collation fills texts with blanks, 'a' and a control character is less than 'a'."""
    column = f"{type_of} CHARACTER SET {collation.partition('_')[0]} COLLATE {collation}"
    if type_of == "VARBINARY(8)":
        column = type_of
    part = "a(4)" if type_of == "TEXT" else "a"
    sql.run(
        f"CREATE TABLE ranges (id INT PRIMARY KEY, a {column}, KEY r ({part}{direction}))",
        "INSERT INTO ranges VALUES (1,'a'),(2,'a\\0'),(3,CONCAT('a',CHAR(1))),(4,'a '),(5,'a!'),"
        "(6,CONCAT('a',CHAR(1),CHAR(1))),(7,'b'),(8,CHAR(1)),(9,''),(10,'aa')",
    )
    expected = sql.rows("SELECT id FROM ranges IGNORE INDEX (r) WHERE a LIKE 'a%'")
    for way in ("up", "down"):
        (answer,) = found(line_port, [f"range {way} 99 - ^x61 -"])
        assert sorted(answer) == sorted(str(int(row[0] or b"")) for row in expected)
