"""The sockets of asyncio below the client: a call as a future, a channel's wire, a stream."""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .address import Place
from .asks import Ask, Nothing, Operation
from .calls import Call, Opening, Tries, fate_of
from .channel import Channel
from .codec import quoted
from .core import Core
from .errors import (
    ClosedError,
    ConnectionLost,
    HandlerSocketError,
    ProtocolError,
    RequestTimeout,
)
from .forks import leave_to_parent
from .grouped import Openings
from .links import Link, Wire
from .options import Options
from .ranges import UNSET
from .rows import RowReader
from .setup import cannot_connect, check_greeting, check_log_in, hung_up, log_in_line
from .stream import (
    CLOSED,
    SERVER_CLOSED,
    SURPLUS,
    UNASKED,
    Ending,
    RowStream,
    StreamIndexes,
    ending_of,
)

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


class AsyncWire(asyncio.Protocol, Wire):
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
        self._readable = select.poll()
        self._looked = 0
        core = link.core
        elsewhere = core.elsewhere if len(core.servers) > 1 else None
        self.channel = Channel(core.options, monotonic(), elsewhere, core.counters)

    async def log_in(self, line: bytes) -> None:
        assert self._transport is not None
        self._first = self._loop.create_future()
        self._transport.write(line)
        reply = await self._first
        self._first = None
        check_log_in(reply)

    def flush_soon(self) -> None:
        """In this turn of the loop; at once if so much has piled up that the server can begin."""
        if not self.scheduled:
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

    def data_received(self, data: bytes) -> None:
        if self._first is not None:
            self._log_in_received(data)
            return
        if self._closed:
            return
        now = monotonic()
        self.channel.received(data, now)
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
            transport, _ = await _dial(lambda: wire, place, options, tls)
            line = log_in_line(options, _peer(transport), encrypted=tls is not None)
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


async def _dial(
    protocol: Any, place: Place, options: Options, tls: ssl.SSLContext | None
) -> tuple[asyncio.Transport, Any]:
    loop = asyncio.get_running_loop()
    if isinstance(place, str):
        return await loop.create_unix_connection(protocol, place)
    host, port = place
    name = (options.tls_name or host) if tls is not None else None
    return await loop.create_connection(protocol, host, port, ssl=tls, server_hostname=name)


def _peer(transport: asyncio.Transport) -> str | None:
    """The address of the other end, if it is TCP."""
    name = transport.get_extra_info("peername")
    return name[0] if isinstance(name, tuple) else None


class _StreamProtocol(asyncio.StreamReaderProtocol):
    """Says at once what happens to a connection that is kept."""

    #: What is told while it is kept.
    when_idle: Callable[[Ending], None] | None = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._has_come(UNASKED)

    def eof_received(self) -> bool | None:
        stays = super().eof_received()
        self._has_come(SERVER_CLOSED)
        return stays

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._has_come(SERVER_CLOSED if exc is None else Ending("closed", str(exc)))

    def _has_come(self, ending: Ending) -> None:
        if self.when_idle is not None:
            self.when_idle(ending)


class _Stream:
    """A connection for iterating. If the consumer is slow, the loop stops reading."""

    def __init__(
        self,
        options: Options,
        place: Place,
        reader: asyncio.StreamReader,
        protocol: _StreamProtocol,
        transport: asyncio.Transport,
    ) -> None:
        self.place = place
        self.protocol = protocol
        self.told_of_end = False
        self._options = options
        self._reader = reader
        self._transport = transport
        self._indexes = StreamIndexes(options)
        self._first = True
        self._closed = False

    @property
    def usable(self) -> bool:
        return not (self._transport.is_closing() or self._reader.at_eof())

    async def rows(self, ask: Ask[list[R]], row_reader: RowReader[R]) -> AsyncGenerator[R, None]:
        spec = ask.operation.spec
        assert spec is not None
        options = self._options
        timeout = options.timeout if ask.timeout is UNSET else cast("float | None", ask.timeout)
        lines, ahead = self._indexes.lines(ask, spec)
        self._transport.write(lines)
        stream = RowStream(
            spec, row_reader, options.max_reply_bytes, ahead=ahead, first=self._first
        )
        self._first = False
        while not stream.done:
            try:
                async with asyncio.timeout(timeout):
                    data = await self._reader.read(_CHUNK)
            except TimeoutError as error:
                raise RequestTimeout("no bytes within the time-out", sent=True) from error
            except OSError as error:
                data = b""
                if not self._closed:
                    raise ConnectionLost(str(error), sent=True) from error
            if self._closed:
                raise ClosedError("the client is closed", sent=True)
            if not data:
                raise ConnectionLost("the server closed the connection", sent=True)
            for row in stream.feed(data):
                yield row

    def close(self) -> None:
        self._closed = True
        self._transport.abort()

    def after_fork(self) -> None:
        leave_to_parent(self._transport, self._transport.get_extra_info("socket"))


class AsyncStreams:
    """The connections for iterating: one for each iteration, and one that is kept."""

    def __init__(self, core: Core, tls: ssl.SSLContext | None) -> None:
        self._core = core
        self._tls = tls
        self._kept: _Stream | None = None
        self._used: set[_Stream] = set()
        self._room = asyncio.Semaphore(core.options.max_streams)

    async def rows(self, ask: Ask[list[R]], reader: RowReader[R]) -> AsyncGenerator[R, None]:
        """The rows of a find, one by one."""
        if isinstance(ask, Nothing):
            return
        room = self._room
        try:
            async with asyncio.timeout(self._core.options.timeout):
                await room.acquire()
        except TimeoutError:
            raise RequestTimeout("as many iterate as the client allows") from None
        stream: _Stream | None = None
        ending: Ending | None = None
        try:
            if self._core.is_closed:
                raise ClosedError("the client is closed")
            stream = await self._take()
            async for row in stream.rows(ask, reader):
                yield row
        except BaseException as error:
            ending = ending_of(error)
            raise
        finally:
            room.release()
            if stream is not None:
                self._give_back(stream, ending)

    def _give_back(self, stream: _Stream, ending: Ending | None) -> None:
        """Keeps one whose reply was read to its end."""
        self._used.discard(stream)
        if self._core.is_closed:
            ending = CLOSED
        elif ending is None and not stream.usable:
            ending = SERVER_CLOSED
        elif ending is None and self._kept is not None:
            ending = SURPLUS
        if ending is not None:
            self._end(stream, ending)
            return
        self._kept = stream
        stream.protocol.when_idle = self._end_kept

    def _end_kept(self, ending: Ending) -> None:
        stream = self._take_kept()
        if stream is not None:
            self._end(stream, ending)

    def _take_kept(self) -> _Stream | None:
        stream, self._kept = self._kept, None
        if stream is not None:
            stream.protocol.when_idle = None
        return stream

    def _end(self, stream: _Stream, ending: Ending) -> None:
        """Tells of it once."""
        stream.close()
        if not stream.told_of_end:
            stream.told_of_end = True
            self._core.counters.lost += ending.what == "lost"
            self._core.saw(ending.what, "stream", stream.place, ending.reason)

    def close(self) -> None:
        """Ends all of them. An iteration that goes on has ClosedError."""
        self._end_kept(CLOSED)
        for stream in list(self._used):
            self._end(stream, CLOSED)
        self._room.release()  # the first that waits is refused, and lets the next one in

    def after_fork(self) -> None:
        for stream in self._all():
            stream.after_fork()
        self.forget()

    def forget(self) -> None:
        """Their loop is no more, or not ours."""
        self._kept = None
        self._used = set()
        self._room = asyncio.Semaphore(self._core.options.max_streams)

    def _all(self) -> list[_Stream]:
        return [*self._used, *([self._kept] if self._kept else [])]

    async def _take(self) -> _Stream:
        stream = self._take_kept() or await self._open()
        self._used.add(stream)
        return stream

    async def _open(self) -> _Stream:
        error: HandlerSocketError | None = None
        for _, place in self._core.places("stream"):
            try:
                stream = await _open_stream(place, self._core.options, self._tls)
            except HandlerSocketError as refused:
                error = refused
            else:
                self._core.counters.connected += 1
                self._core.saw("connected", "stream", place)
                return stream
        raise error or self._core.no_port(None)


async def _open_stream(place: Place, options: Options, tls: ssl.SSLContext | None) -> _Stream:
    reader = asyncio.StreamReader(limit=_CHUNK)
    protocol = _StreamProtocol(reader)
    transport: asyncio.Transport | None = None
    try:
        async with asyncio.timeout(options.connect_timeout):
            transport, _ = await _dial(lambda: protocol, place, options, tls)
            line = log_in_line(options, _peer(transport), encrypted=tls is not None)
            if line is not None:
                transport.write(line)
                reply = await reader.readline()
                check_greeting(reply)
                if not reply.endswith(b"\n"):
                    raise hung_up(place)
                check_log_in(reply[:-1])
    except BaseException as error:
        if transport is not None:
            transport.abort()
        if isinstance(error, (OSError, UnicodeError)):
            raise cannot_connect(place, error) from error
        raise
    return _Stream(options, place, reader, protocol, transport)
