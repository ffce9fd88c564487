"""One client that asks for much, and the others. Skipped rows count as much as answered ones."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator

import pytest
from support.database import Database
from support.pace import Pace
from test_counters import counts

ROWS = 60_000


@pytest.fixture
def database(make_server) -> Iterator[Database]:
    """One worker for each port, so every client waits for the same one."""
    database = Database(make_server(handlersocket_threads=1), "test")
    database.sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
        f"INSERT INTO t SELECT seq, 0 FROM seq_1_to_{ROWS}",
    )
    yield database
    database.close()


OPEN = b"P\t1\ttest\tt\t\tid\tv\n"
ABSENT = b"\t".join(b"%d" % (ROWS + key) for key in range(1, ROWS + 1))
GREEDY = {
    "a filter without hits": (b"1\t>\t1\t0\t10\t0\tF\t=\t0\t1\n", b"0\t1"),
    "an offset": (b"1\t>\t1\t0\t1\t%d\n" % (ROWS - 1), b"0\t1\t%d" % ROWS),
    "absent values of IN": (b"1\t=\t1\t0\t10\t0\t@\t0\t%d\t%s\n" % (ROWS, ABSENT), b"0\t1"),
    "one value of IN many times": (
        b"1\t=\t1\t0\t10\t0\t@\t0\t%d\t%s\n" % (ROWS, b"\t".join([b"7"] * ROWS)),
        b"0\t1\t7",
    ),
    # A find with so many values goes to a streamer at once, even if its first value is enough.
    "values of IN behind a limit": (
        b"1\t=\t1\t0\t1\t0\t@\t0\t4001\t%s\n" % b"\t".join(b"%d" % key for key in range(1, 4002)),
        b"0\t1\t1",
    ),
    "many filters": (b"1\t>\t1\t0\t1\t2000" + b"\tF\t=\t0\t0" * 1000 + b"\n", b"0\t1\t2001"),
}


@pytest.mark.parametrize("kind", GREEDY)
def test_what_a_find_skips_counts(kind: str, database: Database) -> None:
    request, answer = GREEDY[kind]
    with database.wire() as wire:
        assert wire.ask(OPEN) == b"0\t1"
        before = counts(database.sql)["long_finds"]
        assert wire.ask(request) == answer
        # It is counted after its reply was sent.
        deadline = time.monotonic() + 20
        while counts(database.sql)["long_finds"] == before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert counts(database.sql)["long_finds"] == before + 1


def test_a_pass_is_bounded_in_rows(database: Database) -> None:
    """On a busy machine many finds take so long that they go to a streamer. Then it is repeated."""
    ranges, rows = 200, 3_000
    with database.wire() as wire:
        assert wire.ask(OPEN) == b"0\t1"
        for _ in range(20):
            before = counts(database.sql)
            wire.send(b"1\t>\t1\t0\t1\t%d\n" % (rows - 1) * ranges)
            assert wire.lines(ranges) == [b"0\t1\t%d" % rows] * ranges
            after = counts(database.sql)
            streamed = after["long_finds"] - before["long_finds"]
            if streamed < ranges // 4:
                break
    assert streamed < ranges // 4
    # A pass has 20,000 steps, and its last request may take more.
    assert after["passes"] - before["passes"] >= ranges * rows // 30_000


def greedy_time(database: Database, request: bytes, count: int) -> float:
    """How long a client that is alone waits for so many of them."""
    with database.wire() as wire:
        wire.ask(OPEN)
        begin = time.monotonic()
        wire.send(request * count)
        wire.lines(count)
        return time.monotonic() - begin


@pytest.mark.parametrize("kind", ["absent values of IN", "many filters", "ranges"])
def test_a_lookup_beside_it_does_not_wait(kind: str, database: Database) -> None:
    if kind == "ranges":
        request, count = b"1\t>\t1\t0\t1\t2999\n", 500
    else:
        request, count = GREEDY[kind][0], 4
    alone = min(greedy_time(database, request, count) for _ in range(2))
    waits: list[float] = []
    greedy = threading.Thread(target=greedy_time, args=(database, request, 4 * count))
    with database.wire() as light:
        light.ask(OPEN)
        greedy.start()
        while greedy.is_alive():
            begin = time.monotonic()
            assert light.ask(b"1\t=\t1\t5\n") == b"0\t1\t5"
            waits.append(time.monotonic() - begin)
            time.sleep(0.002)
    greedy.join()
    # If a worker did the whole work at once, the wait would last for one request or for all of
    # them.
    assert statistics.median(waits) < alone / 8, (alone, max(waits))


def test_finds_that_answer_nothing_leave_the_streamers_to_others(database: Database) -> None:
    """Both streamers have a find that skips every row, and more of them wait."""
    request = b"1\t>\t1\t0\t1\t0" + b"\tF\t=\t0\t0" * 1000 + b"\tF\t=\t0\t1\n"
    alone = min(greedy_time(database, request, 1) for _ in range(2))
    greedy = [threading.Thread(target=greedy_time, args=(database, request, 3)) for _ in range(3)]
    waits: list[float] = []
    with database.wire() as light:
        light.ask(OPEN)
        for thread in greedy:
            thread.start()
        time.sleep(alone / 4)
        while all(thread.is_alive() for thread in greedy):
            begin = time.monotonic()
            assert light.ask(b"1\t>\t1\t0\t5000\t0\n").count(b"\t") == 5001
            waits.append(time.monotonic() - begin)
            time.sleep(0.01)
    for thread in greedy:
        thread.join()
    # The streamers' time is shared among four.
    assert statistics.median(waits) < alone / 4, (alone, waits)


def test_a_lookup_beside_a_value_of_many_blanks(database: Database, pace: Pace) -> None:
    """Each row is compared with all blanks: 64 rows between two looks at the clock are too many."""
    database.sql.run(
        "CREATE TABLE pads (id INT PRIMARY KEY, c CHAR(1) COLLATE utf8mb4_general_ci)"
        " CHARSET utf8mb4",
        "INSERT INTO pads SELECT id, 'a' FROM t WHERE id <= 600",
    )
    waits: list[float] = []
    with database.wire() as greedy, database.wire() as light:
        greedy.ask(b"P\t1\ttest\tpads\t\tid\tc\n")
        light.ask(OPEN)
        begin = time.monotonic()
        greedy.send(b"1\t>\t1\t0\t1\t0\tF\t=\t0\ta%sb\n" % (b" " * 500_000))
        answer = threading.Thread(target=greedy.lines, args=(1,))
        answer.start()
        while answer.is_alive():
            asked = time.monotonic()
            assert light.ask(b"1\t=\t1\t5\n") == b"0\t1\t5"
            waits.append(time.monotonic() - asked)
            time.sleep(0.002)
        answer.join()
        whole = time.monotonic() - begin
    assert max(waits) < whole / 5 + pace.longest, (max(waits), whole)


def test_kill_ends_a_find_that_finds_nothing(database: Database) -> None:
    """All its rows are skipped, each by a thousand conditions."""
    request = b"1\t>\t1\t0\t1\t0" + b"\tF\t=\t0\t0" * 1000 + b"\tF\t=\t0\t1\n"
    ids = (
        "SELECT id FROM information_schema.processlist"
        " WHERE user = 'handlersocket' AND state = 'handlersocket: streaming'"
    )
    with database.wire() as wire:
        wire.ask(OPEN)
        begin = time.monotonic()
        assert wire.ask(request) == b"0\t1"
        whole = time.monotonic() - begin
        wire.send(request)
        deadline = time.monotonic() + 20
        # The worker gives it up at once, and then the streamer has it.
        time.sleep(min(0.2, whole / 4))
        while not (found := database.sql.rows(ids)) and time.monotonic() < deadline:
            time.sleep(0.001)
        for (id_,) in found:
            assert id_ is not None
            assert database.sql.error(f"KILL QUERY {id_.decode()}") in (None, 1094)
        begin = time.monotonic()
        assert wire.lines(1) == [b"1\t1\t1317"]
        assert time.monotonic() - begin < max(1.0, whole / 2)


WRITES: dict[str, tuple[bytes, list[bytes]]] = {
    "updates": (
        b"P\t1\ttest\tt\t\tv\n",
        [b"1\t=\t1\t%d\t1\t0\t+\t1\n" % key for key in range(1, 1_501)],
    ),
    "duplicates": (
        b"P\t1\ttest\tt\t\tid\n",
        [b"1\t+\t1\t%d\n" % key for key in range(1, 4_001)],
    ),
    "tables that are not there": (
        b"P\t1\ttest\tt\t\tv\n",
        [b"P\t2\ttest\tnone_%d\t\t\n" % number for number in range(2_500)],
    ),
}


@pytest.mark.parametrize("kind", WRITES)
def test_a_writer_with_little_beside_writers_with_much(kind: str, database: Database) -> None:
    """Turns are shared between connections: nobody waits until another's pipeline is empty."""
    clients = 12
    open_greedy, requests = WRITES[kind]
    over = threading.Event()
    batches: list[float] = []

    def write_much() -> None:
        with database.wire(write=True) as wire:
            wire.ask(open_greedy)
            while not over.is_set():
                begin = time.monotonic()
                wire.send(b"".join(requests))
                wire.lines(len(requests))
                batches.append(time.monotonic() - begin)

    greedy = [threading.Thread(target=write_much) for _ in range(clients)]
    waits = []
    with database.wire(write=True) as light:
        light.ask(b"P\t1\ttest\tt\t\tv\n")
        for thread in greedy:
            thread.start()
        try:
            end = time.monotonic() + 4
            while time.monotonic() < end or not batches:
                begin = time.monotonic()
                assert light.ask(b"1\t=\t1\t%d\t1\t0\t+\t1\n" % ROWS) == b"0\t1\t1"
                waits.append(time.monotonic() - begin)
                time.sleep(0.005)
        finally:
            over.set()
            for thread in greedy:
                thread.join()
    assert statistics.median(waits) < statistics.median(batches) / 5, (max(waits), len(waits))


def test_a_large_row_goes_aside(database: Database) -> None:
    """Also if it is the only row that a find can meet: a worker keeps no reply as large as that."""
    size = 300 << 10
    database.sql.run(
        "CREATE TABLE large (id INT PRIMARY KEY, v LONGTEXT)",
        f"INSERT INTO large VALUES (1, REPEAT('x', {size})), (2, REPEAT('y', 1000))",
    )
    with database.wire() as wire:
        assert wire.ask(b"P\t1\ttest\tlarge\t\tid,v\n") == b"0\t1"
        before = counts(database.sql)["long_finds"]
        for request in (b"1\t=\t1\t2\n", b"1\t=\t1\t2\t1\t0\n"):
            assert wire.ask(request) == b"0\t2\t2\t" + b"y" * 1000
        assert counts(database.sql)["long_finds"] == before
        # One row by a unique key, and a limit that the first row reaches.
        for number, request in enumerate((b"1\t=\t1\t1\n", b"1\t>=\t1\t1\t1\t0\n"), start=1):
            assert wire.ask(request) == b"0\t2\t1\t" + b"x" * size
            deadline = time.monotonic() + 20
            while counts(database.sql)["long_finds"] < before + number:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert counts(database.sql)["long_finds"] == before + 2
