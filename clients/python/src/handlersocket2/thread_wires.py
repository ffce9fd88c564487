"""What threads share below the synchronous client: a call, and a socket below a channel."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from time import monotonic
from typing import Any, Generic, TypeVar, cast

from .asks import Ask
from .awake import LONGEST_LOOK, Awake
from .calls import Call as CoreCall
from .calls import Opening, Tries
from .channel import Channel
from .core import Core
from .errors import HandlerSocketError
from .grouped import Openings
from .links import Link, Wire
from .sockets import WOULD_BLOCK, shut_down

T = TypeVar("T")

CHUNK = 64 * 1024


class Call(Generic[T]):
    """A request of a thread, and how that thread is woken."""

    __slots__ = (
        "bytes_in",
        "deadline",
        "error",
        "gate",
        "is_done",
        "line",
        "link",
        "opening",
        "operation",
        "parked",
        "reads",
        "result",
        "sent",
        "torn",
        "tries",
        "wire",
        "writes",
    )

    tries: Tries  # has a slot, and a value when it is first needed

    def __init__(self, ask: Ask[T], deadline: float) -> None:
        self.operation = ask.operation
        self.line = ask.line
        self.deadline = deadline
        self.sent = False
        self.bytes_in = 0
        self.opening: Opening | Openings | None = None
        self.link: Link | None = None
        self.wire: ThreadWire | None = None  # on which it has a slot
        self.is_done = False
        self.result: T | None = None
        self.error: BaseException | None = None
        self.parked = False
        self.gate: threading.Lock | None = None  # made when it has to sleep
        # What its thread does at the moment.
        self.reads: ThreadWire | None = None
        self.writes: ThreadWire | None = None
        self.torn: ThreadWire | None = None  # this wire is of no use if the thread leaves now

    def done(self) -> bool:
        return self.is_done

    def set_result(self, result: T) -> None:
        self.result = result
        self.is_done = True
        self.wake()

    def set_exception(self, error: BaseException) -> None:
        self.error = error
        self.is_done = True
        self.wake()

    def wake(self) -> None:
        if self.parked:
            self.parked = False
            assert self.gate is not None
            self.gate.release()

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return cast(T, self.result)


class _Channel(Channel):
    """Tells its calls on which wire they are."""

    wire: ThreadWire
    half_added = False  # a thread is in the middle of add(), or was interrupted there

    def add(self, call: CoreCall, now: float) -> bool:
        self.half_added = True
        added = super().add(call, now)
        if added:
            cast("Call[Any]", call).wire = self.wire
        self.half_added = False
        return added

    def left_over(self, error: HandlerSocketError) -> list[CoreCall]:
        left = super().left_over(error)
        for call in left:
            cast("Call[Any]", call).wire = None
        return left


class ThreadWire(Wire):
    """A socket that does not block, and who uses it at the moment."""

    def __init__(self, core: Core, opened: socket.socket, server: int) -> None:
        self.server = server
        self.socket = opened
        self.writing = False
        self.reading = False
        self.closed = False
        self.deaf = False  # it takes nothing any more, but may have something to say
        self.unsent: memoryview = memoryview(b"")  # what was taken from the channel
        self._readable = select.poll()  # for whoever reads
        self._readable.register(opened, select.POLLIN)
        self._is_tls = isinstance(opened, ssl.SSLSocket)
        self._tls_turn = threading.Lock()  # one thread at a time may use what TLS has of it
        elsewhere = core.elsewhere if len(core.servers) > 1 else None
        channel = _Channel(
            core.options, monotonic(), elsewhere, core.no_room, core.counters, core.remembered
        )
        channel.wire = self
        self.channel: _Channel = channel
        self.awake = Awake(allowed=core.options.stay_awake)

    @property
    def has_output(self) -> bool:
        return not self.deaf and (bool(self.unsent) or self.channel.has_output)

    def callers(self) -> Iterator[CoreCall]:
        """Those who wait for something of this wire, also if it is only that an index is open."""
        for slot in self.channel.slots:
            for call in slot.callers if isinstance(slot, Opening) else (slot,):
                if not call.done():
                    yield call

    def wake_one(self) -> bool:
        """Wakes one of them who sleeps. Whether there is one."""
        for call in self.callers():
            if isinstance(call, Call) and call.parked:
                call.wake()
                return True
        return False

    def flush_soon(self) -> None:
        """Whoever has put something into the channel sends it, or wakes somebody."""

    def take_output(self) -> memoryview:
        return self.unsent or memoryview(self.channel.take_output())

    def send(self, data: memoryview) -> memoryview:
        """Gives back what could not be sent yet."""
        while data:
            try:
                if self._is_tls:
                    with self._tls_turn:
                        data = data[self.socket.send(data[:CHUNK]) :]
                else:
                    data = data[self.socket.send(data) :]
            except WOULD_BLOCK:
                break
        return data

    def receive(self) -> bytes | None:
        """What has come, b"" at the end, None if nothing has come."""
        try:
            if self._is_tls:
                with self._tls_turn:
                    return self.socket.recv(CHUNK)
            return self.socket.recv(CHUNK)
        except WOULD_BLOCK:
            return None

    def wait(self, seconds: float | None, events: int) -> bool:
        """Waits for one of the events; whether there is something to read."""
        if self._is_tls:
            with self._tls_turn:
                if cast(ssl.SSLSocket, self.socket).pending():
                    return True
        poll = self._readable
        if events != select.POLLIN:
            poll = select.poll()
            poll.register(self.socket, events)
        ready = poll.poll(None if seconds is None else seconds * 1000)
        return bool(ready) and bool(ready[0][1] & ~select.POLLOUT)

    def look(self) -> bool:
        """Looks for the reply to the only request, for a moment; whether something has come."""
        end = monotonic() + LONGEST_LOOK
        while len(self.channel.slots) == 1:
            if self.wait(0, select.POLLIN):
                self.awake.found()
                return True
            if monotonic() >= end:
                self.awake.found_nothing()
                break
        return False

    def close(self) -> None:
        """Wakes who uses the socket. The last one of them closes it."""
        if not self.closed:
            self.closed = True
            shut_down(self.socket)
            self.close_if_unused()

    def close_if_unused(self) -> None:
        if self.closed and not self.reading and not self.writing:
            self.socket.close()
