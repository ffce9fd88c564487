"""P and find: every operator, partial keys, limit and offset, IN, filters, pipelines, auth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from conftest import fresh_database
from handlersocket2 import (
    Auth,
    AuthenticationError,
    Client,
    Connection,
    Filter,
    FilterKind,
    Find,
    In,
    OpenIndex,
    ReplyError,
)
from server_instance import ServerInstance
from support.database import Database, Sql

PEOPLE = """
CREATE TABLE people (
  id INT PRIMARY KEY,
  city VARCHAR(20),
  age INT,
  name VARCHAR(20) NOT NULL,
  note TEXT,
  KEY by_city_age (city, age),
  KEY by_age (age),
  UNIQUE KEY by_name (name, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4
"""
CITIES = [None, "", "Bonn", "bonn", "Köln", "Ulm", "Zürich"]
AGES = [None, -3, 0, 7, 7, 30, 2147483647]
COLUMNS = ["id", "city", "age", "name"]
SELECT = "SELECT id, city, age, name FROM people"


@pytest.fixture(scope="module")
def database(server: ServerInstance, module_name: str) -> Iterator[Database]:
    """One schema for all these tests, because they only read."""
    with fresh_database(server, module_name) as opened:
        fill(opened.sql)
        yield opened


def fill(sql: Sql) -> None:
    sql.run(PEOPLE)
    rows = [
        (number, city, age, f"name {number % 5}", f"note {number}")
        for number, (city, age) in enumerate(itertools.product(CITIES, AGES), 1)
    ]
    with sql.connection.cursor() as cursor:
        cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s, %s)", rows)


def ordering(op: str, columns: str) -> str:
    direction = "DESC" if op in ("<", "<=") else "ASC"
    return ", ".join(f"{column} {direction}" for column in columns.split(","))


OPERATORS = ["=", ">", ">=", "<", "<="]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("key", [0, 1, 2, 25, 48, 49, 50, -1])
def test_by_primary_key(op: str, key: int, reader: Client, sql: Sql, database: Database) -> None:
    found = reader.index(database.name, "people", COLUMNS).find(key, op=op, limit=100)
    assert found == sql.rows(f"{SELECT} WHERE id {op} %s ORDER BY {ordering(op, 'id')}", [key])


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("age", [-4, -3, 0, 7, 8, 30, 2147483647])
def test_by_a_secondary_index(
    op: str, age: int, reader: Client, sql: Sql, database: Database
) -> None:
    """NULL is below every value, so `<` finds it. In SQL no comparison finds NULL."""
    index = reader.index(database.name, "people", COLUMNS, index="by_age")
    condition = f"age {op} %s" + (" OR age IS NULL" if op in ("<", "<=") else "")
    query = f"{SELECT} WHERE {condition} ORDER BY {ordering(op, 'age,id')}"
    assert index.find(age, op=op, limit=100) == sql.rows(query, [age])


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("city", ["", "bonn", "BONN", "Koln", "M", "zürich", "Zz"])
def test_by_the_first_part_of_a_key(
    op: str, city: str, reader: Client, sql: Sql, database: Database
) -> None:
    """Comparisons follow the collation, so case and accents do not count."""
    index = reader.index(database.name, "people", COLUMNS, index="by_city_age")
    condition = f"city {op} %s" + (" OR city IS NULL" if op in ("<", "<=") else "")
    query = f"{SELECT} WHERE {condition} ORDER BY {ordering(op, 'city,age,id')}"
    assert index.find([city], op=op, limit=100) == sql.rows(query, [city])


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("city", ["", "Bonn", "Ulm"])
@pytest.mark.parametrize("age", [-3, 1, 7, 30])
def test_by_two_parts_of_a_key(
    op: str, city: str, age: int, reader: Client, sql: Sql, database: Database
) -> None:
    index = reader.index(database.name, "people", COLUMNS, index="by_city_age")
    beyond = op[0]
    condition = f"city = %s AND age {op} %s"
    if beyond != "=":
        condition += f" OR city {beyond} %s"
    if beyond == "<":
        condition += " OR city = %s AND age IS NULL OR city IS NULL"
    arguments = [city, age, city, city][: condition.count("%s")]
    query = f"{SELECT} WHERE {condition} ORDER BY {ordering(op, 'city,age,id')}"
    assert index.find([city, age], op=op, limit=100) == sql.rows(query, arguments)


@pytest.mark.parametrize("op", OPERATORS)
def test_null_as_a_key(op: str, reader: Client, sql: Sql, database: Database) -> None:
    index = reader.index(database.name, "people", COLUMNS, index="by_age")
    condition = {
        "=": "age IS NULL",
        ">": "age IS NOT NULL",
        ">=": "TRUE",
        "<": "FALSE",
        "<=": "age IS NULL",
    }[op]
    query = f"{SELECT} WHERE {condition} ORDER BY {ordering(op, 'age,id')}"
    assert index.find([None], op=op, limit=100) == sql.rows(query)


def test_null_for_a_column_without_null_matches_nothing(reader: Client, database: Database) -> None:
    assert reader.index(database.name, "people", ["id"]).find([None]) == []


@pytest.mark.parametrize(
    ("limit", "offset"), [(1, 0), (3, 0), (3, 2), (100, 48), (100, 49), (2**32 - 1, 40), (2**63, 2)]
)
def test_limit_and_offset(
    limit: int, offset: int, reader: Client, sql: Sql, database: Database
) -> None:
    found = reader.index(database.name, "people", ["id"]).find(
        -(2**31), op=">=", limit=limit, offset=offset
    )
    assert found == [(b"%d" % number,) for number in range(1, 50)][offset:][:limit]


def test_limit_left_out_or_0_means_1(database: Database) -> None:
    with database.wire() as wire:
        assert wire.ask(b"P\t1\t%s\tpeople\t\tid\n" % database.name.encode()) == b"0\t1"
        for rest in (b"", b"\t0", b"\t0\t0", b"\t1", b"\t1\t0"):
            assert wire.ask(b"1\t>=\t1\t1" + rest + b"\n") == b"0\t1\t1", rest
        assert wire.ask(b"1\t>=\t1\t1\t0\t1\n") == b"0\t1\t2"


def test_an_index_by_its_number(reader: Client, sql: Sql, database: Database) -> None:
    names = ["PRIMARY", "by_name", "by_city_age", "by_age"]  # unique ones first
    for number, name in enumerate(names):
        by_number = reader.index(database.name, "people", COLUMNS, index=str(number))
        by_name = reader.index(database.name, "people", COLUMNS, index=name)
        key = {"PRIMARY": "3", "by_name": "name 3", "by_city_age": "Ulm", "by_age": "7"}[name]
        assert by_number.find([key], limit=9) == by_name.find([key], limit=9) != []


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("no_such_database", "people", "PRIMARY", ["id"]), 1, "open_table"),
        (("{}", "no_such_table", "PRIMARY", ["id"]), 1, "open_table"),
        (("{}", "people", "no_such_index", ["id"]), 2, "idxnum"),
        (("{}", "people", "by_age ", ["id"]), 2, "idxnum"),
        (("{}", "people", "primary", ["id"]), 2, "idxnum"),
        (("{}", "people", "4", ["id"]), 2, "idxnum"),
        (("{}", "people", "PRIMARY", ["id", "none"]), 2, "fld"),
        (("{}", "people", "PRIMARY", ["ID"]), 2, "fld"),
        (("{}", "people", "PRIMARY", ["id", " age"]), 2, "fld"),
        (("{}", "people", "PRIMARY", ["id", ""]), 2, "fld"),
        (("{}", "people", "PRIMARY", ["id"], ["none"]), 2, "fld"),
    ],
)
def test_what_cannot_be_opened(
    arguments: tuple, code: int, text: str, reader: Client, database: Database
) -> None:
    named = (arguments[0].format(database.name), *arguments[1:])
    with pytest.raises(ReplyError) as caught:
        reader.request(OpenIndex(1, *named))
    assert (caught.value.code, caught.value.text) == (code, text)


def test_a_second_P_replaces_the_first_and_a_failed_one_does_not(
    reader: Client, database: Database
) -> None:
    reader.request(OpenIndex(7, database.name, "people", "PRIMARY", ["id"]))
    with pytest.raises(ReplyError, match="fld"):
        reader.request(OpenIndex(7, database.name, "people", "PRIMARY", ["none"]))
    assert reader.request(Find(7, [1])) == [(b"1",)]
    reader.request(OpenIndex(7, database.name, "people", "by_name", ["name", "id"]))
    assert reader.request(Find(7, ["name 4"])) == [(b"name 4", b"4")]


def test_index_ids_are_any_small_numbers_and_their_connections_own(database: Database) -> None:
    with database.reader() as one, database.reader() as other:
        for number in (0, 1, 63, 64, 1000, 65535):
            one.request(OpenIndex(number, database.name, "people", "PRIMARY", ["id"]))
        for number in (0, 1, 63, 64, 1000, 65535):
            assert one.request(Find(number, [number % 49 + 1])) != []
            with pytest.raises(ReplyError, match="stmtnum"):
                other.request(Find(number, [1]))


def test_no_columns_is_legal(reader: Client, database: Database) -> None:
    assert reader.index(database.name, "people", []).find(1) == []
    with database.wire() as wire:
        wire.ask(b"P\t1\t%s\tpeople\t\t\n" % database.name.encode())
        assert wire.ask(b"1\t>=\t1\t1\t5\n") == b"0\t0"


def test_a_column_may_be_asked_for_twice(reader: Client, database: Database) -> None:
    index = reader.index(database.name, "people", ["id", "name", "id"])
    assert index.find(2) == [(b"2", b"name 2", b"2")]


@pytest.mark.parametrize("values", [[3], [3, 1, 2], [1, 99, 3], [5, 5, 5], [None, 4], [7, None, 7]])
def test_in_on_a_unique_index(values: list, reader: Client, database: Database) -> None:
    """In the order of the request. A value that is given twice gives its rows once."""
    found = reader.index(database.name, "people", ["id"]).find_in(values, limit=100)
    expected = [value for value in dict.fromkeys(values) if value is not None and value < 50]
    assert found == [(b"%d" % value,) for value in expected]


@pytest.mark.parametrize("values", [["7"], ["30", "7"], [None, "0"], ["7", None, "7", "8"]])
def test_in_on_an_index_with_duplicates(
    values: list, reader: Client, sql: Sql, database: Database
) -> None:
    index = reader.index(database.name, "people", COLUMNS, index="by_age")
    expected = [
        row
        for value in dict.fromkeys(values)
        for row in sql.rows(f"{SELECT} WHERE age <=> %s ORDER BY id", [value])
    ]
    assert len(expected) >= 7
    assert index.find_in(values, limit=1000) == expected
    assert index.find_in(values, limit=5) == expected[:5]
    assert index.find_in(values, limit=5, offset=4) == expected[4:9]


def test_in_on_the_second_part(reader: Client, sql: Sql, database: Database) -> None:
    index = reader.index(database.name, "people", COLUMNS, index="by_city_age")
    found = index.find_in(["30", "-3"], ["Ulm", ""], key_part=1, limit=100)
    by_age = [sql.row(f"{SELECT} WHERE city = 'Ulm' AND age = {age}") for age in (30, -3)]
    assert found == by_age


@pytest.mark.parametrize("op", [">", ">=", "<", "<="])
def test_in_with_another_operator(op: str, reader: Client, sql: Sql, database: Database) -> None:
    """The rows of each value, one value after another. So a row may come more than once."""
    index = reader.index(database.name, "people", ["id"])
    expected = [
        row
        for value in (47, 3)
        for row in sql.rows(
            f"SELECT id FROM people WHERE id {op} {value} ORDER BY {ordering(op, 'id')}"
        )
    ]
    assert index.find_in([47, 3], op=op, limit=1000) == expected
    assert index.find_in([47, 3], op=op, limit=4, offset=1) == expected[1:5]


def test_in_of_ten_thousand_values(reader: Client, database: Database) -> None:
    found = reader.index(database.name, "people", ["id"]).find_in(list(range(10_000, -1, -1)))
    assert found == [(b"%d" % number,) for number in range(49, 0, -1)]


FILTER_COLUMNS = ["age", "name", "city"]


@pytest.mark.parametrize("op", ["=", "!=", ">", ">=", "<", "<="])
@pytest.mark.parametrize(("column", "value"), [(0, "7"), (0, "0"), (1, "NAME 2"), (2, "koln")])
def test_a_filter(
    op: str, column: int, value: str, reader: Client, sql: Sql, database: Database
) -> None:
    """NULL is below everything, so it passes `<`, `<=` and `!=`."""
    index = reader.index(database.name, "people", COLUMNS, filter_columns=FILTER_COLUMNS)
    found = index.find(0, op=">", limit=100, filters=[Filter(op, column, value)])
    name = FILTER_COLUMNS[column]
    condition = f"{name} {op} %s" + (f" OR {name} IS NULL" if op in ("!=", "<", "<=") else "")
    assert found == sql.rows(f"{SELECT} WHERE {condition} ORDER BY id", [value])


@pytest.mark.parametrize(
    ("op", "condition"),
    [
        ("=", "age IS NULL"),
        ("!=", "age IS NOT NULL"),
        (">", "age IS NOT NULL"),
        (">=", "TRUE"),
        ("<", "FALSE"),
        ("<=", "age IS NULL"),
    ],
)
def test_a_filter_with_null(
    op: str, condition: str, reader: Client, sql: Sql, database: Database
) -> None:
    index = reader.index(database.name, "people", COLUMNS, filter_columns=["age"])
    found = index.find(0, op=">", limit=100, filters=[Filter(op, 0, None)])
    assert found == sql.rows(f"{SELECT} WHERE {condition} ORDER BY id")


def test_filters_are_anded_and_come_before_limit_and_offset(
    reader: Client, sql: Sql, database: Database
) -> None:
    index = reader.index(database.name, "people", COLUMNS, filter_columns=FILTER_COLUMNS)
    filters = [Filter(">=", 0, 7), Filter("!=", 1, "name 0"), Filter(">", 2, "Bonn")]
    expected = sql.rows(
        f"{SELECT} WHERE age >= 7 AND name != 'name 0' AND city > 'Bonn' ORDER BY id"
    )
    assert len(expected) > 4
    assert index.find(0, op=">", limit=100, filters=filters) == expected
    assert index.find(0, op=">", limit=2, offset=1, filters=filters) == expected[1:3]


def test_W_stops_at_the_first_row_that_fails(reader: Client, sql: Sql, database: Database) -> None:
    index = reader.index(database.name, "people", ["id"], filter_columns=["name"])
    filters = [Filter("!=", 0, "name 4", FilterKind.STOP)]
    assert index.find(0, op=">", limit=100, filters=filters) == [(b"1",), (b"2",), (b"3",)]
    filters.append(Filter("!=", 0, "name 2"))
    assert index.find(0, op=">", limit=100, filters=filters) == [(b"1",), (b"3",)]


def test_in_with_filters(reader: Client, database: Database) -> None:
    index = reader.index(database.name, "people", ["id"], filter_columns=["name"])
    found = index.find_in([1, 2, 3, 4, 7], filters=[Filter("!=", 0, "name 2")])
    assert found == [(b"1",), (b"3",), (b"4",)]


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        (b"1\t=\n", b"2\t1\tklen"),
        (b"1\t=\t0\n", b"2\t1\tklen"),
        (b"1\t=\t2\t1\t2\n", b"2\t1\tkpnum"),
        (b"1\t~\t1\t1\n", b"2\t1\top"),
        (b"2\t=\t1\t1\n", b"2\t1\tstmtnum"),
        (b"1\t=\t1\t1\t1\t0\t@\t0\t0\n", b"2\t1\tinvalueslen"),
        (b"1\t=\t1\t1\t1\t0\tFF\t=\t0\t1\n", b"2\t1\tfiltertype"),
        (b"1\t=\t1\t1\t1\t0\tF\t=\t1\t1\n", b"2\t1\tfilterfld"),
        (b"1\t=\t1\t1\t1\t0\tU\t1\n", b"2\t1\treadonly"),
        (b"1\t=\t1\t1\t1\t0\tD\n", b"2\t1\treadonly"),
        (b"1\t=\t1\t1\t1\t0\t+?\t1\n", b"2\t1\treadonly"),
        (b"1\t+\t1\t99\n", b"2\t1\treadonly"),
    ],
)
def test_mistakes(request_: bytes, reply: bytes, database: Database) -> None:
    with database.wire() as wire:
        wire.ask(b"P\t1\t%s\tpeople\t\tid\tage\n" % database.name.encode())
        assert wire.ask(request_) == reply
        assert wire.ask(b"1\t=\t1\t1\n") == b"0\t1\t1"


def test_a_pipeline_of_ten_thousand_finds(reader: Client, database: Database) -> None:
    index = reader.index(database.name, "people", ["id"])
    with reader.pipeline() as pipeline:
        for number in range(10_000):
            pipeline.on(index).find(number % 60)
    expected = [[(b"%d" % (n % 60),)] if 1 <= n % 60 <= 49 else [] for n in range(10_000)]
    assert pipeline.results() == expected


def test_errors_in_a_pipeline_keep_their_place(reader: Client, database: Database) -> None:
    index = reader.index(database.name, "people", ["id"])
    with reader.pipeline() as pipeline:
        first = pipeline.on(index).find(1)
        wrong = pipeline.send(Find(99, [1]))
        last = pipeline.on(index).find(2)
    assert (first.result(), last.result()) == ([(b"1",)], [(b"2",)])
    with pytest.raises(ReplyError, match="stmtnum"):
        wrong.result()


def test_half_close_still_gets_every_reply_then_an_end_of_file(database: Database) -> None:
    with database.wire() as wire:
        wire.send(b"P\t1\t%s\tpeople\t\tid\n" % database.name.encode())
        wire.send(b"".join(b"1\t=\t1\t%d\n" % (n % 49 + 1) for n in range(1000)))
        wire.half_close()
        expected = b"0\t1\n" + b"".join(b"0\t1\t%d\n" % (n % 49 + 1) for n in range(1000))
        assert wire.rest() == expected


def test_reads_on_the_write_port(writer: Client, database: Database) -> None:
    index = writer.index(database.name, "people", ["id"])
    assert index.find(1) == [(b"1",)]
    assert index.find_in([3, 2]) == [(b"3",), (b"2",)]


def test_a_find_sees_what_sql_committed_before_it(
    reader: Client, sql: Sql, database: Database
) -> None:
    index = reader.index(database.name, "people", ["note"])
    for number in range(100):
        sql.run(f"UPDATE people SET note = 'v{number}' WHERE id = 1")
        assert index.find(1) == [(b"v%d" % number,)]


def test_the_raw_connection_takes_every_find(database: Database) -> None:
    with Connection(("127.0.0.1", database.server.hs_port)) as connection:
        connection.request(OpenIndex(3, database.name, "people", "", ["id"], ["age"]))
        find = Find(3, [""], limit=9, in_=In(["4", "5"]), filters=[Filter("=", 0, "7")])
        assert connection.request(find) == [(b"4",), (b"5",)]


def test_auth_without_a_secret_set_is_unauth(reader: Client) -> None:
    with pytest.raises(AuthenticationError, match="unauth"):
        reader.request(Auth("whatever"))
