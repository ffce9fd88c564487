"""The lowest layer: values to bytes and back. Pure functions, no I/O.

A line is a run of tokens with a TAB between two and an LF at the end. A token
is NULL (one byte 0x00) or a string in which each byte below 0x10 travels as
0x01 followed by that byte + 0x40.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional, Union

from .errors import ProtocolError

#: What a request takes: NULL, bytes, text (sent as UTF-8) or a whole number.
Value = Union[None, bytes, str, int]
#: What a reply holds: NULL or bytes.
Cell = Optional[bytes]

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
        raise ProtocolError(f"wrong escape in {token[:80]!r}")
    return raw.replace(_ESCAPED_PREFIX, _PREFIX)


def to_bytes(value: bytes | str | int) -> bytes:
    """A value's bytes before escaping."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, int) and not isinstance(value, bool):
        return b"%d" % value
    raise TypeError(f"a value is None, bytes, str or int, not {type(value).__name__}")


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


def decode_line(line: bytes) -> RawReply:
    """A reply's line, without its LF."""
    code, _, rest = line.partition(b"\t")
    columns, more, values = rest.partition(b"\t")
    if not (code.isdigit() and columns.isdigit()):
        raise ProtocolError(f"no reply: {line[:80]!r}")
    return RawReply(
        int(code),
        int(columns),
        tuple(map(decode_value, values.split(b"\t"))) if more else (),
    )
