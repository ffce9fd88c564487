"""A request on its way, as a channel knows it, and the opening of an index in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .asks import Operation
from .decoders import opened, options_on
from .errors import ClosedError, HandlerSocketError, RequestTimeout
from .grouped import Openings

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
    opening: Opening | Openings | None
    #: How long its reply was, if somebody wants to know.
    bytes_in: int
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
        #: Whether a connection could not open its index because it was full.
        self.found_full = False


def tries_of(call: Call) -> Tries:
    """Made when it is first needed: few calls do."""
    tries = getattr(call, "tries", None)
    if tries is None:
        tries = call.tries = Tries()
    return tries


def leaves_full(call: Call) -> bool:
    """Whether a call that a full connection has refused goes to a new one: once."""
    tries = tries_of(call)
    first = not tries.found_full
    tries.found_full = True
    return first


def is_sent(call: Call) -> bool:
    return getattr(call, "sent", False)


def fate_of(call: Call) -> dict[str, bool]:
    """What the error of a call says that ends now: `sent`, in any try, and `maybe_executed`."""
    tries = getattr(call, "tries", None)
    sent = is_sent(call)
    before = tries is not None and bool(tries.repeated or tries.referred or tries.found_full)
    return {"sent": sent or before, "maybe_executed": sent and call.operation.modifies}


def opening_of(call: Call) -> Opening | Openings | None:
    return getattr(call, "opening", None)


def bytes_in_of(call: Call) -> int:
    return getattr(call, "bytes_in", 0)


class Opening:
    """A `P`, in the place of a call. The client itself asks it, perhaps with callers who wait.

    Or the hello that turns the options of the client on, for which nobody waits.
    """

    opening: Opening | Openings | None = None
    bytes_in = 0
    tries: Tries

    def __init__(
        self,
        line: bytes,
        answered: Callable[[Opening], None],
        operation: Operation[Any] | None = None,
    ) -> None:
        self.operation: Operation[Any] = operation or _OPEN
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
_TURN_ON: Operation[None] = Operation("hello", None, options_on, modifies=False)


def turning_on(line: bytes) -> Opening:
    """The hello that turns the options of the client on."""
    return Opening(line, lambda _: None, _TURN_ON)


def expire(call: Call) -> None:
    """The call's time is over."""
    text = "no reply within the time-out" if is_sent(call) else "not sent within the time-out"
    call.set_exception(RequestTimeout(text, **fate_of(call)))


def closed(call: Call) -> None:
    """The client was closed while the call was under way."""
    call.set_exception(ClosedError("the client is closed", **fate_of(call)))
