"""Servers with memcached's port, and what its tests share."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from server_instance import REPOSITORY, ServerInstance, Setting, free_port
from support_servers import running_server

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
TIMEOUT = 30.0
NOOP = b"mn\r\n"


@contextmanager
def memcached_server(data_root: Path, watch: Any, **settings: Setting) -> Iterator[ServerInstance]:
    """A server with containers, whose port for memcached's clients is that of its settings."""
    chosen: dict[str, Setting] = {"handlersocket_memcached_port": free_port(), **settings}
    with running_server(data_root, watch, **chosen) as instance:
        instance.client(CONTAINERS.read_text())
        yield instance


def memcached_port(server: ServerInstance) -> int:
    return int(str(server.settings["handlersocket_memcached_port"]))


class Line:
    """A connection to a memcached, or to the plugin, in text."""

    def __init__(self, port: int, timeout: float = TIMEOUT) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.own_port = self.socket.getsockname()[1]
        # To append to bytes would copy them each time.
        self._received = bytearray()

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, request: bytes) -> None:
        self.socket.sendall(request)

    def ask(self, request: bytes) -> bytes:
        """All replies to requests that do not end the connection."""
        self.send(request + NOOP)
        return self.until(b"MN\r\n")[: -len(b"MN\r\n")]

    def until(self, end: bytes) -> bytes:
        """Everything up to the first bytes that are `end`, at a line's beginning or not."""
        while not self._received.endswith(end):
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise ConnectionError(f"closed behind {self._received[-200:]!r}")
            self._received += piece
        return self._taken()

    def exactly(self, size: int) -> bytes:
        """So many bytes."""
        while len(self._received) < size:
            piece = self.socket.recv(size - len(self._received))
            if not piece:
                raise ConnectionError(f"closed behind {self._received!r}")
            self._received += piece
        return self._taken()

    def rest(self) -> bytes:
        """Everything until the server closes the connection."""
        while True:
            try:
                piece = self.socket.recv(1 << 20)
            except ConnectionResetError:
                piece = b""
            if not piece:
                return self._taken()
            self._received += piece

    def _taken(self) -> bytes:
        received, self._received = bytes(self._received), bytearray()
        return received


def connect(server: ServerInstance, timeout: float = TIMEOUT) -> Line:
    return Line(memcached_port(server), timeout)


def stored(
    key: bytes, value: bytes, flags: int = 0, exptime: int = 0, command: bytes = b"set"
) -> bytes:
    """A request that stores a value."""
    return b"%s %s %d %d %d\r\n%s\r\n" % (command, key, flags, exptime, len(value), value)


def found(key: bytes, value: bytes, flags: int = 0) -> bytes:
    """The reply of a get that finds one item."""
    return b"VALUE %s %d %d\r\n%s\r\nEND\r\n" % (key, flags, len(value), value)
