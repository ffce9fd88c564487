"""Clients of many kinds. Most of them do more and less in waves, so that graphs have curves."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from handlersocket2 import AuthenticationError, Client, DuplicateKeyError
from server_instance import ServerInstance
from support.database import Sql
from support.wire import Wire

ROWS = 20_000
ACCOUNT = "app"
PASSWORD = "right"
LONG_KEY = 4 << 20
TABLES = (
    "CREATE DATABASE app",
    "USE app",
    "CREATE TABLE user (id INT PRIMARY KEY, name VARCHAR(40), visits INT, KEY by_name (name))",
    f"INSERT INTO user SELECT seq, CONCAT('name ', seq), 0 FROM seq_1_to_{ROWS}",
    "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(100))",
    "INSERT INTO log VALUES (1, 'the first')",
    "CREATE TABLE wide (id INT PRIMARY KEY, body VARCHAR(500))",
    f"INSERT INTO wide SELECT seq, REPEAT('x', 300) FROM seq_1_to_{ROWS}",
    f"CREATE USER {ACCOUNT}@'%' IDENTIFIED BY '{PASSWORD}'",
    f"GRANT ALL ON app.* TO {ACCOUNT}@'%'",
)


class Load:
    """The clients of one server during a block. Each runs in a thread of its own."""

    def __init__(self, server: ServerInstance) -> None:
        self.server = server
        self.start = time.monotonic()
        self.stops = threading.Event()
        self.failures: list[str] = []
        jobs: list[Callable[[], None]] = [
            lambda: self._find(12, 90),
            lambda: self._find(6, 60),
            lambda: self._find(2, 80),
            lambda: self._write(60),
            lambda: self._write(30),
            self._write_hot_row,
            self._lock_hot_row,
            self._find_long,
            self._read_late,
            self._send_slowly,
            self._come_and_go,
            self._guess,
            self._err,
            self._stay,
        ]
        self.threads = [
            threading.Thread(target=self._run, args=(job,), daemon=True) for job in jobs
        ]

    def __enter__(self) -> Load:
        with Sql(self.server.socket) as sql:
            sql.run(*TABLES)
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stops.set()
        for thread in self.threads:
            thread.join(30)

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:  # shown by the test
            self.failures.append(repr(error))

    def _wave(self, period: float, low: float, high: float, shift: float = 0) -> float:
        turns = (time.monotonic() - self.start) / period + shift
        return low + (high - low) * (0.5 + 0.5 * math.sin(2 * math.pi * turns))

    def _pause(self, seconds: float) -> bool:
        """Whether to go on after this time."""
        return not self.stops.wait(seconds)

    def _reader(self) -> Client:
        return Client(("127.0.0.1", self.server.hs_port))

    def _writer(self) -> Client:
        return Client(("127.0.0.1", self.server.hs_port_wr))

    def _find(self, most: int, high: float) -> None:
        with self._reader() as client:
            user = client.index("app", "user", ["id", "name", "visits"])
            while self._pause(1 / self._wave(240, 4, high, most / 7)):
                with client.pipeline() as pipeline:
                    for _ in range(random.randint(1, most)):
                        pipeline.on(user).find(random.randint(1, ROWS))

    def _write(self, high: float) -> None:
        with self._writer() as client:
            visits = client.index("app", "user", ["visits"])
            log = client.index("app", "log", ["what"])
            while self._pause(1 / self._wave(300, 3, high, 0.3)):
                key = random.randint(2, ROWS)
                with client.pipeline() as pipeline:
                    pipeline.on(visits).increment(key, [1])
                    pipeline.on(log).insert([f"visit of {key}"])
                    pipeline.on(visits).find(key)

    def _write_hot_row(self) -> None:
        with self._writer() as client:
            visits = client.index("app", "user", ["visits"])
            while self._pause(0.1):
                visits.update(1, [random.randint(1, 9)])

    def _lock_hot_row(self) -> None:
        with Sql(self.server.socket, "app") as sql:
            while self._pause(random.uniform(1.5, 5)):
                sql.run("BEGIN", "SELECT * FROM user WHERE id = 1 FOR UPDATE")
                time.sleep(random.uniform(0.05, 0.5))
                sql.run("COMMIT")

    def _find_long(self) -> None:
        with self._reader() as client:
            wide = client.index("app", "wide", ["id", "body"])
            while self._pause(1 / self._wave(180, 0.4, 2)):
                wide.find(0, op=">", limit=4000)

    def _read_late(self) -> None:
        """A long find is parked while its client does not read."""
        while self._pause(random.uniform(3, 10)):
            with Wire(self.server.hs_port) as wire:
                wire.send(f"P\t1\tapp\twide\tPRIMARY\tid,body\n1\t>\t1\t0\t{ROWS}\t0\n".encode())
                self._pause(random.uniform(2, 6))
                wire.lines(2)

    def _send_slowly(self) -> None:
        """What has come of a long request waits in memory."""
        with Wire(self.server.hs_port) as wire:
            wire.ask(b"P\t1\tapp\tuser\tby_name\tid\n")
            while self._pause(random.uniform(1, 20)):
                wire.send(b"1\t=\t1\t")
                for _ in range(8):
                    wire.send(b"x" * (LONG_KEY // 8))
                    self._pause(random.uniform(0.5, 2))
                wire.ask(b"\n")

    def _come_and_go(self) -> None:
        while self._pause(1 / self._wave(200, 1, 6)):
            address = ("127.0.0.1", self.server.hs_port)
            with Client(address, user=ACCOUNT, password=PASSWORD) as client:
                client.index("app", "user", ["id"]).find_one(random.randint(1, ROWS))

    def _guess(self) -> None:
        """Now and then somebody has the wrong password."""
        while self._pause(1):
            address = ("127.0.0.1", self.server.hs_port)
            if self._wave(220, 0, 1, 0.5) > 0.8:
                with suppress(AuthenticationError):
                    with Client(address, user=ACCOUNT, password="wrong") as client:
                        client.index("app", "user", ["id"]).find_one(1)

    def _err(self) -> None:
        """A row that is there already, and lines that are no requests."""
        while self._pause(random.uniform(1, 6)):
            with Wire(self.server.hs_port) as wire:
                wire.ask(b"GET / HTTP/1.1\n")
            with suppress(DuplicateKeyError), self._writer() as client:
                client.index("app", "log", ["id", "what"]).insert([1, "again"])

    def _stay(self) -> None:
        """Connections that do nothing, more and fewer of them."""
        held: list[Wire] = []
        while self._pause(3):
            wanted = int(self._wave(260, 5, 40, 0.6))
            while len(held) < wanted:
                held.append(Wire(self.server.hs_port))
            while len(held) > wanted:
                held.pop().close()
        for wire in held:
            wire.close()
