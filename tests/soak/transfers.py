"""Clients that move money between accounts by groups, beside everything else that happens.

A transfer takes from one account what is there, gives it to another, and writes two entries.
Whatever happens to the server or the connection, a transfer has been done wholly or not at all, and
one that was acknowledged is there. Owned by a process of its own, the only one that uses these
tables.
"""

from __future__ import annotations

import random
import re
import select
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from support.database import Sql

from soak.bystander import Bystander
from soak.channel import LINGER_NOT
from soak.shared import Shared
from soak.tables import DATABASE

ACCOUNTS = range(1, 13)
AMOUNT = 1000
CLIENTS = 3
MOST_TRANSFERS = 12
#: Of a batch. A group may wait for locks as long as the server lets it.
PATIENCE = 60.0
ERROR = re.compile(rb"1\t1\t\d+")
TABLES = (
    "CREATE TABLE transfer_account (id INT PRIMARY KEY, amount BIGINT NOT NULL)",
    "CREATE TABLE transfer_entry (number BIGINT, account INT, amount BIGINT NOT NULL,"
    " PRIMARY KEY (number, account))",
    "INSERT INTO transfer_account VALUES " + ", ".join(f"({n}, {AMOUNT})" for n in ACCOUNTS),
)
OPEN = (
    f"P\t1\t{DATABASE}\ttransfer_account\t\tid,amount\tamount",
    f"P\t2\t{DATABASE}\ttransfer_entry\t\tnumber,account,amount",
)
#: Transfers that are not as they must be, seen at one moment.
HALF_DONE = (
    "SELECT number FROM transfer_entry GROUP BY number HAVING COUNT(*) <> 2 OR SUM(amount) <> 0"
)
WRONG_ACCOUNTS = (
    f"SELECT a.id, a.amount, {AMOUNT} + COALESCE((SELECT SUM(e.amount) FROM transfer_entry e"
    " WHERE e.account = a.id), 0) AS wanted FROM transfer_account a HAVING amount <> wanted"
)


def create(server: Path) -> None:
    with Sql(server, DATABASE) as sql:
        sql.run(*TABLES)


@dataclass(frozen=True)
class Transfer:
    number: int
    lines: Sequence[str]

    def verdict(self, replies: Sequence[bytes]) -> str:
        """What the replies say of it: done, undone, failed; or what is wrong with them."""
        head, *rest = replies
        if head == b"0\t1":
            wanted = [b"0\t1\t1", b"0\t1\t1", b"0\t1", b"0\t1"]
            return "done" if rest[:4] == wanted else f"done, but {rest}"
        if ERROR.fullmatch(head):
            return "failed" if set(rest) == {head} else f"failed as a whole, but {rest}"
        undone = re.fullmatch(rb"1\t2\tundone\t(\d+)", head)
        if undone is None:
            return f"a group was answered {head!r}"
        others = [line for n, line in enumerate(rest, 1) if n != int(undone[1])]
        right = set(others) <= {b"1\t1\tundone"} and rest[int(undone[1]) - 1].startswith(b"1\t1\t")
        return "undone" if right else f"undone, but {rest}"


def random_transfer(rng: random.Random, number: int) -> Transfer:
    a, b = rng.sample(ACCOUNTS, 2)
    amount = rng.randint(1, 400)
    find = "{}1\t=\t1\t{}\t1\t0\t{}set\t1\t1\t{}\t{}"
    lines = [
        find.format("some\t", a, f"F\t>=\t0\t{amount}\t", "-", amount),
        find.format("", b, "", "+", amount),
        f"2\t+\t3\t{number}\t{a}\t-{amount}",
        f"2\t+\t3\t{number}\t{b}\t{amount}",
    ]
    dice = rng.random()
    if dice < 0.1:
        lines.append(lines[-1])  # the same entry again
    elif dice < 0.2:
        lines.append(f"none\t2\t=\t1\t{number}\t1\t0\tlock")
    elif dice < 0.3:
        lines.append(f"1\tup\t1\t{a}")
    elif dice < 0.33:
        lines += [f"1\t=\t1\t{b}"] * 400  # longer than a worker's requests
    return Transfer(number, [f"G\t{len(lines)}", *lines])


class Batch:
    """One connection and its pipeline. It may leave before it has all replies."""

    def __init__(self, port: int, transfers: Sequence[Transfer], rng: random.Random) -> None:
        self._rng = rng
        self.transfers = transfers
        self.verdicts: dict[int, str] = {}
        self._read = len(transfers) if rng.random() < 0.8 else rng.randrange(len(transfers))
        self._socket = socket.create_connection(("127.0.0.1", port), 10)

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        if self._rng.random() < 0.3:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        self._socket.close()

    def send(self) -> None:
        lines = [*OPEN, *(line for transfer in self.transfers for line in transfer.lines)]
        data = "".join(line + "\n" for line in lines).encode()
        cut = self._rng.choice([len(data), self._rng.randrange(len(data))])
        with suppress(ConnectionError):
            self._socket.sendall(data[:cut])
            time.sleep(self._rng.choice([0.0, 0.001, 0.05]))
            self._socket.sendall(data[cut:])

    def read(self) -> None:
        deadline = time.monotonic() + PATIENCE
        received = b""
        counts = [len(transfer.lines) for transfer in self.transfers[: self._read]]
        needed = len(OPEN) + sum(counts)
        while received.count(b"\n") < needed:
            if not select.select([self._socket], [], [], deadline - time.monotonic())[0]:
                raise AssertionError(
                    f"a hang: a transfer is not answered, after {received[-200:]!r}"
                )
            try:
                more = self._socket.recv(1 << 16)
            except ConnectionError:
                more = b""
            if not more:
                break
            received += more
        lines = received.split(b"\n")[:-1]
        opened, lines = lines[: len(OPEN)], lines[len(OPEN) :]
        if opened != [b"0\t1"] * len(OPEN):  # a KILL or a lock has met them: nothing is known
            return
        for transfer, count in zip(self.transfers, counts, strict=False):
            if len(lines) < count:
                return
            self.verdicts[transfer.number] = transfer.verdict(lines[:count])
            lines = lines[count:]


class Bank(Bystander):
    name = "bank"

    def __init__(self, server: Path, port: int, shared: Shared, seed: int) -> None:
        super().__init__(server, port, shared, seed)
        self._next = 1
        self._known: dict[int, str] = {}

    def work(self, sql: Sql) -> None:
        rng = self._rng
        with ExitStack() as stack:
            batches = []
            for _ in range(CLIENTS):
                numbers = range(self._next, self._next + rng.randint(1, MOST_TRANSFERS))
                self._next = numbers.stop
                transfers = [random_transfer(rng, number) for number in numbers]
                batches.append(stack.enter_context(Batch(self._port, transfers, rng)))
            locks = rng.random() < 0.3
            if locks:
                sql.run("BEGIN")
                sql.rows(
                    f"SELECT * FROM transfer_account WHERE id = {rng.choice(ACCOUNTS)} FOR UPDATE"
                )
            for batch in batches:
                batch.send()
            if locks:
                time.sleep(rng.choice([0.0, 0.02, 0.2]))
                sql.run("ROLLBACK")
            for batch in batches:
                batch.read()
                self._known.update(batch.verdicts)
        for verdict in [verdict for batch in batches for verdict in batch.verdicts.values()]:
            if verdict not in ("done", "undone", "failed"):
                raise AssertionError(verdict)
            self._tally[f"request: group {verdict}"] += 1

    def check(self, sql: Sql) -> None:
        """All that one snapshot shows."""
        sql.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        half_done = sql.rows(HALF_DONE)
        wrong = sql.rows(WRONG_ACCOUNTS)
        there = {int(n or 0) for (n,) in sql.rows("SELECT DISTINCT number FROM transfer_entry")}
        sql.run("COMMIT")
        if half_done or wrong:
            raise AssertionError(f"transfers done by half: {half_done}, accounts: {wrong}")
        done = {number for number, verdict in self._known.items() if verdict == "done"}
        not_done = set(self._known) - done
        if lost := done - there:
            raise AssertionError(f"transfers that were acknowledged are lost: {sorted(lost)[:5]}")
        if wrongly := not_done & there:
            raise AssertionError(f"transfers that were undone are there: {sorted(wrongly)[:5]}")
