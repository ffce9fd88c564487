"""The connections of a route: what waits for one, how attempts have gone, and what becomes of the
calls of one that is lost.

It does no I/O. The owner lets one thread at a time in.
"""

from __future__ import annotations

import random
from collections import deque
from typing import TYPE_CHECKING

from .address import Place
from .calls import Call, closed, expire, is_sent, tries_of
from .channel import Channel
from .errors import (
    AuthenticationError,
    BusyError,
    ConnectError,
    ConnectionLost,
    HandlerSocketError,
    ProtocolError,
)
from .options import Options

if TYPE_CHECKING:
    from .core import Core

#: Why a connection is closed that was not lost.
CLIENT_CLOSED = "the client is closed"
MOVED = "requests go to another server now"
FULL = "the connection can open no more indexes"


class Wire:
    """The socket below a channel, as a face has it."""

    channel: Channel
    #: The number of the server to which it goes.
    server: int
    #: Whether what is in the channel will be sent without a word.
    scheduled = False

    def flush_soon(self) -> None:
        """There is something to send."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the connection at once."""
        raise NotImplementedError


class Link:
    """One of the connections of a route: it, what waits for it, and how attempts have gone."""

    def __init__(self, core: Core, route: str) -> None:
        self.core = core
        self.route = route
        self.wire: Wire | None = None
        #: Wires that are left, each with the reason. They still answer what was sent.
        self.retiring: dict[Wire, str] = {}
        self.waiting: deque[Call] = deque()
        self.connecting = False
        self.not_before = 0.0
        self._failures = 0
        self._meant = 0  # the server that was current when the attempt began

    @property
    def load(self) -> int:
        return len(self.waiting) + (len(self.wire.channel.slots) if self.wire else 0)

    def submit(self, call: Call, now: float) -> None:
        """Sends it, or lets it wait: for a connection, or for room."""
        wire = self.wire
        if wire is not None and not self.waiting and wire.channel.add(call, now):
            wire.flush_soon()
            return
        if wire is not None and self.core.options.when_full == "fail":
            call.set_exception(BusyError("as much is in flight as the client allows"))
            return
        self.waiting.append(call)
        if wire is None:
            self.core.wants_connection(self)

    def places(self) -> list[tuple[int, Place]]:
        """The servers for an attempt that begins now, with their numbers, in order."""
        self._meant = self.core.wanted(self.route)
        return self.core.places(self.route)

    def connected(self, wire: Wire, now: float) -> bool:
        """A connection was made, and the log-in was answered. False if its server was left
        meanwhile, so that another attempt has to be made."""
        self.connecting = False
        if self.core.wanted(self.route) not in (self._meant, wire.server):
            wire.close()
            return False
        self.wire = wire
        self.core.counters.connected += 1
        self.core.saw("connected", self.route, self.core.place_of(self, wire))
        self.core.reached(self.route, wire.server)
        self.drain(now)
        return True

    def drain(self, now: float) -> None:
        """What waits goes as far as there is room."""
        wire = self.wire
        if wire is None or not self.waiting:
            return
        added = False
        while self.waiting:
            call = self.waiting[0]
            if call.done():
                self.waiting.popleft()
            elif wire.channel.add(call, now):
                self.waiting.popleft()
                added = True
            else:
                break
        if added:
            wire.flush_soon()

    def attempt_failed(self, error: HandlerSocketError, now: float) -> None:
        """All addresses were tried. Some errors would come again, and end all calls that wait."""
        self.connecting = False
        self._failed(now)
        self.core.saw("failed", self.route, None, str(error), max(0.0, self.not_before - now))
        last = is_final(error)
        kept: deque[Call] = deque()
        for call in self.waiting:
            if call.done():
                continue
            tries = tries_of(call)
            tries.connected += 1
            if last or tries.connected >= self.core.options.connect_attempts:
                call.set_exception(of_attempt(error))
            else:
                kept.append(call)
        self.waiting = kept

    def lost(
        self, wire: Wire, error: ConnectionLost, now: float, *, by_caller: bool = False
    ) -> None:
        """The wire can be used no more. Nothing that modifies and was sent is sent again.

        A caller may have torn it, for which the server can do nothing.
        """
        if wire is self.wire:
            self.wire = None
        else:
            self.retiring.pop(wire, None)
        wire.close()
        channel = wire.channel
        owes = bool(channel.slots) or channel.broken is not None
        if owes:
            self.core.counters.lost += 1
            self.core.saw("lost", self.route, self.core.place_of(self, wire), str(error))
        else:
            self._saw_closed(wire, str(error))
        again: list[Call] = []
        for call in channel.left_over(error):
            tries = tries_of(call)
            if not is_sent(call):
                again.append(call)
            elif tries.repeated < self.core.options.retry_reads:
                tries.repeated += 1
                call.sent = False
                again.append(call)
            else:
                call.set_exception(type(error)(*error.args, sent=True))
        if channel.proved:
            self._failures = 0
        else:
            self._failed(now)
            if owes and not by_caller:  # its server may be frozen
                self.core.left(self.route, wire.server)
        self.waiting.extendleft(reversed(again))
        if self.waiting and self.wire is None:
            self.core.wants_connection(self)
        else:  # it was one that answers only what was sent
            self.drain(now)

    def leave(self, reason: str) -> None:
        """The wire answers what was sent, and takes nothing new. A reply may be its end."""
        wire = self.wire
        if wire is None:
            return
        self.wire = None
        self.retiring[wire] = reason
        if self.waiting:
            self.core.wants_connection(self)

    def retire(self, reason: str) -> None:
        """The same. If nothing is owed, it ends at once."""
        wire = self.wire
        self.leave(reason)
        if wire is not None and not wire.channel.slots:
            self._close(wire, self.retiring.pop(wire))

    def replied(self, wire: Wire, now: float) -> None:
        """Something has come on a wire: looks at what follows from it."""
        channel = wire.channel
        if channel.broken is not None:
            self.lost(wire, ConnectionLost(f"the connection was given up: {channel.broken}"), now)
        elif wire is not self.wire:
            if wire in self.retiring and not channel.slots:
                self._close(wire, self.retiring.pop(wire))
            if self.waiting:  # what this server has sent to the other one
                self.drain(now)
        else:
            if channel.proved:
                self._failures = 0
            if self.waiting:
                self.drain(now)

    def sweep(self, now: float) -> None:
        """Frees callers whose time is over, and ends connections that are dead."""
        for call in self.waiting:
            if call.deadline <= now and not call.done():
                expire(call)
                self.core.given_up_waiting += 1
        if any(call.done() for call in self.waiting):
            self.waiting = deque(call for call in self.waiting if not call.done())
        for wire in self.wires():
            wire.channel.sweep(now)
            if now >= wire.channel.dead_at:
                self.lost(wire, wire.channel.dead(), now)

    def wires(self) -> list[Wire]:
        return [*self.retiring, *([self.wire] if self.wire else [])]

    @property
    def busy(self) -> bool:
        """Whether something waits, or is owed a reply."""
        return bool(self.waiting) or any(wire.channel.slots for wire in self.wires())

    def close(self) -> None:
        for call in self.waiting:
            if not call.done():
                closed(call)
        self.waiting.clear()
        for wire in self.wires():
            wire.channel.call_back()
            for call in wire.channel.slots:
                if not call.done():
                    closed(call)
            wire.channel.slots.clear()
            self._close(wire, CLIENT_CLOSED)
        self.wire = None
        self.retiring.clear()

    def forget(self) -> None:
        """In a forked child: all of it belongs to the parent."""
        self.wire = None
        self.retiring.clear()
        self.waiting.clear()
        self.connecting = False
        self._failures = 0
        self.not_before = 0.0

    def _close(self, wire: Wire, reason: str) -> None:
        wire.close()
        self._saw_closed(wire, reason)

    def _saw_closed(self, wire: Wire, reason: str) -> None:
        self.core.saw("closed", self.route, self.core.place_of(self, wire), reason)

    def _failed(self, now: float) -> None:
        self._failures += 1
        self.not_before = now + delay_after(self._failures, self.core.options)


def delay_after(failures: int, options: Options) -> float:
    """The seconds between the last of so many attempts that have failed, and the next one."""
    most = min(options.backoff_max, options.backoff_min * 2.0 ** min(failures - 1, 60))
    return random.uniform(0, most)


def is_final(error: HandlerSocketError) -> bool:
    """Whether a second attempt would end in the same way."""
    return isinstance(error, (AuthenticationError, ProtocolError)) or (
        isinstance(error, ConnectError) and error.final
    )


def more_telling(
    before: HandlerSocketError | None, error: HandlerSocketError
) -> HandlerSocketError:
    """Of the errors of several servers that of the attempt: the first that would come again."""
    return before if before is not None and is_final(before) else error


def of_attempt(error: HandlerSocketError) -> HandlerSocketError:
    """An error of an attempt for one of the calls that have waited: nothing of it was sent."""
    made = type(error)(*error.args, sent=False)
    made.__cause__ = error.__cause__  # what the caller's own function for a password has raised
    return made
