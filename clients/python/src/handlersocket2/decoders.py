"""What reads the line of a reply, for each kind of request.

Each takes the line, and whether it has neither an escaped byte nor a NULL. It raises the error that
the line is, or ProtocolError if it is no reply to such a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from .changes import Outcome
from .codec import decode_line
from .errors import ProtocolError, reply_error
from .results import outcomes
from .rows import RowReader

R = TypeVar("R")


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
        text = (reply.values[0] if reply.values else b"") or b""
        raise reply_error(reply.code, text.decode("utf-8", "replace"))
    raise ProtocolError(f"{expected} was expected, not one of {reply.columns}", sent=True)


def count(line: bytes, plain: bool) -> int:
    if line.startswith(b"0\t1\t") and line[4:].isdigit():
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
    if line.startswith(b"0\t1\t") and line[4:].removeprefix(b"-").isdigit():
        return int(line[4:])
    refuse(line, "a reply of 1 column and a number")


def nothing(line: bytes, plain: bool) -> None:
    raise AssertionError("the reply to an opening is the opening's")


def opened(line: bytes, plain: bool = False) -> None:
    """The reply to a `P`, or to a log-in."""
    if not re.match(rb"0\t\d+(\t|\Z)", line):
        refuse(line, "a reply without values")
