"""What the server says of databases, tables and indexes, and what it echoes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import NoReturn

from .codec import Cell, RawReply
from .errors import ProtocolError

#: A row of the reply: the index, whether it is unique and ordered, the column, whether its values
#: descend, and whether it is a prefix.
_WIDTH = 6
_FLAGS = {b"1": True, b"0": False}


@dataclass(frozen=True, slots=True)
class ListedPart:
    """A part of an index."""

    #: None for an expression.
    column: str | None
    descends: bool
    #: Whether the index has only the beginning of its values.
    prefix: bool


@dataclass(frozen=True, slots=True)
class ListedIndex:
    """An index of a table."""

    name: str
    unique: bool
    #: A hash index is not ordered, and finds whole keys only.
    ordered: bool
    parts: tuple[ListedPart, ...]


def names_of(reply: RawReply) -> list[str]:
    """The databases, or the tables of one, in the server's order."""
    if reply.columns != 1:
        _wrong("a list of names")
    return [_name(cell) for cell in reply.values]


def indexes_of(reply: RawReply) -> list[ListedIndex]:
    """The indexes of a table. Rows that follow one another with the same name are one index."""
    values = reply.values
    if reply.columns != _WIDTH or len(values) % _WIDTH:
        _wrong("a list of indexes")
    rows = [_part(values[start : start + _WIDTH]) for start in range(0, len(values), _WIDTH)]
    indexes = []
    for _, same in groupby(rows, key=lambda row: row[0]):
        (name, unique, ordered, first), *others = same
        parts = (first, *(part for _, _, _, part in others))
        indexes.append(ListedIndex(name, unique, ordered, parts))
    return indexes


def echoed(reply: RawReply) -> Cell:
    """The value of an echo."""
    if reply.columns != 1 or len(reply.values) != 1:
        _wrong("an echo")
    return reply.values[0]


def _part(row: tuple[Cell, ...]) -> tuple[str, bool, bool, ListedPart]:
    name, unique, ordered, column, descends, prefix = row
    part = ListedPart(None if column is None else _name(column), _flag(descends), _flag(prefix))
    return _name(name), _flag(unique), _flag(ordered), part


def _flag(cell: Cell) -> bool:
    flag = None if cell is None else _FLAGS.get(cell)
    return _wrong("1 or 0") if flag is None else flag


def _name(cell: Cell) -> str:
    try:
        return _wrong("a name") if cell is None else cell.decode()
    except UnicodeDecodeError:
        _wrong("a name")


def _wrong(expected: str) -> NoReturn:
    raise ProtocolError(f"{expected} was expected", sent=True)
