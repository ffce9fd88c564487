"""What no load generator measures: memory, a long find, and the engine's own cost."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
from pathlib import Path

from .database import Database
from .places import ADDRESS, CLIENT_CORES, BenchError, on_cores, program

IDLE_CONNECTIONS = 4_500
LONG_FIND_ROWS = 1_000_000
TIMEOUT = 60.0
OPEN = b"P\t1\ttest\tuser\tPRIMARY\tuser_name,user_email,created\n"
FLOOR_LOOKUPS = 1_000_000


def resident_kib(pid: int) -> int:
    """The process's own memory, without files that it maps."""
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
    """Growth for each of many idle connections that have opened an index and read a row."""
    port = server.instance.hs_port
    connections: list[socket.socket] = []
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def use(count: int) -> None:
        for number in range(count):
            connections.append(connect(port))
            ask(connections[-1], OPEN)
            ask(connections[-1], b"1\t=\t1\t%d\n" % (number + 1))

    try:
        # The first connections pay for what all of them share, and use the memory that was free.
        use(IDLE_CONNECTIONS)
        before = resident_kib(server.pid)
        use(IDLE_CONNECTIONS)
        return (resident_kib(server.pid) - before) / IDLE_CONNECTIONS
    finally:
        for connection in connections:
            connection.close()


def long_finds(server: Database, rounds: int) -> dict[str, list[float]]:
    """Reads the whole table in one find while another connection continues with lookups."""
    command = [program("hs-long-find"), str(server.instance.hs_port), str(LONG_FIND_ROWS)]
    command.append(str(server.pid))
    seen = []
    for _ in range(rounds):
        with on_cores(CLIENT_CORES):
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=2 * TIMEOUT, check=False
            )
        if done.returncode != 0:
            raise BenchError(f"the long find failed: {done.stderr.strip()}")
        seen.append(json.loads(done.stdout))
        if seen[-1]["bytes"] < LONG_FIND_ROWS * 10:
            raise BenchError(f"the long find answered only {seen[-1]['bytes']} bytes")
    growth = [(each["memory_peak_kib"] - each["memory_before_kib"]) / 1024 for each in seen]
    return {
        "find growth": growth,
        "find first byte": [each["first_byte_ms"] for each in seen],
        "find longest wait": [each["longest_wait_ms"] for each in seen],
        "longest wait without a find": [each["longest_wait_alone_ms"] for each in seen],
        "find seconds": [each["seconds"] for each in seen],
    }


def engine_floor(server: Database, keys: int, rounds: int) -> list[float]:
    """CPU microseconds of a lookup in the engine alone."""

    def call(lookups: int) -> float:
        statement = f"SELECT hs_engine_floor('test', 'user', {keys}, {lookups})"
        value = server.instance.sql(statement)[0][0]
        if value == "NULL":
            raise BenchError("the engine floor could not be measured")
        return float(value) / 1e3

    call(FLOOR_LOOKUPS)  # the adaptive hash index is filled by use
    return [call(FLOOR_LOOKUPS) for _ in range(rounds)]
