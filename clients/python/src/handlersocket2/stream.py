"""A large result row by row: the reply to one find, decoded while it arrives. Without the I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from .asks import Ask, Spec
from .codec import Cell, decode_value, quoted
from .decoders import opened, options_on, refuse
from .errors import (
    ClosedError,
    ConnectionLost,
    DecodeError,
    HandlerSocketError,
    ProtocolError,
    ReplyError,
)
from .greeting import sql_greeting
from .iterations import Iteration
from .links import CLIENT_CLOSED, FULL, MOVED
from .options import Options
from .rows import RowReader
from .seen import Counters
from .setup import hello_line

R = TypeVar("R")

#: What reads the replies that come before the rows.
Ahead: TypeAlias = Sequence[Callable[[bytes], object]]


class Ending(NamedTuple):
    """Why a connection for iterating ends, and what that is for who listens."""

    what: Literal["lost", "closed"]
    reason: str


#: Of connections that are kept, or that nobody needs.
SERVER_CLOSED = Ending("closed", "the server closed the connection")
UNASKED = Ending("lost", "the connection was given up: bytes that nobody has asked for")
CLOSED = Ending("closed", CLIENT_CLOSED)
SURPLUS = Ending("closed", "another connection is kept")
ELSEWHERE = Ending("closed", MOVED)
NO_ROOM = Ending("closed", FULL)
_NOT_OPENED = Ending("closed", "an index could not be opened")


def ending_of(error: BaseException, rows: RowStream[Any] | None) -> Ending | None:
    """Of a connection whose iteration ended with this before all rows were given.

    None if it is as good as before, because the whole reply was an error, or had come already.
    """
    if isinstance(error, GeneratorExit) and rows is not None and rows.done and not rows.failure:
        return None
    if isinstance(error, ConnectionLost):
        return Ending("lost", str(error))
    if isinstance(error, ProtocolError):
        return Ending("lost", f"the connection was given up: {error}")
    if isinstance(error, ClosedError):
        return CLOSED
    if isinstance(error, ReplyError) and rows is not None:
        return rows.when_refused
    return Ending("closed", "the iteration ended before its reply")


def leaves_full(error: BaseException, stream: StreamIndexes, iteration: Iteration) -> bool:
    """Whether an iteration begins anew, once, because its connection can open no more indexes."""
    refused = isinstance(error, ReplyError) and error.text == "stmtnum"
    if not refused or not stream.has_others:
        return False
    first, iteration.found_full = not iteration.found_full, True
    return first


def is_silent(error: BaseException, rows: RowStream[Any] | None) -> bool:
    """Whether a connection was lost that has answered nothing: its server may be frozen."""
    lost = isinstance(error, (ConnectionLost, ProtocolError))
    return lost and rows is not None and not rows.answered


class StreamIndexes:
    """The indexes that are open on a connection for streams."""

    def __init__(self, options: Options) -> None:
        self._most = options.max_reply_bytes
        self._first = True  # nothing was asked on this connection yet
        self._numbers: dict[Spec, bytes] = {}
        self._hello = hello_line(options) if options.texts else b""

    def begin(self, iteration: Iteration, reader: RowReader[R]) -> tuple[bytes, RowStream[R]]:
        """What to send, and what reads the replies."""
        spec = iteration.ask.operation.spec
        assert spec is not None
        lines, ahead = self._lines(iteration.ask, spec)
        iteration.counters.requests += 1 + len(ahead)
        rows = RowStream(
            spec,
            reader,
            self._most,
            ahead=ahead,
            first=self._first,
            counters=iteration.counters,
        )
        self._first = False
        return lines, rows

    @property
    def has_others(self) -> bool:
        """Whether an index is open beside the last one. One that cannot be opened ends all."""
        return len(self._numbers) > 1

    def _lines(self, ask: Ask[Any], spec: Spec) -> tuple[bytes, Ahead]:
        """What to send, and what reads the replies that come before that to the request."""
        begin, ahead = b"", list[Callable[[bytes], object]]()
        if self._hello:
            begin, self._hello = self._hello, b""
            ahead.append(options_on)
        number = self._numbers.get(spec)
        if number is None:
            number = self._numbers[spec] = b"%d" % (len(self._numbers) + 1)
            begin += b"P\t" + number + spec.line
            ahead.append(opened)
        return begin + ask.operation.before + number + ask.line, ahead


class RowStream(Generic[R]):
    """Takes bytes as they come, and gives the rows that are whole."""

    def __init__(
        self,
        spec: Spec,
        reader: RowReader[R],
        most: int,
        *,
        ahead: Ahead,
        first: bool,
        counters: Counters,
    ) -> None:
        self.done = False
        #: Whether its connection has answered a request. One that has not is not kept for others.
        self.answered = not first
        #: What stands behind the rows that were given last.
        self.failure: HandlerSocketError | None = None
        #: What becomes of the connection behind a ReplyError.
        self.when_refused: Ending | None = _NOT_OPENED
        self._counters = counters
        self._spec = spec
        self._width = len(spec.columns)
        self._reader = reader
        self._most = most
        self._ahead = list(ahead)
        self._first = first  # nothing has come on this connection yet
        self._head = b""  # of the reply, until it is known to be rows
        self._in_rows = False
        self._token: list[bytes] = []  # pieces of a value whose end has not come
        self._row: list[Cell] = []
        self._held = 0

    def feed(self, data: bytes) -> list[R]:
        """Raises ReplyError, and `when_refused` says what that means for the connection.

        Or ProtocolError; then it cannot be used any more.
        """
        if not self._in_rows:
            data = self._begin(data)
            if not self._in_rows:
                return []
        if self.done:
            return self._nothing_more(data)
        line, end, surplus = data.partition(b"\n")
        rows: list[R] = []
        try:
            self._take_all(line.split(b"\t"), bool(end), rows)
            if end:
                self._nothing_more(surplus)
        except HandlerSocketError as error:
            self._counters.errors += isinstance(error, DecodeError)
            if not rows:
                raise
            self.failure = error
        return rows

    def _take_all(self, pieces: list[bytes], ended: bool, rows: list[R]) -> None:
        *whole, last = pieces
        for piece in whole:
            self._take(piece, rows)
        if not ended:
            self._token.append(last)
            self._hold(len(last))
            return
        self._take(last, rows)
        if self._row:
            raise ProtocolError("a reply ends in the middle of a row", sent=True)
        self.done = True
        self._counters.replies += 1

    def _begin(self, data: bytes) -> bytes:
        """Reads what stands before the rows; gives back what follows it."""
        data = self._head + data
        self._head = b""
        if self._first and (words := sql_greeting(data)):
            raise ProtocolError(words, sent=True)
        while self._ahead:
            line, end, rest = data.partition(b"\n")
            if not end:
                return self._wait_with(data)
            self._answered(self._ahead.pop(0), line)
            data = rest
        self._first = False
        begin = b"0\t%d\t" % self._width
        if data.startswith(begin):
            self._in_rows = self.answered = True
            return data[len(begin) :]
        line, end, rest = data.partition(b"\n")
        if not end:
            if data.startswith(b"0\t") and len(data) >= len(begin):
                raise ProtocolError(f"a reply of {self._width} columns was expected", sent=True)
            return self._wait_with(data)
        self.answered = True
        self.when_refused = UNASKED if rest else None
        self._answered(self._no_rows, line)
        self._in_rows = self.done = True
        return rest

    def _no_rows(self, line: bytes) -> None:
        if line != b"0\t%d" % self._width:
            refuse(line, f"a reply of {self._width} columns")

    def _answered(self, read: Callable[[bytes], object], line: bytes) -> None:
        self._counters.replies += 1
        try:
            read(line)
        except ReplyError as error:
            error.where = self._spec.shown(error.text)
            self._counters.errors += 1
            raise

    def _wait_with(self, data: bytes) -> bytes:
        self._head = data
        if len(data) > self._most:
            raise ProtocolError(f"a reply is longer than {self._most} bytes", sent=True)
        return b""

    def _take(self, piece: bytes, rows: list[R]) -> None:
        """The end of a value, and perhaps of a row."""
        if self._token:
            self._token.append(piece)
            piece = b"".join(self._token)
            self._token.clear()
        self._row.append(decode_value(piece))
        if len(self._row) == self._width:
            rows.append(self._reader.row(self._row))
            self._row = []
            self._held = 0
        else:
            self._hold(len(piece))

    def _hold(self, size: int) -> None:
        self._held += size
        if self._held > self._most:
            raise ProtocolError(f"a row is longer than {self._most} bytes", sent=True)

    def _nothing_more(self, surplus: bytes) -> list[R]:
        if surplus:
            raise ProtocolError(f"bytes that nobody has asked for: {quoted(surplus)}", sent=True)
        return []
