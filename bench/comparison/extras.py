"""What no load generator measures: memory, a long find, the floor of the engine."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

from .places import ADDRESS, CLIENT_CORES, BenchError, on_cores
from .servers import Database

IDLE_CONNECTIONS = 2_000
LONG_FIND_ROWS = 1_000_000
TIMEOUT = 60.0
OPEN = b"P\t1\ttest\tuser\tPRIMARY\tuser_name,user_email,created\n"


def resident_kib(pid: int) -> int:
    """Memory that is the process's own: a file that it maps is not."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise BenchError(f"process {pid} has no RssAnon")


def connect(port: int) -> socket.socket:
    connection = socket.create_connection((ADDRESS, port), timeout=TIMEOUT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def ask(connection: socket.socket, request: bytes) -> bytes:
    connection.sendall(request)
    reply = b""
    while not reply.endswith(b"\n"):
        piece = connection.recv(65536)
        if not piece:
            raise BenchError("the server closed a connection")
        reply += piece
    if not reply.startswith(b"0\t"):
        raise BenchError(f"the server refused {request!r}: {reply!r}")
    return reply


def idle_connection_kib(server: Database) -> float:
    """Growth for each of many connections that opened an index, read a row and then do nothing."""
    port = server.instance.hs_port
    connections: list[socket.socket] = []

    def use(count: int) -> None:
        for number in range(count):
            connections.append(connect(port))
            ask(connections[-1], OPEN)
            ask(connections[-1], b"1\t=\t1\t%d\n" % (number + 1))

    try:
        # Those that come first also pay for what all of them share.
        use(200)
        before = resident_kib(server.pid)
        use(IDLE_CONNECTIONS)
        return (resident_kib(server.pid) - before) / IDLE_CONNECTIONS
    finally:
        for connection in connections:
            connection.close()


def long_find(server: Database) -> dict[str, float]:
    """Reads the whole table in one find while another connection goes on looking rows up."""
    port = server.instance.hs_port
    with on_cores(CLIENT_CORES), connect(port) as long, connect(port) as other:
        ask(long, OPEN)
        ask(other, OPEN)
        ask(other, b"1\t=\t1\t1\n")
        waits: list[float] = []
        done = threading.Event()

        def look_up() -> None:
            while not done.is_set():
                started = time.monotonic()
                ask(other, b"1\t=\t1\t500000\n")
                waits.append(time.monotonic() - started)

        before = peak = resident_kib(server.pid)
        lookups = threading.Thread(target=look_up)
        lookups.start()
        started = time.monotonic()
        first_byte = 0.0
        size = pieces = 0
        last = b""
        try:
            long.sendall(b"1\t>=\t1\t1\t%d\n" % LONG_FIND_ROWS)
            while not last.endswith(b"\n"):
                last = long.recv(1 << 20)
                if not last:
                    raise BenchError("the server closed the connection of the long find")
                first_byte = first_byte or time.monotonic() - started
                size += len(last)
                pieces += 1
                if pieces % 64 == 0:
                    peak = max(peak, resident_kib(server.pid))
        finally:
            done.set()
            lookups.join(TIMEOUT)
        peak = max(peak, resident_kib(server.pid))
    if size < LONG_FIND_ROWS * 10:
        raise BenchError(f"the long find answered only {size} bytes")
    return {
        "find growth": (peak - before) / 1024,
        "find first byte": first_byte * 1e3,
        "find longest wait": max(waits) * 1e3,
        "find seconds": time.monotonic() - started,
    }


def engine_floor(server: Database, keys: int) -> float:
    """CPU microseconds of a lookup in the engine alone."""
    call = f"SELECT hs_engine_floor('test', 'user', {keys}, %d)"
    server.instance.sql(call % 2_000_000)  # the adaptive hash index fills while it is used
    value = server.instance.sql(call % 3_000_000)[0][0]
    if value == "NULL":
        raise BenchError("the engine floor could not be measured")
    return float(value) / 1e3
