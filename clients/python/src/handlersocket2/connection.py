"""The middle layer: one socket. Sends requests, reads replies in order, pipelines."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar, cast

from .address import Address, Place, parse_address
from .codec import RawReply, decode_line
from .deadline import Deadline, take_in_time
from .errors import ConnectionLost, HandlerSocketError, ProtocolError, ReplyError
from .forks import renew_after_fork
from .greeting import sql_greeting
from .requests import Request, result_of
from .sockets import WOULD_BLOCK, connect, shake_hands, wait_for

T = TypeVar("T")

_CHUNK = 256 * 1024


class Connection:
    """A connection to one port of the server: (host, port), "host:port" or a Unix socket's path.

    `timeout` bounds a whole call in seconds (None: it may take for ever): making the connection, a
    request, or a pipeline with all of its replies. `tls` is True for TLS with the authorities that
    this machine trusts, or a context of your own; host and certificate are verified unless that
    context says otherwise. Threads may share it: each request, and
    each pipeline as a whole, waits until the one before has its replies.
    After ConnectionLost or ProtocolError it is closed. It belongs to the process that made it: in a
    child that was forked it is closed.
    """

    def __init__(
        self,
        address: Address,
        *,
        timeout: float | None = 30.0,
        tls: ssl.SSLContext | bool = False,
        deadline: Deadline | None = None,
    ) -> None:
        self._timeout = timeout
        self._tls = ssl.create_default_context() if tls is True else tls or None
        self._received = bytearray()
        self._answered = False  # whether a reply has come yet
        self._searched = 0  # bytes of _received known to hold no LF
        self._turn = threading.Lock()  # held by who sends and is owed replies
        self._turn_of: int | None = None  # that thread
        self._end = "the connection is closed"  # why nothing can be sent any more
        self._socket = self._connect(parse_address(address), deadline or Deadline(timeout))
        renew_after_fork(self)

    def request(self, request: Request[T], deadline: Deadline | None = None) -> T:
        """Sends one request and returns its result, or raises what the server answered.

        A `deadline` is that of a call which does more than this; otherwise the time-out counts.
        """
        reply = next(self.exchange([request.encode()], deadline))
        try:
            return result_of(request, reply)
        except ProtocolError:
            self.close()
            raise

    def pipeline(self) -> Pipeline:
        """Collects requests, sends them together, and gives their results in order."""
        return Pipeline(self)

    def exchange(
        self, lines: Sequence[bytes], deadline: Deadline | None = None
    ) -> Iterator[RawReply]:
        """Sends whole lines and yields a reply for each, all of them within the time-out.

        Reads while it writes, so that no number of requests can block both sides.
        An iterator left early closes the connection: the replies would be out of step.
        """
        deadline = deadline or Deadline(self._timeout)
        turn = self._take_turn(deadline)
        unsent = memoryview(b"".join(lines))
        untouched = len(unsent)
        answered = 0
        try:
            while answered < len(lines):
                line = self._next_line()
                if line is None:
                    unsent = self._transfer(unsent, deadline, nothing_sent=len(unsent) == untouched)
                    continue
                reply = decode_line(line)
                self._answered = True
                answered += 1
                yield reply
        finally:
            if answered < len(lines):
                self.close()
            self._give_turn(turn)

    @property
    def usable(self) -> bool:
        """Whether a request can be sent: False once this side or the server has closed.

        The server closes a connection that was idle for too long. What it sends without having been
        asked cannot be a reply either.
        """
        if self.closed:
            return False
        turn = self._take_turn(Deadline(self._timeout))
        try:
            return not self._received and not self._readable()
        finally:
            self._give_turn(turn)

    @property
    def closed(self) -> bool:
        return self._socket.fileno() < 0

    def close(self) -> None:
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def after_fork(self) -> None:
        """The parent goes on with the socket. Here only its copy is closed."""
        self._socket.close()
        self._end = "the connection belongs to another process, which has forked this one"
        self._turn = threading.Lock()
        self._turn_of = None

    def _take_turn(self, deadline: Deadline) -> threading.Lock:
        turn = self._turn
        if not turn.acquire(blocking=False):
            if self._turn_of == threading.get_ident():
                raise RuntimeError("replies of this thread's exchange() are still to be read")
            take_in_time(turn, deadline)
        self._turn_of = threading.get_ident()
        return turn

    def _give_turn(self, turn: threading.Lock) -> None:
        """Another lock is in its place if the process was forked meanwhile."""
        if turn is self._turn:
            self._turn_of = None
        turn.release()

    def _readable(self) -> bool:
        try:
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            if not poll.poll(0):
                return False
            if isinstance(self._socket, ssl.SSLSocket):
                self._socket.recv(1)
            return True
        except WOULD_BLOCK:  # what has come belongs to TLS, a ticket for example
            return False
        except (OSError, ValueError):  # ValueError: closed by another thread
            return True

    def _connect(self, place: Place, deadline: Deadline) -> socket.socket:
        if self._tls is not None and not isinstance(place, tuple):
            raise ValueError("TLS needs a host and a port: a Unix socket has none")
        try:
            connected = connect(place, deadline)
            if self._tls is not None:
                assert isinstance(place, tuple)
                connected = shake_hands(connected, self._tls, place[0], deadline)
        except OSError as error:
            text = f"cannot connect to {place}: {error}"
            raise ConnectionLost(text, nothing_sent=True) from error
        return connected

    def _next_line(self) -> bytes | None:
        """Takes a whole line out of what was received, if there is one."""
        end = self._received.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._received)
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._searched = 0
        return line

    def _transfer(
        self, unsent: memoryview, deadline: Deadline, *, nothing_sent: bool
    ) -> memoryview:
        """Sends or receives something, whichever comes first; returns what is still unsent."""
        if self.closed:
            raise ConnectionLost(self._end, nothing_sent=nothing_sent)
        try:
            deadline.check()
            if unsent:
                try:
                    return unsent[self._socket.send(unsent) :]
                except WOULD_BLOCK:
                    pass
            if not wait_for(self._socket, deadline, for_writing=bool(unsent)):
                return unsent  # there is room to write again
            received = self._socket.recv(_CHUNK)
        except WOULD_BLOCK:
            return unsent
        except (OSError, ValueError) as error:  # ValueError: closed by another thread
            text = str(error) or type(error).__name__
            raise ConnectionLost(text, nothing_sent=nothing_sent) from error
        if not received:
            raise ConnectionLost("the server closed the connection", nothing_sent=nothing_sent)
        self._received += received
        if not self._answered and (words := sql_greeting(self._received)):
            raise ProtocolError(words)
        return unsent


class Pending(Generic[T]):
    """The result of a pipelined request, once the pipeline has run."""

    def __init__(self, request: Request[T] | None) -> None:
        self._request = request
        self._result: T | HandlerSocketError | None = None
        self._done = False

    def result(self) -> T:
        """The request's result; raises the error that the server answered instead."""
        if not self._done:
            raise RuntimeError("the pipeline has not run yet")
        if isinstance(self._result, HandlerSocketError):
            raise self._result
        return cast(T, self._result)

    def error(self) -> HandlerSocketError | None:
        """The error that result() would raise, if it would."""
        return self._result if isinstance(self._result, HandlerSocketError) else None

    def _settle(self, reply: RawReply) -> None:
        assert self._request is not None
        try:
            self._settle_as(result_of(self._request, reply))
        except (ReplyError, ProtocolError) as error:
            self._settle_as(error)

    def _settle_as(self, result: T | HandlerSocketError) -> None:
        self._result = result
        self._done = True

    def _settle_unless_done(self, error: HandlerSocketError) -> None:
        if not self._done:
            self._settle_as(error)

    def _outcome(self) -> T | HandlerSocketError:
        return self.error() or self.result()


class Pipeline:
    """Requests that travel together. Run at the end of a `with` block, or by run()."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: list[tuple[bytes, Pending[Any]]] = []
        self._settled: list[Pending[Any]] = []

    def send(self, request: Request[T]) -> Pending[T]:
        """Adds a request; its result is there after the pipeline has run."""
        pending = Pending(request)
        self._waiting.append((request.encode(), pending))
        return pending

    def run(self) -> None:
        """Sends what was added and waits for every reply. May be used again after it."""
        waiting, self._waiting = self._waiting, []
        self._settled += [pending for _, pending in waiting]
        replies = self._connection.exchange([line for line, _ in waiting])
        try:
            for (_, pending), reply in zip(waiting, replies, strict=True):
                pending._settle(reply)
        except ConnectionLost as error:
            for _, pending in waiting:
                pending._settle_unless_done(error)
            raise

    def results(self) -> list[Any]:
        """Every result so far in the order of the requests; an error stands as the exception."""
        return [pending._outcome() for pending in self._settled]

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.run()
