"""What the server says of an index, and the Python types by which its values are then read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from .codec import Cell, RawReply, is_number
from .errors import ProtocolError

#: In place of columns: all that the table has.
ALL_COLUMNS = ("*",)


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """What the server says of a column, or of a part of an index. What is None, it does not say.

    Of a column that the account may not see, or that the table has no more, there is only the name.
    A part of an index that is an expression has no name.
    """

    name: str | None
    #: As SQL writes it, such as ``int(10) unsigned``.
    type: str | None
    nullable: bool | None
    unsigned: bool | None
    decimals: int | None
    #: The character set; None if the values are bytes or no text.
    charset: str | None

    @property
    def python_type(self) -> Any:
        """The type by which its values are read, such as ``int``, or ``str | None``."""
        word = (self.type or "").partition("(")[0].partition(" ")[0].lower()
        kind = _TYPES.get(word) or (bytes if self.charset is None else str)
        return kind if self.nullable is False else kind | None


@dataclass(frozen=True, slots=True)
class Description:
    """An index as it was when the server was asked. Each list is in the order of the server."""

    columns: tuple[ColumnDescription, ...]
    filter_columns: tuple[ColumnDescription, ...]
    #: The parts of the index.
    key: tuple[ColumnDescription, ...]

    @property
    def types(self) -> dict[str, Any]:
        """The types of the columns by their names, as index() takes them.

        So one of them may be another: ``{**description.types, "born": str}``.
        """
        return {column.name or "": column.python_type for column in self.columns}


_OF_TYPES: dict[type[Any], str] = {
    int: "tinyint smallint mediumint int bigint year",
    Decimal: "decimal",
    float: "float double",
    str: "char varchar tinytext text mediumtext longtext enum set json inet4 inet6",
    bytes: (
        "binary varbinary tinyblob blob mediumblob longblob bit vector geometry point linestring"
        " polygon multipoint multilinestring multipolygon geometrycollection geomcollection"
    ),
    date: "date",
    datetime: "datetime timestamp",
    timedelta: "time",
    UUID: "uuid",
}
_TYPES = {word: kind for kind, words in _OF_TYPES.items() for word in words.split()}

_KINDS = (b"column", b"filter", b"key")
#: The kind, the name, the type, nullable, unsigned, the decimals, and the character set.
_WIDTH = 7
_FLAGS = {b"1": True, b"0": False, None: None}


def description_of(
    reply: RawReply,
    columns: Sequence[str] | None = None,
    filter_columns: Sequence[str] | None = None,
) -> Description:
    """What a reply to `D` says of an index, opened with these columns, if they are known."""
    values = reply.values
    if reply.columns != _WIDTH or len(values) % _WIDTH:
        raise _wrong()
    lists: tuple[list[ColumnDescription], ...] = ([], [], [])
    last = 0
    for start in range(0, len(values), _WIDTH):
        kind, *said = values[start : start + _WIDTH]
        if kind not in _KINDS or (place := _KINDS.index(kind)) < last:
            raise _wrong()
        last = place
        lists[place].append(_column(said))
    described = Description(*map(tuple, lists))
    _check_names(described.columns, columns)
    _check_names(described.filter_columns, filter_columns)
    if not described.key:
        raise _wrong()
    return described


def _check_names(described: Sequence[ColumnDescription], asked: Sequence[str] | None) -> None:
    names = [column.name for column in described]
    if None in names or (asked is not None and names != list(asked)):
        raise _wrong()


def _column(said: Sequence[Cell]) -> ColumnDescription:
    name, kind, nullable, unsigned, decimals, charset = said
    if nullable not in _FLAGS or unsigned not in _FLAGS:
        raise _wrong()
    if decimals is not None and not is_number(decimals):
        raise _wrong()
    return ColumnDescription(
        _text(name),
        _text(kind),
        _FLAGS[nullable],
        _FLAGS[unsigned],
        None if decimals is None else int(decimals),
        _text(charset),
    )


def _text(cell: Cell) -> str | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        raise _wrong() from None


def _wrong() -> ProtocolError:
    return ProtocolError("a description of the index was expected", sent=True)
