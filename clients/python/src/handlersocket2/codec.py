"""The lowest layer: values to bytes and back. Pure functions, no I/O.

A line is a run of tokens with a TAB between two and an LF at the end. A token
is NULL (one byte 0x00) or a string in which each byte below 0x10 travels as
0x01 followed by that byte + 0x40.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

from .errors import ProtocolError

_Bytes: TypeAlias = bytes | bytearray | memoryview
_Number: TypeAlias = int | float | Decimal  # bool is an int
_Moment: TypeAlias = date | datetime | time | timedelta
#: What a request takes. None is NULL; to_bytes() says what is sent of the others.
Value: TypeAlias = _Bytes | str | _Number | _Moment | UUID | None
#: What a reply holds: NULL or bytes.
Cell: TypeAlias = bytes | None

#: The types of a Value, for isinstance().
VALUE_TYPES = (
    type(None),
    *(bytes, bytearray, memoryview, str),
    *(int, float, Decimal),
    *(date, time, timedelta),
    UUID,
)

_MOST_DIGITS = 20
_ESCAPES = [(bytes([low]), bytes([0x01, low + 0x40])) for low in range(0x10)]
_PREFIX, _ESCAPED_PREFIX = _ESCAPES.pop(1)


def escape(raw: bytes) -> bytes:
    """`raw` with every byte below 0x10 escaped."""
    token = raw.replace(_PREFIX, _ESCAPED_PREFIX)  # first: the others bring more of it
    for low, escaped in _ESCAPES:
        token = token.replace(low, escaped)
    return token


def unescape(token: bytes) -> bytes:
    """The inverse of escape()."""
    if _PREFIX not in token:
        return token
    raw = token
    for low, escaped in _ESCAPES:
        raw = raw.replace(escaped, low)
    if raw.count(_PREFIX) != raw.count(_ESCAPED_PREFIX):
        raise ProtocolError("a value has a wrong escape", sent=True)
    return raw.replace(_ESCAPED_PREFIX, _PREFIX)


def to_bytes(value: Value) -> bytes:
    """A value's bytes before escaping: the text that SQL would take for it.

    ==========================  ==================================================
    bytes, bytearray, ...       as they are
    str                         UTF-8
    bool                        1 or 0
    int, float, Decimal         its digits
    date, datetime, time        2024-02-29, 2024-02-29 12:30:00.5, 12:30:00; without
                                a time zone, since a column has none
    timedelta                   -26:30:00, what a TIME column holds
    UUID                        its text with hyphens (for BINARY(16) send `.bytes`)
    ==========================  ==================================================
    """
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, (float, Decimal)):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number that a column can hold")
        return (
            format(value, "f") if isinstance(value, Decimal) else float.__repr__(value)
        ).encode()
    if isinstance(value, (datetime, time)):
        if value.tzinfo is not None:
            raise ValueError(
                f"{value} has a time zone, and a column has none: convert it to the zone that the"
                " column is meant in, then drop tzinfo"
            )
        return (value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()).encode()
    if isinstance(value, date):
        return value.isoformat().encode()
    if isinstance(value, timedelta):
        return _duration(value).encode()
    if isinstance(value, UUID):
        return str(value).encode()
    raise TypeError(
        "a value is None, bytes, str, bool, int, float, Decimal, date, datetime, time, timedelta or"
        f" UUID, not {type(value).__name__}"
    )


def _duration(value: timedelta) -> str:
    """A TIME: hours may be more than 23, and the sign stands before all of it."""
    sign = "-" if value < timedelta() else ""
    seconds, microseconds = divmod(abs(value), timedelta(seconds=1))
    fraction = microseconds // timedelta(microseconds=1)
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}" if fraction else text


def encode_value(value: Value) -> bytes:
    """One token."""
    return b"\x00" if value is None else escape(to_bytes(value))


def decode_value(token: bytes) -> Cell:
    """The value of one token."""
    return None if token == b"\x00" else unescape(token)


def encode_line(tokens: Iterable[bytes]) -> bytes:
    """A request's line from tokens that are already encoded."""
    return b"\t".join(tokens) + b"\n"


@dataclass(frozen=True)
class RawReply:
    """One reply, its values decoded: `code`, the number of columns, and what follows."""

    code: int
    columns: int
    values: tuple[Cell, ...]


def quoted(line: bytes) -> str:
    """The beginning of bytes that were not expected, for an error. Never the values of a row."""
    return repr(line.partition(b"\t")[0][:40])


def is_number(digits: bytes) -> bool:
    """Whether it is digits, and no more of them than 64 bits have."""
    return len(digits) <= _MOST_DIGITS and digits.isdigit()


def decode_line(line: bytes) -> RawReply:
    """A reply's line, without its LF."""
    code, _, rest = line.partition(b"\t")
    columns, more, values = rest.partition(b"\t")
    if not (is_number(code) and is_number(columns)):
        raise ProtocolError(f"no reply: {quoted(line)}", sent=True)
    return RawReply(
        int(code),
        int(columns),
        tuple(map(decode_value, values.split(b"\t"))) if more else (),
    )
