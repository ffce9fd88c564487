"""The soak's own checks can fail: an honest server passes, and each seeded mistake is found.

The server here is a second model, which answers as predict() says. Nothing listens.
"""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pymysql
import pytest
from support.database import Sql

from soak.accounts import REFUSALS, Right
from soak.binlog import HEADER, duplicate_xids
from soak.channel import Channel
from soak.client import Client, Settings
from soak.columns import NULL
from soak.cutting import Ending, Plan, cut
from soak.disturber import Disturber
from soak.exchange import Mismatch, Sent, Side, ends_of
from soak.generator import FEATURES, Generator
from soak.model import Model, Rows, Search
from soak.parked import LEAST_BYTES, Parked, may_be_parked
from soak.requests import (
    NO_LIMIT,
    Find,
    Insert,
    Open,
    Request,
    Spec,
    Upsert,
    is_write,
    predict,
    rows_line,
)
from soak.rounds import Failure, death
from soak.shared import Disturbance, Phase, Shared
from soak.sqlside import SqlSide
from soak.tables import Row, Table, all_tables, wholeness

OWNER = 11
BATCHES = 25
TABLES = all_tables(on_mysql=False)
Tamper = Callable[[list[Request], list[bytes]], bool]


class Twin:
    """What an honest server would answer, and what its tables would contain."""

    def __init__(self) -> None:
        self.model = Model(TABLES, OWNER)
        self.ids: dict[int, Spec] = {}

    def answer(self, request: Request) -> bytes:
        prediction = predict(request, self.model, self.ids, writable=True)
        if isinstance(request, Open) and request.spec is not None:
            self.ids[request.number] = request.spec
        if prediction.check is not None and isinstance(request, Find):
            spec = self.ids[request.number]
            search = request.search
            found = self.model.tables[spec.table.name].find(search)
            prediction.reply = rows_line(found, spec.columns)
        if prediction.edits:
            self.model.apply(prediction.table, prediction.edits)
        return prediction.reply

    def rows(self, table: Table, owner: int) -> dict[bytes, Row]:
        return dict(self.model.tables[table.name].rows)


class Replies:
    """A channel through which a batch has gone already."""

    def __init__(self, replies: list[bytes], *, is_open: bool = True) -> None:
        self.replies = replies
        self.open = is_open
        self.began = 1.0  # after all disturbances
        self.address = 1
        self.port = 1
        self.connected = 1.0
        self.surplus = b""


class Bench:
    """A client and its twin. Batches go from one to the other, with or without a mistake."""

    def __init__(self, folder: Path) -> None:
        self.twin = Twin()
        self.shared = Shared(folder, 1, 1.0)
        self.shared.phase = Phase.RUN
        features = frozenset(FEATURES) - {"long", "long_write"}  # there are no static rows
        settings = Settings(0, OWNER, 1, features, [], [], False)
        self.client = Client(settings, TABLES, self.shared, cast(SqlSide, self.twin))
        self.generator = Generator(TABLES, OWNER, features)
        self.side = Side(True, [], ids={})
        opens: list[Request] = [
            Open(spec.open(number), "open_index", number, spec)
            for number, spec in self.generator.specs.items()
        ]
        self.judge(opens, [self.twin.answer(request) for request in opens])

    def batch(self, number: int) -> list[Request]:
        return self.generator.batch(random.Random(number), self.twin.model, writable=True)

    def judge(self, requests: list[Request], replies: list[bytes], *, is_open: bool = True) -> None:
        size = ends_of(requests)[-1]
        plan = Plan(((0.0, 0, size),), Ending.NONE if is_open else Ending.CLOSE_AFTER, size)
        channel = cast(Channel, Replies(replies, is_open=is_open))
        self.client._judge([Sent(self.side, channel, requests, plan)])

    def go(self, tamper: Tamper) -> None:
        """Makes the mistake once, as soon as possible. At the end all tables are compared."""
        done = False
        for number in range(BATCHES):
            requests = self.batch(number)
            replies = [self.twin.answer(request) for request in requests]
            done = done or tamper(requests, replies)
            self.judge(requests, replies)
        assert done, "there was nothing to tamper with"
        self.client._check()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def untouched(_requests: list[Request], _replies: list[bytes]) -> bool:
    return True


def swapped(_requests: list[Request], replies: list[bytes]) -> bool:
    for place in range(len(replies) - 1):
        if replies[place] != replies[place + 1]:
            replies[place : place + 2] = reversed(replies[place : place + 2])
            return True
    return False


def twice(_requests: list[Request], replies: list[bytes]) -> bool:
    replies.append(replies[-1])
    return True


def row_lost(requests: list[Request], replies: list[bytes]) -> bool:
    for place, request in enumerate(requests):
        tokens = replies[place].split(b"\t")
        if isinstance(request, Find) and tokens[:2] == [b"0", b"7"] and len(tokens) > 9:
            replies[place] = b"\t".join(tokens[:-7])
            return True
    return False


def wrong_count(requests: list[Request], replies: list[bytes]) -> bool:
    for place, request in enumerate(requests):
        if isinstance(request, Find) and request.modification and replies[place] == b"0\t1\t1":
            replies[place] = b"0\t1\t0"
            return True
    return False


def one_too_many(requests: list[Request], replies: list[bytes]) -> bool:
    for place, request in enumerate(requests):
        if isinstance(request, Find) and request.count == "C" and len(replies[place]) == 5:
            replies[place] = b"0\t1\t%d" % (int(replies[place][4:]) + 1)
            return True
    return False


def not_as_afterwards(requests: list[Request], replies: list[bytes]) -> bool:
    """A row afterwards, with another n."""
    for place, request in enumerate(requests):
        tokens = replies[place].split(b"\t")
        change = request.modification if isinstance(request, Find) else None
        if change and change.shown == "!" and len(tokens) > 3:
            tokens[2] = b"%d" % (int(tokens[2]) + 1)
            replies[place] = b"\t".join(tokens)
            return True
    return False


def the_other_way(requests: list[Request], replies: list[bytes]) -> bool:
    """A range that is read down instead of up."""
    for place, request in enumerate(requests):
        tokens = replies[place].split(b"\t")
        is_range = isinstance(request, Find) and request.search.op in ("up", "down")
        if is_range and not is_write(request) and tokens[1] == b"7" and len(tokens) > 9:
            rows = [tokens[at : at + 7] for at in range(2, len(tokens), 7)]
            if rows[0] == rows[-1]:
                continue
            replies[place] = b"\t".join(tokens[:2] + [t for row in reversed(rows) for t in row])
            return True
    return False


def error_for_success(requests: list[Request], replies: list[bytes]) -> bool:
    for place, request in enumerate(requests):
        if isinstance(request, Insert) and replies[place] == b"0\t1":
            replies[place] = b"1\t1\t1205"  # and nothing happens beside it that would allow this
            return True
    return False


def wrong_fate(requests: list[Request], replies: list[bytes]) -> bool:
    for place, request in enumerate(requests):
        if isinstance(request, Upsert) and b"updated" in replies[place]:
            replies[place] = replies[place].replace(b"updated", b"unchanged", 1)
            return True
    return False


def row_of_several_lost(requests: list[Request], replies: list[bytes]) -> bool:
    for place, request in enumerate(requests):
        if isinstance(request, Upsert) and replies[place].count(b"inserted") > 1:
            replies[place] = replies[place].replace(b"\tinserted\t\0", b"", 1)
            return True
    return False


def other_index(requests: list[Request], replies: list[bytes]) -> bool:
    """The answer for another index id to a find that has rows."""
    for place, request in enumerate(requests):
        if isinstance(request, Find) and len(replies[place]) > 8 and not is_write(request):
            replies[place] = b"0\t3"
            return True
    return False


def refused(requests: list[Request], replies: list[bytes]) -> bool:
    for place, request in enumerate(requests):
        if isinstance(request, Find) and replies[place].startswith(b"0") and not is_write(request):
            replies[place] = REFUSALS[0]
            return True
    return False


def test_an_honest_server_passes(bench: Bench) -> None:
    bench.go(untouched)
    assert bench.client._tally["rows written"] > 100


@pytest.mark.parametrize(
    "tamper",
    [
        swapped,
        twice,
        row_lost,
        wrong_count,
        one_too_many,
        not_as_afterwards,
        the_other_way,
        error_for_success,
        wrong_fate,
        row_of_several_lost,
        other_index,
    ],
)
def test_a_wrong_reply_is_found(bench: Bench, tamper: Tamper) -> None:
    with pytest.raises(Mismatch):
        bench.go(tamper)


def test_what_an_account_may_not_do_is_found(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.side.logged_in = True
    bench.go(untouched)
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: 0.5)  # before the replies
        for table in range(len(TABLES)):
            bench.shared.note_missing(0, table * len(Right) + Right.WRITE)
    with pytest.raises(Mismatch, match="may not WRITE"):
        bench.go(untouched)


def test_only_an_account_may_be_refused(bench: Bench) -> None:
    bench.shared.begin(Disturbance.RIGHTS)
    bench.side.logged_in = True
    bench.go(refused)
    bench.side.logged_in = False
    with pytest.raises(Mismatch, match="expected"):
        bench.go(refused)


def writes(bench: Bench) -> tuple[list[Request], list[bytes]]:
    """A batch that changes rows of tables with transactions, and its replies."""
    for number in range(1000, 1000 + BATCHES):
        bench.twin.model = Model(TABLES, OWNER)
        for name, rows in bench.client._model.tables.items():
            bench.twin.model.tables[name].rows = dict(rows.rows)
        requests = bench.batch(number)
        replies = [bench.twin.answer(request) for request in requests]
        durable = [table.name for table in TABLES if table.transactional]
        known = bench.client._model.tables
        if any(known[name].rows != bench.twin.model.tables[name].rows for name in durable):
            return requests, replies
    raise AssertionError("no batch wrote")


def lose_a_row(bench: Bench) -> None:
    """A row that was acknowledged is not in the table."""
    for table in TABLES:
        before = bench.client._model.tables[table.name].rows
        rows = bench.twin.model.tables[table.name].rows
        if table.transactional and (new := [key for key in rows if before.get(key) != rows[key]]):
            del rows[new[0]]
            return


def test_an_acknowledged_write_that_is_not_there_is_found(bench: Bench) -> None:
    requests, replies = writes(bench)
    bench.judge(requests, replies)
    bench.client._check()
    changed = next(rows for rows in bench.twin.model.tables.values() if rows.rows)
    changed.rows.popitem()
    with pytest.raises(Mismatch, match="not what the replies said"):
        bench.client._check()


@pytest.mark.parametrize("killed", [False, True])
def test_unanswered_writes_happened_up_to_one_of_them(bench: Bench, killed: bool) -> None:
    """Whether only the connection ended, or the server, too."""
    requests, replies = writes(bench)
    bench.shared.phase = Phase.KILLED if killed else Phase.RUN
    bench.judge(requests, replies[: len(replies) // 2], is_open=False)
    bench.client._check()


@pytest.mark.parametrize("killed", [False, True])
def test_a_state_that_was_never_possible_is_found(bench: Bench, killed: bool) -> None:
    requests, replies = writes(bench)
    lose_a_row(bench)
    bench.shared.phase = Phase.KILLED if killed else Phase.RUN
    with pytest.raises(Mismatch, match="no state that was possible|not what the replies said"):
        # Both for a row that is new and for one that was acknowledged.
        bench.judge(requests, replies[: len(replies) // 2], is_open=False)
        bench.client._check()


def test_a_torn_row_of_another_is_found() -> None:
    table = TABLES[0]
    row = honest_row()
    assert wholeness(table, row) == ""
    assert "n + m" in wholeness(table, (*row[:2], b"5", *row[3:]))
    assert "txt" in wholeness(table, (*row[:4], b"8", *row[5:]))
    assert "range" in wholeness(table, (b"7", *row[1:]))


def honest_row() -> Row:
    generator = Generator(TABLES, OWNER, frozenset())
    row, _, _ = generator._row(random.Random(1), Model(TABLES, OWNER), TABLES[0])
    return row


def test_an_xid_that_is_there_twice_is_found(tmp_path: Path) -> None:
    def log(*xids: int) -> list[Path]:
        size = 19 + 8
        events = [HEADER.pack(0, 16, 1, size, 0) + b"\0\0" + struct.pack("<Q", x) for x in xids]
        path = tmp_path / "binlog.000001"
        path.write_bytes(b"\xfebin" + b"".join(events) + b"torn")
        return [path]

    assert duplicate_xids(log(1, 2, 3)) == []
    assert len(duplicate_xids(log(1, 2, 1))) == 1


def test_cuts_cover_a_batch_and_no_more() -> None:
    for seed in range(300):
        plan = cut(random.Random(seed), 500, [100, 300, 500], faults=True)
        bounds = [(begin, end) for _, begin, end in plan.pieces]
        assert [end for _, end in bounds[:-1]] == [begin for begin, _ in bounds[1:]]
        assert not bounds or (bounds[0][0], bounds[-1][1]) == (0, plan.sent)


def test_the_same_seed_makes_the_same_requests() -> None:
    generator = Generator(TABLES, OWNER, frozenset(FEATURES))
    model = Model(TABLES, OWNER)
    first, second = (
        [r.line for r in generator.batch(random.Random("7/0/1/1"), model, writable=True)]
        for _ in range(2)
    )
    assert first == second


def test_a_servers_log_says_why_it_has_died() -> None:
    assert death("[Note] ready\n") == ""
    crash = "261128  7:10:14 [ERROR] mariadbd got signal 11 ;"
    assert death(f"[Note] ready\n{crash}\nAttempting backtrace\n") == crash
    assertion = "mariadbd: a.cc:78: bool end(): Assertion `writes().empty()' failed."
    assert death(f"[Note] ready\n{assertion}\n{crash}\n") == assertion
    report = "==17==ERROR: AddressSanitizer: heap-use-after-free on address 0x6"
    assert death(f"[Note] ready\n{report}\nREAD of size 8\n{crash}\n") == report


def test_a_failure_says_its_reason_in_one_line() -> None:
    traceback = (
        "failure-disturber:\n"
        "Traceback (most recent call last):\n"
        '  File "disturber.py", line 53, in run\n'
        "    self._disturb(sql)\n"
        "pymysql.err.IntegrityError: (1062, \"Duplicate entry '1' for key 'PRIMARY'\")\n"
    )
    assert Failure(traceback).reason() == (
        "failure-disturber: pymysql.err.IntegrityError:"
        " (1062, \"Duplicate entry '1' for key 'PRIMARY'\")"
    )
    assert Failure("2 Xids are in the binary log twice\n17\n18").reason() == (
        "2 Xids are in the binary log twice"
    )


def parked_find() -> tuple[Find, Spec, list[Rows]]:
    """A find over ten rows, and three states: one row is changed, then one is deleted."""
    table = next(table for table in TABLES if table.name == "t_pair")
    spec = Spec(table, "PRIMARY")
    states = []
    for state in range(3):
        rows = Rows(table, OWNER)
        for number in range(10):
            key = b"%d" % (OWNER * 1000 + number)
            rows.rows[key] = (key, b"%d" % OWNER, b"1", b"-1", b"%d" % state, b"text", NULL)
        states.append(rows)
    del states[2].rows[b"%d" % (OWNER * 1000 + 4)]
    search = Search("PRIMARY", "=", (b"%d" % OWNER,), NO_LIMIT)
    return Find(b"", "find", 1, search), spec, states


@pytest.mark.parametrize(
    ("table", "op", "size", "expected"),
    [
        ("t_pair", "=", 100, False),
        ("t_pair", ">=", 100, False),
        ("t_pair", "=", LEAST_BYTES, True),
        ("t_int", "<=", 100, True),  # it has thousands of rows
        ("t_int", "=", 100, False),
    ],
)
def test_which_finds_may_be_parked(table: str, op: str, size: int, *, expected: bool) -> None:
    spec = Spec(next(t for t in TABLES if t.name == table), "PRIMARY")
    request = Find(b"", "find", 1, Search("PRIMARY", op, (b"1",), NO_LIMIT))
    assert may_be_parked(request, b"x" * size, spec) == expected


@pytest.mark.parametrize(
    ("pieces", "honest"),
    [
        ([(0, 0, 10)], True),
        ([(0, 0, 5), (1, 5, 10)], True),
        ([(0, 0, 5), (2, 4, 9)], True),  # the row at which it was parked is deleted
        ([(0, 0, 4), (1, 4, 5), (2, 4, 9)], True),
        ([(0, 0, 5), (1, 6, 10)], False),  # a row behind the gap is missing
        ([(0, 0, 5), (1, 4, 10)], False),  # a row came twice
        ([(1, 0, 5), (0, 5, 10)], False),  # back to an earlier state
        ([(0, 1, 10)], False),  # the first row is missing
        ([(0, 0, 9)], False),  # the last row is missing
    ],
)
def test_what_a_parked_find_may_answer(pieces: list[tuple[int, int, int]], *, honest: bool) -> None:
    request, spec, states = parked_find()
    found = []
    for state, begin, end in pieces:
        found += states[state].find(replace(request.search, index="PRIMARY"))[begin:end]
    parked = Parked(request, rows_line(found, spec.columns), spec, OWNER)
    assert any([parked.fits(state) for state in states]) == honest


class KilledServer:
    """A session with a server that is killed while it closes a connection."""

    def rows(self, _statement: str) -> list[tuple[bytes, bytes]]:
        return [(b"7", b"127.0.0.1:40000")]

    def run(self, _statement: str) -> None:
        raise pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query")


def test_a_kill_while_a_connection_is_closed_is_no_failure(tmp_path: Path) -> None:
    """The disturber waits for the next server after this kind of error alone."""
    shared = Shared(tmp_path, clients=1, patience=10)
    disturber = Disturber(tmp_path, [], [], [], None, shared, frozenset(), seed=1)
    with pytest.raises(pymysql.err.OperationalError):
        disturber._close(cast(Sql, KilledServer()))
