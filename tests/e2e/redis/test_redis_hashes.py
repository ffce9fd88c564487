"""A row as a hash: what each command answers, of which columns, in both protocols."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.resp import OK, Error, Reply, Resp, Simple, pairs
from support.servers import CHECK_ERROR, GENERATED_COLUMN_ERROR
from support_redis import connect, hash_of, redis_server, sql_error
from support_servers import fresh_session

TABLES = (
    "CREATE TABLE user (id INT PRIMARY KEY, name VARCHAR(50), email VARCHAR(100), visits BIGINT,"
    " ratio DOUBLE, photo MEDIUMBLOB) CHARSET utf8mb4",
    "INSERT INTO user VALUES (42, 'Ann', 'ann@example.com', 7, 0.5, NULL), (43, NULL, NULL, NULL,"
    " NULL, NULL)",
    "CREATE TABLE strict (id INT PRIMARY KEY, needed INT NOT NULL, given VARCHAR(9) DEFAULT 'new'"
    " NOT NULL, maybe INT DEFAULT 5, twice INT AS (needed * 2) STORED, seen TIMESTAMP NULL DEFAULT"
    " CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, odd INT CHECK (odd % 2 = 1), small TINYINT"
    " UNSIGNED, one CHAR(3) UNIQUE)",
    "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(50))",
    "CREATE TABLE fired (id INT PRIMARY KEY, v INT, w INT)",
    "CREATE TRIGGER at_insert BEFORE INSERT ON fired FOR EACH ROW SET NEW.w = NEW.v + 1",
    "CREATE TRIGGER at_update AFTER UPDATE ON fired FOR EACH ROW"
    " INSERT INTO log (what) VALUES (CONCAT(OLD.v, '-', NEW.v))",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, handlersocket_default_database="shop") as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "shop", *TABLES) as session:
        yield session


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def wire(request: pytest.FixtureRequest, server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server, protocol=request.param) as one:
        yield one


def test_reads(wire: Resp) -> None:
    assert wire.ask("HGET", "user:42", "name") == b"Ann"
    assert wire.ask("HGET", "user:43", "name") is None
    assert wire.ask("HGET", "user:42", "nosuch") is None
    assert wire.ask("HMGET", "user:42", "email", "nosuch", "id", "email", "photo") == [
        b"ann@example.com", None, b"42", b"ann@example.com", None,
    ]  # fmt: skip
    row = {b"id": b"42", b"name": b"Ann", b"email": b"ann@example.com", b"visits": b"7"}
    row[b"ratio"] = b"0.5"
    whole = wire.ask("HGETALL", "user:42")
    assert isinstance(whole, dict if wire.protocol == 3 else list)
    assert pairs(whole) == row
    assert wire.ask("HKEYS", "user:42") == list(row)
    assert wire.ask("HVALS", "user:42") == list(row.values())
    assert wire.ask("HLEN", "user:42") == 5
    assert wire.ask("HSTRLEN", "user:42", "email") == 15
    assert wire.ask("HSTRLEN", "user:42", "photo") == wire.ask("HSTRLEN", "user:42", "nosuch") == 0
    assert wire.ask("HEXISTS", "user:42", "name") == 1
    assert wire.ask("HEXISTS", "user:42", "photo") == wire.ask("HEXISTS", "user:42", "nosuch") == 0
    assert hash_of(wire, "user:43") == {b"id": b"43"}
    assert wire.ask("HLEN", "user:43") == 1
    empty = wire.ask("HGETALL", "user:99")
    assert empty == ({} if wire.protocol == 3 else [])
    assert wire.ask("TYPE", "user:42") == Simple("hash")
    assert wire.ask("EXISTS", "user:42", "user:43", "user:99", "user:42") == 3
    assert wire.ask("TOUCH", "user:42", "user:99") == 1


def test_what_sql_changes_is_seen_at_once(wire: Resp, sql: Sql) -> None:
    for number in range(50):
        sql.run(f"UPDATE user SET name = 'name {number}' WHERE id = 42")
        assert wire.ask("HGET", "user:42", "name") == b"name %d" % number


def test_hset(wire: Resp, sql: Sql) -> None:
    """It answers how many fields came into being, and makes the row if there is none."""
    assert wire.ask("HSET", "user:42", "name", "Anna") == 0
    assert wire.ask("HSET", "user:42", "name", "Ann", "photo", b"\x00\xff") == 1
    assert wire.ask("HSET", "user:43", "name", "", "email", "b", "visits", 1) == 3
    assert wire.ask("HSET", "user:44", "name", "Cid", "visits", 5) == 2
    assert wire.ask("HSET", "user:42", "name", "a", "name", "b") == 0
    assert wire.ask("HMSET", "user:45", "name", "Dan") == OK
    assert wire.ask("HSETNX", "user:45", "name", "Eve") == 0
    assert wire.ask("HSETNX", "user:45", "email", "dan@example.com") == 1
    assert wire.ask("HSETNX", "user:46", "name", "Eve") == 1
    assert sql.rows("SELECT id, name, email, visits, photo FROM user ORDER BY id") == [
        (b"42", b"b", b"ann@example.com", b"7", b"\x00\xff"),
        (b"43", b"", b"b", b"1", None),
        (b"44", b"Cid", None, b"5", None),
        (b"45", b"Dan", b"dan@example.com", None, None),
        (b"46", b"Eve", None, None, None),
    ]


def test_hsetnx_of_a_row_that_is_there(wire: Resp, sql: Sql) -> None:
    """It is an update: no rule for inserts counts, and what is not written is not looked at."""
    sql.run("INSERT INTO strict (id, needed, maybe, small) VALUES (1, 1, NULL, 5)")
    assert wire.ask("HSETNX", "strict:1", "maybe", 7) == 1
    assert wire.ask("HSETNX", "strict:1", "maybe", 8) == 0
    assert wire.ask("HSETNX", "strict:1", "small", "no number") == 0
    assert sql.row("SELECT maybe, small FROM strict") == (b"7", b"5")
    assert sql_error(wire.ask("HSETNX", "strict:2", "maybe", 7)) == 1364


def test_hdel_and_del(wire: Resp, sql: Sql) -> None:
    assert wire.ask("HDEL", "user:42", "name", "photo", "nosuch", "name") == 1
    assert wire.ask("HEXISTS", "user:42", "name") == 0
    assert wire.ask("HDEL", "user:42", "name") == 0
    assert wire.ask("HDEL", "user:99", "name") == 0
    assert wire.ask("HDEL", "user:42", "email", "visits", "ratio") == 3
    assert wire.ask("EXISTS", "user:42") == 1, "the row is still there"
    assert wire.ask("DEL", "user:42", "user:99", "user:42") == 1
    assert wire.ask("EXISTS", "user:42") == 0
    assert wire.ask("UNLINK", "user:43") == 1
    assert sql.number("SELECT COUNT(*) FROM user") == 0


def test_hincrby(wire: Resp, sql: Sql) -> None:
    assert wire.ask("HINCRBY", "user:42", "visits", 5) == 12
    assert wire.ask("HINCRBY", "user:42", "visits", -20) == -8
    assert wire.ask("HINCRBY", "user:43", "visits", 3) == 3, "NULL is not there, so it is 0"
    assert wire.ask("HINCRBY", "user:50", "visits", 1) == 1, "neither is the row"
    assert wire.ask("HSET", "user:42", "visits", 2**63 - 1) == 0
    overflow = Error("ERR increment or decrement would overflow")
    assert wire.ask("HINCRBY", "user:42", "visits", 1) == overflow
    assert wire.ask("HINCRBY", "user:42", "visits", -1) == 2**63 - 2
    assert wire.ask("HINCRBY", "user:42", "visits", "1.5") == Error(
        "ERR value is not an integer or out of range"
    )
    assert wire.ask("HINCRBY", "user:42", "name", 1) == Error("ERR hash value is not an integer")
    assert wire.ask("HSET", "user:42", "name", "41") == 0
    assert wire.ask("HINCRBY", "user:42", "name", 1) == 42
    assert sql.row("SELECT name, visits FROM user WHERE id = 42") == (b"42", b"%d" % (2**63 - 2))


def test_hincrby_of_a_narrow_column(wire: Resp, sql: Sql) -> None:
    """What it cannot hold is refused, and never cut."""
    sql.run("INSERT INTO strict (id, needed, small) VALUES (1, 1, 250)")
    assert wire.ask("HINCRBY", "strict:1", "small", 5) == 255
    assert isinstance(wire.ask("HINCRBY", "strict:1", "small", 1), Error)
    assert isinstance(wire.ask("HINCRBY", "strict:1", "small", -256), Error)
    assert sql.number("SELECT small FROM strict") == 255


def test_hincrbyfloat(wire: Resp, sql: Sql) -> None:
    assert wire.ask("HINCRBYFLOAT", "user:42", "ratio", "0.25") == b"0.75"
    assert wire.ask("HINCRBYFLOAT", "user:43", "ratio", "1e2") == b"100"
    assert wire.ask("HINCRBYFLOAT", "user:42", "ratio", "abc") == Error(
        "ERR value is not a valid float"
    )
    assert wire.ask("HINCRBYFLOAT", "user:42", "name", "1") == Error(
        "ERR hash value is not a float"
    )
    assert wire.ask("HSET", "user:42", "name", "10.50") == 0
    assert wire.ask("HINCRBYFLOAT", "user:42", "name", "0.1") == b"10.6"
    assert sql.row("SELECT name, ratio FROM user WHERE id = 42") == (b"10.6", b"0.75")


def test_writes_that_are_refused(wire: Resp, sql: Sql) -> None:
    """Wholly, with SQL's number or a word that names the field."""
    before = sql.rows("SELECT * FROM user")

    def refused(*words: Any) -> Error:
        reply: Reply = wire.ask(*words)
        assert isinstance(reply, Error), (words, reply)
        return reply

    assert "nosuch" in refused("HSET", "user:42", "name", "x", "nosuch", "1").text
    assert "nosuch" in refused("HSETNX", "user:42", "nosuch", "1").text
    assert "nosuch" in refused("HINCRBY", "user:42", "nosuch", "1").text
    assert "id" in refused("HSET", "user:42", "id", "77", "name", "x").text
    assert "id" in refused("HDEL", "user:42", "id").text
    refused("HINCRBY", "user:42", "id", 1)
    too_long = refused("HSET", "user:42", "name", "x" * 51)
    assert too_long.text == "ERR 1406 22001 Data too long for a column"
    assert sql_error(refused("HSET", "user:42", "visits", "many")) in (1264, 1366, 1265)
    assert sql_error(refused("HSET", "user:42", "visits", 2**63)) == 1264
    assert sql_error(refused("HSET", "user:42", "name", b"\xff\xfe")) == 1366
    assert sql.rows("SELECT * FROM user") == before
    # Its own value is no other value.
    assert wire.ask("HSET", "user:42", "id", "42", "name", "Ann") == 0


def test_the_rules_of_the_table(wire: Resp, sql: Sql) -> None:
    """Defaults, NOT NULL, CHECK, generated columns, unique keys."""
    no_default = wire.ask("HSET", "strict:1", "maybe", 1)
    assert isinstance(no_default, Error)
    assert no_default.text == "ERR 1364 HY000 A column has no default"
    assert wire.ask("HSET", "strict:1", "needed", 4) == 1
    row = hash_of(wire, "strict:1")
    seen = row.pop(b"seen")
    assert seen.startswith(b"20") and len(seen) == 19
    assert row == {
        b"id": b"1", b"needed": b"4", b"given": b"new", b"maybe": b"5", b"twice": b"8",
    }  # fmt: skip
    assert isinstance(wire.ask("HDEL", "strict:1", "needed"), Error)
    assert isinstance(wire.ask("HDEL", "strict:1", "maybe", "given"), Error)
    assert hash_of(wire, "strict:1")[b"maybe"] == b"5", "nothing of it was done"
    assert wire.ask("HDEL", "strict:1", "maybe") == 1
    assert sql_error(wire.ask("HSET", "strict:1", "odd", 2)) == CHECK_ERROR
    assert wire.ask("HSET", "strict:1", "odd", 3) == 1
    assert sql_error(wire.ask("HSET", "strict:1", "twice", 9)) == int(GENERATED_COLUMN_ERROR)
    assert sql_error(wire.ask("HDEL", "strict:1", "twice")) == int(GENERATED_COLUMN_ERROR)
    assert wire.ask("HGET", "strict:1", "twice") == b"8"
    assert wire.ask("HSET", "strict:1", "one", "a") == 1
    assert wire.ask("HSET", "strict:2", "needed", 1) == 1
    assert sql_error(wire.ask("HSET", "strict:2", "one", "a")) == 1062
    assert sql.rows("SELECT id, one FROM strict ORDER BY id") == [(b"1", b"a"), (b"2", None)]


def test_triggers(wire: Resp, sql: Sql) -> None:
    assert wire.ask("HSET", "fired:1", "v", 10) == 1
    assert hash_of(wire, "fired:1") == {b"id": b"1", b"v": b"10", b"w": b"11"}
    assert wire.ask("HSET", "fired:1", "v", 20) == 0
    assert wire.ask("HINCRBY", "fired:1", "v", 1) == 21
    assert sql.rows("SELECT what FROM log ORDER BY id") == [(b"10-20",), (b"20-21",)]
    # Of a column that is NULL, too, it is one update.
    sql.run("INSERT INTO fired VALUES (2, 1, 1)", "UPDATE fired SET v = NULL WHERE id = 2")
    sql.run("DELETE FROM log")
    assert wire.ask("HINCRBY", "fired:2", "v", 5) == 5
    assert wire.ask("HINCRBYFLOAT", "fired:2", "v", 2) == b"7"
    assert sql.rows("SELECT what FROM log ORDER BY id") == [(None,), (b"5-7",)]


def test_a_trigger_that_empties_a_counter(wire: Resp, sql: Sql) -> None:
    """There is no number to answer. What is answered is a reply, all the same."""
    sql.run(
        "CREATE TABLE emptied (id INT PRIMARY KEY, n INT, f DOUBLE, s VARCHAR(9))",
        "INSERT INTO emptied VALUES (1, 5, 5, '5')",
        "CREATE TRIGGER emptying BEFORE UPDATE ON emptied FOR EACH ROW"
        " SET NEW.n = NULL, NEW.f = NULL, NEW.s = NULL",
    )
    for words in (("HINCRBY", "n"), ("HINCRBYFLOAT", "f"), ("HINCRBY", "s"), ("HINCRBYFLOAT", "s")):
        reply = wire.ask(words[0], "emptied:1", words[1], 1)
        assert reply is None or isinstance(reply, Error | int | bytes), reply
        sql.run("DELETE FROM emptied", "INSERT INTO emptied VALUES (1, 5, 5, '5')")
    assert wire.ask("HGET", "user:42", "name") == b"Ann", "all were replies"


#: Columns of every kind: its type, a value as SQL takes it, and how it is read.
TYPES: list[tuple[str, str, bytes]] = [
    ("TINYINT", "-7", b"-7"),
    ("BIGINT UNSIGNED", "18446744073709551615", b"18446744073709551615"),
    ("DECIMAL(20,3)", "12345678901234567.125", b"12345678901234567.125"),
    ("DOUBLE", "0.1", b"0.1"),
    ("BIT(9)", "b'100000001'", b"\x01\x01"),
    ("CHAR(5)", "'ab'", b"ab"),
    ("VARCHAR(20) CHARACTER SET latin1", "'gr\u00fcn'", "grün".encode()),
    ("VARCHAR(20) CHARACTER SET utf16", "'\u65e5\u672c'", "日本".encode()),
    ("TEXT", "'long'", b"long"),
    ("VARBINARY(20)", "x'00FF0D0A'", b"\x00\xff\r\n"),
    ("BINARY(3)", "'a'", b"a\0\0"),
    ("ENUM('no','yes')", "'yes'", b"yes"),
    ("SET('a','b','c')", "'a,c'", b"a,c"),
    ("DATE", "'2024-02-29'", b"2024-02-29"),
    ("DATETIME(3)", "'2024-02-29 12:30:00.25'", b"2024-02-29 12:30:00.250"),
    ("TIME(1)", "'-01:02:03.5'", b"-01:02:03.5"),
    ("YEAR", "2024", b"2024"),
    ("JSON", "'{\"a\": [1, 2]}'", b'{"a": [1, 2]}'),
]


@pytest.mark.parametrize(("kind", "value", "shown"), TYPES, ids=[kind for kind, _, _ in TYPES])
def test_a_value_is_what_sql_shows(
    wire: Resp, sql: Sql, kind: str, value: str, shown: bytes
) -> None:
    sql.run(
        "DROP TABLE IF EXISTS typed",
        f"CREATE TABLE typed (id INT PRIMARY KEY, v {kind}) CHARSET utf8mb4",
        f"INSERT INTO typed VALUES (1, {value})",
    )
    assert wire.ask("HGET", "typed:1", "v") == shown
    assert wire.ask("HSTRLEN", "typed:1", "v") == len(shown)
    # And written as it is read, it is the same value.
    assert wire.ask("HSET", "typed:2", "v", shown) == 1
    same = "SELECT COUNT(*) FROM typed a JOIN typed b ON a.id < b.id WHERE a.v = b.v"
    assert sql.number(same) == 1


def test_names_of_fields(wire: Resp, sql: Sql) -> None:
    """Any name of a column, as it is. A list of them is no text, so `,` and `*` are letters."""
    sql.run(
        "CREATE TABLE named (id INT PRIMARY KEY, `a,b` INT, `*` INT, `a b` INT, `gr\u00fcn` INT,"
        " a INT, b INT)"
    )
    fields = ["a,b", "*", "a b", "grün", "a", "b"]
    words: list[Any] = [word for number, field in enumerate(fields) for word in (field, number)]
    assert wire.ask("HSET", "named:1", *words) == 6
    assert wire.ask("HMGET", "named:1", *fields) == [b"%d" % number for number in range(6)]
    assert wire.ask("HKEYS", "named:1") == [b"id", *(field.encode() for field in fields)]
    assert wire.ask("HGET", "named:1", "") is None
    assert wire.ask("HGET", "named:1", b"\xff") is None
    assert wire.ask("HGET", "named:1", "x" * 100_000) is None
    # Columns have the same name in lower and in upper case, in SQL, too.
    assert wire.ask("HGET", "named:1", "A") == b"4"
    assert wire.ask("HSET", "named:1", "A", 6, "a", 7) == 0
    assert wire.ask("HGET", "named:1", "a") == b"7"


def test_a_column_that_comes_and_goes(wire: Resp, sql: Sql) -> None:
    """HGETALL names the columns that there are."""
    assert hash_of(wire, "user:43") == {b"id": b"43"}
    sql.run("ALTER TABLE user ADD COLUMN age INT DEFAULT 30 FIRST")
    assert hash_of(wire, "user:43") == {b"age": b"30", b"id": b"43"}
    assert wire.ask("HGET", "user:43", "age") == b"30"
    sql.run("ALTER TABLE user RENAME COLUMN age TO years")
    assert hash_of(wire, "user:43") == {b"years": b"30", b"id": b"43"}
    assert wire.ask("HGET", "user:43", "age") is None
    sql.run("ALTER TABLE user DROP COLUMN years")
    assert hash_of(wire, "user:43") == {b"id": b"43"}
    assert "years" in wire.ask("HSET", "user:43", "years", 1).text


@pytest.mark.parametrize("engine", ["MyISAM", "MEMORY"])
def test_tables_without_transactions(wire: Resp, sql: Sql, engine: str) -> None:
    sql.run(f"CREATE TABLE old (id INT PRIMARY KEY, n INT, v VARCHAR(9)) ENGINE={engine}")
    for line, reply in (
        ("HSET old:1 n 5", 1), ("HSET old:1 n 6 v x", 1), ("HINCRBY old:1 n 1", 7),
        ("HINCRBY old:2 n 1", 1), ("HINCRBYFLOAT old:3 n 2", b"2"), ("HINCRBY old:1 v 1", None),
        ("HSETNX old:4 n 1", 1), ("HSETNX old:4 n 2", 0), ("HDEL old:1 v", 1), ("DEL old:4", 1),
        # This takes a lock, a look and a write, and who fails half-way cannot be undone.
        ("HSET old:5 v 3", 1), ("HINCRBY old:5 v 4", None),
    ):  # fmt: skip
        told = wire.say(line)
        assert isinstance(told, Error) if reply is None else told == reply, (line, told)
    assert sql.rows("SELECT id, n, v FROM old ORDER BY id") == [
        (b"1", b"7", None), (b"2", b"1", None), (b"3", b"2", None), (b"5", None, b"3"),
    ]  # fmt: skip


def test_commands_on_other_types_name_the_page(wire: Resp) -> None:
    for line in (
        "GET user:42", "SET user:42 x", "INCR user:42", "LPUSH user:42 x", "GET other",
        "ZADD user:42 1 x", "EVAL x 0", "PUBLISH a b", "XADD a * b c",
    ):  # fmt: skip
        reply = wire.say(line)
        assert isinstance(reply, Error)
        assert "docs/redis.md" in reply.text or reply.code == "WRONGTYPE", reply
    assert wire.ask("HGET", "user:42", "name") == b"Ann"


def test_a_large_value(wire: Resp, sql: Sql) -> None:
    value = bytes(range(256)) * 12_000
    assert wire.ask("HSET", "user:42", "photo", value) == 1
    assert wire.ask("HGET", "user:42", "photo") == value
    assert wire.ask("HSTRLEN", "user:42", "photo") == len(value)
    assert hash_of(wire, "user:42")[b"photo"] == value
    requests = [("HGET", "user:42", field) for field in ("name", "photo", "name") * 3]
    assert wire.pipeline(requests) == [b"Ann", value, b"Ann"] * 3
    assert sql.number("SELECT LENGTH(photo) FROM user WHERE id = 42") == len(value)
