"""Requests as values, each with the line that asks it and the meaning of its reply."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from .codec import Cell, RawReply, Value, encode_line, encode_value, to_bytes
from .errors import ProtocolError, reply_error

Row = tuple[Cell, ...]
T_co = TypeVar("T_co", covariant=True)


class Request(Protocol[T_co]):
    """Anything that can be sent on a Connection."""

    def encode(self) -> bytes:
        """The request's line, with its LF."""

    def decode(self, reply: RawReply) -> T_co:
        """What a reply with code 0 says."""


def _numbers(*numbers: int) -> list[bytes]:
    for number in numbers:
        if number < 0:
            raise ValueError(f"{number}: the protocol's numbers are not negative")
    return [b"%d" % number for number in numbers]


def _name(text: str) -> bytes:
    """A token of `P`, which is not escaped: such a name cannot be told to the server."""
    name = text.encode()
    if any(byte in name for byte in b"\t\n"):
        raise ValueError(f"{text!r}: a name holds no TAB and no LF")
    return name


@dataclass(frozen=True)
class OpenIndex:
    """`P`: gives an index of a table, and some of its columns, a number."""

    index_id: int
    database: str
    table: str
    index: str = "PRIMARY"
    columns: Sequence[str] = ()
    filter_columns: Sequence[str] = ()

    def encode(self) -> bytes:
        tokens = [b"P", *_numbers(self.index_id)]
        tokens += map(_name, (self.database, self.table, self.index, ",".join(self.columns)))
        if self.filter_columns:
            tokens.append(_name(",".join(self.filter_columns)))
        return encode_line(tokens)

    def decode(self, reply: RawReply) -> None:
        return None


@dataclass(frozen=True)
class Auth:
    """`A 1`: tells the server the secret."""

    secret: Value

    def encode(self) -> bytes:
        return encode_line([b"A", b"1", encode_value(self.secret)])

    def decode(self, reply: RawReply) -> None:
        return None


@dataclass(frozen=True)
class Insert:
    """`+`: a row, its values for the first of the opened columns."""

    index_id: int
    values: Sequence[Value]

    def encode(self) -> bytes:
        tokens = [*_numbers(self.index_id), b"+", *_numbers(len(self.values))]
        return encode_line(tokens + [encode_value(value) for value in self.values])

    def decode(self, reply: RawReply) -> int | None:
        """The row's auto-increment value, or None if the table has none."""
        return _whole_number(reply.values[0]) if reply.values else None


@dataclass(frozen=True)
class In:
    """`@`: key part `key_part` takes each of `values` in turn."""

    values: Sequence[Value]
    key_part: int = 0


class FilterKind(enum.Enum):
    SKIP = b"F"  #: a row that fails is left out
    STOP = b"W"  #: the first row that fails ends the find


@dataclass(frozen=True)
class Filter:
    """A condition on the filter column number `column`."""

    op: str
    column: int
    value: Value
    kind: FilterKind = FilterKind.SKIP


@dataclass(frozen=True)
class Find:
    """Rows by a key, or by the first parts of one."""

    index_id: int
    key: Sequence[Value]
    op: str = "="
    limit: int = 1
    offset: int = 0
    in_: In | None = None
    filters: Sequence[Filter] = ()

    def tokens(self) -> list[bytes]:
        tokens = [*_numbers(self.index_id), _name(self.op), *_numbers(len(self.key))]
        tokens += map(encode_value, self.key)
        tokens += _numbers(self.limit, self.offset)
        if self.in_ is not None:
            tokens += [b"@", *_numbers(self.in_.key_part, len(self.in_.values))]
            tokens += map(encode_value, self.in_.values)
        for condition in self.filters:
            tokens += [condition.kind.value, to_bytes(condition.op)]
            tokens += [*_numbers(condition.column), encode_value(condition.value)]
        return tokens

    def encode(self) -> bytes:
        return encode_line(self.tokens())

    def decode(self, reply: RawReply) -> list[Row]:
        return _rows(reply)


class ModifyOp(enum.Enum):
    UPDATE = b"U"
    DELETE = b"D"
    INCREMENT = b"+"
    DECREMENT = b"-"


@dataclass(frozen=True)
class FindModify:
    """A find whose rows are changed. Its result is how many were."""

    find: Find
    op: ModifyOp
    values: Sequence[Value] = ()

    def encode(self) -> bytes:
        return encode_line([*self.find.tokens(), self.op.value, *map(encode_value, self.values)])

    def decode(self, reply: RawReply) -> int:
        if len(reply.values) != 1:
            raise ProtocolError(f"a count was expected, not {reply!r}")
        return _whole_number(reply.values[0])


@dataclass(frozen=True)
class FetchModify:
    """FindModify's `?` form: its result is the rows as they were before."""

    find: Find
    op: ModifyOp
    values: Sequence[Value] = ()

    def encode(self) -> bytes:
        op = self.op.value + b"?"
        return encode_line([*self.find.tokens(), op, *map(encode_value, self.values)])

    def decode(self, reply: RawReply) -> list[Row]:
        return _rows(reply)


def result_of(request: Request[T_co], reply: RawReply) -> T_co:
    """The result, or the ReplyError raised that the server answered."""
    if reply.code != 0:
        text = reply.values[0] if reply.values else b""
        raise reply_error(reply.code, (text or b"").decode("utf-8", "replace"))
    return request.decode(reply)


def _whole_number(cell: Cell) -> int:
    if cell is None or not cell.isdigit():
        raise ProtocolError(f"a number was expected, not {cell!r}")
    return int(cell)


def _rows(reply: RawReply) -> list[Row]:
    """The values cut into rows. With no columns there is nothing to cut."""
    if reply.columns == 0:
        return []
    if len(reply.values) % reply.columns:
        raise ProtocolError(f"{len(reply.values)} values in rows of {reply.columns}")
    starts = range(0, len(reply.values), reply.columns)
    return [reply.values[start : start + reply.columns] for start in starts]
