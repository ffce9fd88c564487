"""Redis's protocol for tests: any bytes out, replies in, as RESP2 and RESP3 have them.

A reply keeps the kind that it has on the wire, so a simple string is not a bulk string. What
Python has itself, it is: bytes, int, float, bool, None, list, dict.
"""

from __future__ import annotations

import io
import socket
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .wire import WireError

Word = bytes | str | int | float
#: A reply that is deeper than this is none.
DEEPEST = 32


@dataclass(frozen=True)
class Simple:
    """A simple string."""

    text: str


@dataclass(frozen=True)
class Error:
    """An error. Its first word is its code."""

    text: str

    @property
    def code(self) -> str:
        return self.text.partition(" ")[0]


@dataclass(frozen=True)
class Verbatim:
    """A string that says of what form it is."""

    form: str
    data: bytes


class Set(list[Any]):
    """RESP3's set, in the order in which its members came."""


class Push(list[Any]):
    """What comes unasked."""


OK, QUEUED, PONG, RESET = Simple("OK"), Simple("QUEUED"), Simple("PONG"), Simple("RESET")
Reply = Any


def word_bytes(word: Word) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()


def packed(*words: Word) -> bytes:
    """A request, as clients write it."""
    parts = [word_bytes(word) for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(one), one) for one in parts)


def pairs(row: Sequence[Any] | dict[Any, Any]) -> dict[Any, Any]:
    """A reply of names and values: a map, or an array of one after the other."""
    return row if isinstance(row, dict) else dict(zip(row[::2], row[1::2], strict=True))


def read_reply(stream: io.BufferedIOBase, depth: int = 0) -> Reply:
    """The next reply of a stream. EOFError if it ends before the reply."""
    if depth > DEEPEST:
        raise WireError("a reply nested too deep")
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        raise EOFError(line)
    kind, text = line[:1], line[1:-2]
    match kind:
        case b"+":
            return Simple(text.decode())
        case b"-":
            return Error(text.decode("utf-8", "backslashreplace"))
        case b":" | b"(":
            return int(text)
        case b"_":
            return None
        case b"#":
            return {b"t": True, b"f": False}[text]
        case b",":
            return float(text)
        case b"$":
            return _bulk(stream, int(text))
        case b"=":
            data = _bulk(stream, int(text)) or b""
            return Verbatim(data[:3].decode(), data[4:])
        case b"*":
            return None if text == b"-1" else _elements(stream, int(text), depth)
        case b"~":
            return Set(_elements(stream, int(text), depth))
        case b">":
            return Push(_elements(stream, int(text), depth))
        case b"%":
            flat = _elements(stream, 2 * int(text), depth)
            return dict(zip(flat[::2], flat[1::2], strict=True))
    raise WireError(f"no reply begins with {line[:80]!r}")


def _bulk(stream: io.BufferedIOBase, size: int) -> bytes | None:
    if size == -1:
        return None
    data = stream.read(size + 2)
    if len(data) != size + 2:
        raise EOFError(data[:80])
    if not data.endswith(b"\r\n"):
        raise WireError(f"a string of {size} bytes ends with {data[-20:]!r}")
    return data[:-2]


def _elements(stream: io.BufferedIOBase, count: int, depth: int) -> list[Reply]:
    return [read_reply(stream, depth + 1) for _ in range(count)]


class Resp:
    """One connection, over TCP or a Unix socket. What it sends is what it was given."""

    def __init__(
        self,
        place: int | Path,
        *,
        protocol: int = 2,
        tls: ssl.SSLContext | None = None,
        timeout: float = 60.0,
    ) -> None:
        self._socket: socket.socket
        if isinstance(place, Path):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(timeout)
            self._socket.connect(str(place))
        else:
            self._socket = socket.create_connection(("127.0.0.1", place), timeout)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname="127.0.0.1")
        self.protocol = protocol
        self._stream = self._socket.makefile("rb", buffering=1 << 16)
        if protocol != 2:
            assert pairs(self.ask("HELLO", protocol))[b"proto"] == protocol

    @property
    def own_port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    @property
    def raw(self) -> socket.socket:
        return self._socket

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def reply(self) -> Reply:
        try:
            return read_reply(self._stream)
        except TimeoutError:
            raise WireError("no reply in time") from None
        except (EOFError, ConnectionResetError) as error:
            raise WireError(f"end of file after {error}, a reply expected") from None

    def replies(self, count: int) -> list[Reply]:
        return [self.reply() for _ in range(count)]

    def ask(self, *words: Word) -> Reply:
        """Sends one request and returns its reply."""
        self.send(packed(*words))
        return self.reply()

    def say(self, line: str | bytes) -> Reply:
        """The same for words without blanks, as one would write them at a prompt."""
        return self.ask(*(line.encode() if isinstance(line, str) else line).split())

    def pipeline(self, requests: Iterable[Sequence[Word]]) -> list[Reply]:
        """Sends all at once, and returns all replies."""
        packets = [packed(*words) for words in requests]
        self.send(b"".join(packets))
        return self.replies(len(packets))

    def unit(self, requests: Sequence[Sequence[Word]]) -> Reply:
        """MULTI, the requests and EXEC in one packet. Returns EXEC's reply."""
        *queued, done = self.pipeline([["MULTI"], *requests, ["EXEC"]])
        assert queued == [OK] + [QUEUED] * len(requests), queued
        return done

    def rest(self) -> bytes:
        """Everything until the server closes the connection."""
        try:
            return self._stream.read()
        except TimeoutError:
            raise WireError("the connection is not closed") from None
        except ConnectionResetError:
            return b""

    def is_closed(self) -> bool:
        return self.rest() == b""

    def half_close(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def __enter__(self) -> Resp:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
