"""The moment at which a call gives up: one for all that it does, one after the other."""

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
            raise TimeoutError(f"not done within {self.seconds} seconds")
