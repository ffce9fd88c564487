"""How long the machine kept a test from running, for tests that say how long something may take.

Other tests run on the same cores, and a virtual machine may stand still for a second. A thread that
only sleeps sees both: it wakes up too late. What is measured beside it may take so much longer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_SLEEP = 0.005
#: Less is usual, and counts for nothing.
_USUAL = 0.01


class Pace:
    """Seconds by which the sleeps since its beginning were too long."""

    def __init__(self) -> None:
        self._lost = self._longest = 0.0
        self._begun = time.monotonic()

    @property
    def lost(self) -> float:
        return self._lost + self._of_this_sleep()

    @property
    def longest(self) -> float:
        return max(self._longest, self._of_this_sleep())

    def _of_this_sleep(self) -> float:
        late = time.monotonic() - self._begun - _SLEEP
        return late if late > _USUAL else 0.0

    def note(self) -> None:
        """A sleep is over, and the next one begins."""
        late = self._of_this_sleep()
        self._lost += late
        self._longest = max(self._longest, late)
        self._begun = time.monotonic()


@contextmanager
def measured_pace() -> Iterator[Pace]:
    pace = Pace()
    ended = threading.Event()

    def sleep() -> None:
        while not ended.is_set():
            time.sleep(_SLEEP)
            pace.note()

    thread = threading.Thread(target=sleep, daemon=True)
    thread.start()
    try:
        yield pace
    finally:
        ended.set()
        thread.join()
