"""One connection without its socket: requests in order, bytes to send, replies matched to slots.

It does no I/O, knows no time but what it is told, and takes no lock: its owner hands it what has
come, takes from it what is to be sent, and lets one thread at a time in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from .codec import quoted
from .decoders import opened
from .errors import (
    ClosedError,
    ConnectionLost,
    DecodeError,
    HandlerSocketError,
    ProtocolError,
    ReplyError,
    RequestTimeout,
    reply_error,
)
from .greeting import ENOUGH, sql_greeting
from .operations import Operation, Spec
from .options import Options
from .seen import Counters

NEVER = float("inf")


class Call(Protocol):
    """A request on its way. Each face has its own: a future of asyncio, or what a thread waits for.

    Some attributes have no value yet; `is_sent()` and `opening_of()` know that.
    """

    operation: Operation[Any]
    #: What is sent, behind the number of its index. Without it, only that the index is open.
    line: bytes
    #: When the caller gives up.
    deadline: float
    #: Whether the server can have seen it, or will: it has a slot, so its bytes go out, even if
    #: nobody waits for the reply any more.
    sent: bool
    #: The opening behind which it was sent, if that had no reply yet.
    opening: Opening | None
    #: What has been tried so far for one that did not get through at once.
    tries: Tries

    def done(self) -> bool:
        """Whether it has its result or error, or nobody waits for it any more."""

    def set_result(self, result: Any) -> None:
        """Gives it its result. Only for a call that is not done."""

    def set_exception(self, error: HandlerSocketError) -> None:
        """Gives it its error. Only for a call that is not done."""


class Tries:
    """What has been tried for a call."""

    def __init__(self) -> None:
        #: Attempts to connect that have failed since it waits.
        self.connected = 0
        #: How often it was sent again, and how many servers have sent it elsewhere.
        self.repeated = 0
        self.referred = 0


def tries_of(call: Call) -> Tries:
    """Made when it is first needed: few calls do."""
    tries = getattr(call, "tries", None)
    if tries is None:
        tries = call.tries = Tries()
    return tries


def is_sent(call: Call) -> bool:
    return getattr(call, "sent", False)


def fate_of(call: Call) -> dict[str, bool]:
    """What the error of a call says that ends now: `sent`, in any try, and `maybe_executed`."""
    tries = getattr(call, "tries", None)
    sent = is_sent(call)
    before = tries is not None and bool(tries.repeated or tries.referred)
    return {"sent": sent or before, "maybe_executed": sent and call.operation.modifies}


def opening_of(call: Call) -> Opening | None:
    return getattr(call, "opening", None)


class Opening:
    """A `P`, in the place of a call. The client itself asks it, perhaps with callers who wait."""

    opening: Opening | None = None
    tries: Tries

    def __init__(self, line: bytes, answered: Callable[[Opening], None]) -> None:
        self.operation: Operation[Any] = _OPEN
        self.line = line
        self.sent = True
        self.error: HandlerSocketError | None = None
        #: Calls that want nothing but this.
        self.callers: list[Call] = []
        self._answered = answered

    @property
    def deadline(self) -> float:
        return min((call.deadline for call in self.callers if not call.done()), default=NEVER)

    @deadline.setter
    def deadline(self, _: float) -> None:
        raise AssertionError("an opening has the deadline of its callers")

    def done(self) -> bool:
        return False

    def set_result(self, result: Any) -> None:
        self._answered(self)
        for call in self.callers:
            if not call.done():
                call.set_result(None)

    def set_exception(self, error: HandlerSocketError) -> None:
        self.error = error
        self._answered(self)
        for call in self.callers:
            if not call.done():
                call.set_exception(error)


_OPEN: Operation[None] = Operation("open_index", None, opened, modifies=False)
#: What is asked when a reply says that a request is to go to another server; True if it goes there.
Elsewhere = Callable[["Channel", Call, ReplyError], bool]


class Channel:
    """The slots and the open indexes of one connection."""

    def __init__(
        self,
        options: Options,
        now: float,
        elsewhere: Elsewhere | None = None,
        counters: Counters | None = None,
        remembered: dict[bytes, bytes] | None = None,
    ) -> None:
        """`remembered` has the openings of callers who number their indexes by themselves."""
        self._counters = counters or Counters()
        self.slots: deque[Call] = deque()
        #: Why it can be used no more.
        self.broken: HandlerSocketError | None = None
        #: Whether a caller's request was ever answered.
        self.proved = False
        self.bytes_in_flight = 0
        self._most = options.max_in_flight
        self._most_bytes = options.max_in_flight_bytes
        self._most_of_reply = options.max_reply_bytes
        self._dead_after = NEVER if options.dead_after is None else options.dead_after
        self._elsewhere = elsewhere
        self._out: list[bytes] = []
        #: The calls whose bytes were not handed out yet.
        self.unsent: list[Call] = []
        self._begun: list[bytes] = []  # of a line whose end has not come
        self._begun_size = 0
        self._greeted = False
        self._prefixes: dict[
            Spec | None, bytes
        ] = {}  # of the indexes that are open or being opened
        self._numbers: dict[Spec, bytes] = {}
        self._openings: dict[Spec, Opening] = {}  # without a reply yet
        self._remembered = {} if remembered is None else remembered
        self._taken: set[bytes] = set()  # numbers that a caller has opened here by itself
        self._reopenings: dict[bytes, Opening] = {}  # of those, without a reply yet
        self._last = 0
        self._quiet_since = now
        self._next_deadline = NEVER

    def add(self, call: Call, now: float) -> bool:
        """Takes a slot, behind those before it, and opens its index in front of it.

        False if that is beyond the bounds. One that is larger than all of them may go alone.
        """
        slots = self.slots
        line = call.line
        if slots:
            if len(slots) >= self._most or self.bytes_in_flight + len(line) > self._most_bytes:
                return False
        else:
            self._quiet_since = now
        prefix = self._prefixes.get(call.operation.spec)
        if prefix is None or self._openings or not line:
            prefix = self._prefix_for(call)
            if not line:
                return True
        self._out.append(prefix)
        self._out.append(line)
        slots.append(call)
        self.unsent.append(call)
        call.sent = True
        self.bytes_in_flight += len(line)
        if call.deadline < self._next_deadline:
            self._next_deadline = call.deadline
        return True

    def _prefix_for(self, call: Call) -> bytes:
        """The number of an index that is not open, or perhaps not yet; b"" without an index."""
        spec = call.operation.spec
        if spec is None:
            if call.line:
                self._of_the_caller(call)
            else:
                call.set_result(None)  # a ping: the connection is there
            return b""
        prefix = self._prefixes.get(spec)
        if prefix is None:
            prefix = self._open(spec)
        call.opening = self._openings.get(spec)
        if not call.line:
            self._wait_for_opening(call)
        return prefix

    @property
    def has_output(self) -> bool:
        return bool(self._out)

    @property
    def is_idle(self) -> bool:
        """Whether no reply is owed to anything that was sent."""
        return len(self.slots) == len(self.unsent)

    def take_output(self) -> bytes:
        """All that has piled up. It cannot be called back any more."""
        data = b"".join(self._out)
        counters = self._counters
        counters.requests += len(self.unsent)
        counters.bytes_out += len(data)
        counters.writes += 1
        self._out.clear()
        self.unsent.clear()
        return data

    def call_back(self) -> None:
        """What was not handed out will never be: it was not sent."""
        for call in self.unsent:
            call.sent = False
        self.unsent.clear()
        self._out.clear()

    def received(self, data: bytes, now: float) -> None:
        """Matches what has come to slots. If it breaks the protocol, `broken` says how."""
        self._quiet_since = now
        self._counters.reads += 1
        self._counters.bytes_in += len(data)
        lines = data.split(b"\n")
        rest = lines.pop()
        if not self._greeted and not self._greets(data):
            return
        plain = _has_none_escaped(data)
        size = len(data) + self._begun_size
        if self._begun and lines:
            self._begun.append(lines[0])
            lines[0] = b"".join(self._begun)
            plain = plain and _has_none_escaped(lines[0])
            self._begun.clear()
            self._begun_size = 0
        if size > self._most_of_reply and not self._bounded(lines, rest):
            return
        if lines:
            self._match(lines, plain)
        if rest and self.broken is None:
            if not self.slots:
                self._break(None, f"bytes that nobody has asked for: {quoted(rest)}")
                return
            self._begun.append(rest)
            self._begun_size += len(rest)

    def _match(self, lines: list[bytes], plain: bool) -> None:
        """`plain` says that no value is escaped or NULL, which makes reading them faster."""
        slots = self.slots
        freed = 0
        self._counters.replies += len(lines)
        for line in lines:
            if not slots:
                self._break(None, f"a reply that nobody has asked for: {quoted(line)}")
                break
            call = slots.popleft()
            freed += len(call.line)
            if call.done():
                self._counters.dropped += 1
                continue
            try:
                result = call.operation.decode(line, plain)
            except ReplyError as error:
                self._refused(call, error)
            except DecodeError as error:
                call.set_exception(error)
            except ProtocolError as error:
                self._break(call, str(error))
                break
            else:
                call.set_result(result)
            if not self.proved:
                self.proved = not isinstance(call, Opening)
        self.bytes_in_flight -= freed

    def _refused(self, call: Call, error: ReplyError) -> None:
        self._counters.errors += 1
        if isinstance(call, Opening):
            call.set_exception(error)
            return
        if error.text == "stmtnum":
            error = _of_opening(call) or error
        if call.line.startswith(b"P\t"):
            self._taken.discard(_number_of(call.line))
        if call.operation.modifies and error.in_doubt:
            error.maybe_executed = True
        if self._elsewhere is None or not self._elsewhere(self, call, error):
            call.set_exception(error)

    def _opened(self, spec: Spec, opening: Opening) -> None:
        self._openings.pop(spec, None)
        if opening.error is not None:
            self._prefixes.pop(spec, None)  # the next request tries again

    def _reopened(self, number: bytes, opening: Opening) -> None:
        self._reopenings.pop(number, None)
        if opening.error is not None:
            self._taken.discard(number)

    def _wait_for_opening(self, call: Call) -> None:
        """The call wants its index to be open, and nothing else."""
        opening = call.opening
        if opening is None:
            call.set_result(None)
            return
        opening.callers.append(call)
        self._next_deadline = min(self._next_deadline, call.deadline)

    def _open(self, spec: Spec) -> bytes:
        number = self._numbers.get(spec)
        if number is None:
            self._last += 1
            while b"%d" % self._last in {*self._taken, *self._remembered}:
                self._last += 1
            number = self._numbers[spec] = b"%d" % self._last
        opening = Opening(spec.line, partial(self._opened, spec))
        self._prefixes[spec] = number
        self._openings[spec] = opening
        self._add_opening(opening, b"P\t" + number + spec.line)
        return number

    def _of_the_caller(self, call: Call) -> None:
        """A caller numbers its indexes by itself. They, too, are opened where they are not yet."""
        line = call.line
        if line.startswith(b"P\t"):
            number = _number_of(line)
            self._taken.add(number)
            for spec in [each for each, taken in self._numbers.items() if taken == number]:
                del self._numbers[spec]  # it is none of ours any more
                self._prefixes.pop(spec, None)
            return
        number = line.partition(b"\t")[0]
        if number not in self._taken and number in self._remembered:
            self._taken.add(number)
            opening = Opening(self._remembered[number], partial(self._reopened, number))
            self._reopenings[number] = opening
            self._add_opening(opening, opening.line)
        call.opening = self._reopenings.get(number)

    def _add_opening(self, opening: Opening, line: bytes) -> None:
        self._out.append(line)
        self.slots.append(opening)
        self.unsent.append(opening)
        self.bytes_in_flight += len(opening.line)

    def _greets(self, data: bytes) -> bool:
        """Looks at the first bytes of all. False if they are those of a port of SQL."""
        begun = b"".join(self._begun) + data
        if words := sql_greeting(begun):
            self._break(self.slots.popleft() if self.slots else None, words)
            return False
        self._greeted = len(begun) >= ENOUGH
        return True

    def _bounded(self, lines: list[bytes], rest: bytes) -> bool:
        """False if a line is too long, also one whose end has not come."""
        most = self._most_of_reply
        good = next((number for number, line in enumerate(lines) if len(line) > most), len(lines))
        if good == len(lines) and len(rest) + self._begun_size <= most:
            return True
        self._match(lines[:good], plain=False)
        if self.broken is None:
            call = self.slots.popleft() if self.slots else None
            self._break(call, f"a reply is longer than {most} bytes")
        return False

    def _break(self, call: Call | None, words: str) -> None:
        """Ends it. The call to which the bytes belong has the error; the others are lost."""
        self.broken = ProtocolError(words, sent=True)
        if isinstance(call, Opening) and self.slots:
            call = self.slots.popleft()  # behind it stands the request for which it was sent
        if call is not None and not call.done():
            modifies = call.operation.modifies
            call.set_exception(ProtocolError(words, sent=True, maybe_executed=modifies))

    def left_over(self, error: HandlerSocketError) -> list[Call]:
        """Ends it, and gives back the calls that can go to another connection, in their order.

        Those are the ones that were not sent. Of the others, those that modify fail with `error`;
        finds are given back with `sent` set, for the owner to decide. Without its index, nothing
        was executed: the error of the opening is that of the call.
        """
        self.broken = self.broken or error
        self.call_back()
        left: list[Call] = []
        for call in self.slots:
            if isinstance(call, Opening):
                for caller in call.callers:
                    caller.sent = call.sent
                left += [caller for caller in call.callers if not caller.done()]
            elif call.done():
                continue
            elif error_of_opening := _of_opening(call):
                call.set_exception(error_of_opening)
            elif is_sent(call) and call.operation.modifies:
                call.set_exception(type(error)(*error.args, sent=True, maybe_executed=True))
            else:
                left.append(call)
        self.slots.clear()
        self.bytes_in_flight = 0
        return left

    def sweep(self, now: float) -> None:
        """Frees the callers whose time is over. Their slots stay."""
        if now < self._next_deadline:
            return
        self._next_deadline = NEVER
        for call in self.slots:
            if call.deadline > now:
                self._next_deadline = min(self._next_deadline, call.deadline)
            elif isinstance(call, Opening):
                for caller in call.callers:
                    if caller.deadline <= now and not caller.done():
                        caller.sent = call.sent
                        expire(caller)
            elif not call.done():
                expire(call)

    @property
    def dead_at(self) -> float:
        """When it is to be taken for dead, if nothing comes."""
        return self._quiet_since + self._dead_after if self.slots else NEVER

    def dead(self) -> ConnectionLost:
        return ConnectionLost(f"the server was silent for {self._dead_after:g} seconds")


def _has_none_escaped(data: bytes) -> bool:
    return data.find(b"\x01") < 0 and data.find(b"\x00") < 0


def _number_of(opening: bytes) -> bytes:
    """The number in a `P` that a caller has made."""
    return opening.split(b"\t", 2)[1]


def _of_opening(call: Call) -> ReplyError | None:
    """The error with which the call's index could not be opened, if that was so."""
    opening = opening_of(call)
    cause = opening.error if opening is not None else None
    return reply_error(cause.code, cause.text) if isinstance(cause, ReplyError) else None


def expire(call: Call) -> None:
    """The call's time is over."""
    text = "no reply within the time-out" if is_sent(call) else "not sent within the time-out"
    call.set_exception(RequestTimeout(text, **fate_of(call)))


def closed(call: Call) -> None:
    """The client was closed while the call was under way."""
    call.set_exception(ClosedError("the client is closed", **fate_of(call)))
