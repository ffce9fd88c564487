"""What is counted and told of iterations, and how they try to connect. Without the I/O."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic
from typing import Any, cast

from .address import Place
from .asks import Ask
from .core import Core
from .deadline import Deadline
from .errors import ConnectionLost, HandlerSocketError, RequestCancelled, RequestTimeout
from .links import delay_after, is_final, of_attempt
from .options import Options
from .ranges import UNSET
from .seen import Counters, RequestSeen, call_hook

FULL = "as many iterate as the client allows"


class Iteration:
    """One that goes on. It is told once, at the end of its `with`."""

    def __init__(self, among: Iterations, ask: Ask[Any], options: Options) -> None:
        timeout = options.timeout if ask.timeout is UNSET else ask.timeout
        #: How long the next bytes may take.
        self.seconds = cast("float | None", timeout)
        #: When it has to be sent.
        self.deadline = Deadline(self.seconds)
        self._dead_after = options.dead_after
        #: Whether a connection could not open its index because it was full.
        self.found_full = False
        self.ask = ask
        #: What it has sent and received so far. Only its owner writes here.
        self.counters = Counters()
        self.place: Place | None = None
        self.rows = 0
        self.began = monotonic()
        self._among = among

    def __enter__(self) -> Iteration:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._among.end(self, self._error_of(error))

    def _error_of(self, error: BaseException | None) -> BaseException | None:
        """As it is told: who leaves early has none, and who interrupts a thread gives up."""
        if isinstance(error, GeneratorExit):
            return None
        if error is None or isinstance(error, (Exception, asyncio.CancelledError)):
            return error
        return RequestCancelled("given up", sent=self.counters.requests > 0)

    @property
    def patience(self) -> float | None:
        """How long the next bytes are waited for: until the time is over, or the server dead."""
        bounds = [each for each in (self.seconds, self._dead_after) if each is not None]
        return min(bounds, default=None)

    def late(self) -> HandlerSocketError:
        """What it is when nothing has come for so long."""
        dead = self._dead_after
        if dead is None or (self.seconds is not None and self.seconds <= dead):
            return RequestTimeout("no bytes within the time-out", sent=True)
        return ConnectionLost(f"the server was silent for {dead:g} seconds", sent=True)

    def has_sent(self, size: int) -> None:
        self.counters.writes += 1
        self.counters.bytes_out += size

    def has_received(self, size: int) -> None:
        self.counters.reads += 1
        self.counters.bytes_in += size


class Iterations:
    """Those that go on, and the sum of those that have ended."""

    def __init__(self, core: Core) -> None:
        self._core = core
        # An iteration that nobody holds any more ends whenever Python finds that, also in here.
        self._lock = threading.RLock()
        self._ended = Counters()
        self._going: set[Iteration] = set()

    def begin(self, ask: Ask[Any]) -> Iteration:
        iteration = Iteration(self, ask, self._core.options)
        with self._lock:
            self._going.add(iteration)
        return iteration

    def end(self, iteration: Iteration, error: BaseException | None) -> None:
        if isinstance(error, (RequestTimeout, RequestCancelled, asyncio.CancelledError)):
            iteration.counters.given_up += 1
        with self._lock:
            self._going.discard(iteration)
            self._ended = self._ended.plus(iteration.counters)
        hook = self._core.options.on_request
        if hook is not None:
            call_hook(hook, _seen(iteration, error))

    @property
    def go_on(self) -> bool:
        """Whether there is one that has not ended."""
        with self._lock:
            return bool(self._going)

    def added_to(self, counters: Counters) -> Counters:
        with self._lock:
            for each in (self._ended, *(going.counters for going in list(self._going))):
                counters = counters.plus(each)
        return counters

    def after_fork(self) -> None:
        """Those that go on are the parent's."""
        self._lock = threading.RLock()
        self._going = set()


def _seen(iteration: Iteration, error: BaseException | None) -> RequestSeen:
    spec = iteration.ask.operation.spec
    assert spec is not None
    return RequestSeen(
        operation=iteration.ask.operation.name,
        database=spec.database,
        table=spec.table,
        index=spec.index,
        route="stream",
        address=iteration.place,
        seconds=monotonic() - iteration.began,
        bytes_out=iteration.counters.bytes_out,
        bytes_in=iteration.counters.bytes_in,
        rows=iteration.rows if error is None else iteration.rows or None,
        error=error,
    )


class Attempts:
    """Those of an iteration to connect, and how long it waits between them."""

    def __init__(self, core: Core, deadline: Deadline) -> None:
        self._core = core
        self._deadline = deadline
        self._failed = 0

    def within(self) -> float:
        """The seconds that one address has. Raises RequestTimeout if there are none."""
        self._refuse_if_late()
        left = self._deadline.left()
        connect_timeout = self._core.options.connect_timeout
        return connect_timeout if left is None else min(left, connect_timeout)

    def failed(self, error: HandlerSocketError) -> float:
        """All addresses were tried. Gives the delay of the next attempt, or raises what ends the
        iteration. Some errors would come again."""
        self._failed += 1
        delay = delay_after(self._failed, self._core.options)
        self._core.saw("failed", "stream", None, str(error), delay)
        self._refuse_if_late()
        if is_final(error) or self._failed >= self._core.options.connect_attempts:
            raise of_attempt(error) from error
        left = self._deadline.left()
        return delay if left is None else min(delay, left)

    def _refuse_if_late(self) -> None:
        if self._deadline.left() == 0.0:
            raise RequestTimeout("not sent within the time-out")
