"""One connection, and the batch that it sends at the moment. Owned by one client."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from soak.cutting import Ending, Plan
from soak.tls import TlsSocket

CHUNK = 1 << 16
SLOW_CHUNK = 700
SLOW_PAUSE = 0.002
SLOW_FOR = 0.3
LINGER_NOT = struct.pack("ii", 1, 0)
#: A port of 127.0.0.1, or a Unix socket's path.
Address = int | str


class HandshakeEnded(OSError):
    """The server has closed the connection from this port during its TLS handshake."""

    def __init__(self, port: int, connected: float) -> None:
        super().__init__(f"the TLS handshake from port {port} was ended")
        self.port = port
        self.connected = connected


class Channel:
    """Sends a batch by its plan and collects the replies. It does not know what they mean."""

    def __init__(
        self,
        address: Address,
        *,
        small_buffers: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.address = address
        # Before the server can know of the connection.
        self.connected = time.monotonic()
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        plain = socket.socket(family)
        self.socket: socket.socket | TlsSocket = plain
        plain.settimeout(20)
        try:
            if small_buffers:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.connect(address if isinstance(address, str) else ("127.0.0.1", address))
            if not isinstance(address, str):
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if tls is not None:
                    self.socket = self._shake_hands(plain, tls)
            plain.setblocking(False)
        except OSError:
            plain.close()
            raise
        self.open = True
        self.port = 0 if family == socket.AF_UNIX else int(plain.getsockname()[1])
        self._own = plain
        self.half_closed = False
        self.began = 0.0
        self.replies: list[bytes] = []
        self.surplus = b""  # bytes behind the last reply, at the end
        self._received = bytearray()
        self._expected = 0
        self._data = b""
        self._plan = Plan((), Ending.NONE, 0)
        self._piece = 0
        self._at = 0
        self._due = 0.0
        self._slow_until = 0.0
        self._read_after = 0.0

    def begin(self, data: bytes, expected: int, plan: Plan) -> None:
        assert self.open
        self.began = time.monotonic()
        self.replies = []
        self._data, self._expected, self._plan = data, expected, plan
        self._piece, self._at = 0, 0
        self._due = self.began + (plan.pieces[0][0] if plan.pieces else 0)
        slow = plan.ending == Ending.SLOW
        self._slow_until = self.began + SLOW_FOR if slow else 0.0
        self._read_after = 0.0

    @property
    def sending(self) -> bool:
        return self._piece < len(self._plan.pieces)

    @property
    def busy(self) -> bool:
        """Whether a part of the batch is still to come."""
        if not self.open:
            return False
        if self._plan.ending in (Ending.CLOSE, Ending.CLOSE_AFTER, Ending.RESET):
            return True  # until send() ends it
        if self._plan.ending == Ending.HALF_CLOSE:
            return True  # until the server ends it
        return self.sending or len(self.replies) < self._expected

    def send(self, now: float) -> None:
        while self.open and self.sending and now >= self._due:
            _, _, end = self._plan.pieces[self._piece]
            begin = self._at
            try:
                self._at += self.socket.send(memoryview(self._data)[begin:end])
            except BlockingIOError:
                return
            except OSError:
                self.close()
                return
            if self._at == end:
                self._piece += 1
                if self.sending:
                    self._due = now + self._plan.pieces[self._piece][0]
        if self.open and not self.sending:
            self._end()

    def _end(self) -> None:
        ending = self._plan.ending
        if ending in (Ending.CLOSE, Ending.CLOSE_AFTER):
            self.close()
        elif ending == Ending.RESET:
            if not isinstance(self.address, str):
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
            self.close()
        elif ending == Ending.HALF_CLOSE and not self.half_closed:
            self.half_closed = True
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                self.close()

    def receive(self, now: float) -> None:
        if now < self._read_after:
            return
        slow = now < self._slow_until
        try:
            data = self.socket.recv(SLOW_CHUNK if slow else CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        if slow:
            self._read_after = now + SLOW_PAUSE
        self._received += data
        if b"\n" in data:
            *lines, rest = bytes(self._received).split(b"\n")
            self.replies += lines
            self._received = bytearray(rest)

    def timeout(self, now: float) -> float:
        """For how long nothing has to be done except on an event."""
        wait = 0.5
        if self.sending:
            wait = min(wait, self._due - now)
        if self._read_after > now:
            wait = min(wait, self._read_after - now)
        elif self._may_read:
            return 0.0
        return max(0.0, wait)

    def wants(self, now: float) -> tuple[bool, bool]:
        """Whether it waits for something to read, and whether it waits for room to send."""
        return now >= self._read_after, self.sending and now >= self._due

    @property
    def _may_read(self) -> bool:
        return isinstance(self.socket, TlsSocket) and self.socket.readable

    def has_come(self, readable: Sequence[object], now: float) -> bool:
        """Whether receive() has something to do, if these are the sockets that have."""
        return self.socket in readable or (self._may_read and now >= self._read_after)

    def _shake_hands(self, plain: socket.socket, tls: ssl.SSLContext) -> TlsSocket:
        try:
            return TlsSocket(plain, tls)
        except OSError as error:
            raise HandshakeEnded(int(plain.getsockname()[1]), self.connected) from error

    def close(self) -> None:
        if self.open:
            self.open = False
            self.surplus = bytes(self._received)
            self.socket.close()

    def server_inode(self) -> str | None:
        """The inode number of the server's end, while the connection exists."""
        if isinstance(self.address, str) or not self.open:
            return None
        try:
            own = self._own.getsockname()[1]
        except OSError:
            return None
        wanted = (f"0100007F:{self.address:04X}", f"0100007F:{own:04X}")
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if (fields[1], fields[2]) == wanted:
                return fields[9]
        return None


def drive(channels: Sequence[Channel], patience: float) -> bool:
    """Runs until no channel is busy. False: nothing has happened for `patience` seconds."""
    moved = time.monotonic()
    while busy := [channel for channel in channels if channel.busy]:
        now = time.monotonic()
        if now - moved > patience:
            return False
        readers, writers = [], []
        for channel in busy:
            read, write = channel.wants(now)
            if read:
                readers.append(channel.socket)
            if write:
                writers.append(channel.socket)
        wait = min(channel.timeout(now) for channel in busy)
        if not writers and all(not channel.sending for channel in busy):
            wait = max(wait, 0.0005)
        readable, writable, _ = select.select(readers, writers, [], wait)
        now = time.monotonic()
        if readable or writable:
            moved = now
        for channel in busy:
            if channel.open and channel.has_come(readable, now):
                channel.receive(now)
            if channel.open:
                channel.send(now)
    return True


def server_holds(pid: int, inode: str) -> bool:
    """Whether the server still has its end of a connection open."""
    wanted = f"socket:[{inode}]"
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            try:
                if str(entry.readlink()) == wanted:
                    return True
            except OSError:
                continue
    except OSError:
        return False
    return False
