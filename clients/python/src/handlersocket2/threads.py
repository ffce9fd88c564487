"""The I/O of the synchronous client: threads share its connections, and do it by themselves.

A caller puts its request into the buffer of a connection. Then it does what nobody else is doing:
it sends what has piled up, or it reads for all. If others do all of that, it sleeps until its reply
is there, or until it has to take over. A caller that is alone does everything by itself, so its
request goes from hand to hand nowhere. Only while connections are made there is a thread for that.
"""

from __future__ import annotations

import select
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar, cast

from .asks import Ask, Nothing, Operation
from .calls import NEVER, expire, fate_of
from .calls import Call as CoreCall
from .connecting import Connector
from .core import Core
from .decoders import opened
from .errors import (
    ClosedError,
    ConnectionLost,
    HandlerSocketError,
    RequestCancelled,
)
from .forks import renew_after_fork
from .iterations import Iterations
from .links import Link
from .ranges import UNSET
from .seen import Counters
from .sessions import Sessions
from .thread_wires import Call, ThreadWire
from .url import Target

T = TypeVar("T")

#: Why a connection is given up that a thread has left in the middle of something.
_INTERRUPTED = "a thread was interrupted"
#: Why it is given up if what is left to send does not go out at once.
_GIVEN_UP = "the callers gave up while their requests were sent"
#: Asks for nothing but a connection.
_CONNECT: Operation[None] = Operation("connect", None, opened, modifies=False)
#: How long a writer waits for room before it looks whether it has to read meanwhile, and who reads
#: while another one writes before it looks whether it has to write.
_WRITER_LOOKS = 0.05


class ThreadCore(Core):
    """The core, one thread at a time, and the threads that do its I/O."""

    def __init__(self, target: Target, *, once: bool = False) -> None:
        super().__init__(target)
        self.sessions = Sessions(target.options)
        self._connector = Connector(self, self.sessions)
        #: There is one connection only, and no other after it.
        self.once = once
        self._ended: HandlerSocketError | None = None
        self.lock = threading.RLock()  # one whose owner is known
        renew_after_fork(self)

    def run(self, ask: Ask[T], link: Link | None = None) -> T:
        """Sends one request, on this link or the one that fits, and waits for its reply."""
        call = Call(ask, self._deadline_of(ask, monotonic()))
        if isinstance(ask, Nothing):
            self.check()
            return cast(T, ask.result)
        began = monotonic()
        try:
            with self.lock:
                self._submit(link or self.link_for((ask,)), call, began)
            self._drive(call)
            self._has_ended(call, began)
        except HandlerSocketError:  # it was refused, before anything was begun
            raise
        except BaseException:
            self._interrupted((call,))
            raise
        return call.outcome()

    def _has_ended(self, call: Call[Any], began: float) -> None:
        """What follows from a call beside its result."""
        if call.error is None and call.operation.name == "open_index" and call.line:
            # A connection that takes the place of this one opens the index again.
            with self.lock:
                self.remembered[call.line.split(b"\t", 2)[1]] = call.line
        if self.options.on_request is not None and call.link is not None:
            outcome = (call.result, call.error)
            self.saw_request(call.link, call, monotonic() - began, outcome)

    def run_all(self, asks: Sequence[Ask[Any]]) -> list[Call[Any]]:
        """All of a pipeline: neighbours on one connection."""
        now = monotonic()
        calls = [Call(ask, self._deadline_of(ask, now)) for ask in asks]
        try:
            with self.lock:
                self.check()
                link = self.link_for(asks)
                for ask, call in zip(asks, calls, strict=True):
                    if isinstance(ask, Nothing):
                        call.set_result(ask.result)
                    else:
                        self._submit(link, call, now)
            for call in calls:
                if not call.is_done:
                    self._drive(call)
                self._has_ended(call, now)
        except HandlerSocketError:  # it was refused, before anything was begun
            raise
        except BaseException:
            self._interrupted(calls)
            raise
        return calls

    def connect(self) -> None:
        """Makes the connections that are missing."""
        # The time of a connection that is the only one is that of its attempt.
        ask = Ask(_CONNECT, b"", timeout=None if self.once else UNSET)
        for link in self.links:
            if self.places(link.route):
                self.run(ask, link)

    def counted(self) -> Counters:
        with self.lock:
            return super().counted()

    def check(self) -> None:
        if self.is_shutting_down:
            raise ClosedError("the client is closed")
        if self._ended is not None:
            raise type(self._ended)(*self._ended.args, sent=False)

    @property
    def has_ended(self) -> bool:
        return self.is_closed or self._ended is not None

    def end(self) -> None:
        """Ends at once, in every state."""
        with self.lock:
            self.close()
        self._connector.close()

    def shut_down(self, seconds: float | None, iterations: Iterations) -> None:
        """Takes no new calls, waits for the replies that are owed, at most so long, and closes."""
        end = NEVER if seconds is None else monotonic() + seconds
        with self.lock:
            self.is_shutting_down = True
        nap = threading.Event()
        while monotonic() < end:
            with self.lock:
                if self.is_closed or not (self._owes or iterations.go_on):
                    break
            nap.wait(0.005)
        self.end()

    @property
    def _owes(self) -> bool:
        """Whether somebody waits for a reply. Nobody reads one for which all have given up."""
        return any(
            isinstance(call, Call) and not call.is_done
            for link in self.links
            for calls in (link.waiting, *(wire.channel.slots for wire in link.wires()))
            for call in calls
        )

    def after_fork(self) -> None:
        """In the child it is a new client. The parent goes on with the sockets."""
        self.lock = threading.RLock()
        self._connector.after_fork()
        for link in self.links:
            for wire in link.wires():
                cast(ThreadWire, wire).socket.close()  # only this process's copy
            link.forget()
        if self.once and self._ended is None:
            self._ended = ConnectionLost(
                "the connection belongs to another process, which has forked this one"
            )

    def stream_reached(self, server: int) -> None:
        with self.lock:
            self.reached("stream", server)

    def stream_left(self, server: int) -> None:
        with self.lock:
            self.left("stream", server)

    # What the core wants.

    def wants_connection(self, link: Link) -> None:
        if not link.connecting and not self.has_ended:
            self._connector.begin(link)

    def send_again(self, link: Link, call: CoreCall) -> None:
        cast("Call[Any]", call).wire = None
        super().send_again(link, call)
        cast("Call[Any]", call).wake()  # its thread sends it, if it sleeps

    # How a thread gets its reply. The lock is held, but for where it says otherwise. There are no
    # finally clauses, which an interrupt could end, too: a call says what its thread does at the
    # moment, and _interrupted() tidies up.

    def _deadline_of(self, ask: Ask[Any], now: float) -> float:
        timeout = self.options.timeout if ask.timeout is UNSET else ask.timeout
        return NEVER if timeout is None else now + cast(float, timeout)

    def _submit(self, link: Link, call: Call[Any], now: float) -> None:
        self.check()
        call.link = link
        if now >= call.deadline:
            expire(call)
            return
        wire = cast("ThreadWire | None", link.wire)
        if wire is not None and not wire.channel.slots:
            self._look(link, wire, now)
            self.check()
        link.submit(call, now)

    def _interrupted(self, calls: Sequence[Call[Any]]) -> None:
        """A thread leaves in the middle of something, at Ctrl-C for example. Gives its calls up and
        ends what it has left half done, so that others can go on. It may have the lock or not."""
        with suppress(RuntimeError):
            while True:
                self.lock.release()
        with self.lock:
            now = monotonic()
            for call in calls:
                call.parked = False
                if call.reads is not None:
                    call.reads.reading = False
                    call.reads.close_if_unused()
                if call.writes is not None:
                    call.writes.writing = False
                    call.writes.close_if_unused()
                if not call.is_done:
                    call.set_exception(RequestCancelled("given up", **fate_of(call)))
            for torn in {call.torn for call in calls}:
                if torn is not None:
                    self._lose_matched(torn)
            for link in self.links:
                for wire in cast("list[ThreadWire]", link.wires()):
                    if wire.channel.half_added or any(wire is call.torn for call in calls):
                        self._lose(link, wire, ConnectionLost(_INTERRUPTED), now, by_caller=True)
                # One may have got a slot, and not have left the queue.
                waits = (each for each in link.waiting if cast("Call[Any]", each).wire is None)
                link.waiting = deque(dict.fromkeys(waits))
                self._connector.after_interrupt(link)
                link.drain(now)
                if calls:
                    self._pass_on(link, calls[0])

    def _lose_matched(self, wire: ThreadWire) -> None:
        """The call whose reply was being read is in no queue, unless it went to another server."""
        call = wire.channel.matched
        if not isinstance(call, Call) or call.is_done or call.wire not in (None, wire):
            return
        if not any(call in link.waiting for link in self.links):
            call.set_exception(ConnectionLost(_INTERRUPTED, sent=True))

    def _look(self, link: Link, wire: ThreadWire, now: float) -> None:
        """Whether a connection that was idle is still there, and silent."""
        if wire.reading or not wire.wait(0, select.POLLIN):
            return
        try:
            data = wire.receive()
        except OSError:
            data = b""
        if data is None:  # what has come belongs to TLS, a ticket for example
            return
        if data:
            wire.channel.received(data, now)
            if wire.channel.broken is None:
                return
        error = wire.channel.broken or ConnectionLost("the server closed the connection")
        self._lose(link, wire, ConnectionLost(*error.args), now)

    def _lose(
        self,
        link: Link,
        wire: ThreadWire,
        error: ConnectionLost,
        now: float,
        *,
        by_caller: bool = False,
    ) -> None:
        if self.once and self._ended is None:
            self._ended = wire.channel.broken or error
        link.lost(wire, error, now, by_caller=by_caller)
        if self.once:
            for call in link.waiting:
                if not call.done():
                    call.set_exception(type(error)(*error.args, sent=False))
            link.waiting.clear()

    def _drive(self, call: Call[Any]) -> None:
        """Does what is to be done until the call is. The lock is not held."""
        link = call.link
        assert link is not None
        used: ThreadWire | None = None
        self.lock.acquire()
        while not call.is_done:
            now = monotonic()
            if now >= call.deadline:
                expire(call)
                break
            wire = call.wire or cast("ThreadWire | None", link.wire)
            if used is not None and used is not wire:
                # The call has gone from there: others go on with what it did for them.
                used = None
                self._pass_on(link, call)
            elif wire is None or wire.closed:
                self._park(call, call.deadline)
            elif wire.has_output and not wire.writing:
                used = wire
                self._write(call, link, wire)
            elif not wire.reading:
                used = wire
                self._read(call, link, wire)
            else:
                self._park(call, call.deadline)
        self._pass_on(link, call)
        self.lock.release()

    def _pass_on(self, link: Link, call: Call[Any]) -> None:
        """Who leaves wakes those who can go on, if something is left to be done."""
        for wire in cast("list[ThreadWire]", link.wires()):
            if self._is_woken_for(link, wire, call) and wire is link.wire:
                return
        if link.wire is not None and not cast(ThreadWire, link.wire).reading:
            # Nobody there waits for a reply, but somebody for room, which a reply would make.
            for waiting in link.waiting:
                if cast("Call[Any]", waiting).parked:
                    cast("Call[Any]", waiting).wake()
                    return

    def _is_woken_for(self, link: Link, wire: ThreadWire, leaver: Call[Any]) -> bool:
        """Wakes one who sleeps, if something is left to be done on this wire. Whether it has."""
        while not wire.reading or (wire.has_output and not wire.writing):
            if wire.wake_one():
                return True
            if not wire.reading:
                self._send_the_rest(link, wire)
                break
            # Nobody sleeps. Who reads has put something there meanwhile, and does not see it.
            self._write(leaver, link, wire)
            if wire.unsent:
                break  # who reads looks again soon
        return False

    def _send_the_rest(self, link: Link, wire: ThreadWire) -> None:
        """Sends what those have left who have given up, if nobody else is there. A later caller
        would send it otherwise, and it would be executed then."""
        waiting = link.waiting if wire is link.wire else ()
        if wire.writing or any(wire.callers()) or any(not call.done() for call in waiting):
            return
        while wire.has_output:
            try:
                wire.unsent = wire.send(wire.take_output())
            except OSError:
                wire.deaf = True  # whoever reads finds the end
            if wire.unsent:
                self._lose(link, wire, ConnectionLost(_GIVEN_UP), monotonic(), by_caller=True)
                return

    def _park(self, call: Call[Any], until: float) -> None:
        """Sleeps until it is woken, or until then. Lets others in meanwhile."""
        gate = call.gate
        if gate is None:
            gate = call.gate = threading.Lock()
            gate.acquire()
        call.parked = True
        self.lock.release()
        woken = gate.acquire(timeout=_timeout(until))
        self.lock.acquire()
        if call.parked:
            call.parked = False
        elif not woken:
            gate.acquire()  # it was given while the time ran out

    def _write(self, call: Call[Any], link: Link, wire: ThreadWire) -> None:
        call.writes = call.torn = wire
        wire.writing = True
        data = wire.take_output()
        reads = not wire.reading
        self.lock.release()
        try:
            data = wire.send(data)
            if data and not reads:
                wire.wait(_WRITER_LOOKS, select.POLLOUT)
        except OSError:
            wire.deaf = True  # whoever reads finds the end
        self.lock.acquire()
        wire.writing = False
        wire.unsent = data
        wire.close_if_unused()
        call.writes = call.torn = None
        if data and reads and not wire.closed:
            self._wait_for_both(call, link, wire)

    def _wait_for_both(self, call: Call[Any], link: Link, wire: ThreadWire) -> None:
        """There is no room to send, and nobody reads: both sides would wait for each other."""
        if not wire.reading:
            self._receive(call, link, wire, _WRITER_LOOKS, select.POLLIN | select.POLLOUT)

    def _read(self, call: Call[Any], link: Link, wire: ThreadWire) -> None:
        until = min(call.deadline, wire.channel.dead_at)
        if wire.writing:
            # Who writes may leave before all of it is sent. Then somebody has to go on with it.
            until = min(until, monotonic() + _WRITER_LOOKS)
        self._receive(call, link, wire, _timeout(until, none=True), select.POLLIN)
        now = monotonic()
        if not wire.closed and now >= wire.channel.dead_at:
            self._lose(link, wire, wire.channel.dead(), now)

    def _receive(
        self,
        call: Call[Any],
        link: Link,
        wire: ThreadWire,
        seconds: float | None,
        events: int,
    ) -> None:
        call.reads = wire
        wire.reading = True
        looks = wire.awake.begins(len(wire.channel.slots))
        data: bytes | None = None
        failed: OSError | None = None
        self.lock.release()
        try:
            if (looks and wire.look()) or wire.wait(seconds, events):
                call.torn = wire  # what is read and not given out would be gone
                data = wire.receive()
        except OSError as error:
            failed = error
            data = b""
        self.lock.acquire()
        wire.reading = False
        wire.close_if_unused()
        call.reads = None
        if data is not None and not wire.closed:
            self._take(link, wire, data, failed)
        call.torn = None

    def _take(self, link: Link, wire: ThreadWire, data: bytes, failed: OSError | None) -> None:
        now = monotonic()
        if not data:
            self._lose(link, wire, _lost(failed), now)
            return
        in_flight = len(wire.channel.slots)
        wire.channel.received(data, now)
        wire.awake.came(in_flight, len(wire.channel.slots))
        if wire.channel.broken is not None and self.once:
            self._lose(link, wire, ConnectionLost(*wire.channel.broken.args), now)
        else:
            link.replied(wire, now)


def _lost(error: OSError | None) -> ConnectionLost:
    if error is None:
        return ConnectionLost("the server closed the connection")
    return ConnectionLost(str(error) or type(error).__name__)


def _timeout(until: float, *, none: bool = False) -> Any:
    """The seconds until then, as a lock or a deadline takes them: -1 or None are for ever."""
    if until == NEVER:
        return None if none else -1
    return max(0.0, until - monotonic())
