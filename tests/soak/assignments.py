"""Assignments (`set`): random ones that keep a row whole, and what they make of it.

What n gets, m gets with the other sign. So n + m stays 0, in whatever order they are executed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from soak.columns import NULL, IntColumn, TextColumn
from soak.tables import M, N, Row, Table, X

TOO_LONG = 1406
#: Characters that a TextColumn holds.
LONGEST_WORD = 20
_MIRRORED = {"=": "=", "+": "-", "-": "+", "max": "min", "min": "max", "+[": "-[", "-[": "+["}


@dataclass(frozen=True)
class Assignment:
    """What becomes of one column: `how` and its tokens as in docs/protocol.md."""

    column: int
    how: str
    tokens: tuple[bytes, ...]


def random_assignments(rng: random.Random, table: Table, x: bytes) -> tuple[Assignment, ...]:
    """`x` is a value that the client may give to that column."""
    made: list[Assignment] = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.4:
            made.append(_of_x(rng, table, x))
        else:
            made += _of_numbers(rng)
    return tuple(made)


def _of_numbers(rng: random.Random) -> list[Assignment]:
    how = rng.choice(list(_MIRRORED))
    amount = rng.randrange(-3, 20)
    if "[" not in how:
        sign = 1 if how in "+-" else -1
        other = Assignment(M, _MIRRORED[how], (b"%d" % (sign * amount),))
        return [Assignment(N, how, (b"%d" % amount,)), other]
    low = rng.randrange(-5, 10)
    ends = [low, rng.choice([low, 60, None])]
    if rng.random() < 0.2:
        ends[0] = None
    mirrored = [None if end is None else -end for end in reversed(ends)]
    return [
        Assignment(N, how, (b"%d" % amount, *map(_bound, ends))),
        Assignment(M, _MIRRORED[how], (b"%d" % amount, *map(_bound, mirrored))),
    ]


def _bound(end: int | None) -> bytes:
    return NULL if end is None else b"%d" % end


def _of_x(rng: random.Random, table: Table, x: bytes) -> Assignment:
    hows = ["=", "max", "min", "default"]
    if isinstance(table.x, IntColumn):
        hows += ["^", "|"]
    elif isinstance(table.x, TextColumn):
        hows += ["append"]
    how = rng.choice(hows)
    tokens = {"default": b"", "^": b"1", "|": b"1", "append": b"end"}
    return Assignment(X, how, (tokens.get(how, x),))


def tokens_of(assignments: Sequence[Assignment]) -> list[bytes]:
    tokens = [b"%d" % len(assignments)]
    for one in assignments:
        tokens += [b"%d" % _PLACES[one.column], one.how.encode(), *one.tokens]
    return tokens


#: Where the columns stand in the indexes that writes use.
_PLACES = {N: 0, M: 1, X: 6}


def assigned(table: Table, row: Row, assignments: Sequence[Assignment]) -> Row | int:
    """The row afterwards, before its triggers; or the error that it gives."""
    changed = list(row)
    for one in assignments:
        if one.column == X:
            token = _x_after(table, changed[X], one)
            if isinstance(table.x, TextColumn) and len(token) > LONGEST_WORD:
                return TOO_LONG
            changed[X] = token
        else:
            changed[one.column] = b"%d" % _number_after(int(changed[one.column]), one)
    return tuple(changed)


def _number_after(number: int, one: Assignment) -> int:
    amount, *bounds = one.tokens
    by = int(amount)
    match one.how:
        case "=":
            return by
        case "max":
            return max(number, by)
        case "min":
            return min(number, by)
    total = number + by if one.how[0] == "+" else number - by
    if bounds and bounds[0] != NULL:
        total = max(total, int(bounds[0]))
    if bounds and bounds[1] != NULL:
        total = min(total, int(bounds[1]))
    return total


def _x_after(table: Table, x: bytes, one: Assignment) -> bytes:
    (token,) = one.tokens
    if one.how == "=":
        return token
    if one.how == "default":
        return NULL
    if NULL in (x, token):
        return x
    match one.how:
        case "max":
            return max(x, token, key=lambda value: table.key_of(X, value))
        case "min":
            return min(x, token, key=lambda value: table.key_of(X, value))
        case "^":
            return b"%d" % (int(x) ^ 1)
        case "|":
            return b"%d" % (int(x) | 1)
    return x + token
