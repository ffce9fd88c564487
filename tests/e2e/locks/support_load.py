"""Clients that read and write one table without pause, and check every single reply.

A Load has one thread that serves all of its clients. Each writing client owns a row and counts in
it. It asks for the value that each update replaces, so it notices an update that was lost, done
twice or answered with another client's reply. Each reading client asks for rows of others. It
checks that it gets the row that it asked for, and that a row's count never decreases. A client has
a few unanswered requests at a time.
"""

from __future__ import annotations

import collections
import random
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

DEPTH = 3  # unanswered requests of one client
PATIENCE = 30.0
CHUNK = 1 << 16
DUPLICATE_KEY = "1\t1\t121"


def definition_of(table: str) -> str:
    """The table on which a Load works. The Load itself inserts the rows that it writes."""
    return f"CREATE TABLE {table} (id INT PRIMARY KEY, v BIGINT NOT NULL, note VARCHAR(50))"


@dataclass
class Tally:
    """What all clients of a Load have seen so far."""

    answered: int = 0
    errors: collections.Counter[str] = field(default_factory=collections.Counter)
    wrong: list[str] = field(default_factory=list)  # replies that are certainly wrong
    ends: int = 0  # connections that the server has ended
    unanswered: int = 0  # requests that were unanswered when their connection ended
    longest: float = 0.0  # seconds from a request to its reply


class _LoadClient:
    def __init__(self, load: Load, row: int, writes: bool) -> None:
        self._load = load
        self._row = row
        self._writes = writes
        self._random = random.Random(row)
        self._counter = 0  # the last number sent in an update or insert
        # What the row may contain, by the replies so far. None among them: there may be no row.
        self._known: set[int | None] = {0}
        self._opened = False
        self._waiting: collections.deque[tuple[str, int, float]] = collections.deque()
        self._seen: dict[int, int] = {}
        self._received = b""
        self._socket: socket.socket | None = None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def connect(self) -> None:
        load = self._load
        port = load.port_wr if self._writes else load.port
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setblocking(False)
        load.selector.register(self._socket, selectors.EVENT_READ, self)
        self._received = b""
        self._opened = False
        self.ask_more()

    def close(self) -> None:
        if self._socket is not None:
            self._load.selector.unregister(self._socket)
            self._socket.close()
            self._socket = None

    def on_readable(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(CHUNK)
        except ConnectionError:
            data = b""
        if not data:
            self._on_end()
            return
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._on_reply(line.decode())
        if not self._waiting and self._load.running:
            self.ask_more()

    def ask_more(self) -> None:
        load = self._load
        if not self._opened:
            self._ask([("P", 0, f"P\t1\t{load.database}\t{load.table}\tPRIMARY\tid,v")])
        elif self._writes:
            insert = self._known == {None}
            self._ask([self._write(insert and i == 0) for i in range(DEPTH)])
        else:
            self._ask([self._read() for _ in range(DEPTH)])

    def _ask(self, requests: Sequence[tuple[str, int, str]]) -> None:
        assert self._socket is not None
        now = time.monotonic()
        self._waiting.extend((kind, value, now) for kind, value, _ in requests)
        try:
            self._socket.sendall("".join(f"{line}\n" for _, _, line in requests).encode())
        except ConnectionError:
            self._on_end()

    def _on_end(self) -> None:
        tally = self._load.tally
        if self._received:
            tally.wrong.append(f"half a reply before the end: {self._received!r}")
        for kind, value, _ in self._waiting:
            if kind in "U+":
                self._known.add(value)
        tally.ends += 1
        tally.unanswered += len(self._waiting)
        self._waiting.clear()
        self.close()

    def _write(self, insert: bool) -> tuple[str, int, str]:
        self._counter += 1
        value = self._counter
        if insert:
            return "+", value, f"1\t+\t2\t{self._row}\t{value}"
        return "U", value, f"1\t=\t1\t{self._row}\t1\t0\tU?\t{self._row}\t{value}"

    def _read(self) -> tuple[str, int, str]:
        row = self._random.choice(self._load.rows)
        return "=", row, f"1\t=\t1\t{row}"

    def _on_reply(self, reply: str) -> None:
        tally = self._load.tally
        if not self._waiting:
            tally.wrong.append(f"a reply without a request: {reply!r}")
            return
        kind, value, asked_at = self._waiting.popleft()
        tally.answered += 1
        tally.longest = max(tally.longest, time.monotonic() - asked_at)
        code, columns, *tokens = reply.split("\t")
        if code != "0":
            self._on_error(kind, value, f"{code}\t{columns}\t{tokens[0] if tokens else ''}")
        elif not self._is_right(kind, value, columns, tokens):
            tally.wrong.append(f"row {self._row}, {kind} {value}: {reply!r}, known {self._known}")

    def _on_error(self, kind: str, value: int, error: str) -> None:
        if kind == "+" and error == DUPLICATE_KEY and self._load.loose:
            self._known = {value}  # it may be any number: a loose load does not compare counts
            return
        self._load.tally.errors[error] += 1  # nothing has changed, so what is known stays

    def _is_right(self, kind: str, value: int, columns: str, tokens: list[str]) -> bool:
        if kind == "P":
            self._opened = True
            return columns == "1" and not tokens
        if kind == "+":
            self._known = {value}
            return columns == "1" and not tokens
        if columns != "2" or len(tokens) not in (0, 2):
            return False
        if not tokens:
            if kind == "U":
                self._known = {None}
            return self._load.rows_may_vanish
        row, count = int(tokens[0]), int(tokens[1])
        if kind == "U":
            known, self._known = self._known, {value}
            return row == self._row and (self._load.loose or count in known)
        newest = self._seen.get(row, 0)
        self._seen[row] = count
        return row == value and (self._load.loose or count >= newest)


class Load:
    """`clients` clients, half of which write, on one table that definition_of() describes."""

    def __init__(
        self,
        ports: tuple[int, int],
        database: str,
        table: str,
        *,
        clients: int = 50,
        rows_may_vanish: bool = False,
        loose: bool = False,
        reconnect: bool = False,
    ) -> None:
        """rows_may_vanish: somebody truncates or drops. loose: somebody swaps tables."""
        self.port, self.port_wr = ports
        self.database, self.table = database, table
        self.rows_may_vanish = rows_may_vanish or loose
        self.loose = loose
        self.running = True
        self.tally = Tally()
        self.selector = selectors.DefaultSelector()
        self._reconnect = reconnect
        writers = max(1, clients // 2)
        self.rows = range(1, writers + 1)
        self._clients = [_LoadClient(self, row, True) for row in self.rows]
        self._clients += [_LoadClient(self, row, False) for row in range(writers + 1, clients + 1)]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._failure: BaseException | None = None

    def fill(self) -> str:
        """The statement that makes the rows."""
        rows = ", ".join(f"({row}, 0, 'row {row}')" for row in self.rows)
        return f"INSERT INTO {self.table} (id, v, note) VALUES {rows}"

    def start(self) -> None:
        for client in self._clients:
            client.connect()
        self._thread.start()

    def wait_for_answers(self, count: int = 500, seconds: float = 20.0) -> None:
        """Returns when so many more requests were answered."""
        target = self.tally.answered + count
        deadline = time.monotonic() + seconds
        while self.tally.answered < target:
            assert self._failure is None, self._failure
            assert self._thread.is_alive(), "the load has ended"
            assert time.monotonic() < deadline, f"no progress: {self.tally}"
            time.sleep(0.005)

    def wait_for_silence(self, seconds: float = 10.0) -> None:
        """Returns when the replies that are on their way have come, and no more come."""
        deadline = time.monotonic() + seconds
        answered = -1
        while answered != self.tally.answered:
            assert time.monotonic() < deadline, "requests are still answered"
            answered = self.tally.answered
            time.sleep(0.5)

    def stop(self) -> Tally:
        """Waits for every reply that is still to come, and checks that there are no more."""
        self.running = False
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "replies are missing"
        if self._failure is not None:
            raise self._failure
        return self.tally

    def check(self, allowed_errors: Sequence[str] = ()) -> None:
        """Stops. No reply may have been wrong, and only the allowed errors may have come."""
        tally = self.stop()
        assert not tally.wrong, f"{len(tally.wrong)} wrong replies: {tally.wrong[:5]}"
        assert set(tally.errors) <= set(allowed_errors), tally.errors
        assert self._reconnect or tally.ends == 0, f"{tally.ends} connections were ended"

    def reset_longest(self) -> None:
        self.tally.longest = 0.0

    def _run(self) -> None:
        try:
            while self.running:
                self._turn(0.05)
            deadline = time.monotonic() + PATIENCE / 2
            while any(client.waiting for client in self._clients):
                assert time.monotonic() < deadline, "replies are missing"
                self._turn(0.05)
            self._turn(0.1)  # a surplus reply would come now
        except BaseException as error:  # noqa: BLE001  # for the thread that waits
            self._failure = error
        finally:
            for client in self._clients:
                client.close()
            self.selector.close()

    def _turn(self, seconds: float) -> None:
        for key, _ in self.selector.select(seconds):
            key.data.on_readable()
        if self._reconnect and self.running:
            for client in self._clients:
                if not client.connected:
                    try:
                        client.connect()
                    except OSError:
                        break  # nobody listens at the moment


@contextmanager
def under_load(load: Load) -> Iterator[Load]:
    """The load runs during the block and ends with it, whatever happens."""
    load.start()
    try:
        load.wait_for_answers()
        yield load
    finally:
        load.running = False
