"""Iterating with asyncio: a connection for each iteration, and one that is kept."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from itertools import count
from operator import length_hint
from typing import TypeAlias, TypeVar

from .address import Place
from .aio_wires import dial, peer_of
from .asks import Ask, Nothing
from .core import Core
from .deadline import Deadline
from .errors import (
    BusyError,
    ClosedError,
    ConnectionLost,
    HandlerSocketError,
    ProtocolError,
    RequestTimeout,
)
from .forks import leave_to_parent
from .iterations import FULL, Attempts, Iteration, Iterations
from .links import more_telling
from .options import Options
from .rows import RowReader
from .seen import Counters
from .setup import cannot_connect, check_greeting, check_log_in, hung_up, log_in_line
from .stream import (
    CLOSED,
    ELSEWHERE,
    NO_ROOM,
    SERVER_CLOSED,
    SURPLUS,
    UNASKED,
    Ending,
    RowStream,
    StreamIndexes,
    ending_of,
    is_silent,
    leaves_full,
)

R = TypeVar("R")

_CHUNK = 64 * 1024


class _StreamProtocol(asyncio.StreamReaderProtocol):
    """Says at once what happens to a connection that is kept."""

    #: What is told while it is kept.
    when_idle: Callable[[Ending], None] | None = None
    #: How many bytes have come.
    come = 0

    def data_received(self, data: bytes) -> None:
        self.come += len(data)
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
        server: int,
        place: Place,
        reader: asyncio.StreamReader,
        protocol: _StreamProtocol,
        transport: asyncio.Transport,
    ) -> None:
        self.server = server
        self.place = place
        self.protocol = protocol
        self.indexes = StreamIndexes(options)
        self.told_of_end = False
        self._reader = reader
        self._taken = protocol.come
        self._transport = transport
        self._closed = False

    @property
    def end(self) -> Ending | None:
        """Why it cannot be kept."""
        if self._taken != self.protocol.come:
            return UNASKED
        return SERVER_CLOSED if self._transport.is_closing() or self._reader.at_eof() else None

    async def exchange(
        self, lines: bytes, rows: RowStream[R], iteration: Iteration
    ) -> AsyncGenerator[list[R], None]:
        self._transport.write(lines)
        iteration.has_sent(len(lines))
        while not rows.done:
            try:
                async with asyncio.timeout(iteration.patience):
                    data = await self._reader.read(_CHUNK)
            except TimeoutError as error:
                raise iteration.late() from error
            except OSError as error:
                data = b""
                if not self._closed:
                    raise ConnectionLost(str(error), sent=True) from error
            if self._closed:
                raise ClosedError("the client is closed", sent=True)
            self._taken += len(data)
            iteration.has_received(len(data))
            if not data:
                raise ConnectionLost("the server closed the connection", sent=True)
            yield rows.feed(data)
            if rows.failure is not None:
                raise rows.failure

    def close(self) -> None:
        self._closed = True
        self._transport.abort()

    def after_fork(self) -> None:
        leave_to_parent(self._transport, self._transport.get_extra_info("socket"))


#: A connection, or why there is none.
_Attempted: TypeAlias = tuple[_Stream | None, HandlerSocketError | None]


class AsyncStreams:
    """The connections for iterating: one for each iteration, and one that is kept."""

    def __init__(self, core: Core, tls: ssl.SSLContext | None) -> None:
        self._core = core
        self._tls = tls
        self.iterations = Iterations(core)
        self.forget()

    def forget(self) -> None:
        """Their loop is no more, or not ours."""
        self._kept: _Stream | None = None
        self._used: set[_Stream] = set()
        self._room = asyncio.Semaphore(self._core.options.max_streams)
        #: What makes a connection, or waits until it may.
        self._opening: set[asyncio.Task[_Stream]] = set()

    async def rows(
        self, ask: Ask[list[R]], reader: RowReader[R], check: Callable[[], object]
    ) -> AsyncGenerator[R, None]:
        """The rows of a find, one by one. `check` is called first, in the loop that iterates."""
        check()
        if isinstance(ask, Nothing):
            return
        room = self._room
        with self.iterations.begin(ask) as iteration:
            await self._enter(room, iteration)
            try:
                async with aclosing(self._chunks(iteration, reader)) as chunks:
                    async for rows in chunks:
                        left = iter(rows)
                        try:
                            for row in left:
                                yield row
                        finally:
                            iteration.rows += len(rows) - length_hint(left)
            finally:
                room.release()

    async def _enter(self, room: asyncio.Semaphore, iteration: Iteration) -> None:
        """Waits until as many iterate as may."""
        if self._core.options.when_full == "fail" and room.locked():
            raise BusyError(FULL)
        try:
            async with asyncio.timeout(iteration.seconds):
                await room.acquire()
        except TimeoutError:
            raise RequestTimeout(FULL) from None

    async def _chunks(
        self, iteration: Iteration, reader: RowReader[R]
    ) -> AsyncGenerator[list[R], None]:
        """The rows as they come, from the server that answers with rows."""
        for asked in count(1):
            stream = await self._take(iteration.deadline)
            iteration.place = stream.place
            rows: RowStream[R] | None = None
            ending: Ending | None = None
            try:
                lines, rows = stream.indexes.begin(iteration, reader)
                async with aclosing(stream.exchange(lines, rows, iteration)) as exchanged:
                    async for each in exchanged:
                        yield each
                return
            except BaseException as error:
                ending = ending_of(error, rows)
                if self._core.goes_elsewhere(error, asked):
                    ending = ELSEWHERE
                    self._core.left("stream", stream.server)
                elif leaves_full(error, stream.indexes, iteration):
                    ending = NO_ROOM
                else:
                    if is_silent(error, rows):
                        self._core.left("stream", stream.server)
                    raise
            finally:
                self._give_back(stream, ending)

    def _give_back(self, stream: _Stream, ending: Ending | None) -> None:
        """Keeps one whose reply was read to its end."""
        self._used.discard(stream)
        if self._core.is_closed:
            ending = CLOSED
        elif ending is None:
            ending = stream.end or (SURPLUS if self._kept is not None else None)
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
        for opening in list(self._opening):
            opening.cancel()
        self._room.release()  # the first that waits is refused, and lets the next one in

    def after_fork(self) -> None:
        for stream in [*self._used, *([self._kept] if self._kept else [])]:
            stream.after_fork()
        self.iterations.after_fork()
        self.forget()

    def added_to(self, counters: Counters) -> Counters:
        """With the iterations."""
        return self.iterations.added_to(counters)

    async def _take(self, deadline: Deadline) -> _Stream:
        """The connection that was kept, or a new one."""
        self._refuse_if_closed()
        if self._kept is not None and self._core.wanted("stream") != self._kept.server:
            self._end_kept(ELSEWHERE)
        stream = self._take_kept()
        if stream is None:
            opening = asyncio.get_running_loop().create_task(self._open(deadline))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)
            try:
                stream = await opening
            except asyncio.CancelledError:
                if opening.done() and not opening.cancelled() and opening.exception() is None:
                    self._give_back(opening.result(), None)
                if not _is_cancelled():
                    self._refuse_if_closed()
                raise
        if self._core.is_closed:
            self._give_back(stream, CLOSED)
        self._refuse_if_closed()
        self._used.add(stream)
        return stream

    def _refuse_if_closed(self) -> None:
        if self._core.is_closed:
            raise ClosedError("the client is closed")

    async def _open(self, deadline: Deadline) -> _Stream:
        attempts = Attempts(self._core, deadline)
        while True:
            stream, error = await self._attempt(attempts)
            if stream is not None:
                return stream
            if error is not None:
                await asyncio.sleep(attempts.failed(error))

    async def _attempt(self, attempts: Attempts) -> _Attempted:
        """Tries all servers once. Neither of both if another one is wanted meanwhile."""
        core = self._core
        meant = core.wanted("stream")
        error: HandlerSocketError | None = None
        for server, place in core.places("stream"):
            within = attempts.within()
            try:
                stream = await _open_stream(server, place, core.options, self._tls, within)
            except HandlerSocketError as refused:
                error = more_telling(error, refused)
            else:
                if core.wanted("stream") not in (meant, server):
                    stream.close()
                    return None, None
                core.counters.connected += 1
                core.saw("connected", "stream", place)
                core.reached("stream", server)
                return stream, None
        return None, error or core.no_port(None)


def _is_cancelled() -> bool:
    """Whether somebody has cancelled this very task."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _open_stream(
    server: int, place: Place, options: Options, tls: ssl.SSLContext | None, seconds: float
) -> _Stream:
    reader = asyncio.StreamReader(limit=_CHUNK)
    protocol = _StreamProtocol(reader)
    transport: asyncio.Transport | None = None
    try:
        async with asyncio.timeout(seconds):
            transport, _ = await dial(lambda: protocol, place, options, tls)
            line = log_in_line(options, peer_of(transport), encrypted=tls is not None)
            if line is not None:
                transport.write(line)
                reply = await reader.readline()
                check_greeting(reply)
                if not reply.endswith(b"\n"):
                    raise hung_up(place)
                check_log_in(reply[:-1])
                if protocol.come != len(reply):
                    raise ProtocolError("bytes that nobody has asked for")
    except BaseException as error:
        if transport is not None:
            transport.abort()
        if isinstance(error, (OSError, UnicodeError)):
            raise cannot_connect(place, error) from error
        raise
    return _Stream(options, server, place, reader, protocol, transport)
