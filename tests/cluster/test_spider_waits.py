"""Spider: who waits for a back end, and for how long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Find, FindModify, ModifyOp, OpenIndex, ReplyError
from server_instance import ServerInstance
from support.database import Sql
from support.pace import Pace
from support_spider import (
    COLUMNS,
    MARKS,
    OPEN,
    OPEN_HERE,
    THREADS,
    ask_again,
    connect,
    error_of,
    error_or_end,
    fill,
    front_end,
    spider_columns,
    spider_servers,
    standing_still,
    wait_until,
)

pytestmark = MARKS


@pytest.fixture(scope="module")
def servers(data_root: Path, watch: Any) -> Iterator[list[ServerInstance]]:
    with spider_servers(data_root, watch) as servers:
        yield servers


@pytest.fixture
def rows(servers: list[ServerInstance]) -> list[tuple[bytes, ...]]:
    """What the Spider table holds at the beginning of each test."""
    return fill(servers[0])


def test_nobody_waits_for_a_back_end(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]], pace: Pace
) -> None:
    """A back end stands still. More clients ask for its rows than there are threads for that."""
    front, *ends = servers
    with Sql(front.socket) as sql:
        sql.run("FLUSH TABLES")
    answers: list[str | None] = []

    def ask_for_remote_row(port: int) -> None:
        with connect(port) as client:
            answers.append(error_of(client, OPEN) or error_of(client, Find(1, [1])))

    ports = [front.hs_port, front.hs_port_wr] * (2 * THREADS)
    threads = [threading.Thread(target=ask_for_remote_row, args=(port,)) for port in ports]
    with connect(front.hs_port) as reader, connect(front.hs_port_wr) as writer:
        for client in (reader, writer):
            client.request(OPEN_HERE)
        with standing_still(ends[1]):
            for thread in threads:
                thread.start()
            slowest = 0.0
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline:
                began = time.monotonic()
                assert reader.request(Find(2, [1])) == [(b"1", b"1")]
                assert writer.request(FindModify(Find(2, [1]), ModifyOp.UPDATE, [1, 1])) == 1
                slowest = max(slowest, time.monotonic() - began)
                time.sleep(0.01)
            assert slowest < 0.5 + pace.longest
            assert not answers or all(answers)
            assert any(thread.is_alive() for thread in threads)
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    # They were told, or answered when the back end went on.
    assert len(answers) == len(ports)
    with connect(front.hs_port) as client:
        client.request(OPEN)
        assert client.request(Find(1, [1])) == [rows[0]]


def test_the_queue_for_a_back_end_does_not_grow_without_end(
    servers: list[ServerInstance], data_root: Path, watch: Any, pace: Pace
) -> None:
    """A back end does not answer, because somebody has locked the row there. Far more clients ask
    for it than there are threads. Who waits for a thread is told so while all of them wait."""
    patience = 2
    waited: list[float] = []
    answers: list[str | None] = []
    others: list[list[tuple[bytes, ...]]] = []
    with ExitStack() as stack:
        front = front_end(
            stack,
            data_root,
            watch,
            servers[1:],
            spider_waits=60,
            handlersocket_threads_remote=THREADS,
            handlersocket_lock_wait_timeout=patience,
        )
        rows = fill(front)
        clients = [stack.enter_context(connect(front.hs_port_wr)) for _ in range(30)]
        for client in clients:
            client.request(OPEN)
        comes_later = stack.enter_context(connect(front.hs_port_wr))
        comes_later.request(OPEN)

        def add(client: Client) -> None:
            began = time.monotonic()
            with client.pipeline() as pipeline:
                pipeline.send(FindModify(Find(1, [1]), ModifyOp.INCREMENT, [0, 1]))
                pipeline.send(Find(1, [2]))
            added, found = pipeline.results()
            waited.append(time.monotonic() - began)
            answers.append(added.text if isinstance(added, ReplyError) else None)
            others.append([] if isinstance(found, ReplyError) else found)

        adding = [threading.Thread(target=add, args=(client,)) for client in clients]
        late = len(clients) - THREADS
        with Sql(servers[2].socket, "shop") as holder:
            holder.run("BEGIN", "SELECT v FROM t WHERE id = 1 FOR UPDATE")
            for thread in adding:
                thread.start()
            # Each waits for its first request and then for its second one.
            wait_until(lambda: len(others) == late)
            assert answers == ["1205"] * late
            assert others == [[]] * late
            assert min(waited) >= 2 * patience
            assert max(waited) < 3 * patience + pace.lost
            assert error_of(comes_later, FindModify(Find(1, [3]), ModifyOp.DELETE, [])) == "1205"
            assert len(others) == late
        for thread in adding:
            thread.join(60)
            assert not thread.is_alive()
        assert others[late:] == [[rows[1]]] * THREADS
        assert error_of(comes_later, Find(1, [3])) is None
        # Who was told 1205 was not executed. The others were, once.
        assert answers[late:] == [None] * THREADS
        assert clients[0].request(Find(1, [1])) == [(b"1", b"%d" % (10 + THREADS))]


def test_a_connection_that_waits_can_be_closed(
    servers: list[ServerInstance], data_root: Path, watch: Any, pace: Pace
) -> None:
    """It is seen as waiting for another server. One that no thread has taken ends at once."""
    states = (
        "SELECT state, id FROM information_schema.handlersocket_connections WHERE state = 'remote'"
    )
    with ExitStack() as stack:
        front = front_end(
            stack,
            data_root,
            watch,
            servers[1:],
            spider_waits=20,
            handlersocket_threads_remote=THREADS,
            handlersocket_lock_wait_timeout=30,
        )
        fill(front)
        clients = [stack.enter_context(connect(front.hs_port)) for _ in range(THREADS + 1)]
        for client in clients:
            client.request(OPEN)
        sql = stack.enter_context(Sql(front.socket))
        errors: list[BaseException] = []

        def find(client: Client) -> None:
            try:
                client.request(Find(1, [1]))
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=find, args=(client,)) for client in clients]
        with standing_still(servers[2]):
            for thread in threads[:-1]:
                thread.start()
            wait_until(lambda: len(sql.rows(states)) == THREADS)
            before = {row for _, row in sql.rows(states)}
            threads[-1].start()
            wait_until(lambda: len(sql.rows(states)) == THREADS + 1)
            (last,) = {row for _, row in sql.rows(states)} - before
            asking = "FROM information_schema.processlist WHERE state LIKE '%asking other servers'"
            wait_until(lambda: sql.number(f"SELECT COUNT(*) {asking}") == THREADS)
            sql.run(f"SET GLOBAL handlersocket_close_connection = {int(last or 0)}")
            began = time.monotonic()
            threads[-1].join(10)
            assert not threads[-1].is_alive()
            assert time.monotonic() - began < 1 + pace.longest
            assert len(errors) == 1
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()


def test_a_back_end_that_comes_back(data_root: Path, watch: Any) -> None:
    """Its rows cannot be reached while it is away. The others can.

    The servers are its own: Spider keeps the connections that the killed one had, and the next use
    of each fails, in SQL too."""
    with spider_servers(data_root, watch) as servers, connect(servers[0].hs_port_wr) as client:
        front, *ends = servers
        rows = fill(front)
        client.request(OPEN)
        ends[1].kill()
        assert error_of(client, Find(1, [1])) is not None
        assert error_of(client, FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 11])) is not None
        assert client.request(Find(1, [2])) == [rows[1]]
        # The same if the table has to be opened anew.
        with Sql(front.socket) as sql:
            sql.run("FLUSH TABLES")
        unreachable = {"1429", "12701"}
        assert error_of(client, OPEN) in unreachable
        assert error_of(client, Find(1, [1])) in unreachable
        ends[1].start()
        wait_until(lambda: error_of(client, Find(1, [1])) is None)
        assert ask_again(client, Find(1, [1])) == [rows[0]]
        assert ask_again(client, FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 12])) == 1
        assert ask_again(client, Find(1, [1])) == [(b"1", b"12")]


def test_a_locked_table(servers: list[ServerInstance], rows: list[tuple[bytes, ...]]) -> None:
    """The time to wait is counted over all tries, on workers and on remote threads."""
    front = servers[0]
    with Sql(front.socket) as sql, Sql(front.socket) as holder, connect(front.hs_port_wr) as client:
        client.request(OPEN)
        sql.run("SET GLOBAL handlersocket_lock_wait_timeout = 1")
        try:
            holder.run("LOCK TABLES shop.t WRITE")
            for request in (
                Find(1, [1]),
                FindModify(Find(1, [1]), ModifyOp.UPDATE, [1, 1]),
                OPEN,
            ):
                began = time.monotonic()
                assert error_of(client, request) == "1205"
                assert 0.9 < time.monotonic() - began < 5
            holder.run("UNLOCK TABLES")
            assert client.request(Find(1, [1])) == [rows[0]]
        finally:
            sql.run("SET GLOBAL handlersocket_lock_wait_timeout = DEFAULT")


@pytest.mark.parametrize("way", ["rename", "alter"])
def test_nobody_waits_for_a_table_that_has_moved(
    servers: list[ServerInstance], rows: list[tuple[bytes, ...]], way: str, pace: Pace
) -> None:
    """Workers and streamers have served it when it was here, and its back end stands still."""
    front, *ends = servers
    with (
        Sql(front.socket) as sql,
        connect(front.hs_port) as mover,
        connect(front.hs_port) as other,
        connect(front.hs_port_wr) as writer,
        ExitStack() as stack,
    ):
        sql.run(f"CREATE TABLE shop.moved {COLUMNS}", "INSERT INTO shop.moved VALUES (1, 5, '')")
        movers = [stack.enter_context(connect(front.hs_port)) for _ in range(8)]
        for client in (*movers, mover, writer):
            client.request(OpenIndex(3, "shop", "moved", "", ["id", "v"]))
            assert client.request(Find(3, [1])) == [(b"1", b"5")]
            client.request(OPEN_HERE)
        other.request(OPEN_HERE)
        if way == "rename":
            sql.run(
                f"CREATE TABLE shop.new {spider_columns(ends)}",
                "RENAME TABLE shop.moved TO shop.old, shop.new TO shop.moved",
            )
        else:
            sql.run("DROP TABLE shop.moved", f"CREATE TABLE shop.moved {spider_columns(ends)}")
        sql.run("FLUSH TABLES")
        with standing_still(ends[1]):
            finds = [threading.Thread(target=error_or_end, args=(one, 3)) for one in movers]
            finds.append(threading.Thread(target=error_or_end, args=(writer, 3)))
            for find in finds:
                find.start()
            began = time.monotonic()
            while time.monotonic() - began < 1:
                asked = time.monotonic()
                assert other.request(Find(2, [1])) == [(b"1", b"1")]
                assert time.monotonic() - asked < 0.5 + pace.longest
        for find in finds:
            find.join(60)
            assert not find.is_alive()
        sql.run("DROP TABLE shop.moved", "DROP TABLE IF EXISTS shop.old")


def test_a_server_with_requests_under_way_stops(
    servers: list[ServerInstance], data_root: Path, watch: Any
) -> None:
    """It waits as long as Spider waits for the back end, as with SQL."""
    with ExitStack() as stack:
        front = front_end(
            stack, data_root, watch, servers[1:], handlersocket_threads_remote=THREADS
        )
        clients = [stack.enter_context(connect(front.hs_port)) for _ in range(2 * THREADS)]
        for client in clients:
            client.request(OPEN)
        ends = [threading.Thread(target=error_or_end, args=(client,)) for client in clients]
        with standing_still(servers[2]):
            for thread in ends:
                thread.start()
            time.sleep(0.5)
            began = time.monotonic()
            front.stop()
            assert time.monotonic() - began < 30
        for thread in ends:
            thread.join(30)
            assert not thread.is_alive()


def test_without_threads_for_it_the_table_is_refused(
    servers: list[ServerInstance], data_root: Path, watch: Any, pace: Pace
) -> None:
    """The default. The refusal does not wait for a back end that stands still."""
    with ExitStack() as stack:
        front = front_end(stack, data_root, watch, servers[1:])
        for port in (front.hs_port, front.hs_port_wr):
            client = stack.enter_context(connect(port))
            assert error_of(client, OPEN) == "open_table"
            with Sql(front.socket) as sql:
                sql.run("FLUSH TABLES")
            with standing_still(servers[2]):
                client.request(OPEN_HERE)
                began = time.monotonic()
                assert error_of(client, OPEN) == "open_table"
                assert len(client.request(Find(2, [1]))) == 1
                assert time.monotonic() - began < 2 + pace.longest
