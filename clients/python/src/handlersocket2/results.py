"""What the values of a reply say."""

from __future__ import annotations

from typing import TypeAlias, cast

from .changes import DONE, Done, Outcome
from .codec import Cell, RawReply
from .errors import ProtocolError

#: A row as it comes: its columns' values in their order.
RawRow: TypeAlias = tuple[Cell, ...]


def outcomes(reply: RawReply, rows: int) -> list[Outcome]:
    """What was done of each of so many rows."""
    values = reply.values
    if reply.columns != 2 or len(values) != 2 * rows:
        raise ProtocolError(f"what was done of {rows} rows was expected", sent=True)
    found = []
    for word, cell in zip(values[::2], values[1::2], strict=True):
        done = (word or b"").decode("latin-1")
        if done not in DONE:
            raise ProtocolError("what was done of a row was expected", sent=True)
        found.append(Outcome(cast(Done, done), None if cell is None else id_of(cell)))
    return found


def one_number(reply: RawReply) -> int:
    if len(reply.values) != 1:
        raise ProtocolError("a count was expected", sent=True)
    return whole_number(reply.values[0])


def id_of(cell: Cell) -> int:
    """A signed column may have been given a negative one."""
    if cell is not None and cell.startswith(b"-"):
        return -whole_number(cell[1:])
    return whole_number(cell)


def whole_number(cell: Cell) -> int:
    if cell is None or not cell.isdigit():
        raise ProtocolError("a number was expected", sent=True)
    return int(cell)


def rows_of_values(reply: RawReply) -> list[RawRow]:
    """The values cut into rows. With no columns there are no values."""
    if len(reply.values) % reply.columns if reply.columns else reply.values:
        raise ProtocolError(f"{len(reply.values)} values in rows of {reply.columns}", sent=True)
    if reply.columns == 0:
        return []
    starts = range(0, len(reply.values), reply.columns)
    return [reply.values[start : start + reply.columns] for start in starts]
