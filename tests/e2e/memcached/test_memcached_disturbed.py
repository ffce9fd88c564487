"""What an administrator does beside memcached's clients: whole replies, or clear errors."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support_memcached import Line, connect, found, memcached_server, stored
from support_servers import wait_until

MIB = 1 << 20
KEYS = 500
VALUE = b"v" * 1000
HELD = 0.3
SECONDS = 1.5
DEFAULT = "('default', 'handlersocket', 'kv', 'k', 'v', 'flags', 'cas', 'expires', 'PRIMARY')"


@pytest.fixture
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with memcached_server(data_root, watch, handlersocket_threads=2) as instance:
        with connect(instance) as line:
            line.ask(b"".join(stored(b"k%d" % key, VALUE) for key in range(KEYS)))
            assert line.ask(stored(b"large", b"x" * (4 * MIB))) == b"STORED\r\n"
        yield instance


class Worker:
    """Sets an item of its own and looks at it, and gets many. Errors are counted by their line."""

    def __init__(self, number: int) -> None:
        self.key = b"own%d" % number
        self.running = True
        self.answered = 0
        self.errors: set[bytes] = set()
        self.wrong: list[bytes] = []

    def run(self, server: ServerInstance) -> None:
        many = b"get " + b" ".join(b"k%d" % key for key in range(KEYS)) + b"\r\n"
        all_of_them = b"".join(found(b"k%d" % key, VALUE)[:-5] for key in range(KEYS)) + b"END\r\n"
        with connect(server) as line:
            while self.running:
                value = b"%d" % self.answered
                told = line.ask(stored(self.key, value))
                if told == b"STORED\r\n":
                    self._see(line, b"get %s\r\n" % self.key, found(self.key, value))
                else:
                    self._note(told)
                self._see(line, many, all_of_them)
                self.answered += 1

    def _see(self, line: Line, request: bytes, expected: bytes) -> None:
        told = line.ask(request)
        if told == expected:
            return
        # What was found before an error has been sent.
        items, _, error = told.rpartition(b"\r\nSERVER_ERROR ")
        if error and expected.startswith(items):
            self._note(b"SERVER_ERROR " + error)
        else:
            self._note(told)

    def _note(self, told: bytes) -> None:
        self.errors.add(told)
        if not told.startswith(b"SERVER_ERROR ") or told.count(b"\r\n") != 1:
            self.wrong.append(told[-200:])


DISTURBANCES: dict[str, tuple[str, ...]] = {
    "alter": ("ALTER TABLE kv FORCE",),
    "rename": ("RENAME TABLE kv TO other", "DO SLEEP(0.1)", "RENAME TABLE other TO kv"),
    "flush": ("FLUSH TABLES",),
    "write_lock": ("LOCK TABLES kv WRITE", f"DO SLEEP({HELD})", "UNLOCK TABLES"),
    "read_lock": ("FLUSH TABLES WITH READ LOCK", f"DO SLEEP({HELD})", "UNLOCK TABLES"),
    "read_only": (
        "SET GLOBAL read_only = 1",
        f"DO SLEEP({HELD})",
        "SET GLOBAL read_only = 0",
    ),
    "containers": (
        "UPDATE containers SET cas_column = IF(cas_column = 'cas', '0', 'cas')",
        "DELETE FROM containers",
        "DO SLEEP(1.2)",
        f"REPLACE INTO containers VALUES {DEFAULT}",
    ),
    "settings": (
        "SET GLOBAL handlersocket_memcached_flush_all = 1",
        "SET GLOBAL handlersocket_max_request_size = 65536",
        "SET GLOBAL handlersocket_memcached_flush_all = 0",
        "SET GLOBAL handlersocket_max_request_size = DEFAULT",
    ),
}


@pytest.mark.parametrize("name", [*DISTURBANCES, "KILL", "KILL QUERY"])
def test_clients_see_whole_replies_or_errors(server: ServerInstance, name: str) -> None:
    workers = [Worker(number) for number in range(4)]
    threads = [threading.Thread(target=worker.run, args=(server,)) for worker in workers]
    for thread in threads:
        thread.start()
    end = time.monotonic() + SECONDS
    with Sql(server.socket, "handlersocket") as sql:
        while time.monotonic() < end:
            sql.run(*(DISTURBANCES.get(name) or kills(sql, name)))
            time.sleep(0.05)
    time.sleep(1.5)  # the table of containers is looked at again
    before = [worker.answered for worker in workers]
    wait_until(
        lambda: all(
            worker.answered > answered for worker, answered in zip(workers, before, strict=True)
        ),
        "they go on",
    )
    for worker in workers:
        worker.running = False
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert [worker.wrong for worker in workers] == [[]] * len(workers)
    with connect(server) as line:
        assert line.ask(b"get k1\r\n") == found(b"k1", VALUE)


def kills(sql: Sql, kill: str) -> list[str]:
    """Ends what the plugin's threads do at this moment."""
    listed = sql.rows(
        "SELECT id FROM information_schema.processlist"
        " WHERE user = 'handlersocket' AND command <> 'Daemon'"
    )
    return [f"{kill} {int(row[0] or 0)}" for row in listed]


def test_a_shutdown_beside_clients_that_do_not_read(server: ServerInstance) -> None:
    lines = [connect(server) for _ in range(6)]
    for line in lines[:3]:
        line.send(b"get" + b" large" * 1000 + b"\r\n")
    for line in lines[3:]:
        line.send(b"gat 0" + b" large" * 10 + b"\r\nset half 0 0 1000000\r\nabc")
    time.sleep(0.5)
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 30
    for line in lines:
        line.socket.close()
