"""What reads the line of a reply, for each kind of request.

Each takes the line, and whether it has neither an escaped byte nor a NULL. It raises the error that
the line is, or ProtocolError if it is no reply to such a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn, TypeVar

from .changes import Outcome
from .codec import decode_line
from .descriptions import Description, description_of
from .errors import ProtocolError, ReplyError
from .results import error_of, names_and_values, outcomes
from .rows import RowReader

R = TypeVar("R")

#: A line with a sign and as many digits as 64 bits have. Python refuses to read some thousands.
_LONGEST = len(b"0\t1\t-") + 20


def rows_decoder(
    columns: Sequence[str], reader: RowReader[R]
) -> tuple[Callable[[bytes, bool], list[R]], Callable[[bytes, bool], R | None]]:
    no_rows = b"0\t%d" % len(columns)
    begin = no_rows + b"\t"
    skip = len(begin)
    read = reader.rows

    def rows(line: bytes, plain: bool) -> list[R]:
        if line.startswith(begin):
            return read(line[skip:], plain)
        if line == no_rows:
            return []
        refuse(line, f"a reply of {len(columns)} columns")

    def first(line: bytes, plain: bool) -> R | None:
        found = rows(line, plain)
        return found[0] if found else None

    return rows, reader.one_of_lines(begin, first)


def refuse(line: bytes, expected: str) -> NoReturn:
    """Raises the error that a reply is, or says that it is not the one that was expected."""
    reply = decode_line(line)
    if reply.code != 0:
        raise error_of(reply)
    raise ProtocolError(f"{expected} was expected, not one of {reply.columns}", sent=True)


def count(line: bytes, plain: bool) -> int:
    if line.startswith(b"0\t1\t") and line[4:].isdigit() and len(line) <= _LONGEST:
        return int(line[4:])
    refuse(line, "a reply of 1 column and a count")


def exists(line: bytes, plain: bool) -> bool:
    if line in (b"0\t1\t0", b"0\t1\t1"):
        return line.endswith(b"1")
    refuse(line, "a reply of 1 column and 1 or 0")


def outcomes_decoder(rows: int) -> Callable[[bytes, bool], list[Outcome]]:
    def read(line: bytes, plain: bool) -> list[Outcome]:
        if line.startswith(b"0\t2\t"):
            return outcomes(decode_line(line), rows)
        refuse(line, "a reply of 2 columns for each row")

    return read


def inserted(line: bytes, plain: bool) -> int | None:
    if line == b"0\t1":
        return None
    # A signed column may have been given a negative one.
    number = line[4:]
    if line.startswith(b"0\t1\t") and number.removeprefix(b"-").isdigit() and len(line) <= _LONGEST:
        return int(number)
    refuse(line, "a reply of 1 column and a number")


def description_decoder(
    columns: Sequence[str] | None, filter_columns: Sequence[str]
) -> Callable[[bytes, bool], Description]:
    """Of an index that was opened with these columns; None for all that there are."""

    def read(line: bytes, plain: bool) -> Description:
        if line.startswith(b"0\t7\t"):
            return description_of(decode_line(line), columns, filter_columns)
        refuse(line, "a reply of 7 columns")

    return read


def pairs(line: bytes, plain: bool = False) -> dict[str, str]:
    """The reply to a hello."""
    if line.startswith(b"0\t2"):
        return names_and_values(decode_line(line))
    refuse(line, "a reply of 2 columns")


def options_on(line: bytes, plain: bool = False) -> None:
    """The reply to a hello of the client's own. A server that has none is one without options."""
    with suppress(ReplyError):
        pairs(line)


def nothing(line: bytes, plain: bool) -> None:
    raise AssertionError("the reply to an opening is the opening's")


def opened(line: bytes, plain: bool = False) -> None:
    """The reply to a `P`, or to a log-in."""
    if not re.match(rb"0\t\d+(\t|\Z)", line):
        refuse(line, "a reply without values")
