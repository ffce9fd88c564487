"""Clients that write without pause, and remember what the server has acknowledged.

Each writer inserts rows of its own, and adds 1 to rows that all writers share. It notes how each
write has ended: acknowledged, refused with an error, or unknown because the connection was lost
before the reply. In the end an acknowledged write must be there, a refused one must not, and an
unknown one may be.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from handlersocket2 import (
    Client,
    ConnectionLost,
    Find,
    FindModify,
    HandlerSocketError,
    Insert,
    ModifyOp,
    OpenIndex,
    ReplyError,
)
from support.database import Sql

DATABASE = "ledger"
SHARED_ROWS = 3
TABLES = (
    f"CREATE DATABASE {DATABASE}",
    f"CREATE TABLE {DATABASE}.entries"
    " (writer INT, number INT, note VARCHAR(40), PRIMARY KEY (writer, number)) ENGINE=InnoDB",
    f"CREATE TABLE {DATABASE}.shared (id INT PRIMARY KEY, n BIGINT NOT NULL) ENGINE=InnoDB",
    f"INSERT INTO {DATABASE}.shared VALUES "
    + ", ".join(f"({row}, 0)" for row in range(SHARED_ROWS)),
)
RETRY_S = 0.02

Where = Callable[[], int | None]


class Writer(threading.Thread):
    """One connection at a time, to the write port that `where` names; None: there is none now.

    After an error of `unsure` the write may be there.
    """

    def __init__(
        self, number: int, where: Where, *, shares: bool = True, unsure: Sequence[str] = ()
    ) -> None:
        super().__init__(daemon=True)
        self.number = number
        self.where = where
        self.shares = shares
        self.unsure = unsure
        self.stops = threading.Event()
        self.acknowledged: set[int] = set()
        self.unknown: set[int] = set()
        self.added = [0] * SHARED_ROWS
        self.maybe_added = [0] * SHARED_ROWS
        self.errors: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.acknowledged_at: list[float] = []
        self.longest = 0.0
        self._next = 0

    def run(self) -> None:
        while not self.stops.is_set():
            port = self.where()
            if port is None:
                time.sleep(RETRY_S)
                continue
            try:
                with Client(("127.0.0.1", port), timeout=60) as client:
                    client.request(OpenIndex(0, DATABASE, "entries", "", ["writer", "number"]))
                    client.request(OpenIndex(1, DATABASE, "shared", "", ["n"]))
                    while not self.stops.is_set() and self.where() == port:
                        self._write(client)
            except ReplyError as error:
                self.errors[f"P: {error.code} {error.text}"] += 1
                time.sleep(RETRY_S)
            except (HandlerSocketError, OSError):
                time.sleep(RETRY_S)

    def _write(self, client: Client) -> None:
        entry, row = self._next, self._next % SHARED_ROWS
        self._next += 1
        began = time.monotonic()
        try:
            with client.pipeline() as pipeline:
                inserted = pipeline.send(Insert(0, [self.number, entry]))
                added = None
                if self.shares:
                    added = pipeline.send(FindModify(Find(1, [row]), ModifyOp.INCREMENT, [1]))
            failure = inserted.error()
            failure_of_sum = added.error() if added is not None else None
        except (ConnectionLost, OSError):
            self.unknown.add(entry)
            self.maybe_added[row] += self.shares
            raise
        now = time.monotonic()
        self.longest = max(self.longest, now - began)
        if failure is None:
            self.acknowledged.add(entry)
            self.acknowledged_at.append(now)
        else:
            self.errors[f"{failure.code} {failure.text}"] += 1
            if failure.text in self.unsure:
                self.unknown.add(entry)
        if added is None:
            return
        if failure_of_sum is not None:
            self.errors[f"{failure_of_sum.code} {failure_of_sum.text}"] += 1
            self.maybe_added[row] += failure_of_sum.text in self.unsure
        elif added.result() == 1:
            self.added[row] += 1
        else:
            self.wrong.append(f"an addition changed {added.result()} rows")


@contextmanager
def writing(writers: Sequence[Writer]) -> Iterator[None]:
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        for writer in writers:
            writer.stops.set()
        for writer in writers:
            writer.join(90)
    assert not any(writer.is_alive() for writer in writers), "a write waits for ever"


def await_writes(writers: Sequence[Writer], more: int, seconds: float = 30.0) -> None:
    """Waits until each writer has had so many more writes acknowledged."""
    wanted = [len(writer.acknowledged) + more for writer in writers]
    deadline = time.monotonic() + seconds
    while any(len(w.acknowledged) < n for w, n in zip(writers, wanted, strict=True)):
        assert time.monotonic() < deadline, f"the writers hardly write: {errors_of(writers)}"
        time.sleep(0.01)


def errors_of(writers: Sequence[Writer]) -> dict[str, int]:
    total: collections.Counter[str] = collections.Counter()
    for writer in writers:
        total.update(writer.errors)
    return dict(total)


def check(sql: Sql, writers: Sequence[Writer]) -> None:
    """Compares what a server has with what the writers were told."""
    for writer in writers:
        assert not writer.wrong, writer.wrong[:3]
        rows = sql.rows(f"SELECT number FROM {DATABASE}.entries WHERE writer = {writer.number}")
        there = {int(number or 0) for (number,) in rows}
        lost = writer.acknowledged - there
        assert not lost, f"writer {writer.number}: acknowledged, but gone: {sorted(lost)[:9]}"
        extra = there - writer.acknowledged - writer.unknown
        assert not extra, f"writer {writer.number}: refused, but there: {sorted(extra)[:9]}"
    for row in range(SHARED_ROWS):
        n = sql.number(f"SELECT n FROM {DATABASE}.shared WHERE id = {row}")
        least = sum(writer.added[row] for writer in writers)
        most = least + sum(writer.maybe_added[row] for writer in writers)
        assert least <= n <= most, f"row {row}: {n}, but {least} to {most} were acknowledged"
