"""Strings of containers, as Redis's clients and SQL see them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.pace import Pace
from support.resp import OK, Error, Resp, packed
from support.servers import ON_MYSQL
from support_redis import connect, errors_in, redis_server, sql_error
from support_servers import wait_until
from test_upserts_beside import at_once

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
SHOWN = ("performance" if ON_MYSQL else "information") + "_schema.handlersocket_containers"
CLIENTS, ROUNDS = 8, 40
#: How long a change of the containers may take until it counts, and more.
NOTICED = 10.0
TABLES = (
    "CREATE DATABASE strings",
    "USE strings",
    "CREATE TABLE ranked (id INT PRIMARY KEY, a VARCHAR(20), b INT, note VARCHAR(20) DEFAULT 'n')",
    "CREATE TABLE pair (x VARCHAR(20), y INT, v VARBINARY(100), e INT UNSIGNED NOT NULL DEFAULT 0,"
    " UNIQUE KEY by_both (y, x))",
    "CREATE TABLE lasting (k VARBINARY(50) PRIMARY KEY, v TEXT) ENGINE=MyISAM",
    "CREATE TABLE loose (k INT PRIMARY KEY, v INT, KEY by_v (v))",
    "INSERT INTO handlersocket.containers VALUES"
    " ('ranked', 'strings', 'ranked', 'id', 'a,b', '0', NULL, NULL, 'PRIMARY'),"
    " ('pair', 'strings', 'pair', 'y|x', 'v', '0', '', 'e', 'by_both'),"
    " ('lasting', 'strings', 'lasting', 'k', 'v', '0', '0', '0', 'PRIMARY'),"
    " ('no_table', 'strings', 'nosuch', 'k', 'v', '0', '0', '0', 'PRIMARY'),"
    " ('no_column', 'strings', 'loose', 'k', 'nosuch', '0', '0', '0', 'PRIMARY'),"
    " ('not_unique', 'strings', 'loose', 'v', 'k', '0', '0', '0', 'by_v'),"
    " ('odd.name', 'strings', 'loose', 'k', 'v', '0', '0', '0', 'PRIMARY')",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        "handlersocket_threads": 4,
        "handlersocket_threads_wr": 2,
        "event_scheduler": "ON",
        "default_storage_engine": "InnoDB",
    }
    with redis_server(data_root, watch, **settings) as instance:
        instance.client(CONTAINERS.read_text())
        with Sql(instance.socket) as sql:
            sql.run(*TABLES)
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "handlersocket") as session:
        # It may meet the event that deletes what has expired, and lose a deadlock.
        while session.error("DELETE FROM kv") == 1213:
            pass
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Resp]:
    with connect(server) as one:
        assert one.ask("HS.RELOAD") == OK
        yield one


def test_a_key_that_is_renamed_behind_a_watch(server: ServerInstance, wire: Resp) -> None:
    with connect(server) as other:
        for between, done in ((None, [OK, b"1"]), ("there", None), ("here", None)):
            assert wire.ask("MSET", "here", 1, "there", 2) == OK
            assert wire.ask("WATCH", "here", "there") == OK
            if between is not None:
                assert other.ask("SET", between, 3) == OK
            assert wire.unit([("RENAME", "here", "there"), ("GET", "there")]) == done
            assert other.ask("EXISTS", "here") == (0 if done else 1)


def test_sql_and_redis_see_the_same_strings(wire: Resp, sql: Sql) -> None:
    assert wire.ask("SET", "session:abc", b"\x00\xff", "EX", 100) == OK
    row = sql.row(
        "SELECT HEX(v), flags, expires - UNIX_TIMESTAMP() FROM kv WHERE k = 'session:abc'"
    )
    assert row[:2] == (b"00FF", b"0") and 80 < float(row[2] or 0) <= 101
    sql.run("UPDATE kv SET v = 'by SQL', expires = NULL WHERE k = 'session:abc'")
    assert wire.ask("GET", "session:abc") == b"by SQL"
    assert wire.ask("TTL", "session:abc") == -1
    sql.run("INSERT INTO kv (k, v, expires) VALUES ('gone', 'x', 1), ('there', 'y', 0)")
    assert wire.ask("MGET", "gone", "there", "never") == [None, b"y", None]
    assert wire.ask("HGET", "handlersocket.kv:there", "v") == b"y"


def test_what_has_expired_is_deleted_by_the_event(wire: Resp, sql: Sql) -> None:
    assert wire.ask("SET", "short", "x", "PX", 50) == OK
    assert wire.ask("SET", "long", "x", "EX", 1000) == OK
    wait_until(lambda: wire.ask("GET", "short") is None, "the string expires")
    assert wire.ask("SET", "short", "y", "NX", "PX", 50) == OK, "an upsert is an insert now"
    wait_until(lambda: sql.number("SELECT COUNT(*) FROM kv") == 1, "the event deletes it", 30)
    assert wire.ask("EXISTS", "short", "long") == 1


def test_other_containers(wire: Resp, sql: Sql) -> None:
    assert wire.ask("SET", "ranked:7", "seven|77") == OK
    assert sql.row("SELECT * FROM strings.ranked") == (b"7", b"seven", b"77", b"n")
    assert wire.ask("GET", "ranked:7") == b"seven|77"
    assert sql_error(wire.ask("SET", "ranked:7", "seven|x")) == 1366
    assert wire.ask("GET", "ranked:07") == Error(
        "ERR key part is not the one spelling of a number, a date or a time"
    )
    assert wire.ask("SET", "pair:1:a:b", "v", "EX", 50) == OK
    assert sql.row("SELECT x, y, v FROM strings.pair") == (b"a:b", b"1", b"v")
    assert wire.ask("TTL", "pair:1:a:b") in (49, 50, 51)
    assert wire.ask("PERSIST", "pair:1:a:b") == 1
    assert sql.number("SELECT e FROM strings.pair") == 0
    assert wire.ask("DEL", "pair:1:a:b", "ranked:7") == 2


def test_a_table_without_transactions(wire: Resp, sql: Sql) -> None:
    """One statement works. What looks first and then writes could not be undone: it is refused."""
    assert wire.ask("SET", "lasting:a", "1") == OK
    assert wire.ask("GET", "lasting:a") == b"1"
    assert sql_error(wire.ask("INCR", "lasting:a")) == 1178
    assert sql_error(wire.ask("SET", "lasting:a", "2", "XX")) == 1178
    assert wire.ask("DEL", "lasting:a") == 1
    assert sql.number("SELECT COUNT(*) FROM strings.lasting") == 0


def test_containers_that_cannot_be_used(server: ServerInstance, wire: Resp, sql: Sql) -> None:
    assert sql_error(wire.ask("GET", "no_table:a")) == 1146
    for name in ("no_column", "not_unique"):
        reply = wire.ask("GET", f"{name}:1")
        assert isinstance(reply, Error) and reply.code == "ERR", reply
    assert isinstance(wire.ask("GET", "odd.name:1"), Error)
    assert wire.ask("SET", "a", "still there") == OK
    shown = dict(sql.rows(f"SELECT NAME, MISTAKE FROM {SHOWN} ORDER BY NAME"))
    wrong = {name for name, mistake in shown.items() if mistake}
    assert wrong == {b"no_table", b"no_column", b"not_unique", b"odd.name"}
    assert {b"default", b"pair", b"ranked", b"lasting"} <= shown.keys() - wrong
    index = f"SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME FROM {SHOWN} WHERE NAME = 'pair'"
    assert sql.row(index) == (b"strings", b"pair", b"by_both")
    log = server.log_of_this_start()
    for name in wrong:
        assert log.count(f"the container '{name.decode()}' cannot be used: ") == 1


def test_a_change_of_the_containers_is_seen(wire: Resp, sql: Sql) -> None:
    assert wire.ask("SET", "later:1", "in kv") == OK
    sql.run(
        "CREATE TABLE strings.later (k INT PRIMARY KEY, v INT)",
        "INSERT INTO containers VALUES"
        " ('later', 'strings', 'later', 'k', 'v', '0', NULL, NULL, 'PRIMARY')",
    )
    try:
        wait_until(lambda: wire.ask("GET", "later:1") is None, "the container is there", NOTICED)
        assert wire.ask("SET", "later:1", "5") == OK
        assert sql.number("SELECT v FROM strings.later") == 5
        sql.run("UPDATE containers SET value_columns = 'w' WHERE name = 'later'")
        sql.run("ALTER TABLE strings.later CHANGE v w BIGINT, ADD x INT FIRST")
        assert wire.ask("HS.RELOAD") == OK
        assert wire.ask("INCR", "later:1") == 6
    finally:
        sql.run("DELETE FROM containers WHERE name = 'later'", "DROP TABLE strings.later")
    assert wire.ask("HS.RELOAD") == OK
    assert wire.ask("GET", "later:1") == b"in kv"
    sql.run("RENAME TABLE containers TO away")
    try:
        assert wire.ask("HS.RELOAD") == OK
        assert wire.ask("GET", "a") == Error(
            "ERR there is no container for strings, see docs/redis.md"
        )
    finally:
        sql.run("RENAME TABLE away TO containers")
    assert wire.ask("HS.RELOAD") == OK
    assert wire.ask("GET", "later:1") == b"in kv"


def test_items_are_scanned_on_any_connection(server: ServerInstance, wire: Resp, sql: Sql) -> None:
    names = {f"item:{number}".encode() for number in range(2500)}
    assert wire.ask("MSET", *(word for name in names for word in (name, "x"))) == OK
    sql.run("INSERT INTO kv (k, v, expires) VALUES ('item:old', 'x', 1)")
    assert wire.ask("SET", "other", "x") == OK
    for pattern in (["MATCH", "item:*"], ["MATCH", "*", "TYPE", "string"], []):
        found: list[bytes] = []
        cursor = b"0"
        while True:
            with connect(server) as one:
                cursor, page = one.ask("SCAN", cursor, "COUNT", 700, *pattern)
            found += page
            if cursor == b"0":
                break
        assert set(found) - {b"other"} == names and len(found) == len(set(found))
    assert set(wire.ask("KEYS", "item:1?")) == {f"item:1{last}".encode() for last in range(10)}
    assert wire.ask("SET", "pair:1:a:b", "v") == OK
    assert wire.ask("KEYS", "pair:*") == [b"pair:1:a:b"]
    assert wire.ask("DEL", "pair:1:a:b") == 1


def test_every_key_that_is_listed_names_its_item(wire: Resp, sql: Sql) -> None:
    """SQL may insert what is another container's key, or a row's."""
    there = {b"a", b"a.b", b"no:one", b"default:1", b"%41", b":", b"x y", b""}
    others = ("pair:1:a", "ranked:1", "strings.loose:1", "loose@by_v:1", ".:", "@:1")
    names = ", ".join(f"('{name}', 'x')" for name in [*others, *(one.decode() for one in there)])
    sql.run(f"INSERT INTO kv (k, v) VALUES {names}")
    assert set(wire.ask("KEYS", "*")) == there
    assert set(wire.ask("SCAN", 0, "COUNT", 100)[1]) == there
    assert wire.ask("MGET", *there) == [b"x"] * len(there)
    assert wire.ask("KEYS", "pair:*") == wire.ask("KEYS", "pair:1:a") == []
    assert set(wire.ask("KEYS", "handlersocket.kv:pair*")) == {b"handlersocket.kv:pair:1:a"}


def test_clients_do_what_their_account_may(server: ServerInstance, sql: Sql) -> None:
    sql.run(
        "CREATE USER reader@localhost IDENTIFIED BY 'r'",
        "GRANT SELECT ON handlersocket.kv TO reader@localhost",
        "INSERT INTO kv (k, v) VALUES ('a', '1')",
    )
    try:
        with connect(server) as wire:
            assert wire.ask("AUTH", "reader", "r") == OK
            assert wire.ask("GET", "a") == b"1"
            for words in (
                ("SET", "a", "2"), ("INCR", "a"), ("DEL", "a"), ("SETNX", "b", "1"),
                ("GETDEL", "a"), ("MSET", "a", "1", "b", "2"), ("EXPIRE", "a", "10"),
                ("GET", "ranked:7"),
            ):  # fmt: skip
                reply = wire.ask(*words)
                assert isinstance(reply, Error) and reply.code == "NOPERM", (words, reply)
            sql.run("GRANT INSERT, UPDATE ON handlersocket.kv TO reader@localhost")
            assert wire.ask("INCR", "a") == 2
            assert wire.ask("SET", "b", "1") == OK
            assert isinstance(wire.ask("DEL", "a"), Error)
    finally:
        sql.run("DROP USER reader@localhost")


def test_many_clients_count_together(server: ServerInstance, sql: Sql) -> None:
    """No sum is lost, a key is made once, and nobody is told of a duplicate or a deadlock."""
    made: Counter[str] = Counter()
    lock = threading.Lock()

    def work() -> None:
        with connect(server) as wire:
            for turn in range(ROUNDS):
                replies: list[Any] = []
                for words in (
                    ("INCR", f"n{turn % 4}"), ("SETNX", f"once{turn}", "x"),
                    ("APPEND", "text", "x"), ("SET", f"nx{turn}", "x", "NX"),
                ):  # fmt: skip
                    replies.append(wire.ask(*words))
                assert errors_in(replies) == []
                with lock:
                    made[f"once{turn}"] += replies[1]
                    made[f"nx{turn}"] += replies[3] is not None

    at_once(*[work] * CLIENTS)
    assert sql.number("SELECT SUM(v) FROM kv WHERE k LIKE 'n_'") == CLIENTS * ROUNDS
    assert sql.number("SELECT LENGTH(v) FROM kv WHERE k = 'text'") == CLIENTS * ROUNDS
    assert set(made.values()) == {1}


def test_a_renamed_key_is_never_lost(server: ServerInstance, sql: Sql) -> None:
    """Several clients move it to and fro. It is always in one place."""
    with connect(server) as wire:
        assert wire.ask("SET", "here", "x") == OK

        def move() -> None:
            with connect(server) as own:
                for _ in range(ROUNDS):
                    own.ask("RENAME", "here", "there")
                    own.ask("RENAME", "there", "here")

        def look() -> None:
            with connect(server) as own:
                for _ in range(ROUNDS * 3):
                    assert own.ask("MGET", "here", "there").count(b"x") == 1

        at_once(move, move, look)
        assert wire.ask("EXISTS", "here", "there") == 1


def test_a_request_of_very_many_keys_holds_nobody_up(
    server: ServerInstance, sql: Sql, pace: Pace
) -> None:
    many = 100_000
    sql.run(
        "INSERT INTO kv (k, v) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
        " WHERE i < 1000) SELECT CONCAT('k', i), REPEAT('v', 100) FROM n"
    )
    names = [f"k{1 + number % 1000}" for number in range(many)]
    ended = threading.Event()
    slowest = [0.0]

    def others() -> None:
        with connect(server) as wire:
            while not ended.is_set():
                begun = time.monotonic()
                assert wire.ask("GET", "k1") in (None, b"new", b"v" * 100)
                slowest[0] = max(slowest[0], time.monotonic() - begun)

    thread = threading.Thread(target=others)
    thread.start()
    try:
        with connect(server) as wire:
            assert len(wire.ask("MGET", *names)) == many
            reply = wire.ask("MSET", *(word for name in names[:500] for word in (name, "new")))
            assert reply == OK
            assert wire.ask("DEL", *names[:1000]) == 1000
    finally:
        ended.set()
        thread.join()
    assert slowest[0] < 1.0 + pace.longest


def test_large_values(wire: Resp, sql: Sql) -> None:
    value = b"x" * (8 << 20)
    assert wire.ask("SET", "large", value) == OK
    assert wire.ask("GET", "large") == value
    assert wire.ask("STRLEN", "large") == len(value)
    assert wire.ask("GETRANGE", "large", -3, -1) == b"xxx"
    assert wire.ask("APPEND", "large", "y") == len(value) + 1
    reply = wire.ask("MGET", *["large"] * 9)
    assert sql_error(reply) == 1153
    assert sql_error(wire.ask("SETRANGE", "large", 1 << 25, "x")) == 1406
    assert wire.ask("STRLEN", "large") == len(value) + 1


def test_a_lock_is_waited_for_and_then_given_up(server: ServerInstance, wire: Resp) -> None:
    assert wire.ask("SET", "held", "1") == OK
    with Sql(server.socket, "handlersocket") as holder:
        holder.run("BEGIN", "UPDATE kv SET v = '5' WHERE k = 'held'")
        wire.send(packed("INCR", "held"))
        time.sleep(0.3)
        holder.run("COMMIT")
        assert wire.reply() == 6
        holder.run("BEGIN", "UPDATE kv SET v = '9' WHERE k = 'held'")
        with connect(server) as other:
            assert other.ask("GET", "held") == b"6"
        holder.run("ROLLBACK")
    assert wire.ask("GETDEL", "held") == b"6"


def test_the_script_can_be_executed_again(server: ServerInstance, wire: Resp, sql: Sql) -> None:
    assert wire.ask("SET", "a", "1") == OK
    server.client(CONTAINERS.read_text())
    assert wire.ask("GET", "a") == b"1"
    events = "SELECT STATUS FROM information_schema.EVENTS WHERE EVENT_NAME = 'delete_expired'"
    assert sql.row(events) == (b"ENABLED",)
    assert ON_MYSQL or sql.row("SELECT @@event_scheduler") == (b"ON",)
