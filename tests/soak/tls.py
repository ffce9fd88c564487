"""A socket that never blocks, with TLS in it. It can be closed for sending alone."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

CHUNK = 1 << 16


class TlsSocket:
    """Has the calls of a socket that Channel needs. The handshake is over when it is made."""

    def __init__(self, plain: socket.socket, context: ssl.SSLContext) -> None:
        self.plain = plain
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="127.0.0.1")
        self._unsent = b""
        self._accepted = 0  # bytes of the caller's that are in `_unsent`
        self._may_have_more = False
        self._read_before_shutdown = b""
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                plain.sendall(self._outgoing.read())
                self._fill()
        plain.sendall(self._outgoing.read())
        plain.setblocking(False)

    @property
    def readable(self) -> bool:
        """Whether recv() may have something although the socket has nothing."""
        return self._may_have_more or bool(self._read_before_shutdown)

    def send(self, data: memoryview) -> int:
        """As for a socket: only what is sent counts. The same data comes again until it is."""
        if self._accepted == 0:
            self._accepted = self._tls.write(data[:CHUNK])
            self._unsent += self._outgoing.read()
        while self._unsent:
            self._unsent = self._unsent[self.plain.send(self._unsent) :]
        sent, self._accepted = self._accepted, 0
        return sent

    def recv(self, size: int) -> bytes:
        if self._read_before_shutdown:
            data = self._read_before_shutdown[:size]
            self._read_before_shutdown = self._read_before_shutdown[size:]
            return data
        while True:
            try:
                data = self._tls.read(size)
                self._may_have_more = bool(data)
                return data
            except ssl.SSLWantReadError:
                self._may_have_more = False
                self._fill()

    def shutdown(self, how: int) -> None:
        # unwrap() looks for the server's farewell, and fails if a reply comes before it.
        with suppress(ssl.SSLWantReadError):
            while data := self._tls.read(CHUNK):
                self._read_before_shutdown += data
        with suppress(ssl.SSLWantReadError):
            self._tls.unwrap()
        # A few bytes, for which there is room unless the server has stopped reading.
        self.plain.sendall(self._outgoing.read())
        self.plain.shutdown(how)

    def _fill(self) -> None:
        received = self.plain.recv(CHUNK)
        if received:
            self._incoming.write(received)
        else:
            self._incoming.write_eof()

    def setsockopt(self, level: int, option: int, value: bytes) -> None:
        self.plain.setsockopt(level, option, value)

    def fileno(self) -> int:
        return self.plain.fileno()

    def close(self) -> None:
        self.plain.close()
