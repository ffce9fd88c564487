"""`within`: a request whose client has set it a time is answered when that is over.

Then nothing of it is done, wherever it was.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, ReplyError
from server_instance import ServerInstance
from support.database import Sql
from support.pace import Pace
from support.wire import Wire
from support_servers import LOGGING, fresh_session, running_server
from test_counters import counts

ROWS = 40_000
TIMED_OUT = b"1\t1\tmax_request_time"
#: More than a wait takes that nobody has ended: a waiter waits for a second at a time.
SLACK = 0.7
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE named (id INT AUTO_INCREMENT PRIMARY KEY, name INT UNIQUE)",
    "CREATE TABLE parent (id INT PRIMARY KEY)",
    "CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id))",
    "INSERT INTO t SELECT seq, 0 FROM seq_1_to_10",
    "INSERT INTO parent VALUES (1)",
)
MANY = (
    "CREATE TABLE many (id INT PRIMARY KEY, v INT, w VARCHAR(240) CHARACTER SET latin1)",
    f"INSERT INTO many SELECT seq, 0, REPEAT('a', 240) FROM seq_1_to_{ROWS}",
)
OPEN = (
    b"P\t1\thst\tt\t\tv\n",
    b"P\t2\thst\tnamed\t\tname\n",
    b"P\t3\thst\tchild\t\tid,p\n",
)
OPEN_MANY = b"P\t4\thst\tmany\t\tv\tw,v\n"
#: A request that looks at many rows, and compares each with all of these, takes long.
LONG = b"4\t>\t1\t0\t%d\t0" + (b"\tF\t>=\t0\t" + b"a" * 240) * 1_000
#: No row passes this one.
NONE = b"\tF\t=\t1\t1"


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {**LOGGING, "handlersocket_lock_wait_timeout": 30, "handlersocket_threads_wr": 1}
    with running_server(data_root, watch, **settings) as instance:
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with fresh_session(server, "hst", *TABLES) as session:
        yield session


@pytest.fixture
def other(server: ServerInstance, sql: Sql) -> Iterator[Sql]:
    """Another session, which locks."""
    with Sql(server.socket, "hst") as session:
        yield session


@contextmanager
def connected(server: ServerInstance, *opened: bytes, write: bool = True) -> Iterator[Wire]:
    with Wire(server.hs_port_wr if write else server.hs_port) as wire:
        for request in opened:
            assert wire.ask(request) == b"0\t1"
        yield wire


def update(number: int) -> bytes:
    return b"1\t=\t1\t%d\t1\t0\t+\t1\n" % number


def within(ms: int, request: bytes) -> bytes:
    return b"within\t%d\t%s" % (ms, request)


@contextmanager
def after(pace: Pace, ms: int) -> Iterator[None]:
    """What is done takes so long, and little more."""
    lost, begin = pace.lost, time.monotonic()
    yield
    taken = time.monotonic() - begin
    assert ms / 1000 - 0.01 <= taken < ms / 1000 + SLACK + pace.lost - lost


def values(sql: Sql) -> list[int]:
    return [int(row[0]) for row in sql.rows("SELECT v FROM t ORDER BY id LIMIT 3")]


@pytest.mark.parametrize("ms", [20, 250])
def test_a_locked_row(server: ServerInstance, sql: Sql, other: Sql, pace: Pace, ms: int) -> None:
    """Short: a worker asks for it now and then. Longer: a waiter waits for it in the engine."""
    before = counts(sql)["requests_timed_out"]
    other.run("BEGIN", "UPDATE t SET v = 100 WHERE id = 1")
    with connected(server, *OPEN) as wire:
        with after(pace, ms):
            assert wire.ask(within(ms, update(1))) == TIMED_OUT
        other.run("ROLLBACK")
        assert wire.ask(within(5_000, update(2))) == b"0\t1\t1"
        time.sleep(0.2)
        assert values(sql) == [0, 1, 0]
    assert counts(sql)["requests_timed_out"] == before + 1


def test_a_row_that_becomes_free_in_time(server: ServerInstance, sql: Sql, other: Sql) -> None:
    other.run("BEGIN", "UPDATE t SET v = 100 WHERE id = 1")
    with connected(server, *OPEN) as wire:
        wire.send(within(10_000, update(1)))
        time.sleep(0.3)
        other.run("COMMIT")
        assert wire.lines(1) == [b"0\t1\t1"]
    assert values(sql) == [101, 0, 0]


def test_the_others_of_a_pipeline(server: ServerInstance, sql: Sql, other: Sql, pace: Pace) -> None:
    other.run("BEGIN", "UPDATE t SET v = 100 WHERE id = 1")
    with connected(server, *OPEN) as wire, after(pace, 250):
        wire.send(update(2) + within(250, update(1)) + update(3) + b"1\t=\t1\t3\n")
        assert wire.lines(4) == [b"0\t1\t1", TIMED_OUT, b"0\t1\t1", b"0\t1\t1"]
    other.run("ROLLBACK")
    assert values(sql) == [0, 1, 1]


def test_waiting_behind_another_request_counts(
    server: ServerInstance, sql: Sql, other: Sql, pace: Pace
) -> None:
    other.run("BEGIN", "UPDATE t SET v = 100 WHERE id = 1")
    with connected(server, *OPEN) as wire, after(pace, 300):
        wire.send(within(300, update(1)) + within(200, update(2)) + update(3))
        assert wire.lines(3) == [TIMED_OUT, TIMED_OUT, b"0\t1\t1"]
    other.run("ROLLBACK")
    assert values(sql) == [0, 0, 1]


@pytest.mark.parametrize(
    ("lock", "request_line"),
    [
        pytest.param("INSERT INTO named (name) VALUES (7)", b"2\t+\t1\t7\n", id="a-number"),
        pytest.param("DELETE FROM parent WHERE id = 1", b"3\t+\t2\t1\t1\n", id="a-parent"),
    ],
)
def test_what_only_a_waiter_can_wait_for(
    server: ServerInstance, sql: Sql, other: Sql, pace: Pace, lock: str, request_line: bytes
) -> None:
    other.run("BEGIN", lock)
    with connected(server, *OPEN) as wire:
        with after(pace, 250):
            assert wire.ask(within(250, request_line)) == TIMED_OUT
        other.run("ROLLBACK")
        time.sleep(0.2)
        assert sql.number("SELECT (SELECT COUNT(*) FROM named) + (SELECT COUNT(*) FROM child)") == 0
        assert wire.ask(within(5_000, request_line)).startswith(b"0\t1")


@pytest.mark.parametrize("write", [False, True])
def test_a_locked_table(
    server: ServerInstance, sql: Sql, other: Sql, pace: Pace, write: bool
) -> None:
    with connected(server, *OPEN, write=write) as wire:
        other.run("LOCK TABLES t WRITE")
        with after(pace, 250):
            assert wire.ask(within(250, update(1) if write else b"1\t=\t1\t1\n")) == TIMED_OUT
        other.run("UNLOCK TABLES")
    assert values(sql) == [0, 0, 0]


def test_a_group(server: ServerInstance, sql: Sql, other: Sql, pace: Pace) -> None:
    other.run("BEGIN", "UPDATE t SET v = 100 WHERE id = 2")
    with connected(server, *OPEN) as wire:
        with after(pace, 250):
            wire.send(within(250, b"G\t3\n" + update(1) + update(2) + update(3)) + update(3))
            assert wire.lines(5) == [TIMED_OUT] * 4 + [b"0\t1\t1"]
        other.run("ROLLBACK")
        time.sleep(0.2)
        assert values(sql) == [0, 0, 1]
        wire.send(within(5_000, b"G\t2\n" + update(1) + update(2)))
        assert wire.lines(3) == [b"0\t1", b"0\t1\t1", b"0\t1\t1"]
    assert values(sql) == [1, 1, 1]


def test_the_servers_time_is_the_most(
    server: ServerInstance, sql: Sql, other: Sql, pace: Pace
) -> None:
    other.run("BEGIN", "UPDATE t SET v = 100 WHERE id = 1")
    sql.run("SET GLOBAL handlersocket_max_request_time = 1")
    try:
        with connected(server, *OPEN) as wire, after(pace, 1_000):
            assert wire.ask(within(60_000, update(1))) == TIMED_OUT
    finally:
        sql.run("SET GLOBAL handlersocket_max_request_time = 0")


def test_words_for_it(server: ServerInstance, sql: Sql, other: Sql) -> None:
    other.run("BEGIN", "UPDATE t SET v = 100 WHERE id = 1")
    with connected(server, *OPEN) as wire:
        hello = wire.ask(b"H\ttexts\n").split(b"\t")
        assert b"within" in hello[hello.index(b"requests") + 1].split()
        for ms in (20, 250):
            answer = b"1\t4\tmax_request_time\t3024\tHY000\tThe request took too long"
            assert wire.ask(within(ms, update(1))) == answer


def test_a_call_of_the_python_client(
    server: ServerInstance, sql: Sql, other: Sql, pace: Pace
) -> None:
    other.run("BEGIN", "UPDATE t SET v = 100 WHERE id = 1")
    ports = ("127.0.0.1", server.hs_port), ("127.0.0.1", server.hs_port_wr)
    with Client(ports[0], write=ports[1]) as client:
        index = client.index("hst", "t", ["v"])
        group = client.group(within=0.25)
        group.on(index).increment(2, [1])
        group.on(index).increment(1, [1])
        for call in (lambda: index.increment(1, [1], within=0.25), group.run):
            with after(pace, 250), pytest.raises(ReplyError, match="max_request_time") as raised:
                call()
            assert not raised.value.maybe_executed
        other.run("ROLLBACK")
        assert index.increment(3, [1], within=5) == 1
    assert values(sql) == [0, 0, 1]


@pytest.fixture
def many(server: ServerInstance, sql: Sql) -> Sql:
    sql.run(*MANY)
    return sql


def total(sql: Sql) -> int:
    return sql.number("SELECT SUM(v) FROM many")


def test_long_finds(server: ServerInstance, many: Sql, pace: Pace) -> None:
    with connected(server, OPEN_MANY, write=False) as wire:
        for kind in (b"", b"\tC"):
            with after(pace, 200):
                assert wire.ask(within(200, LONG % 10 + NONE + kind + b"\n")) == TIMED_OUT
        assert wire.ask(within(5_000, b"4\t=\t1\t7\n")) == b"0\t1\t0", "the connection goes on"
        # A reply that has begun cannot become an error.
        assert wire.ask(OPEN_MANY.replace(b"\tv\t", b"\tw\t")) == b"0\t1"
        wire.send(within(700, LONG % ROWS + b"\n"))
        reply = wire.rest()
        assert reply.startswith(b"0\t1\taaa")
        assert b"\n" not in reply


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_long_modifications(server: ServerInstance, many: Sql, pace: Pace, engine: str) -> None:
    """A write that cannot be undone goes on to its end."""
    many.run(f"ALTER TABLE many ENGINE={engine}")
    with connected(server, OPEN_MANY) as wire:
        if engine == "InnoDB":
            with after(pace, 200):
                assert wire.ask(within(200, LONG % ROWS + b"\t+\t1\n")) == TIMED_OUT
            assert total(many) == 0
        else:
            assert wire.ask(within(500, LONG % ROWS + b"\t+\t1\n")) == b"0\t1\t%d" % ROWS
            assert total(many) == ROWS
        assert wire.ask(b"4\t=\t1\t7\t1\t0\tU\t5\n") == b"0\t1\t1"


def test_a_queue_for_streamers(server: ServerInstance, many: Sql, pace: Pace) -> None:
    """Long writes keep all streamers: what waits for one is answered by its worker."""

    def write_long() -> None:
        with connected(server, OPEN_MANY) as wire:
            assert wire.ask(within(1_200, LONG % ROWS + NONE + b"\t+\t1\n")) == TIMED_OUT

    writers = [threading.Thread(target=write_long) for _ in range(4)]
    with connected(server, OPEN_MANY) as wire:
        for writer in writers:
            writer.start()
        time.sleep(0.2)
        with after(pace, 200):
            assert wire.ask(within(200, LONG % 10 + NONE + b"\n")) == TIMED_OUT
    for writer in writers:
        writer.join()
    assert total(many) == 0
