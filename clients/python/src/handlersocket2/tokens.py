"""Tokens of requests, made of whatever a caller gives, or refused."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from .codec import VALUE_TYPES, Value, encode_value

# Whatever the caller gives becomes a token by one of these: nothing of it can end the token, or the
# line, and begin another request.

_MOST = 2**64 - 1
_LONGEST = 2**31 / 1000


def number_token(number: object, what: str) -> bytes:
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{what} is a whole number, not {type(number).__name__}")
    if not 0 <= number <= _MOST:
        raise ValueError(f"{what} is a number from 0 to {_MOST}, not {number}")
    return b"%d" % number


def limit_token(limit: object) -> bytes:
    token = number_token(limit, "a limit")
    if token == b"0":
        raise ValueError("a limit is at least 1")
    return token


def within_prefix(seconds: float) -> bytes:
    """What stands in front of a request, if the server may take so long for it."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        raise TypeError(f"within is a number of seconds, not {type(seconds).__name__}")
    if not 0 < seconds <= _LONGEST:
        raise ValueError(f"within is more than 0 and at most {_LONGEST} seconds, not {seconds}")
    return b"within\t%d\t" % max(1, round(seconds * 1000))


def name_token(text: str, what: str, forbidden: str = "\t\n\r\0") -> bytes:
    """A token of `P`, which is not escaped."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}")
    if found := [character for character in forbidden if character in text]:
        raise ValueError(f"{what} cannot hold {found[0]!r}: {text!r}")
    return text.encode()


def names_token(names: Sequence[str], what: str) -> bytes:
    """Columns' names, which a comma parts."""
    return b",".join(check_names(names, what))


def check_names(names: Sequence[str], what: str) -> list[bytes]:
    """Refuses what is no list of names."""
    check_list(names, what)
    return [name_token(name, f"a name among the {what}", "\t\n\r\0,") for name in names]


def operator_token(op: str, allowed: tuple[str, ...], what: str) -> bytes:
    if op not in allowed:
        raise ValueError(f"{what} is one of {' '.join(allowed)}, not {op!r}")
    return op.encode()


def member_token(member: enum.Enum, kind: type[enum.Enum], what: str) -> bytes:
    if not isinstance(member, kind):
        raise TypeError(f"{what} is a {kind.__name__}, not {member!r}")
    value: bytes = member.value
    return value


def values_tokens(values: Sequence[Value], what: str) -> list[bytes]:
    check_list(values, what)
    return [encode_value(value) for value in values]


def some_values_tokens(values: Sequence[Value], what: str) -> list[bytes]:
    check_some_values(values, what)
    return [encode_value(value) for value in values]


def check_some_values(values: Sequence[Value], what: str) -> None:
    """Refuses what is no list of values, and an empty one."""
    check_list(values, what)
    if not values:
        raise ValueError(f"the {what} are empty: there has to be one at least")


def check_list(values: object, what: str) -> None:
    """Text and bytes are sequences, too, but not of values; a dict or a set has no order."""
    if isinstance(values, VALUE_TYPES) or not isinstance(values, Sequence):
        raise TypeError(f"the {what} are a list or a tuple, not {type(values).__name__}")
