"""Iterating with the synchronous client: a connection for each iteration, and one that is kept."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar, cast

from .address import Place
from .asks import Ask, Nothing
from .deadline import Deadline
from .errors import ClosedError, ConnectionLost, HandlerSocketError, RequestTimeout
from .forks import renew_after_fork
from .options import Options
from .ranges import UNSET
from .rows import RowReader
from .seen import Counters
from .sockets import WOULD_BLOCK, shut_down, wait_for
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
from .threads import ThreadCore

R = TypeVar("R")

_CHUNK = 64 * 1024


class _Stream:
    def __init__(self, opened: socket.socket, place: Place, options: Options) -> None:
        self.socket = opened
        self.place = place
        self.told_of_end = False
        self.indexes = StreamIndexes(options)
        self.first = True


class Streams:
    """The connections for iterating. If a consumer is slow, nothing is read for it."""

    def __init__(self, core: ThreadCore) -> None:
        self._core = core
        self._closed = False
        # An iteration that nobody holds any more ends whenever Python finds that, also in here.
        self._lock = threading.RLock()
        self._made = 0
        self._lost = 0
        self._kept: _Stream | None = None
        self._used: set[_Stream] = set()
        self._room = threading.Semaphore(core.options.max_streams)
        renew_after_fork(self)

    def rows(self, ask: Ask[list[R]], reader: RowReader[R]) -> Iterator[R]:
        """The rows of a find, one by one."""
        self._core.check()
        return self._rows(ask, reader)

    def close(self) -> None:
        """Ends all of them. An iteration that goes on has ClosedError."""
        with self._lock:
            self._closed = True
            ended = [*self._used]
            for stream in ended:
                shut_down(stream.socket)
            if self._kept is not None:
                self._kept.socket.close()
                ended.append(self._kept)
                self._kept = None
        for stream in ended:
            self._tell_of_end(stream, CLOSED)
        self._room.release()  # the first that waits is refused, and lets the next one in

    def after_fork(self) -> None:
        for stream in [*self._used, *([self._kept] if self._kept else [])]:
            stream.socket.close()  # only this process's copy
        self._lock = threading.RLock()
        self._kept = None
        self._used = set()
        self._room = threading.Semaphore(self._core.options.max_streams)

    def added_to(self, counters: Counters) -> Counters:
        """With the connections for iterating."""
        with self._lock:
            return replace(
                counters,
                connected=counters.connected + self._made,
                lost=counters.lost + self._lost,
            )

    def _rows(self, ask: Ask[list[R]], reader: RowReader[R]) -> Iterator[R]:
        if isinstance(ask, Nothing):
            return
        timeout = self._core.options.timeout if ask.timeout is UNSET else ask.timeout
        seconds = cast("float | None", timeout)
        room = self._room
        if not room.acquire(timeout=seconds):
            raise RequestTimeout("as many iterate as the client allows")
        stream: _Stream | None = None
        ending: Ending | None = None
        try:
            if self._closed:
                raise ClosedError("the client is closed")
            stream = self._take()
            for rows in self._chunks(stream, ask, reader, seconds):
                yield from rows
        except BaseException as error:
            ending = ending_of(error)
            raise
        finally:
            room.release()
            if stream is not None:
                self._give_back(stream, ending)

    def _chunks(
        self, stream: _Stream, ask: Ask[list[R]], reader: RowReader[R], seconds: float | None
    ) -> Iterator[list[R]]:
        spec = ask.operation.spec
        assert spec is not None
        lines, ahead = stream.indexes.lines(ask, spec)
        most = self._core.options.max_reply_bytes
        rows = RowStream(spec, reader, most, ahead=ahead, first=stream.first)
        stream.first = False
        unsent = memoryview(lines)
        while not rows.done:
            deadline = Deadline(seconds)
            try:
                unsent, data = _exchange(stream.socket, unsent, deadline)
            except TimeoutError as error:
                raise RequestTimeout("no bytes within the time-out", sent=True) from error
            except (OSError, ValueError) as error:  # ValueError: it was closed
                self._refuse_if_closed()
                raise ConnectionLost(str(error), sent=True) from error
            if not data:
                self._refuse_if_closed()
                raise ConnectionLost("the server closed the connection", sent=True)
            yield rows.feed(data)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise ClosedError("the client is closed", sent=True)

    def _take(self) -> _Stream:
        """The connection that was kept, or a new one."""
        with self._lock:
            stream, self._kept = self._kept, None
        if stream is not None and (ending := _end_of_idle(stream.socket)):
            self._end(stream, ending)
            stream = None
        if stream is None:
            stream = self._open()
        with self._lock:
            self._used.add(stream)
        return stream

    def _open(self) -> _Stream:
        error: HandlerSocketError | None = None
        for _, place in self._core.places("stream"):
            deadline = Deadline(self._core.options.connect_timeout)
            try:
                opened = self._core.sessions.open(place, deadline)
            except HandlerSocketError as refused:
                error = refused
            else:
                with self._lock:
                    self._made += 1
                self._core.saw("connected", "stream", place)
                return _Stream(opened, place, self._core.options)
        raise error or self._core.no_port(None)

    def _give_back(self, stream: _Stream, ending: Ending | None) -> None:
        """Keeps one whose reply was read to its end."""
        with self._lock:
            self._used.discard(stream)
            if self._closed:
                ending = CLOSED
            elif ending is None and self._kept is not None:
                ending = SURPLUS
            elif ending is None:
                self._kept = stream
        if ending is not None:
            self._end(stream, ending)

    def _end(self, stream: _Stream, ending: Ending) -> None:
        stream.socket.close()
        self._tell_of_end(stream, ending)

    def _tell_of_end(self, stream: _Stream, ending: Ending) -> None:
        """Once."""
        with self._lock:
            if stream.told_of_end:
                return
            stream.told_of_end = True
            self._lost += ending.what == "lost"
        self._core.saw(ending.what, "stream", stream.place, ending.reason)


def _exchange(
    opened: socket.socket, unsent: memoryview, deadline: Deadline
) -> tuple[memoryview, bytes]:
    """Sends what is to be sent, and gives the next bytes that come."""
    while True:
        try:
            if unsent:
                unsent = unsent[opened.send(unsent) :]
                continue
        except WOULD_BLOCK:
            pass
        try:
            return unsent, opened.recv(_CHUNK)
        except WOULD_BLOCK:
            wait_for(opened, deadline, for_writing=bool(unsent))


def _end_of_idle(opened: socket.socket) -> Ending | None:
    """Why a connection that was kept is of no use, if it has ended or something has come."""
    try:
        return UNASKED if opened.recv(1) else SERVER_CLOSED
    except WOULD_BLOCK:
        return None
    except OSError as error:
        return Ending("closed", str(error))
