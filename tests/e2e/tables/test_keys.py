"""How key values become places in an index: all small shapes of indexes, compared with SQL.

Whole columns and prefixes, ascending and descending, with NULL and without, one to three parts,
each comparison, each kind of value: finds, IN, limit and offset, and modifications.
support_key_shapes.py has the rule that combines SQL's answers for single values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import pytest
from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_key_shapes import (
    BROKEN,
    COLLATIONS,
    OPERATORS,
    Columns,
    Key,
    Model,
    Part,
    Probe,
    Shape,
    line,
)

# A collation that ignores a NUL, and for which blanks at the end count.
WEIGHTLESS_NUL = "utf8mb4_0900_ai_ci" if ON_MYSQL else "utf8mb4_unicode_nopad_ci"

# A server's limit for the indexes of a table is 64.
SHAPES_A_TABLE = 60
# How many requests may be unanswered: their replies fit into any buffer.
PIPELINE = 400
NO_LIMIT = 100_000


def either_way(parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield Part(part.column, part.prefix, not part.descends)


def shapes(columns: Columns) -> list[Shape]:
    """All of them, by number of parts."""
    directions = either_way if columns.descends else iter
    single = [
        *map(Part, "abstcvd"),
        *(Part(column, length) for column in "st" for length in (1, 2)),
        *(Part(column, 2) for column in "cvdxyzw"),
    ]
    pair = [Part("a"), Part("b"), Part("s"), Part("s", 1), Part("t", 1)]
    triple = [Part("a"), Part("t", 1)]
    several = [
        *(
            parts
            for parts in itertools.product(directions(pair), repeat=2)
            if parts[0].column != parts[1].column
        ),
        *itertools.product(
            directions(triple), directions([Part("b"), Part("s", 1)]), directions([Part("c", 2)])
        ),
    ]
    return [
        *(Shape((part,)) for part in directions(single)),
        *map(Shape, several[:: columns.one_in]),
    ]


def models(sql: Sql, columns: Columns) -> Iterator[Model]:
    every = shapes(columns)
    for number, begin in enumerate(range(0, len(every), SHAPES_A_TABLE)):
        model = Model(sql, columns, f"t{number}", every[begin : begin + SHAPES_A_TABLE])
        model.create()
        yield model


def ask(wire: Wire, requests: Sequence[bytes]) -> list[bytes]:
    replies = []
    for begin in range(0, len(requests), PIPELINE):
        some = requests[begin : begin + PIPELINE]
        wire.send(b"".join(some))
        replies += wire.lines(len(some))
    return replies


def rows_of(reply: bytes) -> list[int]:
    code, columns, *ids = reply.split(b"\t")
    assert (code, columns) == (b"0", b"1"), reply
    return list(map(int, ids))


def open_index(wire: Wire, database: Database, model: Model, number: int, column: str) -> None:
    opened = wire.ask(line("P", 1, database.name, model.table, f"k{number}", column))
    assert opened == b"0\t1"


class Differences:
    """Collects what was wrong, and reports it at the end."""

    def __init__(self) -> None:
        self.checked = 0
        self.found: list[str] = []

    def compare(self, what: object, got: object, expected: object) -> None:
        self.checked += 1
        if got != expected:
            self.found.append(f"{what}: {got}, SQL has {expected}")

    def none(self, at_least: int) -> None:
        shown = "\n".join(self.found[:40])
        assert not self.found, f"{len(self.found)} of {self.checked} differ:\n{shown}"
        assert self.checked >= at_least


TABLES = [pytest.param(columns, id=name) for name, columns in COLLATIONS.items()]


@pytest.mark.parametrize("columns", TABLES)
def test_every_key_of_every_shape(columns: Columns, sql: Sql, database: Database) -> None:
    differences = Differences()
    with database.wire() as wire:
        for model in models(sql, columns):
            for number, shape in enumerate(model.shapes):
                open_index(wire, database, model, number, "id")
                order = model.index_order(shape)
                finds = list(itertools.product(OPERATORS, model.keys(shape)))
                requests = [
                    line(1, op, len(key), *key, *bounds)
                    for op, key in finds
                    for bounds in ((NO_LIMIT, 0), (2, 1))
                ]
                replies = iter(ask(wire, requests))
                for op, key in finds:
                    expected = model.found(shape, order, op, key)
                    differences.compare((str(shape), op, key), rows_of(next(replies)), expected)
                    some = rows_of(next(replies))
                    differences.compare((str(shape), op, key, "2 1"), some, expected[1:3])
    differences.none(at_least=4_000)


@pytest.mark.parametrize("columns", TABLES)
def test_every_in_of_every_shape(columns: Columns, sql: Sql, database: Database) -> None:
    differences = Differences()
    with database.wire() as wire:
        for model in models(sql, columns):
            for number, shape in enumerate(model.shapes):
                open_index(wire, database, model, number, "id")
                order = model.index_order(shape)
                # The other operators are used in turn.
                operators = ("=", OPERATORS[1 + number % 4])
                finds = list(itertools.product(operators, model.in_lists(shape)))
                requests = [
                    line(1, op, len(key), *key, *bounds, "@", varied, len(values), *values)
                    for op, (key, varied, values) in finds
                    for bounds in ((NO_LIMIT, 0), (7, 2))
                ]
                replies = iter(ask(wire, requests))
                for op, (key, varied, values) in finds:
                    what = (str(shape), op, key, varied, values)
                    expected = model.found_in(shape, order, op, key, varied, values)
                    differences.compare(what, rows_of(next(replies)), expected)
                    differences.compare((what, "7 2"), rows_of(next(replies)), expected[2:9])
    differences.none(at_least=500)


# A row's column m is a sum that shows which requests have found it, and whether one found it twice.
REQUESTS_A_SUM = 30
BASE = 100


@pytest.mark.parametrize("columns", TABLES)
def test_modifications_meet_the_rows_that_finds_meet(
    columns: Columns, sql: Sql, database: Database
) -> None:
    """`+` with a different amount for each request, so that one SELECT shows everything."""
    differences = Differences()
    with database.wire(write=True) as wire:
        for model in models(sql, columns):
            for number, shape in enumerate(model.shapes):
                open_index(wire, database, model, number, "m")
                order = model.index_order(shape)
                wanted: list[tuple[str, Key, int, list[Probe]]] = [
                    (op, key, 0, []) for op in OPERATORS for key in model.keys(shape)
                ]
                wanted += [("=", *asked) for asked in model.in_lists(shape)]
                # One in so many, beginning at another place in each shape.
                some = wanted[number % 7 :: max(1, len(wanted) // REQUESTS_A_SUM)][:REQUESTS_A_SUM]
                expected = dict.fromkeys(model.ids, 0)
                requests = []
                counts = []
                for place, (op, key, varied, values) in enumerate(some):
                    in_ = ["@", varied, len(values), *values] if values else []
                    amount = BASE**place
                    requests.append(
                        line(1, op, len(key), *key, NO_LIMIT, 0, *in_, "+", str(amount))
                    )
                    met = (
                        model.found_in(shape, order, op, key, varied, values)
                        if values
                        else model.found(shape, order, op, key)
                    )
                    counts.append(b"0\t1\t%d" % len(met))
                    for row in met:
                        expected[row] += amount
                for reply, count, what in zip(ask(wire, requests), counts, some, strict=True):
                    differences.compare((str(shape), what), reply, count)
                sums = sql.rows(f"SELECT id, m FROM {model.table}")
                got = {int(row or 0): int(m or 0) for row, m in sums}
                differences.compare((str(shape), "sums"), got, expected)
                sql.run(f"UPDATE {model.table} SET m = 0")
    differences.none(at_least=500)


@pytest.mark.parametrize("columns", TABLES[:2])
def test_deletes_take_the_rows_that_finds_meet(
    columns: Columns, sql: Sql, database: Database
) -> None:
    differences = Differences()
    with database.wire(write=True) as wire:
        for model in models(sql, columns):
            sql.run(
                f"CREATE TABLE copy_of_{model.table} AS SELECT * FROM {model.table}",
                f"ALTER TABLE copy_of_{model.table} ADD PRIMARY KEY (id)",
            )
            for number, shape in enumerate(model.shapes):
                open_index(wire, database, model, number, "id")
                order = model.index_order(shape)
                keys = list(model.keys(shape))
                key = keys[(number * 5) % len(keys)]
                op = OPERATORS[1 + number % 4]
                expected = model.found(shape, order, op, key)[1:8]
                reply = wire.ask(line(1, op, len(key), *key, 7, 1, "D"))
                differences.compare((str(shape), op, key), reply, b"0\t1\t%d" % len(expected))
                left = [int(row or 0) for (row,) in sql.rows(f"SELECT id FROM {model.table}")]
                differences.compare(
                    (str(shape), op, key, "left"),
                    sorted(left),
                    sorted(set(model.ids) - set(expected)),
                )
                sql.run(
                    f"INSERT INTO {model.table} SELECT * FROM copy_of_{model.table} c"
                    f" WHERE NOT EXISTS (SELECT 1 FROM {model.table} t WHERE t.id = c.id)"
                )
    differences.none(at_least=100)


def test_a_value_that_is_no_text_after_a_find_of_other_columns(
    make_server: Callable[..., ServerInstance], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record contains old bytes: here from InnoDB's memory for rows that it has read ahead.

    InnoDB copies a row up to the last column that is read, including the columns before it.
    """
    monkeypatch.setenv("MALLOC_PERTURB_", "165")
    database = Database(make_server(), "test")
    database.sql.run(
        "CREATE TABLE p (id INT PRIMARY KEY, t TEXT, b BLOB, e ENUM('one', 'two'),"
        " KEY by_t (t(3)), KEY by_n (id, t(3)))",
        "INSERT INTO p SELECT seq, REPEAT('x', 200), REPEAT('y', 300), 1 + seq % 2"
        " FROM seq_1_to_1000",
    )
    with database.wire() as wire:
        for number, index, filtered in ((1, "PRIMARY", ""), (2, "by_t", "t"), (3, "by_n", "t,b")):
            opened = line("P", number, "test", "p", index, "id" if number > 1 else "e", filtered)
            assert wire.ask(opened) == b"0\t1"
        for broken in (b"\xff", BROKEN, b"\xff" * 300):
            for op in OPERATORS:
                for request in (line(2, op, 1, broken), line(3, op, 2, 1, broken)):
                    # In one pass, and in a separate pass.
                    wire.send(line(1, "<=", 1, 50, 1000) + request)
                    assert wire.lines(2)[1] == b"0\t1"
                    assert wire.ask(request) == b"0\t1"
            in_ = ("@", 0, 3, broken, "x", broken)
            assert wire.ask(line(2, "=", 1, "", 9, 0, *in_)) == b"0\t1"
            assert wire.ask(line(2, ">", 1, "", 9, 0, "F", "=", 0, broken)) == b"0\t1"
    database.close()


def test_text_that_a_column_cannot_hold_is_no_other_text(sql: Sql, database: Database) -> None:
    charsets = ("latin1", "ascii", "ucs2", "utf8mb3", "utf8mb4", "utf16", "utf32", "sjis")
    with database.wire() as wire:
        for charset in charsets:
            sql.run(
                f"CREATE TABLE {charset}_ (id INT PRIMARY KEY, s VARCHAR(9), e ENUM('a', 'b'),"
                f" KEY (s), KEY (e)) CHARACTER SET {charset}",
                f"INSERT INTO {charset}_ VALUES (1, 'a', 'a'), (2, '', 'b'), (3, 'a?', 'a')",
            )
            for index in ("s", "e"):
                opened = wire.ask(line("P", 1, database.name, f"{charset}_", index, "id", "s,e"))
                assert opened == b"0\t1"
                for broken in (
                    b"a\xff",
                    b"\xff",
                    b"a\xe6\x97",
                    b"a\xf0\x9f\x98",
                    b"a\xc3",
                    b"a\x80",
                ):
                    for op in OPERATORS:
                        found = wire.ask(line(1, op, 1, broken, 9))
                        assert found == b"0\t1", (charset, index, op, broken)
                    for column in (0, 1):
                        filtered = line(1, ">=", 1, None, 9, 0, "F", "=", column, broken)
                        assert wire.ask(filtered) == b"0\t1", (charset, index, column, broken)


def test_text_longer_than_its_column(sql: Sql, database: Database) -> None:
    """It is searched by its beginning. If ß equals ss, the beginning is on the wrong side of a row.

    The find has to give the same rows as SQL's own search of the index.
    """
    sql.run(
        "CREATE TABLE l (id INT PRIMARY KEY, c CHAR(1), v VARCHAR(1), n INT, KEY by_c (c),"
        " UNIQUE KEY by_v (v), KEY by_nc (n, c), KEY by_vn (v, n)) CHARACTER SET utf8mb4"
        " COLLATE utf8mb4_unicode_ci",
        "INSERT INTO l SELECT seq, NULLIF(SUBSTR('astzß-i', seq, 1), '-'),"
        " NULLIF(SUBSTR('astzß-i', seq, 1), '-'), 7 FROM seq_1_to_7",
    )
    with database.wire() as wire:
        for index, column in (("by_c", "c"), ("by_v", "v"), ("by_nc", "c"), ("by_vn", "v")):
            # With columns of the index only, and with other columns.
            for number, columns in ((1, "id"), (2, "id,n")):
                opened = line("P", number, database.name, "l", index, columns)
                assert wire.ask(opened) == b"0\t1"
            before = (7,) if index == "by_nc" else ()
            for asked in ("ss", "sss", "sa", "st", "ßa", "ßs", "s ", "ß ", "zz", "aa"):
                for op in OPERATORS:
                    order = f"{column} DESC" if op[0] == "<" else column
                    rows = sql.rows(
                        f"SELECT id FROM l FORCE INDEX ({index}) WHERE n = 7 AND ({column} {op} %s"
                        f" OR ({column} IS NULL AND {op[0] == '<'})) ORDER BY {order}",
                        [asked],
                    )
                    expected = [int(row[0] or 0) for row in rows]
                    for number in (1, 2):
                        reply = wire.ask(line(number, op, len(before) + 1, *before, asked, 99))
                        found = [int(value) for value in reply.split(b"\t")[2::number]]
                        assert found == expected, (index, number, op, asked)
    with database.wire(write=True) as wire:
        assert wire.ask(line("P", 1, database.name, "l", "by_c", "n")) == b"0\t1"
        assert wire.ask(line(1, ">", 1, "ssss", 99, 0, "U", 8)) == b"0\t1\t2"
        in_ = ("@", 0, 4, "ß", "ssss", "ß ", "zz")
        assert wire.ask(line(1, "=", 1, "", 99, 0, *in_, "U", 9)) == b"0\t1\t1"
    changed = sql.rows("SELECT id, n FROM l WHERE n <> 7 ORDER BY id")
    assert changed == [(b"3", b"8"), (b"4", b"8"), (b"5", b"9")]


@pytest.mark.parametrize("collation", ["utf8mb4_bin", "utf8mb4_general_ci"])
def test_what_is_cut_off_is_below_a_blank(sql: Sql, database: Database, collation: str) -> None:
    sql.run(
        f"CREATE TABLE b (id INT PRIMARY KEY, c CHAR(1) COLLATE {collation}, v VARBINARY(1),"
        " KEY c (c), KEY v (v)) CHARACTER SET utf8mb4",
        "INSERT INTO b VALUES (1, 'a', 'a'), (2, 'b', 'b')",
    )
    asked_for = ("a\0", "a\0b", "a\t", "a  ", "ab", "b\n", "\t")
    with database.wire() as wire:
        for column, asked, op in itertools.product("cv", asked_for, OPERATORS):
            assert wire.ask(line("P", 1, database.name, "b", column, "id")) == b"0\t1"
            rows = sql.rows(
                f"SELECT id FROM b IGNORE INDEX (c, v) WHERE {column} {op} %s"
                f" ORDER BY id {'DESC' if op[0] == '<' else 'ASC'}",
                [asked],
            )
            expected = [int(row[0] or 0) for row in rows]
            assert rows_of(wire.ask(line(1, op, 1, asked, 9))) == expected, (column, op, asked)


def test_values_of_in_are_the_same_as_the_collation_says(sql: Sql, database: Database) -> None:
    """Also if they are longer than the index's prefix, and longer than any buffer."""
    long = "ﷺ" * 200  # 18 weights each
    words = ["Straße", "strasse", "STRASSE", "strass", long, long + "a", long + "A", "x" * 70_000]
    sql.run(
        "CREATE TABLE c (id INT PRIMARY KEY, s LONGTEXT CHARACTER SET utf8mb4"
        " COLLATE utf8mb4_unicode_ci, KEY by_s (s(3)))"
    )
    with sql.connection.cursor() as cursor:
        cursor.executemany("INSERT INTO c VALUES (%s, %s)", list(enumerate(words, 1)))
    with database.wire() as wire:
        assert wire.ask(line("P", 1, database.name, "c", "by_s", "id")) == b"0\t1"
        asked = [*words, *words[::-1]]
        reply = wire.ask(line(1, "=", 1, "", 99, 0, "@", 0, len(asked), *asked))
        found = rows_of(reply)
        assert len(found) == len(set(found)), found
        expected = [int(row[0] or 0) for row in sql.rows("SELECT id FROM c ORDER BY id")]
        assert sorted(found) == expected


def test_values_of_in_with_other_beginnings_are_searched_each(sql: Sql, database: Database) -> None:
    """ß is ss, but an index on the first letter has it in another place."""
    sql.run(
        "CREATE TABLE p (id INT PRIMARY KEY, s TINYTEXT CHARACTER SET utf8mb4"
        " COLLATE utf8mb4_unicode_520_ci, KEY by_s (s(1)))",
        "INSERT INTO p VALUES (1, 'ss'), (2, 'ß')",
    )
    with database.wire() as wire:
        assert wire.ask(line("P", 1, database.name, "p", "by_s", "id")) == b"0\t1"
        for asked, found in (
            (("ß ", "ss"), [2, 1]),
            (("ss", "ß", "SS"), [1, 2]),
            (("ß", "ß"), [2]),
        ):
            reply = wire.ask(line(1, "=", 1, "", 9, 0, "@", 0, len(asked), *asked))
            assert rows_of(reply) == found, asked


@pytest.mark.parametrize("collation", ["utf8mb4_unicode_ci", WEIGHTLESS_NUL])
def test_values_of_in_that_are_the_same_though_one_is_cut(
    sql: Sql, database: Database, collation: str
) -> None:
    """These collations ignore a NUL, so 'a' and a longer text may be the same."""
    sql.run(
        f"CREATE TABLE p (id INT PRIMARY KEY, c CHAR(2) COLLATE {collation}, v VARCHAR(2) COLLATE"
        f" {collation}, KEY by_c (c), KEY by_v (v), KEY by_cc (c(1))) CHARACTER SET utf8mb4",
        "INSERT INTO p VALUES (1, 'a', 'a'), (2, 'ß', 'ß')",
    )
    with database.wire() as wire:
        for index, column in (("by_c", "c"), ("by_v", "v"), ("by_cc", "c")):
            assert wire.ask(line("P", 1, database.name, "p", index, "id")) == b"0\t1"
            for asked in (
                ("A", "a\0\0"),
                ("a\0\0", "a\0\0\0", "A"),
                ("ß", "a\0\0", "ß\0\0", "a\0"),
            ):
                reply = wire.ask(line(1, "=", 1, "", 9, 0, "@", 0, len(asked), *asked))
                is_asked = f"{column} IN ({', '.join(['%s'] * len(asked))})"
                # Without the index, MariaDB finds a where it looks for a CHAR that is a and a NUL.
                rows = sql.rows(f"SELECT id FROM p FORCE INDEX ({index}) WHERE {is_asked}", asked)
                expected = [int(row[0] or 0) for row in rows]
                assert sorted(rows_of(reply)) == sorted(expected), (index, asked)


def test_filters_on_long_columns(sql: Sql, database: Database) -> None:
    sql.run(
        "CREATE TABLE f (id INT PRIMARY KEY, t TEXT, b MEDIUMBLOB, j JSON, g POINT,"
        " l TINYTEXT CHARACTER SET latin1)"
    )
    words: list[str | None] = [None, "", "a", "A", "ab", "a ", "b", "x" * 250, "é"]
    with sql.connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO f VALUES (%s, %s, %s, %s, IF(%s IS NULL, NULL, POINT(1, 2)), %s)",
            [(n, word, word, None if n % 3 else "[1]", word, word) for n, word in enumerate(words)],
        )
    asked: list[Probe] = [*words, "x" * 251, "zz"]
    with database.wire() as wire:
        assert wire.ask(line("P", 1, database.name, "f", "", "id", "t,b,l,j,g")) == b"0\t1"
        for number, name in enumerate(("t", "b", "l", "j", "g")):
            for value in asked if number < 3 else [None]:
                for op in ("=", "!=", "<", "<=", ">", ">="):
                    reply = wire.ask(line(1, ">=", 1, 0, 99, 0, "F", op, number, value))
                    below = "TRUE" if op in ("<", "<=", "!=") else "FALSE"
                    condition = f"IF({name} IS NULL, {below}, {name} {op} %s)"
                    arguments = [value]
                    if value is None:
                        arguments = []
                        condition = {
                            "=": f"{name} IS NULL",
                            "!=": f"{name} IS NOT NULL",
                            "<": "FALSE",
                            "<=": f"{name} IS NULL",
                            ">": f"{name} IS NOT NULL",
                            ">=": "TRUE",
                        }[op]
                    rows = sql.rows(f"SELECT id FROM f WHERE {condition} ORDER BY id", arguments)
                    expected = [int(row[0] or 0) for row in rows]
                    assert rows_of(reply) == expected, (name, op, value)
        geometry = line(1, ">=", 1, 0, 99, 0, "F", "=", 4, "x")
        assert wire.ask(geometry) == b"2\t1\tfilterblob"
        stop = line(1, ">=", 1, 0, 99, 0, "W", "!=", 0, "ab")
        assert rows_of(wire.ask(stop)) == [0, 1, 2, 3]
