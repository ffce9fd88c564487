"""What becomes of the columns of a row, and what has become of a row that was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

from .codec import Value, encode_value

#: What a request has done of one of its rows.
Done: TypeAlias = Literal["inserted", "updated", "unchanged", "ignored", "replaced", "unmet"]
DONE: frozenset[str] = frozenset(get_args(Done))


class Outcome(NamedTuple):
    """What was done of a row."""

    done: Done
    #: The auto-increment value of the row that is in the table now, if there is any.
    id: int | None


@dataclass(frozen=True)
class Assignment:
    """What becomes of a column, where it is more than a value. `Assign` makes them."""

    how: str
    values: tuple[Value, ...] = ("",)

    def tokens(self) -> list[bytes]:
        return [self.how.encode(), *(encode_value(value) for value in self.values)]


class Assign:
    """Makes what stands in the place of a value in an update or an upsert.

    A column that is NULL stays so, but for `default`, `now` and `inserted`.
    """

    @staticmethod
    def default() -> Assignment:
        """The column's default."""
        return Assignment("default")

    @staticmethod
    def now() -> Assignment:
        """The server's current time."""
        return Assignment("now")

    @staticmethod
    def inserted() -> Assignment:
        """In an upsert: what the new row would have had."""
        return Assignment("new")

    @staticmethod
    def add(amount: Value, *, low: Value = None, high: Value = None) -> Assignment:
        """The sum, or the nearest of the bounds if it is beyond them."""
        return _within("+", amount, low, high)

    @staticmethod
    def subtract(amount: Value, *, low: Value = None, high: Value = None) -> Assignment:
        """The difference, likewise. Without bounds it may cross zero."""
        return _within("-", amount, low, high)

    @staticmethod
    def append(value: Value) -> Assignment:
        """The column's text with this one behind it."""
        return Assignment("append", (value,))

    @staticmethod
    def prepend(value: Value) -> Assignment:
        """The column's text with this one in front of it."""
        return Assignment("prepend", (value,))

    @staticmethod
    def max(value: Value) -> Assignment:
        """The greater of the two."""
        return Assignment("max", (value,))

    @staticmethod
    def min(value: Value) -> Assignment:
        """The less of the two."""
        return Assignment("min", (value,))

    @staticmethod
    def bit_and(value: Value) -> Assignment:
        """The bits that both have."""
        return Assignment("&", (value,))

    @staticmethod
    def bit_or(value: Value) -> Assignment:
        """The bits that one of them has."""
        return Assignment("|", (value,))

    @staticmethod
    def bit_xor(value: Value) -> Assignment:
        """The bits that just one of them has."""
        return Assignment("^", (value,))


def _within(how: str, amount: Value, low: Value, high: Value) -> Assignment:
    if low is None and high is None:
        return Assignment(how, (amount,))
    return Assignment(how + "[", (amount, low, high))


#: What becomes of a column: the value that it gets, or an assignment.
NewValue: TypeAlias = Value | Assignment


def is_assigned(values: Sequence[object]) -> bool:
    """Whether one of them is more than a value."""
    return any(isinstance(value, Assignment) for value in values)


def assignment_of(value: NewValue) -> Assignment:
    return value if isinstance(value, Assignment) else Assignment("=", (value,))
