"""Times in seconds, and the moment at which a call gives up: one for all that it does."""

from __future__ import annotations

import time


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
            raise TimeoutError(f"not done within {self.seconds:.3g} seconds")


def check_seconds(name: str, seconds: object, *, may_be_none: bool) -> None:
    """Refuses what is no time. 0 is one only for a `timeout`, which it leaves without a limit."""
    if seconds is None and may_be_none:
        return
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{name} is a number of seconds, not {type(seconds).__name__}")
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{name} is a number of seconds from 0 on, not {seconds}")
    if seconds == 0 and name != "timeout":
        raise ValueError(f"{name} is more than 0 seconds")
