"""Python's types for a column: from the bytes of a reply to the type that the caller has named."""

from __future__ import annotations

import enum
import math
import re
import types
import typing
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, Union, get_args, get_origin
from uuid import UUID

#: Makes a value of a column's text; raises ValueError if it does not fit.
FromText: TypeAlias = Callable[[str], Any]
#: The same of its bytes.
FromBytes: TypeAlias = Callable[[bytes], Any]


#: A BIT(1) has one of two bytes.
_BOOLS = {"0": False, "1": True, "\x00": False, "\x01": True}
_DECIMAL = re.compile(r"-?(?=\.?[0-9])[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?")
_FLOAT = re.compile(r"[-+0-9.eE]+")
_DURATION = re.compile(r"-?[0-9]+:[0-9]+:[0-9]+(\.[0-9]*)?")


def _bool(text: str) -> bool:
    found = _BOOLS.get(text)
    if found is None:
        raise ValueError("neither 0 nor 1")
    return found


def _int(text: str) -> int:
    """Python itself reads blanks, `1_0` and the digits of all scripts, too."""
    if not (text.isdigit() and text.isascii()):
        digits = text.removeprefix("-")
        if not (digits.isdigit() and digits.isascii()):
            raise ValueError("no whole number")
    return int(text)


def _float(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise ValueError("no number")
    number = float(text)
    if math.isinf(number):
        raise ValueError("too large")
    return number


def _decimal(text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text):
        raise ValueError("no number")
    return Decimal(text)


def _duration(text: str) -> timedelta:
    """A TIME: perhaps negative, and longer than a day."""
    if not _DURATION.fullmatch(text):
        raise ValueError("no time")
    sign, digits = (-1, text[1:]) if text[:1] == "-" else (1, text)
    hours, minutes, seconds = digits.split(":")
    whole, _, fraction = seconds.partition(".")
    return sign * timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(whole),
        microseconds=int(fraction.ljust(6, "0")[:6]),
    )


def _uuid(raw: bytes) -> UUID:
    """The text of a UUID column, or what a BINARY(16) holds."""
    return UUID(bytes=raw) if len(raw) == 16 else UUID(str(raw, "utf-8"))


#: A str is a text already.
_FROM_TEXT: dict[Any, FromText | None] = {
    str: None,
    int: _int,
    float: _float,
    bool: _bool,
    Decimal: _decimal,
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    time: time.fromisoformat,
    timedelta: _duration,
}
#: Bytes stay as they are.
_FROM_BYTES: dict[Any, FromBytes | None] = {bytes: None, Any: None, UUID: _uuid}


class ColumnType:
    """How the values of one column are read."""

    #: From text; None if the text itself is wanted. Only if `of_text` is true.
    from_text: FromText | None = None
    of_text = False

    def __init__(self, wanted: Any) -> None:
        #: Whether NULL may be read. If nothing was said about the type, it may.
        self.nullable = wanted in (bytes, Any)
        if get_origin(wanted) in (Union, types.UnionType):
            members = [member for member in get_args(wanted) if member is not type(None)]
            if len(members) != 1:
                raise TypeError(f"a column has one type, perhaps `| None`, not {wanted}")
            self.nullable = True
            (wanted,) = members
        self.wanted = wanted
        if wanted in _FROM_TEXT:
            self.from_text = _FROM_TEXT[wanted]
            self.of_text = True
        elif isinstance(wanted, type) and issubclass(wanted, enum.Enum):
            self.from_text = wanted
            self.of_text = True
        #: From bytes; None if they are to stay bytes.
        self.from_bytes = _through_text(self.from_text) if self.of_text else _from_bytes(wanted)


def _through_text(from_text: FromText | None) -> FromBytes:
    if from_text is None:
        return lambda raw: str(raw, "utf-8")
    return lambda raw: from_text(str(raw, "utf-8"))


def _from_bytes(wanted: Any) -> FromBytes | None:
    if wanted in _FROM_BYTES:
        return _FROM_BYTES[wanted]
    if isinstance(wanted, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        return typing.cast(FromBytes, wanted)
    known = [*_FROM_TEXT, *(kind for kind in _FROM_BYTES if isinstance(kind, type))]
    names = ", ".join(kind.__name__ for kind in known)
    raise TypeError(
        f"a column's type is {names}, an Enum of texts, or a function of the bytes, not {wanted!r}"
    )
