"""Iterating with the synchronous client: a connection for each iteration, and one that is kept."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from operator import length_hint
from typing import TypeVar

from .address import Place
from .asks import Ask, Nothing
from .deadline import Deadline
from .errors import BusyError, ClosedError, ConnectionLost, HandlerSocketError, RequestTimeout
from .forks import renew_after_fork
from .iterations import FULL, Attempts, Iteration, Iterations
from .links import more_telling
from .options import Options
from .rows import RowReader
from .seen import Counters
from .sockets import WOULD_BLOCK, shut_down, wait_for
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
from .threads import ThreadCore

R = TypeVar("R")

_CHUNK = 64 * 1024


class _Stream:
    def __init__(self, opened: socket.socket, server: int, place: Place, options: Options) -> None:
        self.socket = opened
        self.server = server
        self.place = place
        self.told_of_end = False
        self.indexes = StreamIndexes(options)


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
        self._over = threading.Event()  # ends the wait for the next attempt
        self.iterations = Iterations(core)
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
        self._over.set()
        self._room.release()  # the first that waits is refused, and lets the next one in

    def after_fork(self) -> None:
        for stream in [*self._used, *([self._kept] if self._kept else [])]:
            stream.socket.close()  # only this process's copy
        self._lock = threading.RLock()
        self._kept = None
        self._used = set()
        self._room = threading.Semaphore(self._core.options.max_streams)
        self._over = threading.Event()
        self.iterations.after_fork()

    def added_to(self, counters: Counters) -> Counters:
        """With the iterations and their connections."""
        with self._lock:
            counters = replace(
                counters,
                connected=counters.connected + self._made,
                lost=counters.lost + self._lost,
            )
        return self.iterations.added_to(counters)

    def _rows(self, ask: Ask[list[R]], reader: RowReader[R]) -> Iterator[R]:
        if isinstance(ask, Nothing):
            return
        self._core.check()  # it begins when the first row is asked for
        room = self._room
        with self.iterations.begin(ask) as iteration:
            self._enter(room, iteration)
            try:
                with closing(self._chunks(iteration, reader)) as chunks:
                    for rows in chunks:
                        left = iter(rows)
                        try:
                            yield from left
                        finally:
                            iteration.rows += len(rows) - length_hint(left)
            finally:
                room.release()

    def _enter(self, room: threading.Semaphore, iteration: Iteration) -> None:
        """Waits until as many iterate as may."""
        if self._core.options.when_full == "fail":
            if not room.acquire(blocking=False):
                raise BusyError(FULL)
        elif not room.acquire(timeout=iteration.seconds):
            raise RequestTimeout(FULL)

    def _chunks(self, iteration: Iteration, reader: RowReader[R]) -> Generator[list[R], None, None]:
        """The rows as they come, from the server that answers with rows."""
        for asked in count(1):
            stream = self._take(iteration.deadline)
            iteration.place = stream.place
            rows: RowStream[R] | None = None
            ending: Ending | None = None
            try:
                lines, rows = stream.indexes.begin(iteration, reader)
                yield from self._exchange(stream, lines, rows, iteration)
                return
            except BaseException as error:
                ending = ending_of(error, rows)
                if self._core.goes_elsewhere(error, asked):
                    ending = ELSEWHERE
                    self._core.stream_left(stream.server)
                elif leaves_full(error, stream.indexes, iteration):
                    ending = NO_ROOM
                else:
                    if is_silent(error, rows):
                        self._core.stream_left(stream.server)
                    raise
            finally:
                self._give_back(stream, ending)

    def _exchange(
        self, stream: _Stream, lines: bytes, rows: RowStream[R], iteration: Iteration
    ) -> Iterator[list[R]]:
        unsent = memoryview(lines)
        while not rows.done:
            deadline = Deadline(iteration.patience)
            try:
                unsent, data = _exchange(stream.socket, unsent, deadline, iteration)
            except TimeoutError as error:
                raise iteration.late() from error
            except (OSError, ValueError) as error:  # ValueError: it was closed
                self._refuse_if_closed(sent=True)
                raise ConnectionLost(str(error), sent=True) from error
            if not data:
                self._refuse_if_closed(sent=True)
                raise ConnectionLost("the server closed the connection", sent=True)
            yield rows.feed(data)
            if rows.failure is not None:
                raise rows.failure

    def _refuse_if_closed(self, *, sent: bool) -> None:
        if self._closed:
            raise ClosedError("the client is closed", sent=sent)

    def _take(self, deadline: Deadline) -> _Stream:
        """The connection that was kept, or a new one."""
        self._refuse_if_closed(sent=False)
        with self._lock:
            stream, self._kept = self._kept, None
        if stream is not None and (ending := self._end_of_idle(stream)):
            self._end(stream, ending)
            stream = None
        if stream is None:
            stream = self._open(deadline)
        with self._lock:
            self._used.add(stream)
            closed = self._closed
        if closed:
            self._give_back(stream, CLOSED)
            self._refuse_if_closed(sent=False)
        return stream

    def _end_of_idle(self, stream: _Stream) -> Ending | None:
        if self._core.wanted("stream") != stream.server:
            return ELSEWHERE
        return _end_of_idle(stream.socket)

    def _open(self, deadline: Deadline) -> _Stream:
        attempts = Attempts(self._core, deadline)
        while True:
            stream, error = self._attempt(attempts)
            if stream is not None:
                return stream
            self._refuse_if_closed(sent=False)
            if error is not None:
                self._over.wait(attempts.failed(error))
                self._refuse_if_closed(sent=False)

    def _attempt(self, attempts: Attempts) -> tuple[_Stream | None, HandlerSocketError | None]:
        """Tries all servers once. Neither of both if another one is wanted meanwhile."""
        core = self._core
        meant = core.wanted("stream")
        error: HandlerSocketError | None = None
        for server, place in core.places("stream"):
            try:
                opened = core.sessions.open(place, Deadline(attempts.within()))
            except RequestTimeout:
                raise
            except HandlerSocketError as refused:
                error = more_telling(error, refused)
            else:
                if core.wanted("stream") not in (meant, server):
                    opened.close()
                    return None, None
                with self._lock:
                    self._made += 1
                core.saw("connected", "stream", place)
                core.stream_reached(server)
                return _Stream(opened, server, place, core.options), None
        return None, error or core.no_port(None)

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
    opened: socket.socket, unsent: memoryview, deadline: Deadline, iteration: Iteration
) -> tuple[memoryview, bytes]:
    """Sends what is to be sent, and gives the next bytes that come."""
    while True:
        try:
            if unsent:
                sent = opened.send(unsent)
                iteration.has_sent(sent)
                unsent = unsent[sent:]
                continue
        except WOULD_BLOCK:
            pass
        try:
            data = opened.recv(_CHUNK)
            iteration.has_received(len(data))
            return unsent, data
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
