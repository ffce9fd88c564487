"""What the values of a reply say."""

from __future__ import annotations

import re
from typing import TypeAlias, cast

from .changes import DONE, Done, Outcome
from .codec import Cell, RawReply, is_number
from .errors import ProtocolError, ReplyError, Told, reply_error

#: A row as it comes: its columns' values in their order.
RawRow: TypeAlias = tuple[Cell, ...]

#: With the option `texts` an error has its text, SQL's number and state, and a message.
WITH_TEXTS = 4


def error_of(reply: RawReply, *, modifies: bool = False) -> ReplyError:
    """The error that a reply is, whose code is not 0."""
    text, *others = (_text(cell) for cell in reply.values[:WITH_TEXTS] or (b"",))
    told = None
    if len(others) == WITH_TEXTS - 1 and re.fullmatch("[0-9]{1,9}", others[0]):
        told = Told(int(others[0]), others[1], others[2])
    return reply_error(reply.code, text, told, modifies=modifies)


def _text(cell: Cell) -> str:
    return (cell or b"").decode("utf-8", "replace")


def names_and_values(reply: RawReply) -> dict[str, str]:
    """What a hello is answered, in its order."""
    values = reply.values
    if reply.columns != 2 or len(values) % 2 or None in values:
        raise ProtocolError("names and values were expected", sent=True)
    return dict(zip(map(_text, values[::2]), map(_text, values[1::2]), strict=True))


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
    if cell is None or not is_number(cell):
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
