"""A client sends more while its long find is answered. Each reply comes once, whole, in order."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest
from support.database import Database
from support.wire import Wire

ROWS = 20_000
ROUNDS = 25
UPDATES = 250
LOOKUPS = 200


@pytest.fixture
def wire(database: Database) -> Iterator[Wire]:
    database.sql.run(
        "CREATE TABLE long_one (id INT PRIMARY KEY, v INT NOT NULL)",
        f"INSERT INTO long_one SELECT seq, 0 FROM seq_1_to_{ROWS}",
    )
    with open_wire(database) as opened:
        yield opened


def open_wire(database: Database) -> Wire:
    wire = database.wire(write=True)
    assert wire.ask(f"P\t1\t{database.name}\tlong_one\tPRIMARY\tid,v\n".encode()) == b"0\t1"
    assert wire.ask(f"P\t2\t{database.name}\tlong_one\tPRIMARY\tv\n".encode()) == b"0\t1"
    return wire


# The updates make a pass to which other requests are added as long as it lasts. The find after them
# is too long for a worker.
def updates_and_a_long_find(value: int) -> bytes:
    updates = b"".join(b"2\t=\t1\t%d\t1\t0\tU\t%d\n" % (key, value) for key in range(1, UPDATES))
    return updates + b"1\t>=\t1\t1\t100000\n"


def expected_rows(value: int) -> bytes:
    rows = (b"%d\t%d" % (key, value if key < UPDATES else 0) for key in range(1, ROWS + 1))
    return b"0\t2\t" + b"\t".join(rows)


def test_lookups_behind_a_long_find_wait_for_it(wire: Wire) -> None:
    rng = random.Random()
    lookups = b"".join(b"1\t=\t1\t%d\n" % key for key in range(1, LOOKUPS + 1))
    for value in range(1, ROUNDS + 1):
        wire.send(updates_and_a_long_find(value))
        time.sleep(rng.uniform(0, 0.008))
        wire.send(lookups)
        assert wire.lines(UPDATES - 1) == [b"0\t1\t1"] * (UPDATES - 1)
        (rows,) = wire.lines(1)
        assert rows == expected_rows(value), f"round {value}: {len(rows)} bytes of rows"
        answers = [b"0\t2\t%d\t%d" % (key, value) for key in range(1, LOOKUPS + 1)]
        assert wire.lines(LOOKUPS) == answers


def test_a_client_that_vanishes_meanwhile_leaves_the_others_alone(
    database: Database, wire: Wire
) -> None:
    rng = random.Random()
    for value in range(1, ROUNDS + 1):
        with open_wire(database) as leaver:
            leaver.send(updates_and_a_long_find(value))
            time.sleep(rng.uniform(0, 0.008))
            leaver.send(b"1\t=\t1\t1\n" * LOOKUPS)
            time.sleep(rng.uniform(0, 0.008))
        assert wire.ask(b"1\t=\t1\t%d\n" % ROWS) == b"0\t2\t%d\t0" % ROWS
