"""Python's types for a column: from the bytes of a reply to the type that the caller has named."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, Union, get_args, get_origin
from uuid import UUID

#: Makes a value of a column's bytes; raises ValueError if they do not fit.
Converter: TypeAlias = Callable[[bytes], Any]


def _text(raw: bytes) -> str:
    return str(raw, "utf-8")


def _bool(raw: bytes) -> bool:
    return int(raw) != 0


def _decimal(raw: bytes) -> Decimal:
    try:
        return Decimal(_text(raw))
    except ArithmeticError as error:
        raise ValueError("no number") from error


def _date(raw: bytes) -> date:
    return date.fromisoformat(_text(raw))


def _datetime(raw: bytes) -> datetime:
    return datetime.fromisoformat(_text(raw))


def _time(raw: bytes) -> time:
    return time.fromisoformat(_text(raw))


def _duration(raw: bytes) -> timedelta:
    """A TIME: perhaps negative, and longer than a day."""
    sign, digits = (-1, raw[1:]) if raw[:1] == b"-" else (1, raw)
    hours, minutes, seconds = digits.split(b":")
    whole, _, fraction = seconds.partition(b".")
    return sign * timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(whole),
        microseconds=int(fraction.ljust(6, b"0")[:6]),
    )


def _uuid(raw: bytes) -> UUID:
    """The text of a UUID column, or what a BINARY(16) holds."""
    return UUID(bytes=raw) if len(raw) == 16 else UUID(_text(raw))


_CONVERTERS: dict[Any, Converter | None] = {
    bytes: None,
    Any: None,
    str: _text,
    int: int,
    float: float,
    bool: _bool,
    Decimal: _decimal,
    date: _date,
    datetime: _datetime,
    time: _time,
    timedelta: _duration,
    UUID: _uuid,
}


class ColumnType:
    """How the values of one column are read. `convert` is None if they are to stay bytes."""

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
        self.convert = _converter(wanted)


def _converter(wanted: Any) -> Converter | None:
    if wanted in _CONVERTERS:
        return _CONVERTERS[wanted]
    if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        return lambda raw: wanted(_text(raw))
    if isinstance(wanted, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        return typing.cast(Converter, wanted)
    names = ", ".join(kind.__name__ for kind in _CONVERTERS if isinstance(kind, type))
    raise TypeError(
        f"a column's type is {names}, an Enum of texts, or a function of the bytes, not {wanted!r}"
    )
