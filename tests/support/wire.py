"""A socket that sends exactly the given bytes, for tests of what is on the wire."""

from __future__ import annotations

import socket
import time


class WireError(AssertionError):
    """The server has closed the connection, or sent nothing, where lines were expected."""


class Wire:
    """One TCP connection without Nagle's delay: every send() is a separate segment."""

    def __init__(self, port: int, timeout: float = 60.0) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._timeout = timeout
        self._received = b""

    @property
    def own_port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def half_close(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def lines(self, count: int) -> list[bytes]:
        """The next `count` replies, without their LF."""
        deadline = time.monotonic() + self._timeout
        while self._received.count(b"\n") < count:
            if not self._receive(deadline):
                raise WireError(f"end of file after {self._received!r}, {count} lines expected")
        *lines, self._received = self._received.split(b"\n", count)
        return lines

    def ask(self, request: bytes) -> bytes:
        """Sends one request (with its LF) and returns its reply."""
        self.send(request)
        return self.lines(1)[0]

    def rest(self) -> bytes:
        """Everything until the server closes the connection."""
        deadline = time.monotonic() + self._timeout
        while self._receive(deadline):
            pass
        rest, self._received = self._received, b""
        return rest

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self, deadline: float) -> bool:
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            data = self._socket.recv(1 << 20)
        except TimeoutError:
            raise WireError(f"no reply in time; received {self._received[-200:]!r}") from None
        except ConnectionResetError:
            return False
        self._received += data
        return bool(data)
