"""One client that asks for much at Redis's port, and another one's HGET beside it."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.pace import Pace
from support.resp import Resp, Word, packed
from support_redis import connect, redis_server
from support_servers import fresh_session

ROWS = 100_000
LARGE = 8 << 20
#: A light request waits so long at most, in seconds: on a busy machine, too, and far less than
#: the greedy one takes.
MEDIAN, LONGEST = 0.05, 1.0
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), w INT)",
    f"INSERT INTO t SELECT seq, 'v', seq FROM seq_1_to_{ROWS}",
    "CREATE TABLE large (id INT PRIMARY KEY, v MEDIUMBLOB)",
    f"INSERT INTO large SELECT seq, REPEAT('x', {LARGE}) FROM seq_1_to_5",
)


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """One worker for each port, so every client waits for the same one."""
    settings = {
        "handlersocket_default_database": "fair",
        "handlersocket_threads": 1,
        "handlersocket_threads_wr": 1,
        "innodb_flush_log_at_trx_commit": 0,
    }
    with redis_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "fair", *TABLES) as session:
        yield session


class Greedy(threading.Thread):
    """Sends requests that ask for much, and reads their replies."""

    def __init__(self, server: ServerInstance, requests: Sequence[Sequence[Word]]) -> None:
        super().__init__()
        self._wire = connect(server)
        self._packets = [packed(*words) for words in requests]
        self._together: list[bytes] = []
        self.replies: list[Any] = []

    def send_together(self, requests: Sequence[Sequence[Word]]) -> None:
        """Has it begin with these in one packet."""
        self._together = [packed(*words) for words in requests]

    def run(self) -> None:
        with self._wire:
            self._wire.send(b"".join(self._together))
            self.replies += [self._wire.reply() for _ in self._together]
            for packet in self._packets:
                self._wire.send(packet)
                self.replies.append(self._wire.reply())


def waits_beside(light: Resp, greedy: Greedy) -> list[float]:
    waits = []
    greedy.start()
    while greedy.is_alive():
        begun = time.monotonic()
        assert light.ask("HGET", "t:7", "v") == b"v"
        waits.append(time.monotonic() - begun)
        time.sleep(0.001)
    greedy.join()
    return waits


KEYS = [f"t:{number}" for number in range(1, ROWS + 1)]
ABSENT = [f"t:{ROWS + number}" for number in range(1, ROWS + 1)]
GREEDY: dict[str, tuple[list[list[Word]], Any]] = {
    "EXISTS": ([["EXISTS", *KEYS]] * 3, ROWS),
    "EXISTS of one key": ([["EXISTS", *["t:7"] * ROWS]] * 3, ROWS),
    "EXISTS of none": ([["EXISTS", *ABSENT]] * 3, 0),
    "TOUCH": ([["TOUCH", *KEYS]] * 3, ROWS),
    "HMGET of many fields": ([["HMGET", "t:7", *["w"] * ROWS]] * 3, [b"7"] * ROWS),
    "HMGET of no columns": (
        [["HMGET", "t:7", *[f"no{number}" for number in range(ROWS)]]] * 3, [None] * ROWS,
    ),
    "a large row": ([["HGET", "large:1", "v"]] * 30, b"x" * LARGE),
    "HS.FIND of no row": (
        [["HS.FIND", "t", "FILTER", "w", "=", 0, "FILTER", "v", "=", "w"]] * 30,
        [b"rows", [], b"next", None],
    ),
    "HS.FIND far behind": (
        [["HS.FIND", "t", "FIELDS", 1, "id", "OFFSET", ROWS - 1]] * 30,
        [b"rows", [[b"id", b"%d" % ROWS]], b"next", None],
    ),
    "HS.COUNT": ([["HS.COUNT", "t", "FILTER", "v", "=", "v"]] * 30, ROWS),
    "the length of a large row": ([["HSTRLEN", "large:1", "v"]] * 30, LARGE),
}  # fmt: skip


@pytest.mark.parametrize("kind", GREEDY)
def test_a_lookup_beside_it_does_not_wait(
    server: ServerInstance, sql: Sql, pace: Pace, kind: str
) -> None:
    requests, answer = GREEDY[kind]
    greedy = Greedy(server, requests)
    with connect(server) as light:
        waits = waits_beside(light, greedy)
    assert greedy.replies == [answer] * len(requests)
    assert statistics.median(waits) < MEDIAN, _told(waits)
    assert max(waits) < LONGEST + pace.longest, _told(waits)


def test_a_lookup_beside_pipelined_reads_of_a_large_row(
    server: ServerInstance, sql: Sql, pace: Pace
) -> None:
    """Each of them takes as long as thousands of lookups, and its reply has a few bytes."""
    greedy = Greedy(server, [])
    greedy.send_together([("HSTRLEN", "large:1", "v")] * 3000)
    with connect(server) as light:
        waits = waits_beside(light, greedy)
    assert greedy.replies == [LARGE] * 3000
    assert max(waits) < LONGEST / 2 + pace.longest, _told(waits)


def test_a_lookup_beside_many_clients_does_not_wait(
    server: ServerInstance, sql: Sql, pace: Pace
) -> None:
    """Together they ask for more than one pass has room for, and none of them comes before it each
    time. How long they take depends on the machine, so its wait is compared with that."""
    keys = ["t:7"] * (ROWS // 2)
    clients = [Greedy(server, [["EXISTS", *keys]]) for _ in range(40)]
    begun = time.monotonic()
    for one in clients[1:]:
        one.start()
    with connect(server) as light:
        waits = waits_beside(light, clients[0])
    for one in clients[1:]:
        one.join()
    assert [one.replies for one in clients] == [[len(keys)]] * len(clients)
    assert max(waits) < (time.monotonic() - begun) / 4 + pace.longest, _told(waits)


@pytest.mark.parametrize("kind", ["DEL", "UNLINK", "a unit"])
def test_a_lookup_beside_many_deletes(
    server: ServerInstance, sql: Sql, pace: Pace, kind: str
) -> None:
    keys = [key for key in KEYS if key != "t:7"]
    if kind == "a unit":
        greedy = Greedy(server, [("MULTI",), *(("DEL", key) for key in keys[:2000]), ("EXEC",)])
    else:
        greedy = Greedy(server, [(kind, *keys)])
    with connect(server) as light:
        waits = waits_beside(light, greedy)
    deleted = 2000 if kind == "a unit" else len(keys)
    assert greedy.replies[-1] == ([1] * deleted if kind == "a unit" else deleted)
    assert statistics.median(waits) < MEDIAN, _told(waits)
    assert max(waits) < LONGEST + pace.longest, _told(waits)
    assert sql.number("SELECT COUNT(*) FROM t") == ROWS - deleted


def test_a_write_beside_reads_of_large_rows(server: ServerInstance, sql: Sql, pace: Pace) -> None:
    greedy = Greedy(server, [("HGETALL", f"large:{number % 5 + 1}") for number in range(30)])
    waits = []
    with connect(server) as light:
        greedy.start()
        while greedy.is_alive():
            begun = time.monotonic()
            assert isinstance(light.ask("HINCRBY", "t:7", "w", 1), int)
            waits.append(time.monotonic() - begun)
    greedy.join()
    assert max(waits) < LONGEST + pace.longest, _told(waits)


def test_many_who_pipeline_and_one_who_does_not(server: ServerInstance, sql: Sql) -> None:
    crowd = [Greedy(server, [("HMGET", f"t:{number}", "v", "w")] * 300) for number in range(1, 17)]
    for one in crowd[1:]:
        one.start()
    with connect(server) as light:
        waits = waits_beside(light, crowd[0])
    for number, one in enumerate(crowd[1:], start=2):
        one.join()
        assert one.replies == [[b"v", b"%d" % number]] * 300
    assert statistics.median(waits) < MEDIAN, _told(waits)


def _told(waits: list[float]) -> str:
    ordered = sorted(waits)
    return f"{len(waits)} waits, median {statistics.median(waits):.4f}, longest {ordered[-5:]}"
