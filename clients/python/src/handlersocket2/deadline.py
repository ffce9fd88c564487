"""The moment at which a call gives up: one for all that it does, one after the other."""

from __future__ import annotations

import threading
import time

from .errors import ConnectionLost


class Deadline:
    """`seconds` from now, or never if they are None."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._at = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """The seconds that are left, 0 if there are none, None for ever."""
        return None if self._at is None else max(0.0, self._at - time.monotonic())

    def check(self) -> None:
        """Raises TimeoutError once it has passed."""
        if self.left() == 0.0:
            raise TimeoutError(f"not done within {self.seconds} seconds")


def take_in_time(lock: threading.Lock | threading.RLock, deadline: Deadline) -> None:
    """Acquires a lock that others use in turn. If the turn does not come, nothing was sent."""
    left = deadline.left()
    if not lock.acquire(timeout=-1 if left is None else left):
        text = f"not done within {deadline.seconds} seconds: others have used the connection"
        raise ConnectionLost(text, nothing_sent=True)
