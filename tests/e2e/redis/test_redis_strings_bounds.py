"""Strings whose containers, keys and sizes are not the usual ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.resp import OK, Error, Resp
from support.servers import ON_MYSQL
from support_redis import connect, redis_server, sql_error
from support_servers import wait_until

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
LARGE = 8 << 20
REPLY = 64 << 20
SHOWN = ("performance" if ON_MYSQL else "information") + "_schema.handlersocket_containers"
TABLES = (
    "CREATE DATABASE odd",
    "USE odd",
    "CREATE TABLE folded (k VARCHAR(50) COLLATE utf8mb4_general_ci PRIMARY KEY, v VARCHAR(100))"
    " DEFAULT CHARSET utf8mb4",
    "CREATE TABLE once (k INT PRIMARY KEY, v VARCHAR(20), UNIQUE KEY (v))",
    "CREATE TABLE wide (k INT PRIMARY KEY, v LONGBLOB)",
    "CREATE TABLE plain (k INT PRIMARY KEY, v VARCHAR(20), e DECIMAL(20,3), n INT)",
    "INSERT INTO handlersocket.containers VALUES"
    " ('folded', 'odd', 'folded', 'k', 'v', '0', NULL, NULL, 'PRIMARY'),"
    " ('same', 'odd', 'folded', 'k', 'v', '0', NULL, NULL, 'PRIMARY'),"
    " ('once', 'odd', 'once', 'k', 'v', '0', NULL, NULL, 'PRIMARY'),"
    " ('wide', 'odd', 'wide', 'k', 'v', '0', NULL, NULL, 'PRIMARY'),"
    " ('plain', 'odd', 'plain', 'k', 'v', '0', NULL, 'e', 'PRIMARY'),"
    " ('twice', 'odd', 'plain', 'k', 'v,v', '0', NULL, NULL, 'PRIMARY'),"
    " ('both', 'odd', 'plain', 'k', 'v', 'n', NULL, 'n', 'PRIMARY'),"
    " ('bare', 'odd', 'plain', 'k', NULL, '0', NULL, NULL, 'PRIMARY'),"
    " ('no_index', 'odd', 'plain', 'k', 'v', '0', NULL, NULL, '')",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        "default_storage_engine": "InnoDB",
        "handlersocket_max_request_size": 1 << 25,
        "max_allowed_packet": 1 << 29,
        "innodb_log_file_size" if not ON_MYSQL else "innodb_redo_log_capacity": 1 << 30,
    }
    with redis_server(data_root, watch, **settings) as instance:
        instance.client(CONTAINERS.read_text())
        with Sql(instance.socket) as sql:
            sql.run(*TABLES)
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "odd") as session:
        yield session


@pytest.fixture
def wire(server: ServerInstance) -> Iterator[Resp]:
    with connect(server) as one:
        assert one.ask("HS.RELOAD") == OK
        yield one


def test_a_rename_to_another_key_of_its_own_row_keeps_it(wire: Resp, sql: Sql) -> None:
    """A collation, or a second container, gives one row several keys."""
    assert wire.ask("SET", "folded:name", "x") == OK
    for here, there in (
        ("folded:name", "folded:NAME"), ("folded:NAME", "same:name"), ("same:name", "folded:name "),
    ):  # fmt: skip
        assert wire.ask("RENAMENX", here, there) == 0
        assert wire.ask("COPY", here, there) == 0
        assert wire.ask("COPY", here, there, "REPLACE") == 1
        assert wire.ask("RENAME", here, there) == OK
        assert wire.ask("GET", there) == b"x"
    assert sql.rows("SELECT * FROM folded") == [(b"name ", b"x")]
    assert wire.unit([("RENAME", "folded:name", "folded:Name"), ("GET", "same:name")]) == [OK, b"x"]
    assert wire.ask("DEL", "folded:name") == 1


def test_a_value_that_no_other_row_may_have_is_moved(wire: Resp, sql: Sql) -> None:
    assert wire.ask("MSET", "once:1", "x", "once:2", "y") == OK
    assert sql_error(wire.ask("SET", "once:2", "x")) == 1062
    assert sql_error(wire.ask("COPY", "once:1", "once:3")) == 1062
    assert wire.ask("RENAME", "once:1", "once:2") == OK
    assert wire.ask("RENAMENX", "once:2", "once:3") == 1
    assert sql.rows("SELECT * FROM once") == [(b"3", b"x")]


def test_a_row_keeps_its_other_columns_when_its_key_changes(wire: Resp, sql: Sql) -> None:
    """RENAME changes the key and nothing else, whoever was in its place."""
    sql.run("INSERT INTO plain VALUES (1, 'a', 4e9, 7), (2, 'b', 4e9, 8), (3, 'gone', 1, 9)")
    assert wire.ask("RENAME", "plain:1", "plain:5") == OK
    assert sql.rows("SELECT k, v, e, n FROM plain WHERE n = 7") == [
        (b"5", b"a", b"4000000000.000", b"7")
    ]
    assert wire.ask("RENAMENX", "plain:5", "plain:2") == 0
    assert wire.ask("RENAME", "plain:5", "plain:2") == OK
    assert wire.ask("RENAMENX", "plain:2", "plain:3") == 1, "what has expired is not there"
    assert sql.rows("SELECT k, v, n FROM plain") == [(b"3", b"a", b"7")]
    assert "one spelling" in wire.ask("RENAME", "plain:3", "plain:x").text
    assert "no column for the expiry" in wire.ask("RENAME", "plain:3", "folded:three").text
    assert wire.ask("PERSIST", "plain:3") == 1
    assert wire.ask("RENAME", "plain:3", "folded:three") == OK
    assert sql.number("SELECT COUNT(*) FROM plain") == 0
    assert sql.rows("SELECT * FROM folded") == [(b"three", b"a")]
    assert wire.ask("DEL", "folded:three") == 1


def test_a_renamed_item_is_not_taken_for_the_one_before(wire: Resp, sql: Sql) -> None:
    assert wire.ask("MSET", "here", "x", "there", "y") == OK
    cas = "SELECT cas FROM handlersocket.kv WHERE k = 'there'"
    sql.run("UPDATE handlersocket.kv SET cas = 5")
    assert sql.number(cas) == 5
    assert wire.ask("RENAME", "here", "there") == OK
    assert sql.number(cas) > 5
    assert wire.ask("DEL", "there") == 1


def test_a_transaction_has_the_reply_of_one_request(
    server: ServerInstance, wire: Resp, sql: Sql
) -> None:
    assert wire.ask("SET", "wide:1", b"x" * LARGE) == OK
    for words in (("GET", "wide:1"), ("GETEX", "wide:1"), ("HGET", "odd.wide:1", "v")):
        with connect(server) as one:
            reply = one.unit([("SET", "wide:2", "x"), *[words] * (REPLY // LARGE)])
        assert isinstance(reply, Error) and reply.code == "EXECABORT", reply
        assert " ERR 1153 " in reply.text
    assert wire.ask("EXISTS", "wide:2") == 0
    assert len(wire.unit([("GET", "wide:1")] * (REPLY // LARGE - 1))) == REPLY // LARGE - 1
    assert wire.ask("DEL", "wide:1") == 1


def test_a_value_that_is_in_no_reply(wire: Resp, sql: Sql) -> None:
    """It is not read into memory, and not made. What needs no value goes on."""
    sql.run(f"INSERT INTO wide VALUES (1, REPEAT('x', {REPLY + 1})), (2, 'x')")
    for words in (
        ("GET", "wide:1"), ("STRLEN", "wide:1"), ("GETRANGE", "wide:1", 0, 1),
        ("APPEND", "wide:1", "x"), ("GETSET", "wide:1", "x"), ("GETDEL", "wide:1"),
        ("SET", "wide:1", "x", "GET"), ("INCR", "wide:1"), ("MGET", "wide:2", "wide:1"),
    ):  # fmt: skip
        assert sql_error(wire.ask(*words)) == 1153, words
    assert sql.number("SELECT LENGTH(v) FROM wide WHERE k = 1") == REPLY + 1
    too_long = Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
    assert wire.ask("SETRANGE", "wide:2", REPLY, "x") == too_long
    assert wire.ask("EXISTS", "wide:1", "wide:2") == 2
    assert wire.ask("DEL", "wide:1", "wide:2") == 2


def test_a_time_before_1970_is_none(wire: Resp, sql: Sql) -> None:
    sql.run("INSERT INTO plain (k, v, e) VALUES (1, 'a', -5), (2, 'b', -0.5), (3, 'c', 0.5)")
    assert wire.ask("MGET", "plain:1", "plain:2", "plain:3") == [b"a", b"b", None]
    sql.run("DELETE FROM plain")


def test_a_container_that_is_declared_wrong_has_no_keys(wire: Resp, sql: Sql) -> None:
    """Its keys are not those of the default container, where nobody would look for them."""
    for name in ("twice", "both", "bare", "no_index"):
        for words in (("SET", f"{name}:1", "x"), ("GET", f"{name}:1"), ("INCR", f"{name}:1")):
            reply = wire.ask(*words)
            assert isinstance(reply, Error) and reply.code == "ERR", (words, reply)
    assert sql.number("SELECT COUNT(*) FROM plain") == 0
    assert sql.number("SELECT COUNT(*) FROM handlersocket.kv") == 0


def test_containers_stay_while_their_table_cannot_be_read(wire: Resp, sql: Sql) -> None:
    assert wire.ask("SET", "folded:kept", "x") == OK
    sql.run(
        "CREATE TABLE handlersocket.copied LIKE handlersocket.containers",
        "INSERT INTO handlersocket.copied SELECT * FROM handlersocket.containers",
        "ALTER TABLE handlersocket.containers DISCARD TABLESPACE",
    )
    try:
        for _ in range(3):
            assert wire.ask("HS.RELOAD") == OK
            assert wire.ask("GET", "folded:kept") == b"x"
    finally:
        sql.run(
            "DROP TABLE handlersocket.containers",
            "RENAME TABLE handlersocket.copied TO handlersocket.containers",
        )
    assert wire.ask("HS.RELOAD") == OK
    assert wire.ask("DEL", "folded:kept") == 1


#: The columns for flags, cas and expiry of a container, and whether it can be used.
COLUMNS = [
    # MySQL's memcached plugin came with such a table.
    ("INT", "BIGINT UNSIGNED", "INT", True),
    ("INT UNSIGNED", "BIGINT", "DECIMAL(13, 3)", True),
    ("BIGINT", "DECIMAL(20, 0)", "DECIMAL(10, 0)", True),
    ("SMALLINT UNSIGNED", "BIGINT", "INT", False),
    ("MEDIUMINT UNSIGNED", "BIGINT", "INT", False),
    ("INT", "INT UNSIGNED", "INT", False),
    ("INT", "DECIMAL(15, 0)", "INT", False),
    ("INT", "DECIMAL(20, 8)", "INT", False),
    ("INT", "BIGINT", "SMALLINT", False),
    ("INT", "BIGINT", "MEDIUMINT UNSIGNED", False),
    ("INT", "BIGINT", "DECIMAL(9, 0)", False),
    ("INT", "BIGINT", "DECIMAL(12, 3)", False),
]


def test_columns_that_are_too_small(server: ServerInstance, sql: Sql) -> None:
    """Who declares them is told at once, and not a client that stores something much later."""
    names = [f"sized{number}" for number in range(len(COLUMNS))]
    for name, (flags, cas, expiry, _) in zip(names, COLUMNS, strict=True):
        sql.run(
            f"CREATE TABLE {name} (k INT PRIMARY KEY, v INT, f {flags}, c {cas} NOT NULL,"
            f" e {expiry})",
            "INSERT INTO handlersocket.containers VALUES"
            f" ('{name}', 'odd', '{name}', 'k', 'v', 'f', 'c', 'e', 'PRIMARY')",
        )
    with connect(server) as wire:
        assert wire.ask("HS.RELOAD") == OK
        for name, (*_, can_be_used) in zip(names, COLUMNS, strict=True):
            for words in (("SET", f"{name}:1", "5", "EX", 1000), ("GET", f"{name}:1")):
                reply = wire.ask(*words)
                assert isinstance(reply, Error) != can_be_used, (name, reply)
                assert can_be_used or "too small" in reply.text
    too_small = [
        name for name, (*_, can_be_used) in zip(names, COLUMNS, strict=True) if not can_be_used
    ]
    shown = f"SELECT NAME FROM {SHOWN} WHERE MISTAKE LIKE '%smaller than%' ORDER BY NAME"

    def are_named() -> bool:
        assert wire.ask("GET", "folded:1") is None  # whoever asks next reads the containers
        return [(name or b"").decode() for (name,) in sql.rows(shown)] == sorted(too_small)

    with connect(server) as wire:
        wait_until(are_named, "they are judged, which is not done at each look")
    log = server.log_of_this_start()
    for name in too_small:
        assert log.count(f"the container '{name}' cannot be used: its column for flags") == 1
