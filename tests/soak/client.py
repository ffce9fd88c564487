"""One client: a process with a write connection, a read connection and a model of its rows.

It sends batches on both and judges every reply by its model. If a connection has ended with
requests unanswered, it finds out by SQL how many of them the server has executed.
"""

from __future__ import annotations

import collections
import json
import os
import random
import ssl
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from soak.accounts import REFUSALS, Right, log_in, log_ins, needed
from soak.channel import Address, Channel, HandshakeEnded, drive, server_holds
from soak.cutting import Ending, Plan, cut
from soak.exchange import (
    Mismatch,
    Sent,
    Side,
    Story,
    differences,
    ends_of,
    mismatch,
    whole_lines,
)
from soak.generator import Generator
from soak.model import Model
from soak.reads import Reads
from soak.requests import (
    Find,
    Insert,
    Open,
    Prediction,
    Request,
    Spec,
    is_write,
    predict,
    shown,
)
from soak.shared import Disturbance, Phase, Shared, State, die_with_parent
from soak.sqlside import SqlSide
from soak.tables import Row, Table
from soak.tls import TlsSocket

#: Errors that a request may get while something else happens at the same time.
DISTURBED: dict[bytes, tuple[Disturbance, ...]] = {
    b"1\t1\t1205": (Disturbance.TABLE_LOCK, Disturbance.ROW_LOCK),
    b"1\t1\t146": (Disturbance.ROW_LOCK,),
    b"1\t1\t149": (Disturbance.ROW_LOCK,),
    b"1\t1\t1317": (Disturbance.KILL,),
    **dict.fromkeys(REFUSALS, (Disturbance.RIGHTS,)),
}
#: How a failure says that nothing happens any more.
HANG = "a hang"


@dataclass(frozen=True)
class Settings:
    """What a client needs to know about the run."""

    number: int
    owner: int
    seed: int
    features: frozenset[str]
    read_addresses: Sequence[Address]
    write_addresses: Sequence[Address]
    concurrent_writers: bool  # the server has more than one worker on the write port
    authority: Path | None = None  # of the server's certificate; None: no connection speaks TLS


@dataclass
class Pending:
    """Requests that a killed server has not answered, and the rows as they were before."""

    requests: list[Request]
    ids: dict[int, Spec]
    acknowledged: dict[str, dict[bytes, Row]]
    sure: bool  # none of them can have been refused because its account lacked a right


class Client:
    def __init__(
        self, settings: Settings, tables: Sequence[Table], shared: Shared, sql: SqlSide
    ) -> None:
        self._settings = settings
        self._tls: ssl.SSLContext | None = None
        if settings.authority is not None:
            self._tls = ssl.create_default_context(cafile=settings.authority)
        self._shared = shared
        self._tables = tables
        self._sql = sql
        self._generator = Generator(tables, settings.owner, settings.features)
        self._model = Model(tables, settings.owner)
        self._read = Side(False, settings.read_addresses)
        self._write = Side(True, settings.write_addresses)
        self.story = Story()
        self._tally: collections.Counter[str] = collections.Counter()
        self._round = 0
        self._batch = 0
        self._pending: Pending | None = None
        self._rng = random.Random(0)

    def run(self) -> None:
        shared, number = self._shared, self._settings.number
        while shared.phase != Phase.STOP:
            if shared.phase == Phase.RUN:
                self._round += 1
                self._batch = 0
                self._run_round()
                shared.report(number, State.WAITING)
                self._save_tally()
            elif shared.phase == Phase.CHECK:
                self._check()
                shared.report(number, State.CHECKED)
                self._save_tally()
                while shared.phase == Phase.CHECK:
                    time.sleep(0.005)
            else:
                time.sleep(0.005)

    def _run_round(self) -> None:
        while self._shared.phase == Phase.RUN:
            self._batch += 1
            name = f"{self._settings.seed}/{self._settings.number}/{self._round}/{self._batch}"
            self._rng = random.Random(name)
            try:
                self._one_batch()
            except ConnectionError:
                if self._shared.phase == Phase.RUN:
                    time.sleep(0.05)  # the parent checks whether the server still runs
                    if self._shared.phase == Phase.RUN:
                        raise
            self._shared.report(self._settings.number, State.BUSY)
        for side in (self._read, self._write):
            if side.channel is not None:
                side.channel.close()
            side.channel = None

    def _one_batch(self) -> None:
        rng = self._rng
        for side in (self._write, self._read):
            self._connect(side)
        if self._write.channel is None or self._read.channel is None:
            return  # the server was ended, or SQL has closed the connection
        dice = rng.random()
        sent: list[Sent] = []
        if dice < 0.8:
            sent.append(self._send(self._write))
        if dice > 0.5:
            sent.append(self._send(self._read))
        self._drive([one.channel for one in sent])
        self._judge(sent)

    # Connections.

    def _connect(self, side: Side) -> None:
        rng = self._rng
        if side.channel is not None and side.channel.open:
            if rng.random() > 0.01:
                return
            side.channel.close()
            self._tally["fault: closed between batches"] += 1
        slow = rng.random() < 0.1
        try:
            address = rng.choice(list(side.addresses))
            tls = self._tls if rng.random() < 0.4 else None
            side.channel = Channel(address, small_buffers=slow, tls=tls)
            if isinstance(side.channel.socket, TlsSocket):
                self._tally["connections with TLS"] += 1
        except HandshakeEnded as error:
            side.channel = None
            if self._shared.phase != Phase.RUN or self._shared.was_closed(
                error.port, error.connected
            ):
                return
            raise
        except OSError:
            side.channel = None
            if self._shared.phase != Phase.RUN:
                return
            raise
        channel = side.channel
        side.ids = {}
        self._tally["connections"] += 1
        side.logged_in = "accounts" in self._settings.features and rng.random() < 0.5
        logs_in = log_ins(rng, self._settings.owner) if side.logged_in else []
        missing = dict(self._generator.specs)
        deadline = time.monotonic() + self._shared.patience
        while missing and time.monotonic() < deadline:
            requests: list[Request] = logs_in + [
                Open(spec.open(number), "open_index", number, spec)
                for number, spec in missing.items()
            ]
            data = b"".join(request.line for request in requests)
            ends = ends_of(requests)
            plan = cut(rng, len(data), ends, faults=False)
            channel.begin(data, len(requests), plan)
            self._drive([channel])
            self._judge([Sent(side, channel, requests, plan)])
            if not channel.open:
                side.channel = None
                return
            if logs_in and not channel.replies[len(logs_in) - 1].startswith(b"0"):
                side.logged_in = False  # a KILL has met the log-in
            logs_in = []
            missing = {n: spec for n, spec in missing.items() if n not in side.ids}
        if missing:
            raise Mismatch(f"indexes that cannot be opened: {sorted(missing)}")

    def _send(self, side: Side) -> Sent:
        rng = self._rng
        channel = side.channel
        assert channel is not None
        requests = self._generator.batch(rng, self._model, writable=side.writable)
        if side.logged_in and rng.random() < 0.05:
            requests.insert(rng.randrange(len(requests)), log_in(self._settings.owner))
        data = b"".join(request.line for request in requests)
        plan = cut(rng, len(data), ends_of(requests), faults="faults" in self._settings.features)
        writes = side.writable and any(map(is_write, requests))
        if isinstance(channel.address, str) and writes and plan.ending != Ending.NONE:
            # Nobody could say when the server has finished with it, so it may answer everything.
            whole = cut(rng, len(data), ends_of(requests), faults=False)
            plan = Plan(whole.pieces, Ending.HALF_CLOSE, len(data))
        inode = channel.server_inode() if plan.ending not in (Ending.NONE, Ending.SLOW) else None
        if plan.ending != Ending.NONE:
            self._tally[f"fault: {plan.ending.value}"] += 1
        channel.begin(data, len(requests), plan)
        return Sent(side, channel, requests, plan, inode)

    def _drive(self, channels: Sequence[Channel]) -> None:
        if not drive(channels, self._shared.patience):
            raise Mismatch(f"{HANG}: nothing has come for {self._shared.patience:g} s")

    # Judging.

    def _judge(self, sent: Sequence[Sent]) -> None:
        for one in sent:
            self.story.add(one, f"{self._round}/{self._batch}")
            replies = len(one.channel.replies)
            if replies > len(one.requests):
                extra = one.channel.replies[len(one.requests)]
                raise Mismatch(f"a reply too many: {shown(extra)}")
            self._tally["requests"] += replies
            for request in one.requests[:replies]:
                self._tally[f"request: {request.kind}"] += 1
        writes = next((one for one in sent if one.side.writable), None)
        reads = [Reads(self, self._model, one) for one in sent if not one.side.writable]
        for read in reads:
            read.look()
        if writes is not None:
            for place, (request, reply) in enumerate(
                zip(writes.requests, writes.channel.replies, strict=False)
            ):
                if self._step(writes, place, request, reply):
                    for read in reads:
                        read.look()
            self._judge_end(writes, reads)
        for read in reads:
            read.finish()

    def _step(self, sent: Sent, place: int, request: Request, reply: bytes) -> bool:
        """Judges one reply of the write port. True if the client's rows have changed."""
        side = sent.side
        assert side.ids is not None
        prediction = predict(request, self._model, side.ids, writable=True)
        spec = side.ids.get(request.number) if isinstance(request, Find | Insert) else None
        if spec is not None and is_write(request):
            self.story.note(f"{self._round}/{self._batch}", spec, request, reply)
        complaint = prediction.complaint(reply)
        if complaint:
            if self.is_disturbed(reply, sent, request):
                return False
            raise mismatch(sent, place, reply, complaint)
        if complaint := self.forbidden(sent, request, reply, spec):
            raise mismatch(sent, place, reply, complaint)
        if isinstance(request, Open) and request.spec is not None:
            side.ids[request.number] = request.spec
        if prediction.edits:
            self._model.apply(prediction.table, prediction.edits)
            self._tally["rows written"] += len(prediction.edits)
        return bool(prediction.edits)

    def forbidden(self, sent: Sent, request: Request, reply: bytes, spec: Spec | None) -> str:
        """What is wrong with a reply if the account has lacked a right all the time."""
        if not sent.side.logged_in or spec is None or not reply.startswith(b"0"):
            return ""
        table = self._tables.index(spec.table)
        for right in needed(request):
            if self._shared.is_missing(
                self._settings.number, table * len(Right) + right, sent.channel.began
            ):
                return f"the account may not {right.name} this table"
        return ""

    def is_disturbed(self, reply: bytes, sent: Sent, request: Request) -> bool:
        kinds = DISTURBED.get(reply, ())
        if reply in REFUSALS and not sent.side.logged_in:
            return False
        if any(self._shared.disturbed(kind, sent.channel.began) for kind in kinds):
            self._tally[f"disturbed: {shown(reply)}"] += 1
            return True
        # Two writers may meet in the gaps between rows.
        if reply in (b"1\t1\t149", b"1\t1\t146") and self._settings.concurrent_writers:
            self._tally[f"disturbed by a writer: {shown(reply)}"] += 1
            return is_write(request)
        return False

    def note_parked(self) -> None:
        self._tally["finds parked"] += 1

    def may_end(self, sent: Sent) -> bool:
        """Whether the server may have ended the connection."""
        channel = sent.channel
        return (
            self._shared.disturbed(Disturbance.KILL, channel.began)
            or self._shared.was_closed(channel.port, channel.connected)
            or self._shared.phase == Phase.KILLED
        )

    def _judge_end(self, sent: Sent, reads: Sequence[Reads]) -> None:
        """If the connection has ended: finds out which unanswered writes were executed."""
        channel = sent.channel
        if channel.open:
            return
        sent.side.channel = None
        answered = len(channel.replies)
        rest = whole_lines(sent)[answered:]
        if sent.plan.ending in (Ending.NONE, Ending.SLOW) and not self.may_end(sent):
            raise mismatch(sent, answered, b"", "the server has ended the connection")
        if sent.plan.ending == Ending.HALF_CLOSE and rest and not self.may_end(sent):
            raise mismatch(sent, answered, b"", "a half closed connection got no reply")
        if not any(map(is_write, rest)):
            return
        self._tally["writes of unknown end"] += sum(map(is_write, rest))
        assert sent.side.ids is not None
        if self._shared.phase != Phase.KILLED:
            self._wait_for_the_end(sent)
            if self._adopt(sent, rest, reads):
                return
        # To be checked after the server's restart. Until then, the acknowledged writes are
        # remembered.
        self._pending = Pending(
            rest,
            dict(sent.side.ids),
            {name: dict(rows.rows) for name, rows in self._model.tables.items()},
            not self._shared.disturbed(Disturbance.RIGHTS, channel.began),
        )
        for request in rest:
            self._execute(request, sent.side.ids)
            for read in reads:
                read.look()

    def _execute(self, request: Request, ids: dict[int, Spec]) -> Prediction:
        prediction = predict(request, self._model, ids, writable=True)
        if isinstance(request, Open) and request.spec is not None:
            ids[request.number] = request.spec
        if prediction.edits:
            self._model.apply(prediction.table, prediction.edits)
        return prediction

    def _wait_for_the_end(self, sent: Sent) -> None:
        if sent.inode is None:
            time.sleep(1.0)  # after a KILL, for example: the server itself has ended the connection
            return
        deadline = time.monotonic() + self._shared.patience
        while server_holds(self._shared.server_pid, sent.inode):
            if time.monotonic() > deadline:
                raise Mismatch(
                    f"{HANG}: the server does not let go of a connection that was closed"
                )
            if self._shared.phase == Phase.KILLED:
                return
            time.sleep(0.001)

    def _adopt(self, sent: Sent, rest: Sequence[Request], reads: Sequence[Reads]) -> bool:
        """The server has executed the first requests of `rest`: finds out how many.

        False: the server was killed meanwhile.
        """
        ids = sent.side.ids
        assert ids is not None
        touched = {
            ids[r.number].table.name
            for r in rest
            if isinstance(r, Find | Insert) and is_write(r) and r.number in ids
        }
        tables = [table for table in self._tables if table.name in touched]
        try:
            actual = {table.name: self._sql.rows(table, self._settings.owner) for table in tables}
        except ConnectionError:
            if self._shared.phase == Phase.KILLED:
                return False
            raise
        begun = sent.channel.began
        sure = not any(self._shared.disturbed(kind, begun) for kind in Disturbance)
        self._match_prefix(rest, ids, actual, reads, sure=sure)
        return True

    def _match_prefix(
        self,
        rest: Sequence[Request],
        ids: dict[int, Spec],
        actual: dict[str, dict[bytes, Row]],
        reads: Sequence[Reads],
        *,
        sure: bool,
    ) -> None:
        def matches() -> bool:
            return all(self._model.tables[name].rows == rows for name, rows in actual.items())

        matched = matches()
        before = {name: dict(self._model.tables[name].rows) for name in actual}
        for request in rest:
            prediction = self._execute(request, ids)
            if prediction.edits and not matched:
                matched = matches()
            for read in reads:
                read.look()
        if not matched and sure:
            raise Mismatch(
                "after requests without a reply the tables are in no state that was possible\n"
                + differences(before, actual)
                + "\nthe requests were\n"
                + "\n".join(f"  {shown(request.line)}" for request in rest)
            )
        self._tally["ends adopted" if matched else "ends adopted unseen"] += 1
        for name, rows in actual.items():
            self._model.tables[name].rows = dict(rows)

    # Comparing with the tables.

    def _check(self) -> None:
        """Compares all tables with the model after a round, when nothing changes them."""
        durable = [table.name for table in self._tables if table.transactional]
        volatile = [table.name for table in self._tables if not table.transactional]
        actual = {table.name: self._sql.rows(table, self._settings.owner) for table in self._tables}
        if self._pending is not None:
            pending, self._pending = self._pending, None
            for name, rows in pending.acknowledged.items():
                self._model.tables[name].rows = rows
            state = {name: actual[name] for name in durable}
            self._match_prefix(pending.requests, pending.ids, state, (), sure=pending.sure)
        if self._shared.server_restarted:
            for name in volatile:  # they are made again
                self._model.tables[name].rows = {}
        for table in self._tables:
            self._tally["rows compared"] += len(actual[table.name])
            known = self._model.tables[table.name].rows
            if actual[table.name] != known:
                raise Mismatch(
                    "a table is not what the replies said\n"
                    + differences({table.name: known}, {table.name: actual[table.name]})
                )

    # Reports.

    def tables_now(self) -> str:
        """Where the tables and the model differ, for the report of a failure."""
        try:
            actual = {t.name: self._sql.rows(t, self._settings.owner) for t in self._tables}
        except Exception as error:  # noqa: BLE001  # the server may be dead
            return f"the tables cannot be read: {error}"
        known = {name: rows.rows for name, rows in self._model.tables.items()}
        return (
            f"known up to the failure, and found in the tables now:\n{differences(known, actual)}"
        )

    def _save_tally(self) -> None:
        path = self._shared.folder / f"tally-{self._settings.number}.json"
        path.write_text(json.dumps(self._tally))


def run_client(
    parent: int, settings: Settings, tables: Sequence[Table], shared: Shared, sql: SqlSide
) -> None:
    """The whole life of a client's process."""
    die_with_parent(parent)
    client = Client(settings, tables, shared, sql)
    try:
        client.run()
    except Mismatch as mismatch:
        text = f"{mismatch}\n{client.story.told(str(mismatch))}\n{client.tables_now()}\n"
        shared.fail(f"client-{settings.number}", text)
        os._exit(1)
    except BaseException:  # noqa: BLE001  # whatever it is, the parent tells it
        shared.fail(
            f"client-{settings.number}", f"{traceback.format_exc()}\n{client.story.told()}\n"
        )
        os._exit(1)
    os._exit(0)
