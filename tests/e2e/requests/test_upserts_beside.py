"""Upserts while others are at work: many connections, SQL's locks and deadlocks, DDL."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.wire import Wire
from support_servers import fresh_session, running_server, wait_until

CONNECTIONS = 16
TABLE = "CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL, other INT UNIQUE)"
OPEN = b"P\t1\thst\tcounters\t\tid,n,other\tn\n"
ADD = b"else\tupdate\t1\t1\t+\t1\n"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, handlersocket_lock_wait_timeout=2) as instance:
        yield instance


def at_once(*works: Callable[[], None]) -> None:
    """Executes each in a thread of its own, and raises what the first one has raised."""
    failures: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as failure:  # noqa: BLE001  # it is raised again below
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    if failures:
        raise failures[0]


def opened(server: ServerInstance) -> Wire:
    wire = Wire(server.hs_port_wr)
    assert wire.ask(OPEN) == b"0\t1"
    return wire


def is_waiting(sql: Sql) -> bool:
    time.sleep(0.15)  # InnoDB does not look again before that
    waits = "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'"
    return sql.number(waits) > 0


def test_no_add_is_lost(server: ServerInstance) -> None:
    rounds, depth, by_sql = 5, 40, 100
    fates: Counter[bytes] = Counter()
    lock = threading.Lock()
    with fresh_session(server, "hst", TABLE) as sql:

        def upserts() -> None:
            with opened(server) as wire:
                for _ in range(rounds):
                    wire.send((b"1\tinsert\t1\t2\t7\t1\t" + ADD) * depth)
                    replies = wire.lines(depth)
                    with lock:
                        fates.update(replies)

        def statements() -> None:
            with Sql(server.socket, "hst") as session:
                for _ in range(by_sql):
                    session.run("INSERT INTO counters (id, n) VALUES (7, 1)"
                                " ON DUPLICATE KEY UPDATE n = n + 1")  # fmt: skip

        at_once(*[upserts] * CONNECTIONS, statements)
        sent = CONNECTIONS * rounds * depth
        assert sql.number("SELECT n FROM counters") == sent + by_sql
        assert fates.total() == sent
        assert set(fates) <= {b"0\t2\tinserted\t\0", b"0\t2\tupdated\t\0"}


def test_several_rows_stand_or_fall_together_at_a_locked_row(server: ServerInstance) -> None:
    rows = "INSERT INTO counters VALUES (1, 0, 1), (2, 0, 2)"
    with fresh_session(server, "hst", TABLE, rows) as sql, opened(server) as wire:
        for action in (b"\n", b"\telse\tignore\n", b"\telse\treplace\n", b"\t" + ADD):
            # The first row is new, the second one is there, the third one meets the locked row.
            second = b"5\t0\t5" if action == b"\n" else b"2\t0\t2"
            third = b"1\t0\t1"
            sql.run("BEGIN", "UPDATE counters SET n = 9 WHERE id = 1")
            wire.send(b"1\tinsert\t3\t3\t4\t0\t4\t" + second + b"\t" + third + action)
            assert wire.lines(1) == [b"1\t1\t146"]
            sql.run("ROLLBACK")
            assert sql.rows("SELECT id, n FROM counters ORDER BY id") == [
                (b"1", b"0"),
                (b"2", b"0"),
            ]


def test_a_deadlock_undoes_the_whole_request(server: ServerInstance) -> None:
    rows = "INSERT INTO counters VALUES (1, 0, 1), (2, 0, 2)"
    with fresh_session(server, "hst", TABLE, rows) as sql, opened(server) as wire:
        with Sql(server.socket, "hst") as watching:
            for number in range(1, 4):
                sql.run("BEGIN", "UPDATE counters SET n = n + 10 WHERE id = 1")
                wire.send(b"1\tinsert\t3\t2\t2\t1\t1\t1\t%d\t1\t" % (number + 10) + ADD)
                wait_until(lambda: is_waiting(watching), "a waiter asks for the row")
                # Whichever of the two the engine chooses.
                refused = sql.error("UPDATE counters SET n = n + 10 WHERE id = 2")
                sql.run("ROLLBACK" if refused else "COMMIT")
                assert refused in (None, 1213)
                (reply,) = wire.lines(1)
                done = 0 if reply == b"1\t1\t149" else 1
                if done:
                    assert reply == b"0\t2\tupdated\t\0\tupdated\t\0\tinserted\t\0"
                by_sql = 0 if refused else 10
                assert (
                    sql.rows("SELECT n FROM counters WHERE id < 3")
                    == [(b"%d" % (by_sql + done),)] * 2
                ), reply
                sql.run("UPDATE counters SET n = 0")


def test_no_add_is_lost_under_ddl(server: ServerInstance) -> None:
    requests = 400
    changes = [
        "ALTER TABLE counters ADD COLUMN more INT DEFAULT 3 FIRST",
        "ALTER TABLE counters ADD UNIQUE KEY by_n (n)",
        "ALTER TABLE counters DROP KEY by_n",
        "ALTER TABLE counters DROP COLUMN more",
        "ALTER TABLE counters ENGINE=InnoDB",
    ]
    with fresh_session(server, "hst", TABLE) as sql:
        # A disk that is slow for a moment holds up an ALTER, and what waits for it.
        sql.run("SET GLOBAL handlersocket_lock_wait_timeout = 30")
        ended = threading.Event()

        def upserts() -> None:
            try:
                with opened(server) as wire:
                    for _ in range(requests // 4):
                        wire.send((b"1\tinsert\t1\t2\t7\t1\t" + ADD) * 4)
                        assert all(reply.startswith(b"0\t2\t") for reply in wire.lines(4))
            finally:
                ended.set()

        def alters() -> None:
            while not ended.is_set():
                sql.run(*changes)

        try:
            at_once(upserts, alters)
        finally:
            sql.run("SET GLOBAL handlersocket_lock_wait_timeout = 2")
        assert sql.rows("SELECT id, n FROM counters") == [(b"7", b"%d" % requests)]
