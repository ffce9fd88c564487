"""A Spider table of the server under test, its back end, and clients that count with it.

The back end lives through all rounds, but stands still now and then. Nobody else may notice. Owned
by the parent; the disturber has a copy of Remote and is the only one to use its clients.
"""

from __future__ import annotations

import collections
import os
import random
import re
import select
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from server_instance import ServerInstance, free_port
from support.database import Sql
from support.servers import ON_MYSQL, SERVER_TREE

from soak.channel import LINGER_NOT
from soak.tables import DATABASE

MORE = SERVER_TREE.with_name(f"{SERVER_TREE.name}-more")
LIBRARY = MORE / "root/usr/lib/mysql/plugin/ha_spider.so"
THREADS = 2
#: Of the server under test. Spider gives up a back end after these times.
SETTINGS = {"handlersocket_threads_remote": THREADS}
SPIDER = ("net_read_timeout = 5", "net_write_timeout = 5", "connect_timeout = 5")
TABLE = "away"
ROWS = range(1, 21)
CLIENTS = 3
MOST_REQUESTS = 40
#: Seconds that a batch takes at most: one request may wait for Spider, and others for its thread.
PATIENCE = 60.0
ERROR = re.compile(rb"1\t1\t(\d+|open_table)")


def is_possible() -> bool:
    return not ON_MYSQL and LIBRARY.exists()


class Remote:
    """Additions to rows of the back end: those that were acknowledged, and those that were sent."""

    def __init__(self, folder: Path) -> None:
        self._back_end = ServerInstance(
            SERVER_TREE,
            folder / "back-end",
            settings={
                "port": free_port(),
                "sync_binlog": 1,
                "innodb_flush_log_at_trx_commit": 1,
            },
            load_plugin=False,
        )
        self._acknowledged: collections.Counter[int] = collections.Counter()
        self._sent: collections.Counter[int] = collections.Counter()

    def create(self, front: Path) -> None:
        columns = "(id INT PRIMARY KEY, n BIGINT NOT NULL)"
        self._back_end.start()
        with Sql(self._back_end.socket) as sql:
            sql.run(
                "CREATE USER spider IDENTIFIED BY 'secret'",
                "GRANT ALL ON *.* TO spider",
                f"CREATE DATABASE {DATABASE}",
                f"CREATE TABLE {DATABASE}.{TABLE} {columns}",
                f"INSERT INTO {DATABASE}.{TABLE} VALUES "
                + ", ".join(f"({row}, 0)" for row in ROWS),
            )
        with Sql(front) as sql:
            sql.run(
                "INSTALL SONAME 'ha_spider'",
                "CREATE SERVER away FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1',"
                f" DATABASE '{DATABASE}', USER 'spider', PASSWORD 'secret',"
                f" PORT {self._back_end.settings['port']})",
                f"CREATE TABLE {DATABASE}.{TABLE} {columns} ENGINE=SPIDER"
                f' COMMENT=\'wrapper "mysql", srv "away", table "{TABLE}"\'',
            )

    def settle(self, front: Path) -> None:
        """After each start of the server under test."""
        with Sql(front) as sql:
            sql.run(*(f"SET GLOBAL spider_{setting}" for setting in SPIDER))

    def end(self) -> None:
        self._back_end.kill()

    def count(self, ports: Sequence[int], rng: random.Random) -> collections.Counter[str]:
        """Some clients at once, in the middle of which the back end may stand still for a while."""
        tally: collections.Counter[str] = collections.Counter()
        with ExitStack() as stack:
            clients = [
                stack.enter_context(CountingClient(rng.choice(ports), ports, rng))
                for _ in range(CLIENTS)
            ]
            for client in clients:
                self._sent.update(client.additions)
                client.send()
            if rng.random() < 0.3:
                tally["back end stands still"] += 1
                self._stand_still(rng.random())
            for client in clients:
                client.read()
                self._acknowledged.update(client.acknowledged)
                tally.update(client.tally)
        self._check()
        return tally

    def _stand_still(self, seconds: float) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._back_end.pid, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            with suppress(ProcessLookupError):
                os.kill(self._back_end.pid, signal.SIGCONT)

    def _check(self) -> None:
        with Sql(self._back_end.socket, DATABASE) as sql:
            stored = {int(row or 0): int(n or 0) for row, n in sql.rows(f"SELECT * FROM {TABLE}")}
        for row in ROWS:
            if not self._acknowledged[row] <= stored[row] <= self._sent[row]:
                raise AssertionError(
                    f"row {row} of the back end was added to {stored[row]} times:"
                    f" {self._acknowledged[row]} acknowledged, {self._sent[row]} sent"
                )


class CountingClient:
    """One connection and its pipeline of requests to the Spider table, and to one that is here.

    It may leave before it has all replies. Then nobody knows what became of its requests.
    """

    def __init__(self, port: int, ports: Sequence[int], rng: random.Random) -> None:
        self._rng = rng
        writes = port == ports[-1]
        self.additions: collections.Counter[int] = collections.Counter()
        self.acknowledged: collections.Counter[int] = collections.Counter()
        self.tally: collections.Counter[str] = collections.Counter()
        self._expected: list[tuple[str, int]] = []
        self._lines: list[bytes] = []
        self._ask("open", 0, f"P\t1\t{DATABASE}\t{TABLE}\t\tid,n")
        self._ask("open", 0, f"P\t2\t{DATABASE}\tt_int\t\tid")
        for _ in range(rng.randint(1, MOST_REQUESTS)):
            kind = rng.random()
            row = rng.choice(ROWS)
            if kind < 0.4 and writes:
                self.additions[row] += 1
                self._ask("addition", row, f"1\t=\t1\t{row}\t1\t0\t+\t0\t1")
            elif kind < 0.7:
                self._ask("find", row, f"1\t=\t1\t{row}")
            elif kind < 0.8:
                self._ask("open", 0, f"P\t1\t{DATABASE}\t{TABLE}\t\tid,n")
            else:
                self._ask("here", 0, "2\t=\t1\t0")
        self._replies = len(self._expected) if rng.random() < 0.7 else rng.randint(0, 5)
        self._socket = socket.create_connection(("127.0.0.1", port), 10)

    def _ask(self, kind: str, row: int, line: str) -> None:
        self._expected.append((kind, row))
        self._lines.append(line.encode() + b"\n")

    def __enter__(self) -> CountingClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self._rng.random() < 0.3:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        self._socket.close()

    def send(self) -> None:
        # The server may be killed at this moment.
        with suppress(ConnectionError):
            self._socket.sendall(b"".join(self._lines))

    def read(self) -> None:
        deadline = time.monotonic() + PATIENCE
        rest = b""
        for kind, row in self._expected[: self._replies]:
            while b"\n" not in rest:
                if not select.select([self._socket], [], [], deadline - time.monotonic())[0]:
                    raise AssertionError(f"a request to another server is not answered: {kind}")
                try:
                    read = self._socket.recv(1 << 16)
                except ConnectionError:
                    read = b""
                if not read:
                    self.tally["remote connections ended"] += 1
                    return
                rest += read
            line, _, rest = rest.partition(b"\n")
            self._take(kind, row, line)

    def _take(self, kind: str, row: int, line: bytes) -> None:
        if ERROR.fullmatch(line):
            self.tally["remote requests failed"] += 1
            return
        wanted = {
            "open": rb"0\t1",
            "here": rb"0\t1",
            "find": rb"0\t2\t%d\t\d+" % row,
            "addition": rb"0\t1\t1",
        }[kind]
        if not re.fullmatch(wanted, line):
            raise AssertionError(f"{kind} of row {row} at another server was answered {line!r}")
        self.tally["remote requests"] += 1
        if kind == "addition":
            self.acknowledged[row] += 1
