"""The bytes that wait in the server to be read or sent have one limit for both ports.

Greedy clients send half requests, or ask for replies and do not read them. A light client beside
them is served all the time.
"""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from handlersocket2 import Client
from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import LOG_WARNING
from support.wire import Wire

MIB = 1 << 20
PATIENCE = 60.0


def resident(server: ServerInstance) -> int:
    """The server's memory that is present at the moment, in bytes."""
    text = Path(f"/proc/{server.pid}/status").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


class Bystander:
    """A client that asks for one row at a time, and watches the server's memory."""

    def __init__(self, server: ServerInstance, port: int) -> None:
        self._server = server
        self._client = Client(("127.0.0.1", port))
        self._index = self._client.index("test", "t", ["b"])
        self.longest = 0.0
        self.ask()
        self._before = resident(server)
        self.growth = 0

    def ask(self) -> None:
        began = time.monotonic()
        assert self._index.find(1) == [(b"one",)]
        self.longest = max(self.longest, time.monotonic() - began)

    def look(self) -> None:
        self.ask()
        self.growth = max(self.growth, resident(self._server) - self._before)

    def close(self) -> None:
        self._client.close()


@contextmanager
def prepared(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "test") as sql:
        sql.run(
            "CREATE TABLE t (id INT PRIMARY KEY, b LONGTEXT)",
            "INSERT INTO t VALUES (1, 'one'), (2, REPEAT('x', 250000))",
        )
        yield sql


def greedy_client(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), PATIENCE)
    client.setblocking(False)
    return client


def send_beside(clients: list[socket.socket], size: int, bystander: Bystander) -> None:
    """Sends so many bytes of one request on each connection, unless the server ends it before."""
    chunk = b"x" * MIB
    left = {client: size for client in clients}
    deadline = time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client, selectors.EVENT_WRITE | selectors.EVENT_READ)
        while left and time.monotonic() < deadline:
            for key, events in selector.select(0.2):
                client = key.fileobj
                assert isinstance(client, socket.socket)
                over = bool(events & selectors.EVENT_READ)
                if not over:
                    try:
                        left[client] -= client.send(chunk[: left[client]])
                    except BlockingIOError:
                        pass
                    except OSError:
                        over = True
                if over or left[client] == 0:
                    del left[client]
                    selector.unregister(client)
            bystander.look()
    assert not left, "a client was neither read nor ended"


def await_status(sql: Sql, name: str, *, least: int = 0, most: int = 1 << 62) -> None:
    deadline = time.monotonic() + PATIENCE
    while not least <= sql.status(f"handlersocket_{name}") <= most:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_half_requests(make_server) -> None:
    """Sixty requests of 50 MiB, on both ports. Without a limit they took 3,025 MiB."""
    server = make_server()
    with prepared(server) as sql:
        limit = int(sql.row("SHOW GLOBAL VARIABLES LIKE 'handlersocket_max_waiting_bytes'")[1] or 0)
        assert limit == 256 * MIB
        bystander = Bystander(server, server.hs_port)
        ports = (server.hs_port, server.hs_port_wr)
        clients = [greedy_client(ports[i % 2]) for i in range(60)]
        send_beside(clients, 50 * MIB, bystander)
        assert sql.status("handlersocket_waiting_bytes") <= limit
        assert sql.status("handlersocket_connections_shed") >= 50
        # This includes memory that the allocator keeps, and workers that have just begun.
        assert bystander.growth < limit + 100 * MIB, f"{bystander.growth / MIB:.0f} MiB"
        assert bystander.longest < 5
        log = server.log_text()
        assert log.count("handlersocket_max_waiting_bytes allows") == 1
        for client in clients:
            client.close()
        deadline = time.monotonic() + PATIENCE
        while sql.status("handlersocket_waiting_bytes") != 0:
            assert time.monotonic() < deadline
            bystander.ask()
        bystander.close()


def test_the_greediest_is_told_why_and_the_others_go_on(make_server) -> None:
    server = make_server(handlersocket_max_waiting_bytes=8 * MIB)
    with prepared(server) as sql:
        bystander = Bystander(server, server.hs_port)
        with Wire(server.hs_port_wr) as greediest, Wire(server.hs_port) as modest:
            greediest.send(b"P\t1\ttest\tt\t\tb\n")
            assert greediest.lines(1) == [b"0\t1"]
            received = sql.status("handlersocket_bytes_received")
            greediest.send(b"1\t+\t2\t3\t" + b"y" * (3 * MIB))
            received += 3 * MIB
            await_status(sql, "bytes_received", least=received)
            small = [Wire(server.hs_port) for _ in range(40)]
            for wire in (modest, *small):
                wire.send(b"?" * 100_000)
                bystander.ask()
                # One after the other. Who was chosen counts until its worker has ended it, and
                # those who come meanwhile may fill the rest of the memory. Then they go, too.
                received += 100_000
                await_status(sql, "bytes_received", least=received)
                await_status(sql, "waiting_bytes", most=7 * MIB)
            assert greediest.rest() == b"1\t1\tmax_waiting_bytes\n"
            assert modest.ask(b"\n") == b"2\t1\tcmd"
            for wire in small:
                assert wire.ask(b"\n") == b"2\t1\tcmd"
                wire.close()
        assert sql.status("handlersocket_connections_shed") == 1
        assert sql.number("SELECT COUNT(*) FROM t") == 2
        bystander.close()


@pytest.mark.parametrize("modifies", [False, True])
def test_replies_that_nobody_reads(modifies: bool, make_server) -> None:
    """From 200 clients: replies to finds, and to writes that answer the rows as they were."""
    limit = 16 * MIB
    server = make_server(handlersocket_max_waiting_bytes=limit, handlersocket_sndbuf=65536)
    with prepared(server) as sql:
        port = server.hs_port_wr if modifies else server.hs_port
        bystander = Bystander(server, port)
        request = b"1\t=\t1\t2\t1\t0\tU?\t2\n" if modifies else b"1\t=\t1\t2\n"
        clients = []
        for number in range(200):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
            client.connect(("127.0.0.1", port))
            client.sendall(b"P\t1\ttest\tt\t\tid,b\n" + request * 5)
            clients.append(client)
            if number % 10 == 0:
                bystander.look()
        deadline = time.monotonic() + PATIENCE
        while sql.status("handlersocket_connections_shed") < 50:
            assert time.monotonic() < deadline
            bystander.look()
        assert sql.status("handlersocket_waiting_bytes") <= limit
        assert bystander.growth < limit + 100 * MIB, f"{bystander.growth / MIB:.0f} MiB"
        for client in clients:
            client.close()
        bystander.close()


def test_before_the_secret_4_kib_are_kept(make_server) -> None:
    server = make_server(handlersocket_plain_secret="s")
    database = Database(server, "test")
    with database.wire() as wire:
        wire.send(b"x" * 4096)
        assert wire.ask(b"\n") == b"2\t1\tcmd"
        assert wire.ask(b"A\t1\ts\n") == b"0\t1"
        wire.send(b"x" * 100_000)
        assert wire.ask(b"\n") == b"2\t1\tcmd"
    for request in (b"x" * 4097, b"x" * 4097 + b"\n", b"A\t1\t" + b"x" * 1_000_000):
        with database.wire() as wire:
            wire.send(b"?\n" + request)
            assert wire.rest() == b"2\t1\tcmd\n2\t1\trequest_size\n"
    assert database.sql.status("handlersocket_waiting_bytes") == 0
    database.close()


def test_a_request_has_half_of_it(make_server) -> None:
    server = make_server(handlersocket_max_waiting_bytes=2 * MIB)
    with prepared(server) as sql:
        shown = sql.row("SHOW GLOBAL VARIABLES LIKE 'handlersocket_max_request_size'")
        assert shown[1] == b"%d" % MIB
        told = LOG_WARNING + "handlersocket_max_request_size is 1048576 instead of 67108864"
        assert len(re.findall(told, server.log_text())) == 1
        with Wire(server.hs_port) as wire:
            wire.send(b"x" * MIB)
            assert wire.ask(b"\n") == b"2\t1\tcmd"
        with Wire(server.hs_port) as wire:
            wire.send(b"x" * (MIB + 1) + b"\n")
            assert wire.rest() == b"2\t1\trequest_size\n"
        assert sql.status("handlersocket_connections_shed") == 0
