"""Inserts that wait for locks do not wait for each other, whatever they wait for.

Their engine cannot refuse a locked gap at once (MySQL), or asking draws an AUTO_INCREMENT number
(MariaDB). So each waits in a thread of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, ConnectionLost, Insert, OpenIndex
from server_instance import ServerInstance
from support.database import Sql
from support.pace import Pace
from support_servers import (
    LOGGING,
    fresh_session,
    results,
    running_server,
    thread_names,
    wait_until,
    wait_until_nobody_writes_aside,
)

LOCK_WAIT_SECONDS = 6
WIDTH = 1000  # the keys of a gap
WAITING = (
    "SELECT COUNT(*) FROM information_schema.processlist"
    " WHERE user = 'handlersocket' AND state = 'handlersocket: writing aside'"
)


def waiters(server: ServerInstance) -> int:
    """Threads that wait for rows, by their names: while one commits, it shows other states."""
    return thread_names(server)["hs-waiter"]


def key(gap: int, number: int = 1) -> int:
    return WIDTH * gap + number


class Gaps:
    """A table with gaps between its rows, and SQL sessions that lock them."""

    def __init__(self, server: ServerInstance, sql: Sql, stack: ExitStack, gaps: int) -> None:
        rows = ", ".join(f"({key(gap, 0)}, 0)" for gap in range(1, gaps + 2))
        sql.run(
            "DROP TABLE IF EXISTS gaps",
            "CREATE TABLE gaps (k INT AUTO_INCREMENT PRIMARY KEY, v INT)",
            f"INSERT INTO gaps VALUES {rows}",
        )
        self.server = server
        self.stack = stack

    def session(self, *gaps: int) -> Sql:
        """It locks the gaps until it rolls back."""
        session = self.stack.enter_context(Sql(self.server.socket, "gaps"))
        session.run("BEGIN")
        for gap in gaps:
            session.run(f"DELETE FROM gaps WHERE k = {key(gap, WIDTH // 2)}")
        return session

    def client(self) -> Client:
        client = Client(("127.0.0.1", self.server.hs_port_wr), timeout=60)
        self.stack.enter_context(client)
        client.request(OpenIndex(0, "gaps", "gaps", "", ["k", "v"]))
        return client


class Inserting:
    """One insert, in a thread of its own."""

    def __init__(self, gaps: Gaps, gap: int, number: int = 1) -> None:
        self.answered_at = 0.0
        self.answer: Any = None
        client = gaps.client()
        self._thread = threading.Thread(
            target=self._insert, args=(client, key(gap, number)), daemon=True
        )
        self._thread.start()

    def _insert(self, client: Client, key: int) -> None:
        (self.answer,) = results(client, [Insert(0, [key, 1])])
        self.answered_at = time.monotonic()

    def join(self) -> Any:
        self._thread.join(60)
        assert self.answered_at != 0, "no answer"
        return self.answer

    @property
    def waits(self) -> bool:
        return self.answered_at == 0


def is_done(answer: Any) -> bool:
    return not isinstance(answer, str)


@pytest.fixture(scope="module")
def gaps_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {**LOGGING, "handlersocket_lock_wait_timeout": LOCK_WAIT_SECONDS}
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(gaps_server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(gaps_server, "gaps") as session:
        wait_until_nobody_writes_aside(session)
        yield session


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("blocked", [1, 10, 60])
def test_they_do_not_wait_for_each_other(
    gaps_server: ServerInstance, sql: Sql, stack: ExitStack, pace: Pace, blocked: int
) -> None:
    gaps = Gaps(gaps_server, sql, stack, blocked + 3)
    locked = range(1, blocked + 1)
    holder = gaps.session(*locked)
    inserts = [Inserting(gaps, gap) for gap in locked]
    wait_until(lambda: sql.number(WAITING) == blocked, "all wait")

    free = gaps.client()
    began = time.monotonic()
    answers = results(free, [Insert(0, [key(blocked + 1, i), 1]) for i in range(1, 100)])
    assert all(map(is_done, answers))
    assert time.monotonic() - began < 2 + pace.lost

    other = gaps.session(blocked + 2)
    insert = Inserting(gaps, blocked + 2)
    wait_until(lambda: sql.number(WAITING) == blocked + 1, "this one waits, too")
    released_at = time.monotonic()
    other.run("ROLLBACK")
    assert is_done(insert.join())
    assert insert.answered_at - released_at < 1 + pace.longest
    assert all(one.waits for one in inserts)

    holder.run("ROLLBACK")
    assert all(is_done(one.join()) for one in inserts)


def test_a_duplicate_that_is_not_committed(
    gaps_server: ServerInstance, sql: Sql, stack: ExitStack
) -> None:
    gaps = Gaps(gaps_server, sql, stack, 4)
    holders = [gaps.session(), gaps.session()]
    for gap, holder in enumerate(holders, 1):
        holder.run(f"INSERT INTO gaps VALUES ({key(gap)}, 0)")
    one, two = Inserting(gaps, 1), Inserting(gaps, 2)
    wait_until(lambda: sql.number(WAITING) == 2, "both wait")
    holders[1].run("ROLLBACK")
    assert is_done(two.join())
    assert one.waits
    holders[0].run("COMMIT")
    assert one.join() == "1 121"


def test_short_locks_beside_one_that_is_kept(
    gaps_server: ServerInstance, sql: Sql, stack: ExitStack
) -> None:
    """Nobody queues behind the insert that waits long, so each lock of 40 ms costs 40 ms."""
    gaps = Gaps(gaps_server, sql, stack, 4)
    holder = gaps.session(1)
    long_one = Inserting(gaps, 1)
    wait_until(lambda: sql.number(WAITING) == 1, "one waits")
    stop = threading.Event()

    def lock_again_and_again() -> None:
        with Sql(gaps_server.socket, "gaps") as session:
            while not stop.is_set():
                session.run("BEGIN", f"DELETE FROM gaps WHERE k = {key(2, WIDTH - 1)}")
                time.sleep(0.04)
                session.run("ROLLBACK")

    locking = threading.Thread(target=lock_again_and_again, daemon=True)
    locking.start()
    client = gaps.client()
    began = time.monotonic()
    answers = []
    try:
        for i in range(1, 31):
            answers += results(client, [Insert(0, [key(2, i), 1])])
            time.sleep(0.02)  # so that the next one meets a lock, too
    finally:
        stop.set()
        locking.join(30)
    assert all(map(is_done, answers))
    assert time.monotonic() - began < LOCK_WAIT_SECONDS - 1
    assert long_one.waits
    # Its connection must not be closed while it waits: its thread would end with an exception.
    holder.run("ROLLBACK")
    assert is_done(long_one.join())


def test_more_than_there_are_threads(data_root: Path, watch: Any) -> None:
    """With two threads for eight inserts, each gets one again and again."""
    settings = {
        **LOGGING,
        "handlersocket_threads_waiting": 2,
        "handlersocket_lock_wait_timeout": 30,
    }
    with (
        running_server(data_root, watch, **settings) as server,
        fresh_session(server, "gaps") as sql,
        ExitStack() as stack,
    ):
        gaps = Gaps(server, sql, stack, 10)
        holders = {gap: gaps.session(gap) for gap in range(1, 9)}
        inserts = {gap: Inserting(gaps, gap) for gap in holders}
        wait_until(lambda: sql.number(WAITING) == 2, "two wait")
        for gap in (8, 1, 5):
            holders[gap].run("ROLLBACK")
            assert is_done(inserts[gap].join()), gap
            assert waiters(server) <= 2
        for holder in holders.values():
            holder.run("ROLLBACK")
        assert all(is_done(insert.join()) for insert in inserts.values())


def test_the_threads_leave_when_nothing_waits(
    gaps_server: ServerInstance, sql: Sql, stack: ExitStack
) -> None:
    gaps = Gaps(gaps_server, sql, stack, 6)
    holder = gaps.session(1, 2, 3)
    inserts = [Inserting(gaps, gap) for gap in (1, 2, 3)]
    wait_until(lambda: sql.number(WAITING) == 3, "three wait")
    holder.run("ROLLBACK")
    assert all(is_done(insert.join()) for insert in inserts)
    wait_until(lambda: waiters(gaps_server) == 0, "they have left", 40)
    holder.run("BEGIN", f"DELETE FROM gaps WHERE k = {key(4, WIDTH // 2)}")
    insert = Inserting(gaps, 4)
    wait_until(lambda: waiters(gaps_server) == 1, "one is there again")
    holder.run("ROLLBACK")
    assert is_done(insert.join())


def test_the_ports_close_while_they_wait(
    gaps_server: ServerInstance, sql: Sql, stack: ExitStack
) -> None:
    gaps = Gaps(gaps_server, sql, stack, 12)
    gaps.session(*range(1, 11))
    clients = [gaps.client() for _ in range(1, 11)]
    for gap, client in enumerate(clients, 1):
        threading.Thread(target=_insert_or_lose, args=(client, key(gap)), daemon=True).start()
    wait_until(lambda: sql.number(WAITING) == 10, "all wait")
    began = time.monotonic()
    sql.run("SET GLOBAL handlersocket_enabled = OFF")
    assert time.monotonic() - began < LOCK_WAIT_SECONDS / 2
    assert waiters(gaps_server) == 0
    sql.run("SET GLOBAL handlersocket_enabled = ON")
    assert is_done(results(gaps.client(), [Insert(0, [key(11), 1])])[0])


def _insert_or_lose(client: Client, key: int) -> None:
    try:
        results(client, [Insert(0, [key, 1])])
    except ConnectionLost:
        return
