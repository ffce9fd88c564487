"""Connections of the read port are spread over as few workers as needed (src/net/balance.h)."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import MakeServer
from handlersocket2 import Client, Index
from server_instance import ServerInstance
from support.database import Sql
from support_servers import wait_until

WORKERS = 3
ROWS = 2000
PIPELINE = 3000
# A worker wakes so often if nothing happens.
TICKS_A_SECOND = 10
ROUNDS = 20


@pytest.fixture
def server(make_server: MakeServer) -> ServerInstance:
    server = make_server(handlersocket_threads=WORKERS)
    with Sql(server.socket, "test") as sql:
        sql.run("CREATE TABLE spread (id INT PRIMARY KEY, v VARCHAR(20) NOT NULL)")
        sql.run(
            "INSERT INTO spread VALUES " + ", ".join(f"({key}, 'v{key}')" for key in range(ROWS))
        )
    return server


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "test") as sql:
        yield sql


def opened(server: ServerInstance, count: int, stack: ExitStack) -> list[Index]:
    clients = [stack.enter_context(Client(("127.0.0.1", server.hs_port))) for _ in range(count)]
    return [client.index("test", "spread", ["id", "v"]) for client in clients]


def found(index: Index, key: int) -> None:
    assert index.find(key) == [(b"%d" % key, b"v%d" % key)]


def wakes_of_workers(server: ServerInstance) -> dict[int, int]:
    """How often each worker's thread has fallen asleep."""
    wakes = {}
    for task in Path(f"/proc/{server.pid}/task").iterdir():
        if (task / "comm").read_text().strip() != "hs-worker":
            continue
        status = (task / "status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("voluntary_ctxt")]
        wakes[int(task.name)] = int(line.split()[1])
    return wakes


def test_a_light_load_wakes_one_worker(server: ServerInstance) -> None:
    with ExitStack() as stack:
        indexes = opened(server, 30, stack)
        for index in indexes:
            found(index, 1)
        time.sleep(1)  # what came before is over
        before, began = wakes_of_workers(server), time.monotonic()
        for round_ in range(ROUNDS):
            for index in indexes:
                found(index, round_)
            time.sleep(0.02)
        ticks = TICKS_A_SECOND * (time.monotonic() - began) + 50
        grown = sorted(count - before[thread] for thread, count in wakes_of_workers(server).items())
        # The worker sleeps between two rounds. Between two requests it need not: on a busy machine
        # the next one has often come before it looks.
        assert grown[-1] >= ROUNDS, grown
        # The last but one is the write port's, at most, or a worker that sleeps.
        assert grown[-2] < ticks, grown


def ask_until(stop: threading.Event, server: ServerInstance, first: int) -> None:
    """Sends pipelines of finds and compares what comes, with little work of its own."""
    keys = [(first + step) % ROWS for step in range(PIPELINE)]
    request = b"".join(b"1\t=\t1\t%d\n" % key for key in keys)
    expected = b"".join(b"0\t2\t%d\tv%d\n" % (key, key) for key in keys)
    with socket.create_connection(("127.0.0.1", server.hs_port), timeout=60) as one:
        one.sendall(b"P\t1\ttest\tspread\tPRIMARY\tid,v\n")
        assert one.recv(100) == b"0\t1\n"
        while not stop.is_set():
            one.sendall(request)
            answer = bytearray()
            while len(answer) < len(expected):
                part = one.recv(1 << 20)
                assert part, "the connection ended"
                answer += part
            assert answer == expected


def test_connections_answer_rightly_while_they_are_spread(server: ServerInstance, sql: Sql) -> None:
    """More workers are tried soon if a core is idle, and after 5 seconds if none is."""
    moved = sql.status("handlersocket_connections_moved")
    stop = threading.Event()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask_until, stop, server, 100 * number) for number in range(8)]
        try:
            wait_until(
                lambda: (
                    any(one.done() for one in asked)
                    or sql.status("handlersocket_connections_moved") > moved
                ),
                "connections have moved",
                seconds=60,
            )
            time.sleep(2)
        finally:
            stop.set()
        for one in asked:
            one.result()
    assert sql.status("handlersocket_connections_moved") > moved
