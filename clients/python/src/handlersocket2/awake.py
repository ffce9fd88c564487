"""Staying awake: when the reply to a caller that is alone is looked for without sleeping.

To sleep until the reply has come, and to be woken, takes longer than a server needs for a row. Who
has company is better served by a process that sleeps: the server works meanwhile.
"""

from __future__ import annotations

import os

#: A look ends after so many seconds.
LONGEST_LOOK = 100e-6
#: So many replies in succession have to have been alone before the next one is looked for.
_ALONE_BEFORE = 8
#: The most requests that are not looked for after looks in vain.
_MOST_LEFT_OUT = 1024


def _has_processors() -> bool:
    """With one processor the server could not work while a client looks."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) > 1
    return (os.cpu_count() or 1) > 1


class Awake:
    """Of one connection. It does not look by itself, and lets one thread at a time in."""

    __slots__ = ("_allowed", "_alone", "_left_out", "_vain")

    def __init__(self, *, allowed: bool) -> None:
        self._allowed = allowed and _has_processors()
        self._alone = 0
        self._vain = 0  # looks in succession
        self._left_out = 0  # requests that are still not looked for because of them

    def came(self, in_flight: int, left: int) -> None:
        """Bytes have come. So many requests had no reply before, and so many have none now."""
        if left != in_flight:
            self._alone = self._alone + 1 if in_flight == 1 else 0

    @property
    def is_alone(self) -> bool:
        """Whether the requests were alone lately."""
        return self._alone >= _ALONE_BEFORE

    def begins(self, in_flight: int) -> bool:
        """Whether the reply that is waited for from now on is looked for."""
        if in_flight != 1 or not self.is_alone or not self._allowed:
            return False
        if self._left_out:
            self._left_out -= 1
            return False
        return True

    def found(self) -> None:
        """The look has found something. One that another request has ended is not told."""
        self._vain = 0

    def found_nothing(self) -> None:
        """The time of the look is over."""
        self._vain += 1
        self._left_out = min(2**self._vain, _MOST_LEFT_OUT)
