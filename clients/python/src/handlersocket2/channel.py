"""One connection without its socket: requests in order, bytes to send, replies matched to slots.

It does no I/O, knows no time but what it is told, and takes no lock: its owner hands it what has
come, takes from it what is to be sent, and lets one thread at a time in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from .asks import Operation, Spec
from .calls import NEVER, Call, Opening, expire, is_sent, leaves_full, opening_of, turning_on
from .codec import quoted
from .describing import DescribeOperation
from .errors import (
    ConnectionLost,
    DecodeError,
    HandlerSocketError,
    ProtocolError,
    ReplyError,
    same_error,
)
from .greeting import ENOUGH, sql_greeting
from .grouped import GroupOperation, Openings, first_unread
from .options import Options
from .seen import Counters
from .setup import hello_line

#: What is asked when a reply says that a request is to go to another server; True if it goes there.
Elsewhere = Callable[["Channel", Call, ReplyError], bool]
#: What is asked when an index could not be opened because the connection is full; True if the
#: request goes to another connection.
NoRoom = Callable[["Channel", Call], bool]


class Channel:
    """The slots and the open indexes of one connection."""

    def __init__(
        self,
        options: Options,
        now: float,
        elsewhere: Elsewhere | None = None,
        no_room: NoRoom | None = None,
        counters: Counters | None = None,
        remembered: dict[bytes, bytes] | None = None,
    ) -> None:
        """`remembered` has the openings of callers who number their indexes by themselves."""
        self._counters = counters or Counters()
        self.slots: deque[Call] = deque()
        #: The one whose reply is being read: it has left the slots, and has no result yet.
        self.matched: Call | None = None
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
        self._no_room = no_room
        self._told = options.on_request is not None
        #: The hello that turns options on, until it goes out with the first request.
        self._hello = hello_line(options) if options.texts else b""
        self._out: list[bytes] = []
        #: The calls whose bytes were not handed out yet.
        self.unsent: list[Call] = []
        self._begun: list[bytes] = []  # of a line whose end has not come
        self._begun_size = 0
        self._gathered: list[bytes] = []  # lines of a group whose last one has not come
        self._gathered_size = 0
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
        self._has_opened = False
        self._quiet_since = now
        self._next_deadline = NEVER

    def add(self, call: Call, now: float) -> bool:
        """Takes a slot, behind those before it, and opens its index in front of it.

        False if that is beyond the bounds. One that is larger than all of them may go alone.
        """
        slots = self.slots
        line = call.line
        operation = call.operation
        if slots:
            if len(slots) >= self._most or self.bytes_in_flight + len(line) > self._most_bytes:
                return False
        else:
            self._quiet_since = now
        prefix = self._prefixes.get(operation.spec)
        if prefix is None or self._openings or not line:
            prefix = self._prefix_for(call)
            if not line:
                return True
        if before := operation.before:
            self._out.append(before)
        self._out.append(prefix)
        if not operation.more:  # else all of a group stands in front
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
        operation = call.operation
        if self._hello:
            hello, self._hello = self._hello, b""
            self._add_opening(turning_on(hello), hello)
        if isinstance(operation, GroupOperation):
            return self._lines_of(call, operation)
        spec = operation.spec
        if spec is None:
            if call.line:
                self._of_the_caller(call)
            else:
                call.set_result(None)  # it asked for nothing but a connection
            return b""
        prefix = self._prefixes.get(spec)
        if prefix is None:
            prefix = self._open(spec)
        call.opening = self._openings.get(spec)
        if spec.all_columns and isinstance(operation, DescribeOperation):
            operation.opening = self._openings.get(spec)
        if not call.line:
            self._wait_for_opening(call)
        return prefix

    def _lines_of(self, call: Call, group: GroupOperation) -> bytes:
        """All of a group, with the numbers that its indexes have here."""
        numbers: dict[Spec | None, bytes] = {}
        openings = Openings()
        for place, ask in group.asks.items():
            spec = ask.operation.spec
            if spec is not None:
                numbers[spec] = self._prefixes.get(spec) or self._open(spec)
                if opening := self._openings.get(spec):
                    openings.of_places[place] = opening
        call.opening = openings
        return group.encode(numbers)

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
            self._greeted = True  # with a reply
            self._match(lines, plain)
        if rest and self.broken is None:
            # The first few may be those of a greeting, whose others tell more.
            if not self.slots and self._greeted:
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
            call = self.matched = slots.popleft()
            operation = call.operation
            if operation.more:
                self._gathered.append(line)
                self._gathered_size += len(line)
                if self._gathered_size > self._most_of_reply:
                    self._break(call, f"a reply is longer than {self._most_of_reply} bytes")
                    break
                if len(self._gathered) <= operation.more:
                    slots.appendleft(call)
                    continue
                line = b"\n".join(self._gathered)
                self._gathered.clear()
                self._gathered_size = 0
            freed += len(call.line)
            if self._told:
                call.bytes_in = len(line) + 1
            if call.done():
                self._counters.dropped += 1
                self.proved = True
                continue
            try:
                result = operation.decode(line, plain)
            except ReplyError as error:
                self._refused(call, error)
            except DecodeError as error:
                # It was answered, so what modifies was executed.
                error.maybe_executed = operation.modifies
                self._counters.errors += 1
                call.set_exception(error)
            except ProtocolError as error:
                self._break(call, str(error))
                break
            else:
                if operation.more:
                    self._counters.errors += first_unread(result) is not None
                call.set_result(result)
            if not self.proved:
                self.proved = not isinstance(call, Opening)
        self.matched = None
        self.bytes_in_flight -= freed

    def _refused(self, call: Call, error: ReplyError) -> None:
        self._counters.errors += 1
        if isinstance(call, Opening):
            if self._is_full(error):
                call.callers = [each for each in call.callers if not self._goes_on(each)]
            call.set_exception(error)
            return
        if error.text == "stmtnum":
            opening = _of_opening(call)
            if opening is not None and self._is_full(opening) and self._goes_on(call):
                return
            error = opening or error
        if call.line.startswith(b"P\t"):
            self._taken.discard(_number_of(call.line))
        if call.operation.modifies and error.in_doubt:
            error.maybe_executed = True
        if spec := _asked_by(call.operation, error.line):
            error.where = spec.shown(error.text)
        if self._elsewhere is None or not self._elsewhere(self, call, error):
            call.set_exception(error)

    def _is_full(self, refused: ReplyError) -> bool:
        """Whether an index could not be opened because so many others are open here."""
        return refused.text == "stmtnum" and self._has_opened

    def _goes_on(self, call: Call) -> bool:
        """Whether it is sent again, on a connection that has room."""
        return self._no_room is not None and not call.done() and self._no_room(self, call)

    def _opened(self, spec: Spec, opening: Opening) -> None:
        self._openings.pop(spec, None)
        if opening.error is not None:
            self._prefixes.pop(spec, None)  # the next request tries again
        else:
            self._has_opened = True

    def _reopened(self, number: bytes, opening: Opening) -> None:
        self._reopenings.pop(number, None)
        if opening.error is not None:
            self._taken.discard(number)

    def _wait_for_opening(self, call: Call) -> None:
        """The call wants its index to be open, and nothing else."""
        opening = call.opening
        if not isinstance(opening, Opening):
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
        if not spec.all_columns:
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
        number = line.partition(b"\t")[0].rstrip()
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
        while isinstance(call, Opening):
            # Who waits for it has the error, or the request behind it, for which it was sent.
            awaited = any(not caller.done() for caller in call.callers)
            call.set_exception(ProtocolError(words, sent=True))
            call = self.slots.popleft() if self.slots and not awaited else None
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
            elif refused := _of_opening(call):
                if self._is_full(refused) and leaves_full(call):
                    call.sent = False
                    call.opening = None
                    left.append(call)
                else:
                    call.set_exception(refused)
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


def _asked_by(operation: Operation[Any], line: int) -> Spec | None:
    """The index that a request asks, or that line of a group."""
    if isinstance(operation, GroupOperation) and line:
        operation = operation.asks[line].operation
    return operation.spec


def _has_none_escaped(data: bytes) -> bool:
    return data.find(b"\x01") < 0 and data.find(b"\x00") < 0


def _number_of(opening: bytes) -> bytes:
    """The number in a `P` that a caller has made."""
    return opening.split(b"\t", 2)[1]


def _of_opening(call: Call) -> ReplyError | None:
    """The error with which the call's index could not be opened, if that was so."""
    opening = opening_of(call)
    cause = opening.error if opening is not None else None
    if not isinstance(cause, ReplyError):
        return None
    error = same_error(cause)
    if spec := _asked_by(call.operation, error.line):
        error.where = spec.shown(error.text)
    return error
