"""Where there is no memory, one connection ends: not the worker, and no table, snapshot or lock is
left behind."""

from __future__ import annotations

import random
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client
from server_instance import REPOSITORY
from support.database import Sql
from support.servers import ON_MYSQL, in_dialect
from support.wire import Wire, WireError
from support_servers import LOGGING, running_server, wait_until

TABLES = (
    "CREATE DATABASE scarce",
    "USE scarce",
    "CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, s VARCHAR(2000))",
    "CREATE TABLE plain (id INT PRIMARY KEY, v INT NOT NULL) ENGINE=MyISAM",
    "CREATE TABLE fired (id INT PRIMARY KEY, v INT NOT NULL)",
    "CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY)",
    "CREATE TRIGGER to_log AFTER UPDATE ON fired FOR EACH ROW INSERT INTO log () VALUES ()",
    "INSERT INTO t SELECT seq, 0, REPEAT('x', 200) FROM seq_1_to_9999",
    "INSERT INTO plain SELECT seq, 0 FROM seq_1_to_9",
    "INSERT INTO fired SELECT seq, 0 FROM seq_1_to_9",
)
CLIENTS, SECONDS = 6, 4.0
INCREMENTED = ("t", "plain", "fired")
CONNECTIONS = ("performance_schema" if ON_MYSQL else "information_schema") + (
    ".handlersocket_connections"
)
OUT_OF_RESOURCES, NO_SUCH_THREAD = 1041, 1094


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "no_memory.so"
    source = REPOSITORY / "tests/support/no_memory.cc"
    command = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-o", str(made), str(source), "-ldl"]
    subprocess.run(command, check=True)
    monkeypatch.setenv("HS_PRELOAD", str(made))
    return made


class Scarcity:
    """When the plugin finds no memory. The servers that start afterwards know of it."""

    NEVER = 1_000_000  # so many allocations no statement makes

    def __init__(self, file: Path) -> None:
        self._file = file
        file.write_bytes(bytes(8))

    def begin(self, one_of: int = 0, number: int = 0) -> None:
        """One in `one_of` allocations of the plugin's threads fails, and the one with this number
        of the server's threads."""
        with self._file.open("r+b") as file:  # the servers have mapped the file
            file.write(struct.pack("=II", one_of, number))

    def end(self) -> None:
        self.begin()

    def counted(self, act: Callable[[], object]) -> int:
        """How many allocations the server's threads make for the plugin."""
        self.begin(number=self.NEVER)
        act()
        left: int = struct.unpack("=II", self._file.read_bytes())[1]
        self.end()
        return self.NEVER - left


@pytest.fixture
def scarcity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scarcity:
    file = tmp_path / "one-of"
    monkeypatch.setenv("HS_NO_MEMORY", str(file))
    return Scarcity(file)


class RestlessClient:
    """One client that goes on, whatever happens to its connection."""

    def __init__(self, seed: int, port: int, writes: bool) -> None:
        self.rng = random.Random(seed)
        self.port = port
        self.writes = writes
        self.sent = dict.fromkeys(INCREMENTED, 0)
        self.acknowledged = dict.fromkeys(INCREMENTED, 0)
        self.lost = 0
        self.wrong: list[object] = []

    def run(self, goes_on: Callable[[], bool]) -> None:
        while goes_on():
            try:
                with Wire(self.port, timeout=30) as wire:
                    while goes_on():
                        self._turn(wire)
            except (WireError, OSError):
                self.lost += 1

    def _turn(self, wire: Wire) -> None:
        """Opens indexes by names that no worker knows yet, and uses them."""
        requests, expected = [], []
        for number, table in enumerate(INCREMENTED):
            columns = ",".join(["v"] * self.rng.randrange(1, 40))
            requests.append(f"P\t{number}\tscarce\t{table}\t\t{columns}\tid,v")
            expected.append(b"0\t1")
        for _ in range(self.rng.randrange(1, 20)):
            number = self.rng.randrange(3)
            key = self.rng.randrange(1, 10)
            kind = self.rng.choice(["find", "long", "in", "filter", "add", "rows"])
            expected.append(b"0\t")
            if kind == "long":
                requests.append("0\t>=\t1\t1\t9000")
            elif kind == "in":
                keys = "\t".join(str(self.rng.randrange(10_000)) for _ in range(50))
                requests.append(f"{number}\t=\t1\t0\t50\t0\t@\t0\t50\t{keys}")
            elif kind == "filter":
                requests.append(f"{number}\t>=\t1\t0\t20\t0\tF\t>\t1\t3\tW\t<\t0\t900")
            elif kind == "find" or not self.writes:
                requests.append(f"{number}\t=\t1\t{key}")
            else:
                question = "?" if kind == "rows" else ""
                requests.append(f"{number}\t=\t1\t{key}\t1\t0\t+{question}\t1")
                expected[-1] += INCREMENTED[number].encode()
        for text in expected:
            if name := text[2:].decode() if text != b"0\t1" else "":
                self.sent[name] += 1
        wire.send("\n".join([*requests, ""]).encode())
        for text in expected:
            (reply,) = wire.lines(1)
            if not reply.startswith(b"0\t"):
                self.wrong.append(reply)
            elif name := text[2:].decode() if text != b"0\t1" else "":
                self.acknowledged[name] += 1


def test_only_the_connection_suffers(
    data_root: Path, watch: Any, library: Path, scarcity: Scarcity
) -> None:
    settings = {**LOGGING, "handlersocket_threads": 2, "handlersocket_threads_wr": 2}
    with running_server(data_root, watch, **settings) as instance, Sql(instance.socket) as sql:
        sql.run(*TABLES)
        # The workers have served requests before memory is short.
        for port in (instance.hs_port, instance.hs_port_wr):
            for _ in range(6):
                with Client(("127.0.0.1", port)) as client:
                    assert client.index("scarce", "t", ["v"]).find(1) == [(b"0",)]
        clients = [
            RestlessClient(
                seed, instance.hs_port_wr if seed % 2 else instance.hs_port, seed % 2 == 1
            )
            for seed in range(CLIENTS)
        ]
        scarcity.begin(40)
        deadline = time.monotonic() + SECONDS

        def goes_on() -> bool:
            """On a busy machine, until each table has been written at least once."""
            late = time.monotonic() - deadline
            idle = [t for t in INCREMENTED if not any(c.acknowledged[t] for c in clients)]
            return late < 0 or (late < 45 and bool(idle))

        threads = [
            threading.Thread(target=client.run, args=(goes_on,), daemon=True) for client in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(90)
            assert not thread.is_alive(), "a client hangs"
        scarcity.end()
        assert sum(client.lost for client in clients) > 10, "memory was not scarce"
        assert not [reply for client in clients for reply in client.wrong]
        # A thread that is started for a lock may find no memory to start with: the log says then
        # that it could not start. No thread that has started leaves.
        assert "leaves" not in instance.log_text()
        # Every thread still serves, and holds nothing that blocks others.
        for port in (instance.hs_port, instance.hs_port_wr):
            for _ in range(8):
                with Client(("127.0.0.1", port), timeout=30) as client:
                    assert (
                        len(client.index("scarce", "t", ["v"]).find(1, op=">=", limit=9999)) > 9998
                    )
        for table in INCREMENTED:
            sql.run(f"ALTER TABLE {table} ADD COLUMN more INT")
            changed = sql.number(f"SELECT SUM(v) FROM {table}")
            acknowledged = sum(client.acknowledged[table] for client in clients)
            sent = sum(client.sent[table] for client in clients)
            assert 0 < acknowledged <= changed <= sent, table
        assert sql.number("SELECT COUNT(*) FROM log") == sql.number("SELECT SUM(v) FROM fired")
        # InnoDB shows a state that is a tenth of a second old to a client that asks again and
        # again.
        open_transactions = "SELECT COUNT(*) FROM information_schema.innodb_trx"
        wait_until(lambda: time.sleep(0.2) or sql.number(open_transactions) == 0, "none is open")


def some_of(count: int, most: int) -> list[int]:
    """Numbers from 1 to `count`, at most so many: the last third one by one, others evenly."""
    first = range(1, max(count - most // 3, 1), max(count * 3 // (2 * most), 1))
    return [*first, *range(max(count - most // 3, 1), count + 1)]


def test_coming_and_going(data_root: Path, watch: Any, library: Path, scarcity: Scarcity) -> None:
    """Threads, and the whole plugin, leave nothing behind if they find no memory at the start."""
    comes, goes = (
        in_dialect(f"{word} SONAME 'handlersocket2'") for word in ("INSTALL", "UNINSTALL")
    )
    with running_server(data_root, watch) as instance, Sql(instance.socket) as sql:
        sql.run(*TABLES)
        for _ in range(12):
            sql.error(goes)
            scarcity.begin(one_of=4)
            sql.error(comes)
            # Each of its threads has begun its work, or has failed to.
            time.sleep(0.1)
            scarcity.end()
            assert instance.alive
            sql.run("DO 0")  # and it answers
        assert "could not start: std::bad_alloc" in instance.log_text()
        assert "leaves" not in instance.log_text()
        sql.error(goes)
        allocations = scarcity.counted(lambda: sql.run(comes))
        refused = 0
        for number in some_of(allocations, 36):
            sql.error(goes)
            scarcity.begin(number=number)
            refused += sql.error(comes) is not None
            sql.run("DO 0")
        scarcity.end()
        assert refused > 0
        sql.error(goes)
        sql.run(comes)
        with Client(("127.0.0.1", instance.hs_port)) as client:
            assert client.index("scarce", "t", ["v"]).find(1) == [(b"0",)]


def test_statements_about_connections(
    data_root: Path, watch: Any, library: Path, scarcity: Scarcity
) -> None:
    """A statement that finds no memory fails by itself. It never shows too little."""
    reads = f"SELECT id FROM {CONNECTIONS}"
    with (
        running_server(data_root, watch) as instance,
        Sql(instance.socket) as sql,
        Wire(instance.hs_port, timeout=30),
        Wire(instance.hs_port_wr, timeout=30),
    ):
        wait_until(lambda: len(sql.rows(reads)) == 2, "two connections are there")
        for number in range(1, scarcity.counted(lambda: sql.run(reads)) + 1):
            scarcity.begin(number=number)
            assert sql.error(reads) == OUT_OF_RESOURCES, number
        closes = "SET GLOBAL handlersocket_close_connection = 1000000"
        for number in range(1, scarcity.counted(lambda: sql.error(closes)) + 1):
            scarcity.begin(number=number)
            assert sql.error(closes) == OUT_OF_RESOURCES, number
        scarcity.end()
        assert sql.error(closes) == NO_SUCH_THREAD
        assert len(sql.rows(reads)) == 2
