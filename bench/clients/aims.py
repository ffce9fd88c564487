"""What our clients have to reach beside others, and what they did."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .measure import Result
from .programs import GO, JAVA, NODE, PYTHON, Language

# The rounds of each library, by its name and the number of callers.
Measured = Mapping[tuple[str, int], Sequence[Result]]


@dataclass(frozen=True)
class Aim:
    language: Language
    callers: int
    ours: str
    # The best of these, in each round.
    others: tuple[str, ...]
    factor: float
    words: str

    def ratios(self, measured: Measured) -> list[float]:
        """Requests a second, ours over the best other's, for each round."""
        ours = measured.get((self.ours, self.callers), ())
        others = [measured.get((name, self.callers), ()) for name in self.others]
        others = [rounds for rounds in others if rounds]
        if not ours or not others:
            return []
        return [
            each.rate / max(other.rate for other in round_)
            for each, *round_ in zip(ours, *others, strict=True)
        ]

    def line(self, measured: Measured) -> list[str] | None:
        """A line of the table, or nothing if it was not measured."""
        ratios = self.ratios(measured)
        if not ratios:
            return None
        median = statistics.median(ratios)
        title = next(lib.title for lib in self.language.libraries if lib.name == self.ours)
        return [
            f"{self.language.name}, {title}",
            f"{self.callers:,}",
            self.words,
            f"{self.factor:g}",
            f"{median:.2f}",
            f"{min(ratios):.2f}–{max(ratios):.2f}",
            "met" if median >= self.factor else "**missed**",
        ]


def _best(language: Language, *, titles: str = "") -> tuple[str, ...]:
    """Everybody else, or those whose title contains this."""
    return tuple(
        library.name
        for library in language.libraries
        if library.server != "hs" and titles in library.title
    )


AIMS = (
    Aim(GO, 256, "ours", ("rueidis-20us",), 0.95, "rueidis, delay 20 µs"),
    Aim(GO, 256, "ours", ("go-redis-auto-pipeline",), 2, "go-redis, AutoPipeline"),
    Aim(GO, 256, "ours", ("sql",), 12, "SQL"),
    Aim(GO, 16, "ours", _best(GO), 1.1, "the best other"),
    Aim(GO, 1, "ours", ("rueidis",), 1, "rueidis"),
    Aim(GO, 1, "ours", ("sql",), 1, "SQL"),
    Aim(JAVA, 256, "ours-futures", ("lettuce-async",), 4.5, "Lettuce, futures"),
    Aim(JAVA, 256, "ours", ("lettuce",), 2.7, "Lettuce, blocking"),
    Aim(JAVA, 256, "ours", ("jdbc",), 7, "JDBC"),
    Aim(JAVA, 16, "ours-futures", _best(JAVA), 1.6, "the best other"),
    Aim(JAVA, 16, "ours", _best(JAVA, titles="blocking"), 1.8, "the best other that blocks"),
    Aim(JAVA, 1, "ours", ("lettuce",), 1.7, "Lettuce, blocking"),
    Aim(JAVA, 1, "ours-futures", ("lettuce-async",), 1.7, "Lettuce, futures"),
    Aim(JAVA, 1, "ours", ("jdbc",), 1, "JDBC"),
    Aim(NODE, 256, "ours", ("node-redis-5",), 1.7, "node-redis 5"),
    Aim(NODE, 256, "ours", ("mysql2",), 15, "mysql2"),
    Aim(NODE, 16, "ours", _best(NODE), 1.15, "the best other"),
    Aim(NODE, 1, "ours", _best(NODE), 1.1, "the best other"),
    Aim(PYTHON, 256, "ours-uvloop", ("valkey-glide",), 4.5, "valkey-glide"),
    Aim(PYTHON, 256, "ours-uvloop", ("asyncmy",), 6, "asyncmy"),
    Aim(PYTHON, 16, "ours-uvloop", _best(PYTHON, titles="uvloop"), 2.7, "the best other, uvloop"),
    Aim(PYTHON, 1, "ours-uvloop", _best(PYTHON, titles="uvloop"), 1.2, "the best other, uvloop"),
)
