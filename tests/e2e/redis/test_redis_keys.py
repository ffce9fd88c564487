"""What names a row: `db.table:parts` by its primary key, `db.table@index:parts` by a unique one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.resp import Error, Resp
from support.servers import ON_MYSQL
from support_redis import connect, hash_of, redis_server
from support_servers import fresh_session

TABLES = (
    "CREATE TABLE number (id INT PRIMARY KEY, v VARCHAR(20))",
    "CREATE TABLE big (id BIGINT UNSIGNED PRIMARY KEY, v VARCHAR(20))",
    "CREATE TABLE text (id VARCHAR(50) COLLATE utf8mb4_general_ci PRIMARY KEY, v INT)"
    " CHARSET utf8mb4",
    "CREATE TABLE bytes (id VARBINARY(50) PRIMARY KEY, v INT)",
    "CREATE TABLE pair (a INT, b VARCHAR(20), c INT, v INT, PRIMARY KEY (a, b),"
    " UNIQUE KEY by_c (c), UNIQUE KEY `odd:@na.me%` (v), KEY plain (v))",
    "CREATE TABLE `odd.ta:b@le%` (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE bare (v INT)",
    "CREATE TABLE day (id DATE PRIMARY KEY, v INT)",
    "CREATE TABLE price (id DECIMAL(10,2) PRIMARY KEY, v INT)",
    "CREATE VIEW shown AS SELECT * FROM number",
    "INSERT INTO number VALUES (0, 'zero'), (42, 'found'), (-7, 'minus'), (2147483647, 'most')",
    "INSERT INTO big VALUES (0, 'zero'), (18446744073709551615, 'most')",
    "INSERT INTO text VALUES ('Ann', 1), ('a:b:c', 2), ('x%41', 3), ('gr\u00fcn', 4), ('', 5)",
    "INSERT INTO bytes VALUES ('Ann', 1), ('a:b', 2), (x'00FF0D0A', 3)",
    "INSERT INTO pair VALUES (1, 'x', 10, 100), (1, 'y:z', 11, 101), (2, '', NULL, 102),"
    " (3, 'x', NULL, NULL)",
    "INSERT INTO `odd.ta:b@le%` VALUES (5, 55)",
    "INSERT INTO bare VALUES (1)",
    "INSERT INTO day VALUES ('2024-02-29', 1)",
    "INSERT INTO price VALUES (1.50, 1)",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {"handlersocket_default_database": "named"}
    with redis_server(data_root, watch, **settings) as instance:
        with fresh_session(instance, "named", *TABLES):
            yield instance


@pytest.fixture
def wire(server: ServerInstance) -> Iterator[Resp]:
    with connect(server) as one:
        yield one


FOUND: list[tuple[bytes | str, bytes]] = [
    ("named.number:42", b"found"),
    ("named.number:0", b"zero"),
    ("named.number:-7", b"minus"),
    ("named.number:2147483647", b"most"),
    ("number:42", b"found"),
    ("named.number@PRIMARY:42", b"found"),
    ("number@PRIMARY:42", b"found"),
    ("named.big:18446744073709551615", b"most"),
    ("named.text:Ann", b"1"),
    # The last part is the rest of the key, as it is.
    ("named.text:a:b:c", b"2"),
    ("named.text:x%41", b"3"),
    ("named.text:grün", b"4"),
    ("named.text:", b"5"),
    # The collation decides what is equal, as in SQL.
    ("named.text:aNN", b"1"),
    ("named.bytes:Ann", b"1"),
    ("named.bytes:a:b", b"2"),
    (b"named.bytes:\x00\xff\r\n", b"3"),
    ("named.pair:1:x", b"100"),
    ("named.pair:1:y:z", b"101"),
    ("named.pair:2:", b"102"),
    ("named.pair@by_c:11", b"101"),
    ("pair@by_c:11", b"101"),
    # Any byte of a name, and of a part but the last, may be written in hexadecimal digits.
    ("name%64.p%61ir@by%5fc:11", b"101"),
    ("named.pair:%31:x", b"100"),
    ("named.pair@odd%3A%40na%2Eme%25:100", b"100"),
    ("named.odd%2Eta%3Ab%40le%25:5", b"55"),
    ("named.odd%2eta%3ab%40le%25:5", b"55"),
    ("named.day:2024-02-29", b"1"),
    ("named.price:1.50", b"1"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), FOUND, ids=[str(key) for key, _ in FOUND])
def test_a_key_that_names_a_row(wire: Resp, key: bytes | str, value: bytes) -> None:
    assert wire.ask("HGET", key, "v") == value
    assert wire.ask("EXISTS", key) == 1


ABSENT: list[bytes | str] = [
    "named.number:43", "named.big:1", "named.text:nobody", "named.bytes:ann", "named.bytes:Ann ",
    "named.pair:1:z", "named.pair:9:x", "named.pair@by_c:99",
]  # fmt: skip


@pytest.mark.parametrize("key", ABSENT)
def test_a_row_that_is_not_there(wire: Resp, key: bytes | str) -> None:
    requests = [("HGET", key, "v"), ("HGETALL", key), ("HLEN", key), ("EXISTS", key)]
    requests += [("TYPE", key), ("HMGET", key, "v", "v"), ("DEL", key), ("HDEL", key, "v")]
    *replies, kind, two, none, nothing = wire.pipeline(requests)
    assert replies == [None, [], 0, 0]
    assert kind.text == "none"
    assert (two, none, nothing) == ([None, None], 0, 0)


#: What is no key, and a word that the error has.
REFUSED: list[tuple[bytes | str, str]] = [
    # A number has one spelling: clients keep what they read by its key.
    ("named.number:+42", ""), ("named.number:042", ""), ("named.number: 42", ""),
    ("named.number:42 ", ""), ("named.number:-0", ""), ("named.number:42.0", ""),
    ("named.number:4e1", ""), ("named.number:0x2a", ""), ("named.number:", ""),
    ("named.number:abc", ""), ("named.number:42abc", ""), ("named.number:--7", ""),
    (b"named.number:42\x00", ""), ("named.number:42:1", ""),
    ("named.pair:01:x", ""),
    # All parts of the key.
    ("named.pair:1", ""), ("named.pair", ""), ("named.number", ""), ("number", ""),
    # Escapes that are none.
    ("named.pair:%3:x", ""), ("named.pair:%zz:x", ""), ("named.p%6:1:x", ""),
    ("named%.pair:1:x", ""),
    # Names.
    (":42", ""), (".number:42", ""), ("named.:42", ""), ("named.number@:42", ""), ("", ""),
    (":", ""),
    (".:", ""), ("named.number@@:42", ""), ("@PRIMARY:42", ""),
    # Indexes that do not name one row.
    ("named.pair@plain:100", "not unique"), ("named.pair@nosuch:1", "no such index"),
    ("named.bare:1", ""),
    (b"named.n\xff:42", ""), (b"named." + b"x" * 5000 + b":42", ""),
]  # fmt: skip


@pytest.mark.parametrize(("key", "word"), REFUSED, ids=[repr(key)[:40] for key, _ in REFUSED])
def test_what_is_no_key(wire: Resp, key: bytes | str, word: str) -> None:
    """By no command, and the connection goes on."""
    requests = [("HGET", key, "v"), ("HGETALL", key), ("HSET", key, "v", "1"), ("HDEL", key, "v"),
                ("EXISTS", key), ("DEL", key), ("TYPE", key), ("HINCRBY", key, "v", 1)]  # fmt: skip
    replies = wire.pipeline(requests)
    assert all(isinstance(reply, Error) for reply in replies), replies
    assert word in replies[0].text
    assert wire.ask("HGET", "named.number:42", "v") == b"found"


@pytest.mark.parametrize(
    "key",
    ["named.number:2147483648", "named.number:-2147483649", "named.big:-1",
     "named.big:18446744073709551616", "named.number:99999999999999999999999999"],
)  # fmt: skip
def test_a_number_that_its_column_cannot_hold(wire: Resp, key: str) -> None:
    """No row has it. It is never the row of the nearest number."""
    reply = wire.ask("HGET", key, "v")
    assert reply is None or isinstance(reply, Error)
    assert wire.ask("EXISTS", key) == 0 or isinstance(reply, Error)
    assert isinstance(wire.ask("HSET", key, "v", "x"), Error)


def test_a_text_longer_than_its_column(wire: Resp, server: ServerInstance) -> None:
    """It is no row's key, and no row begins with a part of it."""
    key = "named.bytes:" + "x" * 51
    assert isinstance(wire.ask("HSET", key, "v", 1), Error)
    reply = wire.ask("HGET", key, "v")
    assert reply is None or isinstance(reply, Error)
    with Sql(server.socket, "named") as sql:
        assert sql.number("SELECT COUNT(*) FROM bytes") == 3


def test_a_key_that_is_null_is_no_key(wire: Resp) -> None:
    """A unique index may hold many NULLs, so none of them names a row, and no text means NULL."""
    for text in ("NULL", "null", "", "\\N"):
        reply = wire.ask("HGET", f"named.pair@by_c:{text}", "v")
        assert reply is None or isinstance(reply, Error)


def test_a_write_by_a_unique_index_makes_a_row_that_has_it(
    wire: Resp, server: ServerInstance
) -> None:
    with Sql(server.socket, "named") as sql:
        assert wire.ask("HSET", "named.pair@by_c:10", "v", 200) == 0
        assert sql.rows("SELECT a, b, v FROM pair WHERE c = 10") == [(b"1", b"x", b"200")]
        assert wire.ask("HSET", "named.pair@by_c:77", "a", 7, "b", "new", "v", 7) == 3
        assert sql.rows("SELECT a, b, v FROM pair WHERE c = 77") == [(b"7", b"new", b"7")]
        assert wire.ask("DEL", "named.pair@by_c:77") == 1
        assert wire.ask("HSET", "named.pair@by_c:10", "v", 100) == 0


def test_without_a_default_database(data_root: Path, watch: Any) -> None:
    with redis_server(data_root, watch) as instance:
        with fresh_session(instance, "named", *TABLES[:1]), connect(instance) as wire:
            assert isinstance(wire.ask("HGET", "number:42", "v"), Error)
            assert wire.ask("HSET", "named.number:42", "v", "x") == 1
            assert hash_of(wire, "named.number:42") == {b"id": b"42", b"v": b"x"}


def test_a_view_is_no_table(wire: Resp) -> None:
    assert isinstance(wire.ask("HGET", "named.shown:42", "v"), Error)


@pytest.mark.skipif(ON_MYSQL, reason="MySQL has no sequences as tables")
def test_a_sequence_object_is_read_as_no_row(wire: Resp, server: ServerInstance) -> None:
    with Sql(server.socket, "named") as sql:
        sql.run("CREATE SEQUENCE counting")
    assert isinstance(wire.ask("HGET", "named.counting:1", "v"), Error)
