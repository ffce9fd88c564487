"""Items of containers, as memcached's clients and SQL see them."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, Setting
from support.database import Sql
from support.pace import Pace
from support.peers import peer_program
from support_memcached import Line, connect, found, memcached_port, memcached_server, stored
from support_memcached_sequences import packet
from support_servers import wait_until

CLIENTS, ROUNDS = 8, 40
TABLES = (
    "CREATE DATABASE items",
    "USE items",
    "CREATE TABLE ranked (id INT PRIMARY KEY, a VARCHAR(20), b INT, note VARCHAR(20) DEFAULT 'n')",
    "CREATE TABLE city (name CHAR(20) PRIMARY KEY, people BIGINT, f INT,"
    " c BIGINT UNSIGNED NOT NULL DEFAULT 0, e INT UNSIGNED NOT NULL DEFAULT 0)",
    "INSERT INTO handlersocket.containers VALUES"
    " ('ranked', 'items', 'ranked', 'id', 'a,b', '0', NULL, NULL, 'PRIMARY'),"
    " ('city', 'items', 'city', 'name', 'people', 'f', 'c', 'e', 'PRIMARY')",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings: dict[str, Setting] = {
        "handlersocket_threads": 4,
        "handlersocket_threads_wr": 2,
        "event_scheduler": "ON",
    }
    with memcached_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(*TABLES)
        time.sleep(1.5)  # until the containers are read again
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "handlersocket") as session:
        # It may meet the event that deletes what has expired, and lose a deadlock.
        for table in ("kv", "items.ranked", "items.city"):
            while session.error(f"DELETE FROM {table}") == 1213:
                pass
        yield session


@pytest.fixture
def wire(server: ServerInstance, sql: Sql) -> Iterator[Line]:
    with connect(server) as line:
        yield line


def test_sql_and_memcached_see_the_same_items(wire: Line, sql: Sql) -> None:
    assert wire.ask(stored(b"session:abc", b"\x00\xff", 5, 100)) == b"STORED\r\n"
    row = sql.row(
        "SELECT HEX(v), flags, expires - UNIX_TIMESTAMP() FROM kv WHERE k = 'session:abc'"
    )
    assert row[:2] == (b"00FF", b"5") and 80 < float(row[2] or 0) <= 101
    sql.run("UPDATE kv SET v = 'by SQL', flags = 7, expires = NULL WHERE k = 'session:abc'")
    assert wire.ask(b"get session:abc\r\n") == found(b"session:abc", b"by SQL", 7)
    sql.run("INSERT INTO kv (k, v, expires) VALUES ('gone', 'x', 1), ('there', 'y', 0)")
    assert wire.ask(b"get gone there\r\n") == found(b"there", b"y")
    assert wire.ask(b"delete there\r\n") == b"DELETED\r\n"
    assert sql.row("SELECT COUNT(*) FROM kv WHERE k = 'there'") == (b"0",)


def test_a_change_by_sql_is_another_cas(wire: Line, sql: Sql) -> None:
    wire.ask(stored(b"a", b"1"))
    cas = wire.ask(b"gets a\r\n").split()[4]
    sql.run("UPDATE kv SET v = '2', cas = cas + 1 WHERE k = 'a'")
    assert wire.ask(b"cas a 0 0 1 %s\r\n3\r\n" % cas) == b"EXISTS\r\n"
    assert wire.ask(b"get a\r\n") == found(b"a", b"2")


def test_containers_by_name(wire: Line, sql: Sql) -> None:
    assert wire.ask(stored(b"@@ranked.7", b"text|9")) == b"STORED\r\n"
    assert sql.row("SELECT a, b, note FROM items.ranked WHERE id = 7") == (b"text", b"9", b"n")
    assert wire.ask(b"get @@ranked\r\n") == found(b"@@ranked", b"items/ranked")
    assert wire.ask(b"get 7 8\r\n") == found(b"7", b"text|9")
    assert wire.ask(b"get 07\r\n").startswith(b"CLIENT_ERROR")
    assert wire.ask(stored(b"@@city.Rome", b"2800000", 3, 1000)) == b"STORED\r\n"
    assert wire.ask(b"incr Rome 5\r\n") == b"2800005\r\n"
    assert sql.row("SELECT people, f FROM items.city") == (b"2800005", b"3")
    assert wire.ask(stored(b"Rome", b"many")).startswith(b"SERVER_ERROR 1366 ")
    assert wire.ask(stored(b"@@default.x", b"y")) == b"STORED\r\n"
    assert sql.row("SELECT k, v FROM kv") == (b"x", b"y")


def test_sums_of_many_clients_add_up(server: ServerInstance, wire: Line, sql: Sql) -> None:
    wire.ask(stored(b"n", b"0"))

    def add() -> None:
        with connect(server) as line:
            for _ in range(ROUNDS):
                line.ask(b"incr n 1\r\nms joined 1 MA N0 q\r\nx\r\n")

    threads = [threading.Thread(target=add) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wire.ask(b"get n\r\n") == found(b"n", b"%d" % (CLIENTS * ROUNDS))
    assert wire.ask(b"mg joined s\r\n") == b"HD s%d\r\n" % (CLIENTS * ROUNDS)


def test_one_of_many_adds_stores(server: ServerInstance, wire: Line) -> None:
    with_lines = [connect(server) for _ in range(CLIENTS)]
    for round_number in range(10):
        for line in with_lines:
            line.send(stored(b"lock%d" % round_number, b"x", command=b"add") + b"mn\r\n")
        replies = [line.until(b"MN\r\n") for line in with_lines]
        assert sorted(replies) == [b"NOT_STORED\r\nMN\r\n"] * (CLIENTS - 1) + [b"STORED\r\nMN\r\n"]
    for line in with_lines:
        line.socket.close()


def test_no_new_item_is_refused_for_a_deadlock(server: ServerInstance, wire: Line) -> None:
    # Whoever finds no item locks the gap where it would be, and so do all others.
    with_lines = [connect(server) for _ in range(CLIENTS)]
    for round_number in range(200):
        for number, line in enumerate(with_lines):
            key = b"new%d" % (round_number * CLIENTS + number)
            line.send(stored(b"one%d" % round_number, b"x", command=b"add"))
            line.send(b"ms %s 1 c\r\nx\r\nmn\r\n" % key)
        for line in with_lines:
            assert b"SERVER_ERROR" not in line.until(b"MN\r\n")
    for line in with_lines:
        line.socket.close()


def test_large_values(wire: Line) -> None:
    value = b"v" * 3_000_000
    assert wire.ask(stored(b"large", value)) == b"STORED\r\n"
    assert wire.ask(b"get small large small\r\n") == found(b"large", value)
    assert wire.ask(b"gat 100 large\r\n") == found(b"large", value)
    assert wire.ask(stored(b"large", b"x" * 17_000_000)).startswith(b"SERVER_ERROR ")
    assert (
        wire.ask(stored(b"large", b"x" * 100_000_000))
        == b"SERVER_ERROR object too large for cache\r\n"
    )
    assert wire.ask(b"get large\r\n") == found(b"large", value)


def test_a_get_of_many_keys_lets_others_go_first(
    server: ServerInstance, wire: Line, sql: Sql, pace: Pace
) -> None:
    sql.run("INSERT INTO kv (k, v) VALUES ('key1', 'x')")
    keys = b" ".join(b"key%d" % number for number in range(100_000))
    with connect(server) as other:
        wire.send(b"get " + keys + b"\r\nmn\r\n")
        slowest = 0.0
        for _ in range(50):
            began = time.monotonic()
            assert other.ask(b"get key1\r\n") == found(b"key1", b"x")
            slowest = max(slowest, time.monotonic() - began)
    assert wire.until(b"MN\r\n") == found(b"key1", b"x") + b"MN\r\n"
    assert slowest < 0.5 + pace.longest


def test_a_locked_row_is_waited_for(server: ServerInstance, wire: Line, sql: Sql) -> None:
    wire.ask(stored(b"n", b"5"))
    with Sql(server.socket, "handlersocket") as other:
        other.run("BEGIN", "UPDATE kv SET v = '7' WHERE k = 'n'")
        wire.send(b"incr n 1\r\nmn\r\n")
        time.sleep(0.3)
        with connect(server) as reader:
            assert reader.ask(b"get n\r\n") == found(b"n", b"5")
        other.run("COMMIT")
    assert wire.until(b"MN\r\n") == b"8\r\nMN\r\n"


def test_what_has_expired_is_deleted_by_the_event(wire: Line, sql: Sql) -> None:
    assert wire.ask(stored(b"short", b"x", 0, 1)) == b"STORED\r\n"
    wait_until(lambda: wire.ask(b"get short\r\n") == b"END\r\n", "the item has expired")
    wait_until(
        lambda: sql.row("SELECT COUNT(*) FROM kv") == (b"0",), "the event has deleted the row"
    )


def test_flush_all_is_an_option(server: ServerInstance, wire: Line, sql: Sql) -> None:
    wire.ask(stored(b"a", b"1"))
    assert wire.ask(b"flush_all\r\n") == b"CLIENT_ERROR flush_all not allowed\r\n"
    sql.run("SET GLOBAL handlersocket_memcached_flush_all = 1")
    try:
        sql.run(
            "INSERT INTO kv (k, v) SELECT CONCAT('k', seq), 'x' FROM seq_1_to_20000"
            if not sql_is_mysql(sql)
            else "INSERT INTO kv (k, v) VALUES ('k', 'x')"
        )
        assert wire.ask(b"flush_all\r\nget a\r\n") == b"OK\r\nEND\r\n"
        assert sql.row("SELECT COUNT(*) FROM kv") == (b"0",)
    finally:
        sql.run("SET GLOBAL handlersocket_memcached_flush_all = 0")


def sql_is_mysql(sql: Sql) -> bool:
    return b"MariaDB" not in (sql.row("SELECT VERSION()")[0] or b"")


def test_statistics(server: ServerInstance, wire: Line) -> None:
    wire.ask(b"get a\r\n")
    stats = dict(line.split(b" ", 2)[1:] for line in wire.ask(b"stats\r\n").splitlines()[:-1])
    assert int(stats[b"cmd_get"]) >= 1 and int(stats[b"curr_connections"]) >= 1
    assert stats[b"version"].startswith(b"1.6.")
    settings = wire.ask(b"stats settings\r\n")
    assert b"STAT tcpport %d\r\n" % memcached_port(server) in settings


#: memcached 1.6 itself fails these: memcapable knows an older `delete`.
FAIL_THERE = {"ascii delete", "ascii delete noreply"}


def test_memcapable(server: ServerInstance, sql: Sql) -> None:
    sql.run("SET GLOBAL handlersocket_memcached_flush_all = 1")
    try:
        program = [
            str(peer_program("memccapable")),
            "-h",
            "127.0.0.1",
            "-p",
            str(memcached_port(server)),
        ]
        done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    finally:
        sql.run("SET GLOBAL handlersocket_memcached_flush_all = 0")
    # A test that fails has no line's end of its own in stdout.
    assert done.stdout.count("[pass]") >= 52 and done.stderr.count("[FAIL]") <= len(FAIL_THERE), (
        done
    )
    assert all("ascii delete" in line or "[pass]" in line for line in done.stdout.splitlines()), (
        done
    )


def test_a_binary_client_may_be_cut_anywhere(server: ServerInstance, sql: Sql) -> None:
    with connect(server) as line:
        bytes_ = packet(1, b"cut", b"\0" * 8, b"value") + packet(0, b"cut") + packet(7)
        for at in range(len(bytes_)):
            line.send(bytes_[at : at + 1])
        assert b"value" in line.rest()
