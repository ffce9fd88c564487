"""The sockets of asyncio below the client: a call as a future, a channel's wire, a stream."""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import Awaitable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .address import Place
from .asks import Operation
from .awake import LONGEST_LOOK, Awake
from .calls import Call, Opening, Tries, fate_of
from .channel import Channel
from .codec import quoted
from .errors import (
    ConnectionLost,
    ProtocolError,
)
from .forks import leave_to_parent
from .grouped import Openings
from .links import Link, Wire
from .options import Options
from .setup import cannot_connect, check_greeting, check_log_in, final, hung_up, log_in_line

R = TypeVar("R")
T = TypeVar("T")

_CHUNK = 64 * 1024
#: So many requests are sent before the turn of the loop is over; more, if more are in flight.
#: Client and server would otherwise work one after the other: that costs up to 40% of the requests
#: a second with 16, 64 and 256 tasks. Smaller piles cost more system calls than they gain.
PILE = 8
_LARGE_PILE = 32
_MANY = 64
#: How often the loop may go round before it has read what is there. It takes two rounds.
_LOOKS = 4


if TYPE_CHECKING:

    class AsyncCall(asyncio.Future[T]):
        """A request under way, to be awaited. A task that is cancelled gives it up."""

        operation: Operation[T]
        line: bytes
        deadline: float
        sent: bool
        opening: Opening | Openings | None
        bytes_in: int
        tries: Tries
else:
    # A task wakes up faster from a Future than from anything derived of it, and a Future takes
    # attributes.
    AsyncCall = asyncio.Future


def was_sent(call: Awaitable[Any]) -> bool:
    """Whether the server can have seen the request of a call that was given up, or will see it.

    A modification of which this is true may have been executed.
    """
    return fate_of(cast(Call, call))["sent"]


class AsyncWire(asyncio.BufferedProtocol, Wire):
    """A socket of the loop below a channel."""

    def __init__(self, link: Link, server: int, place: Place) -> None:
        self.server = server
        self._link = link
        self._place = place
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self.scheduled = False
        self._closed = False
        self._first: asyncio.Future[bytes] | None = None  # the reply to the log-in
        self._begun = b""
        # One for all reads: a loop that hands over bytes gets 256 KiB of memory for each read.
        # It is a view, because TLS fills the rest of it, too, which would be a copy otherwise.
        self._buffer = memoryview(bytearray(_CHUNK))
        self._readable = select.poll()
        self._looked = 0
        self._awake = Awake(allowed=link.core.options.stay_awake)
        self._awake_until = 0.0
        self._turn: asyncio.Handle | None = None  # of the loop, in which it does not sleep
        core = link.core
        elsewhere = core.elsewhere if len(core.servers) > 1 else None
        self.channel = Channel(core.options, monotonic(), elsewhere, core.no_room, core.counters)

    async def log_in(self, line: bytes) -> None:
        assert self._transport is not None
        self._first = self._loop.create_future()
        self._transport.write(line)
        reply = await self._first
        self._first = None
        check_log_in(reply)

    def flush_soon(self) -> None:
        """In this turn of the loop; at once if so much has piled up that the server can begin.

        Also for a task that is alone.
        """
        if not self.scheduled:
            if len(self.channel.slots) == 1 and self._awake.is_alone and not self._reads_first():
                self._write()
                return
            self.scheduled = True
            self._loop.call_soon(self._flush)
            return
        channel = self.channel
        pile = len(channel.unsent)
        enough = pile >= PILE and (pile >= _LARGE_PILE or len(channel.slots) < _MANY)
        if enough and not self._reads_first():
            self._write()

    def _flush(self) -> None:
        self.scheduled = False
        if self._looked < _LOOKS and self._reads_first():
            self._looked += 1
            self.flush_soon()
        else:
            self._looked = 0
            self._write()

    def _write(self) -> None:
        if not self._paused and not self._closed and self.channel.has_output:
            assert self._transport is not None
            self._transport.write(self.channel.take_output())
            if self._awake.begins(len(self.channel.slots)):
                self._awake_until = monotonic() + LONGEST_LOOK
                self._stay_awake()

    def _stay_awake(self) -> None:
        """While it has something to do at once, the loop asks what has come, and does not sleep."""
        self._turn = None
        if len(self.channel.slots) != 1:
            return
        if monotonic() < self._awake_until:
            self._turn = self._loop.call_soon(self._stay_awake)
        else:
            self._awake.found_nothing()

    def _reads_first(self) -> bool:
        """Whether something has come while nothing was asked: the end, perhaps.

        The loop sends before it reads, so a write would be lost on a connection that is closed
        already. Nothing is, if it is not sent.
        """
        return self.channel.is_idle and bool(self._readable.poll(0))

    def close(self) -> None:
        self._closed = True
        if self._transport is not None:
            self._transport.abort()

    def after_fork(self) -> None:
        if self._transport is not None:
            leave_to_parent(self._transport, self._transport.get_extra_info("socket"))

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        opened = transport.get_extra_info("socket")
        self._readable.register(opened.fileno(), select.POLLIN)
        if isinstance(self._place, tuple):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._received(bytes(self._buffer[:nbytes]))

    def _received(self, data: bytes) -> None:
        if self._first is not None:
            self._log_in_received(data)
            return
        if self._closed:
            return
        now = monotonic()
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
            self._awake.found()
        in_flight = len(self.channel.slots)
        self.channel.received(data, now)
        self._awake.came(in_flight, len(self.channel.slots))
        self._link.replied(self, now)

    def _log_in_received(self, data: bytes) -> None:
        assert self._first is not None
        self._begun += data
        if self._first.done():
            return
        try:
            check_greeting(self._begun)
            line, end, surplus = self._begun.partition(b"\n")
            if surplus:
                raise ProtocolError(f"bytes that nobody has asked for: {quoted(surplus)}")
            if end:
                self._first.set_result(line)
        except ProtocolError as error:
            self._first.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._first is not None and not self._first.done():
            self._first.set_exception(hung_up(self._place))
        if self._closed:
            return
        self._closed = True
        if self in self._link.wires():
            text = str(exc or "the server closed the connection")
            self._link.lost(self, ConnectionLost(text), monotonic())
        elif self.channel.broken is None:
            self.channel.broken = ConnectionLost("the server closed the connection")

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._write()


async def open_wire(link: Link, server: int, place: Place, tls: ssl.SSLContext | None) -> AsyncWire:
    """A connection whose log-in was answered."""
    wire = AsyncWire(link, server, place)
    options = link.core.options
    try:
        async with asyncio.timeout(options.connect_timeout):
            transport, _ = await dial(lambda: wire, place, options, tls)
            line = log_in_line(options, peer_of(transport), encrypted=tls is not None)
            if line is not None:
                await wire.log_in(line)
    except BaseException as error:
        wire.close()
        if isinstance(error, (OSError, UnicodeError)):
            raise cannot_connect(place, error) from error
        raise
    if wire.channel.broken is not None:
        raise wire.channel.broken
    return wire


async def dial(
    protocol: Any, place: Place, options: Options, tls: ssl.SSLContext | None
) -> tuple[asyncio.Transport, Any]:
    loop = asyncio.get_running_loop()
    if isinstance(place, str):
        return await loop.create_unix_connection(protocol, place)
    host, port = place
    name = (options.tls_name or host) if tls is not None else None
    try:
        return await loop.create_connection(protocol, host, port, ssl=tls, server_hostname=name)
    except RuntimeError as error:  # no thread is to be had that asks for the host's address
        raise final(str(cannot_connect(place, error))) from error


def peer_of(transport: asyncio.Transport) -> str | None:
    """The address of the other end, if it is TCP."""
    name = transport.get_extra_info("peername")
    return name[0] if isinstance(name, tuple) else None
