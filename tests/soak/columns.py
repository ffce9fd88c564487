"""What the columns of the soak's tables can hold, as tokens on the wire, and how they sort.

A value is kept as the token that a reply shows, so a row is compared byte by byte. Every owner
takes its values from its own range: a find within it finds no rows of others.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from handlersocket2.codec import escape

NULL = b"\0"
#: By this a value is compared. NULL is less than everything else.
SortKey = tuple[int, int | bytes]
NULL_KEY: SortKey = (0, 0)
#: How many different values a range has. There are few, so that rows have equal values.
SPREAD = 40


@dataclass(frozen=True)
class Odd:
    """A value that is not stored as given: it becomes `stored`, or fails with `error`."""

    given: bytes
    stored: bytes = b""
    error: int = 0


class Column:
    """A type with its values. `sql` is what CREATE TABLE calls it."""

    def __init__(self, sql: str) -> None:
        self.sql = sql

    def key(self, token: bytes) -> SortKey:
        """The key by which the index sorts a value."""
        return NULL_KEY if token == NULL else (1, int(token))

    def pick(self, rng: random.Random, owner: int) -> bytes:
        raise NotImplementedError

    def odd(self, rng: random.Random, owner: int) -> Odd | None:
        """A value that gives a warning or an error; None if the type has none here."""
        return None


class IntColumn(Column):
    def pick(self, rng: random.Random, owner: int) -> bytes:
        return b"%d" % (owner * 1000 + rng.randrange(SPREAD))

    def odd(self, rng: random.Random, owner: int) -> Odd | None:
        return rng.choice([Odd(b"99999999999", error=1264), Odd(b"many", error=1366)])


class DateColumn(Column):
    """DATETIME, with this number of digits after the second."""

    def __init__(self, digits: int) -> None:
        super().__init__(f"DATETIME({digits})")
        self._digits = digits

    def key(self, token: bytes) -> SortKey:
        return NULL_KEY if token == NULL else (1, token)

    def pick(self, rng: random.Random, owner: int) -> bytes:
        moment = datetime(2000, 1, 1) + timedelta(days=owner * 50, hours=rng.randrange(SPREAD) * 7)
        text = moment.isoformat(" ")
        if self._digits:
            text += "." + "125000"[: self._digits]
        return text.encode()

    def odd(self, rng: random.Random, owner: int) -> Odd | None:
        return Odd(b"2001-02-31 25:00:00", error=1292)


class DecimalColumn(Column):
    def __init__(self) -> None:
        super().__init__("DECIMAL(10,2)")

    def key(self, token: bytes) -> SortKey:
        return NULL_KEY if token == NULL else (1, int(Decimal(token.decode()) * 100))

    def pick(self, rng: random.Random, owner: int) -> bytes:
        return b"%d.%02d" % (owner * 100 + rng.randrange(SPREAD) // 2, rng.randrange(2) * 5)

    def odd(self, rng: random.Random, owner: int) -> Odd | None:
        """It is rounded, with a warning: 1.005 becomes 1.01."""
        whole = owner * 100 + rng.randrange(SPREAD)
        return rng.choice(
            [
                Odd(b"%d.005" % whole, stored=b"%d.01" % whole),
                Odd(b"%d.0449" % whole, stored=b"%d.04" % whole),
                Odd(b"12345678901.5", error=1264),
            ]
        )


class TextColumn(Column):
    """Words of one owner. Several of them have the same beginning."""

    def __init__(self) -> None:
        super().__init__("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")

    def key(self, token: bytes) -> SortKey:
        return NULL_KEY if token == NULL else (1, token)

    def pick(self, rng: random.Random, owner: int) -> bytes:
        number = rng.randrange(SPREAD)
        return b"w%03d%s%s" % (
            owner,
            b"xy"[number % 2 : number % 2 + 1],
            b"abcdefghij"[: number // 4],
        )

    def odd(self, rng: random.Random, owner: int) -> Odd | None:
        return Odd(b"w%03d" % owner + b"z" * 30, error=1406)


#: Fifty bytes: some have to be escaped, some are parts of characters of several bytes, some are
#: plain.
_UNIT = escape("0123456789 \t\n\0\1\x0f \x10 äöü € 𝄞 abcdefghij".encode())


def text_of(owner: int, version: int, largest: int) -> bytes:
    """The token of the text for a row of this owner and version. Any reader can check it."""
    units = (version * 7919 + owner) % (largest // 50 + 1)
    return b"o%dv%d;" % (owner, version) + _UNIT * units
