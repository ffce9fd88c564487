"""A write obeys read_only, global locks, table locks, SET GLOBAL, and the query cache."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Index, LockError, ReplyError
from server_instance import ACCOUNT, ServerInstance
from support.database import Sql
from support.wire import Wire
from support_binlog import begin_log, row_events
from support_servers import LOGGING, fresh_session, running_server, wait_until

LOCK_WAIT_SECONDS = 3
SETTINGS = {
    **LOGGING,
    "handlersocket_lock_wait_timeout": LOCK_WAIT_SECONDS,
    "query_cache_type": 1,
    "query_cache_size": "4M",
}
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v TINYINT, w VARCHAR(5))",
    "CREATE TABLE child (id INT PRIMARY KEY, tid INT, FOREIGN KEY (tid) REFERENCES t (id)"
    " ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE logged (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "CREATE TRIGGER to_log AFTER UPDATE ON logged FOR EACH ROW INSERT INTO log (v) VALUES (NEW.v)",
    "CREATE TABLE plain (id INT PRIMARY KEY, v INT) ENGINE=MyISAM",
    "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two')",
    "INSERT INTO child VALUES (1, 1), (2, 2)",
    "INSERT INTO logged VALUES (1, 1)",
    "INSERT INTO plain VALUES (1, 1)",
)


@pytest.fixture(scope="module")
def strict_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **SETTINGS) as instance:
        yield instance


@pytest.fixture
def sql(strict_server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(strict_server, "obey", *TABLES) as session:
        yield session
        if strict_server.alive:
            session.run("UNLOCK TABLES")
            for variable in ("read_only", "sql_mode", "binlog_row_image", "time_zone"):
                session.run(f"SET GLOBAL {variable} = DEFAULT")


@pytest.fixture
def client(strict_server: ServerInstance, sql: Sql) -> Iterator[Client]:
    with Client(("127.0.0.1", strict_server.hs_port_wr)) as opened:
        yield opened


@pytest.fixture
def rows(client: Client) -> Index:
    return client.index("obey", "t", ["v", "w"])


def test_read_only(sql: Sql, strict_server: ServerInstance) -> None:
    """Of an account that has no right to write then: see test_server_states.py for the others."""
    account = "SET GLOBAL handlersocket_anonymous_account"
    sql.run("DROP USER IF EXISTS 'plain'@'localhost'", "CREATE USER 'plain'@'localhost'")
    sql.run("GRANT ALL ON obey.* TO 'plain'@'localhost'", f"{account} = 'plain@localhost'")
    try:
        with Client(("127.0.0.1", strict_server.hs_port_wr)) as client:
            check_read_only(sql, client)
    finally:
        sql.run(f"{account} = '{ACCOUNT}'")


def check_read_only(sql: Sql, client: Client) -> None:
    sql.run("SET GLOBAL read_only = ON")
    rows = client.index("obey", "t", ["v", "w"])
    keyed = client.index("obey", "t", ["id", "v"])
    for write in (
        lambda: rows.update(1, ["11"]),
        lambda: rows.increment(1, [1]),
        lambda: rows.delete(1),
        lambda: keyed.insert([3, 30]),
    ):
        with pytest.raises(ReplyError, match="^1 1290: "):
            write()
    assert rows.find(1) == [(b"10", b"one")]
    sql.run("SET GLOBAL read_only = OFF")
    assert rows.update(1, ["11"]) == 1
    assert sql.number("SELECT v FROM t WHERE id = 1") == 11


def test_transactions_that_are_read_only_by_default(data_root: Path, watch: Any) -> None:
    with running_server(data_root, watch, transaction_read_only="ON") as server:
        with Sql(server.socket) as sql, Client(("127.0.0.1", server.hs_port_wr)) as client:
            sql.run("SET SESSION TRANSACTION READ WRITE")
            for engine in ("InnoDB", "MyISAM"):
                sql.run(
                    f"CREATE TABLE test.{engine} (id INT PRIMARY KEY, v INT) ENGINE={engine}",
                    f"INSERT INTO test.{engine} VALUES (1, 10)",
                )
                rows = client.index("test", engine, ["id", "v"])
                with pytest.raises(ReplyError, match="^1 1792: "):
                    rows.update(1, [1, 11])
                with pytest.raises(ReplyError, match="^1 1792: "):
                    rows.insert([3, 30])
                assert rows.find(1) == [(b"1", b"10")]


LOCKS = {
    "flush_tables_with_read_lock": "FLUSH TABLES WITH READ LOCK",
    "lock_tables_write": "LOCK TABLES t WRITE",
    "lock_tables_read": "LOCK TABLES t READ",
}


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
def test_a_write_waits_for_a_lock(sql: Sql, rows: Index, lock: str) -> None:
    sql.run(lock)
    blocked = sql.status("handlersocket_requests_blocked")
    answers: list[int] = []
    writer = threading.Thread(target=lambda: answers.append(rows.update(1, ["11"])), daemon=True)
    writer.start()
    wait_until(
        lambda: sql.status("handlersocket_requests_blocked") > blocked, "the write is blocked"
    )
    assert sql.number("SELECT v FROM t WHERE id = 1") == 10 and not answers
    sql.run("UNLOCK TABLES")
    writer.join(10)
    assert answers == [1]
    assert sql.number("SELECT v FROM t WHERE id = 1") == 11


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
def test_a_write_gives_up_at_the_lock_wait_timeout(sql: Sql, rows: Index, lock: str) -> None:
    sql.run(lock)
    begin = time.monotonic()
    with pytest.raises(LockError, match="^1 1205: "):
        rows.update(1, ["11"])
    assert LOCK_WAIT_SECONDS * 0.9 < time.monotonic() - begin < LOCK_WAIT_SECONDS + 15
    sql.run("UNLOCK TABLES")
    assert rows.update(1, ["12"]) == 1


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
def test_a_lock_does_not_hold_up_finds_that_it_allows(sql: Sql, rows: Index, lock: str) -> None:
    sql.run(lock)
    if "WRITE" in lock:
        with pytest.raises(LockError, match="^1 1205: "):
            rows.find(1)
    else:
        assert rows.find(1) == [(b"10", b"one")]


def test_a_locking_session_is_waited_for_by_its_table_alone(sql: Sql, client: Client) -> None:
    sql.run("LOCK TABLES t WRITE")
    assert client.index("obey", "plain", ["v"]).update(1, [2]) == 1


def test_sql_mode_takes_effect_on_the_next_pass(sql: Sql, rows: Index) -> None:
    sql.run("SET GLOBAL sql_mode = ''")
    assert rows.update(1, ["300", "too long"]) == 1
    assert sql.row("SELECT v, w FROM t WHERE id = 1") == (b"127", b"too l")
    sql.run("SET GLOBAL sql_mode = 'STRICT_ALL_TABLES'")
    with pytest.raises(ReplyError, match="^1 1264: "):
        rows.update(2, ["300"])
    with pytest.raises(ReplyError, match="^1 1406: "):
        rows.update(2, ["30", "too long"])
    assert sql.row("SELECT v, w FROM t WHERE id = 2") == (b"20", b"two")


def test_time_zone_takes_effect_on_the_next_pass(sql: Sql, client: Client) -> None:
    sql.run("CREATE TABLE stamps (id INT PRIMARY KEY, at TIMESTAMP NULL)")
    stamps = client.index("obey", "stamps", ["id", "at"])
    for number, zone in enumerate(("+00:00", "+05:30")):
        sql.run(f"SET GLOBAL time_zone = '{zone}'")
        stamps.insert([number, "2024-06-01 12:00:00"])
    assert (
        sql.number(
            "SELECT UNIX_TIMESTAMP(a.at) - UNIX_TIMESTAMP(b.at) FROM stamps a, stamps b"
            " WHERE a.id = 0 AND b.id = 1"
        )
        == 19800
    )


def test_row_image_takes_effect_on_the_next_pass(
    sql: Sql, rows: Index, strict_server: ServerInstance
) -> None:
    begin_log(sql)
    for number, image in enumerate(("FULL", "MINIMAL", "FULL")):
        sql.run(f"SET GLOBAL binlog_row_image = {image}")
        rows.update(1, [number])
    events = row_events(strict_server, sql)
    assert [(sorted(event.before), sorted(event.after)) for event in events] == [
        ([1, 2, 3], [1, 2, 3]),
        ([1], [2]),
        ([1, 2, 3], [1, 2, 3]),
    ]


def test_the_query_cache_forgets_what_is_changed(
    strict_server: ServerInstance, sql: Sql, client: Client, rows: Index
) -> None:
    def cached(query: str) -> int:
        """The answer. After this the query is in the cache."""
        answer = sql.number(query)
        hits = sql.status("Qcache_hits")
        assert sql.number(query) == answer
        assert sql.status("Qcache_hits") == hits + 1, "the query cache is not at work"
        return answer

    total = "SELECT SUM(v) FROM t"
    assert cached(total) == 30
    rows.update(1, ["40"])
    assert cached(total) == 60
    client.index("obey", "t", ["id", "v"]).insert([3, 3])
    assert cached(total) == 63
    rows.increment(3, [4])
    assert cached(total) == 67
    assert cached("SELECT COUNT(*) FROM child") == 2
    rows.delete(2)
    assert cached(total) == 47
    assert cached("SELECT COUNT(*) FROM child") == 1, "a cascade has reached it"
    assert cached("SELECT COUNT(*) FROM log") == 0
    client.index("obey", "logged", ["v"]).update(1, [5])
    assert cached("SELECT COUNT(*) FROM log") == 1, "a trigger has written it"
    assert cached("SELECT v FROM plain") == 1
    client.index("obey", "plain", ["v"]).update(1, [9])
    assert cached("SELECT v FROM plain") == 9
    kept = cached(total)
    hits = sql.status("Qcache_hits")
    with Wire(strict_server.hs_port_wr) as wire:
        assert wire.ask(b"P\t1\tobey\tt\t\tv\n") == b"0\t1"
        assert wire.ask(b"1\t=\t1\t1\t1\t0\tlock\n") == b"0\t1\t1"
    assert sql.number(total) == kept
    assert sql.status("Qcache_hits") == hits + 1, "a lock changes nothing"
