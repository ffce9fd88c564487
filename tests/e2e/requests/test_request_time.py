"""handlersocket_max_request_time ends requests that take long."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator

import pytest
from support.database import Database
from support.pace import Pace
from support_servers import wait_until
from test_counters import counts

ROWS = 40_000
#: A request that looks at many rows, and compares each with all of these, takes long.
FILTERS = (b"\tF\t>=\t0\t" + b"a" * 240) * 1_000
OPEN = b"P\t1\ttest\tt\t\tv\tw,v\n"
#: How a slow client reads: so many bytes at once, and so many seconds between.
PIECE, PAUSE = 128 << 10, 0.01
#: No row passes this one.
NONE = b"\tF\t=\t1\t1"
LONG = b"1\t>\t1\t0\t%d\t0" + FILTERS


@pytest.fixture
def database(make_server) -> Iterator[Database]:
    database = Database(make_server(handlersocket_max_request_time=1), "test")
    database.sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, w VARCHAR(240) CHARACTER SET latin1)",
        f"INSERT INTO t SELECT seq, 0, REPEAT('a', 240) FROM seq_1_to_{ROWS}",
    )
    yield database
    database.close()


def total(database: Database) -> int:
    return int(database.sql.rows("SELECT SUM(v) FROM t")[0][0])


def test_finds(database: Database) -> None:
    with database.wire() as wire:
        assert wire.ask(OPEN) == b"0\t1"
        begin = time.monotonic()
        # No row passes the last filter, so nothing has been answered when the time is over.
        assert wire.ask(LONG % 10 + NONE + b"\n") == b"1\t1\tmax_request_time"
        assert 0.9 < time.monotonic() - begin < 10
        assert wire.ask(b"1\t=\t1\t7\n") == b"0\t1\t0", "the connection goes on"
        assert counts(database.sql)["requests_timed_out"] == 1
        # A reply that has begun cannot become an error.
        assert wire.ask(OPEN.replace(b"\tv\t", b"\tw\t")) == b"0\t1"
        wire.send(LONG % ROWS + b"\n")
        reply = wire.rest()
        assert reply.startswith(b"0\t1\taaa")
        assert b"\n" not in reply
        assert counts(database.sql)["requests_timed_out"] == 2


def test_a_client_that_reads_slowly(database: Database) -> None:
    """What the find waits for it is no time for which the server has worked."""
    with socket.create_connection(("127.0.0.1", database.server.hs_port), 60) as slow:
        begin = time.monotonic()
        slow.sendall(OPEN.replace(b"\tv\t", b"\tw,w,w,w\t") + b"1\t>\t1\t0\t%d\t0\n" % ROWS)
        expected = len(b"0\t1\n0\t4" + (b"\t" + b"a" * 240) * 4 * ROWS + b"\n")
        received = 0
        while received < expected:
            piece = slow.recv(PIECE)
            assert piece, f"closed behind {received} of {expected} bytes"
            received += len(piece)
            time.sleep(PAUSE)
        assert received == expected and piece.endswith(b"a\n")
        assert time.monotonic() - begin > 2, "the client has not read slowly"
        assert counts(database.sql)["requests_timed_out"] == 0


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_modifications(database: Database, engine: str) -> None:
    """A write that cannot be undone goes on to its end."""
    database.sql.run(f"ALTER TABLE t ENGINE={engine}")
    with database.wire(write=True) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        if engine == "InnoDB":
            assert wire.ask(LONG % ROWS + b"\t+\t1\n") == b"1\t1\tmax_request_time"
            assert total(database) == 0
            assert counts(database.sql)["requests_timed_out"] == 1
        else:
            assert wire.ask(LONG % ROWS + b"\t+\t1\n") == b"0\t1\t%d" % ROWS
            assert total(database) == ROWS
        assert wire.ask(b"1\t=\t1\t7\t1\t0\tU\t5\n") == b"0\t1\t1"


def test_modifications_whose_rows_take_long(database: Database, pace: Pace) -> None:
    """A trigger takes 0.7 s for each row. Only a row is not interrupted."""
    database.sql.run(
        "ALTER TABLE t ADD KEY (v)",
        "CREATE TRIGGER u BEFORE UPDATE ON t FOR EACH ROW SET NEW.w = SLEEP(0.7)",
        "SET GLOBAL handlersocket_max_request_time = 1",
    )
    with database.wire(write=True) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        for request in (b"1\t>\t1\t0\t6\t0", b"1\t=\t1\t0\t6\t0\t@\t0\t6\t1\t2\t3\t4\t5\t6"):
            begin = time.monotonic()
            assert wire.ask(request + b"\t+\t1\n") == b"1\t1\tmax_request_time"
            assert time.monotonic() - begin < 3.5 + pace.longest
            assert total(database) == 0
        assert wire.ask(b"1\t=\t1\t7\t1\t0\tU\t5\n") == b"0\t1\t1"
        # The index that is searched is changed, so all rows are found before the first is changed.
        assert wire.ask(OPEN.replace(b"\t\tv\t", b"\tv\tv\t")) == b"0\t1"
        begin = time.monotonic()
        assert wire.ask(b"1\t=\t1\t0\t6\t0\t+\t1\n") == b"1\t1\tmax_request_time"
        assert time.monotonic() - begin < 3.5 + pace.longest
        assert total(database) == 5


def test_the_log_tells_of_long_requests(database: Database) -> None:
    database.sql.run(
        "SET GLOBAL handlersocket_max_request_time = 0",
        "SET GLOBAL handlersocket_long_request_time = 1",
    )
    with database.wire(write=True) as wire:
        assert wire.ask(OPEN) == b"0\t1"
        assert wire.ask(b"1\t>\t1\t0\t10\t0" + NONE + b"\n") == b"0\t1"
        assert wire.ask(LONG % 10 + NONE + b"\n") == b"0\t1"
        assert wire.ask(LONG % 10 + NONE + b"\tD\n") == b"0\t1\t0"
    wait_until(lambda: "a long delete" in database.server.log_text(), "the second line")
    lines = [line for line in database.server.log_text().splitlines() if "a long " in line]
    assert len(lines) == 2
    what = r"on test\.t by its index PRIMARY took [\d.]+ s and looked at (\d+) rows"
    who = r"connection \d+ from 127\.0\.0\.1:\d+ as root@localhost"
    for kind, line in zip(["find", "delete"], lines, strict=True):
        found = re.search(f"handlersocket: a long {kind} {what}: {who}'?$", line)
        assert found, line
        assert ROWS <= int(found[1]) <= ROWS + 1


def test_can_be_changed(database: Database) -> None:
    database.sql.run("SET GLOBAL handlersocket_max_request_time = 0")
    with database.wire() as wire:
        assert wire.ask(OPEN) == b"0\t1"
        begin = time.monotonic()
        assert wire.ask(LONG % 10 + NONE + b"\n") == b"0\t1"
        assert time.monotonic() - begin > 1
