"""How a batch's bytes are sent: in which pieces, when, and how the connection ends, if it does."""

from __future__ import annotations

import enum
import random
from dataclasses import dataclass


class Ending(enum.Enum):
    NONE = "stays open"
    CLOSE = "closed in the middle"
    CLOSE_AFTER = "closed after the last byte"
    RESET = "reset in the middle"
    HALF_CLOSE = "half closed"
    SLOW = "read slowly"


@dataclass(frozen=True)
class Plan:
    """`pieces` are (seconds to wait before, from, to)."""

    pieces: tuple[tuple[float, int, int], ...]
    ending: Ending
    sent: int  # bytes that are sent; not all if the connection ends in the middle

    def describe(self) -> str:
        first = ", ".join(f"+{delay * 1000:.1f} ms {b - a}" for delay, a, b in self.pieces[:6])
        more = f" and {len(self.pieces) - 6} more" if len(self.pieces) > 6 else ""
        return f"{len(self.pieces)} pieces ({first}{more}), {self.ending.value}"


def cut(rng: random.Random, size: int, ends: list[int], *, faults: bool) -> Plan:
    """`ends` are the places where the lines end."""
    ending = Ending.NONE
    if faults and rng.random() < 0.12:
        ending = rng.choice(list(Ending)[1:])
    sent = rng.randrange(size) if ending in (Ending.CLOSE, Ending.RESET) else size
    way = rng.random()
    if way < 0.3 or size < 2:
        places: list[int] = []
    elif way < 0.55:
        places = [rng.choice(ends)]  # two sends, each of complete lines
    elif way < 0.75:
        places = [rng.randrange(1, size)]
    elif way < 0.95 or size > 400:
        places = [rng.randrange(1, size) for _ in range(rng.randrange(2, 12))]
    else:
        places = list(range(1, size))
    bounds = [0, *sorted({place for place in places if 0 < place < sent}), sent]
    longest = rng.choice([0, 0, 0.001, 0.010])
    if len(bounds) > 50:
        longest = 0
    pieces = tuple(
        (rng.random() * longest if number else 0.0, begin, end)
        for number, (begin, end) in enumerate(zip(bounds, bounds[1:], strict=False))
        if end > begin
    )
    return Plan(pieces, ending, sent)
