"""Requests as values, each with the line that asks it and the meaning of its reply."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, TypeVar, get_args

from .codec import VALUE_TYPES, Cell, RawReply, Value, encode_line, encode_value
from .errors import ProtocolError, reply_error

#: A row as it comes: its columns' values in their order.
RawRow: TypeAlias = tuple[Cell, ...]
#: How a find compares the key, and how a filter compares its column.
FindOp: TypeAlias = Literal["=", ">", ">=", "<", "<="]
FilterOp: TypeAlias = Literal["=", "!=", ">", ">=", "<", "<="]
T_co = TypeVar("T_co", covariant=True)


class Request(Protocol[T_co]):
    """Anything that can be sent on a Connection."""

    def encode(self) -> bytes:
        """The request's line, with its LF."""

    def decode(self, reply: RawReply) -> T_co:
        """What a reply with code 0 says."""


# Whatever the caller gives becomes a token by one of these: nothing of it can end the token, or the
# line, and begin another request.

_MOST = 2**64 - 1


def _number(number: object, what: str) -> bytes:
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{what} is a whole number, not {type(number).__name__}")
    if not 0 <= number <= _MOST:
        raise ValueError(f"{what} is a number from 0 to {_MOST}, not {number}")
    return b"%d" % number


def _name(text: str, what: str, forbidden: str = "\t\n\r\0") -> bytes:
    """A token of `P`, which is not escaped."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}")
    if found := [character for character in forbidden if character in text]:
        raise ValueError(f"{what} cannot hold {found[0]!r}: {text!r}")
    return text.encode()


def _names(names: Sequence[str], what: str) -> bytes:
    """Columns' names, which a comma parts."""
    return b",".join(check_names(names, what))


def check_names(names: Sequence[str], what: str) -> list[bytes]:
    """Refuses what is no list of names."""
    _check_list(names, what)
    return [_name(name, f"a name among the {what}", "\t\n\r\0,") for name in names]


def _operator(op: str, allowed: tuple[str, ...], what: str) -> bytes:
    if op not in allowed:
        raise ValueError(f"{what} is one of {' '.join(allowed)}, not {op!r}")
    return op.encode()


def _member(member: enum.Enum, kind: type[enum.Enum], what: str) -> bytes:
    if not isinstance(member, kind):
        raise TypeError(f"{what} is a {kind.__name__}, not {member!r}")
    value: bytes = member.value
    return value


def _values(values: Sequence[Value], what: str) -> list[bytes]:
    _check_list(values, what)
    return [encode_value(value) for value in values]


def _some_values(values: Sequence[Value], what: str) -> list[bytes]:
    check_some_values(values, what)
    return [encode_value(value) for value in values]


def check_some_values(values: Sequence[Value], what: str) -> None:
    """Refuses what is no list of values, and an empty one."""
    _check_list(values, what)
    if not values:
        raise ValueError(f"the {what} are empty: there has to be one at least")


def _check_list(values: object, what: str) -> None:
    """Text and bytes are sequences, too, but not of values; a dict or a set has no order."""
    if isinstance(values, VALUE_TYPES) or not isinstance(values, Sequence):
        raise TypeError(f"the {what} are a list or a tuple, not {type(values).__name__}")


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
        tokens = [b"P", _number(self.index_id, "an index id")]
        tokens.append(_name(self.database, "a database's name"))
        tokens.append(_name(self.table, "a table's name"))
        tokens.append(_name(self.index, "an index's name"))
        tokens.append(_names(self.columns, "columns"))
        if filter_columns := _names(self.filter_columns, "filter columns"):
            tokens.append(filter_columns)
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
class LogIn:
    """`A 2`: logs in as an account of the server.

    An empty password is for an account that needs none, for example one that belongs to the user
    at this end of a Unix socket.
    """

    user: Value
    password: Value = field(default="", repr=False)

    def encode(self) -> bytes:
        return encode_line([b"A", b"2", encode_value(self.user), encode_value(self.password)])

    def decode(self, reply: RawReply) -> None:
        return None


@dataclass(frozen=True)
class Insert:
    """`+`: a row, its values for the first of the opened columns."""

    index_id: int
    values: Sequence[Value]

    def encode(self) -> bytes:
        values = _some_values(self.values, "values of an insert")
        tokens = [_number(self.index_id, "an index id"), b"+", b"%d" % len(values)]
        return encode_line(tokens + values)

    def decode(self, reply: RawReply) -> int | None:
        """The row's auto-increment value, or None if the table has none."""
        return _id(reply.values[0]) if reply.values else None


@dataclass(frozen=True)
class In:
    """`@`: key part `key_part` takes each of `values` in turn."""

    values: Sequence[Value]
    key_part: int = 0

    def tokens(self) -> list[bytes]:
        values = _some_values(self.values, "values of IN")
        return [b"@", _number(self.key_part, "a key part"), b"%d" % len(values), *values]


class FilterKind(enum.Enum):
    SKIP = b"F"  #: a row that fails is left out
    STOP = b"W"  #: the first row that fails ends the find


@dataclass(frozen=True)
class Filter:
    """A condition on a filter column, by its name, or by its number from 0 on.

    A find that was made without an index knows no names.
    """

    op: FilterOp
    column: int | str
    value: Value
    kind: FilterKind = FilterKind.SKIP

    def tokens(self) -> list[bytes]:
        return [
            _member(self.kind, FilterKind, "the kind of a filter"),
            _operator(self.op, get_args(FilterOp), "the op of a filter"),
            _number(self.column, "the column of a filter"),
            encode_value(self.value),
        ]


@dataclass(frozen=True)
class Find:
    """Rows by a key, or by the first parts of one."""

    index_id: int
    key: Sequence[Value]
    op: FindOp = "="
    limit: int = 1
    offset: int = 0
    in_: In | None = None
    filters: Sequence[Filter] = ()

    def tokens(self, *, more: bool = False) -> list[bytes]:
        """In the shortest form, or in the one behind which `more` tokens stand."""
        key = _some_values(self.key, "values of a key")
        tokens = [_number(self.index_id, "an index id")]
        tokens.append(_operator(self.op, get_args(FindOp), "the op of a find"))
        tokens.append(b"%d" % len(key))
        tokens += key
        limit, offset = _number(self.limit, "a limit"), _number(self.offset, "an offset")
        _check_list(self.filters, "filters")
        more = more or self.in_ is not None or bool(self.filters)
        if more or offset != b"0":
            tokens += [limit, offset]
        elif limit != b"1":
            tokens.append(limit)
        if self.in_ is not None:
            tokens += self.in_.tokens()
        for condition in self.filters:
            if not isinstance(condition, Filter):
                raise TypeError(f"a filter is a Filter, not {type(condition).__name__}")
            tokens += condition.tokens()
        return tokens

    def encode(self) -> bytes:
        return encode_line(self.tokens())

    def decode(self, reply: RawReply) -> list[RawRow]:
        return _rows(reply)


class ModifyOp(enum.Enum):
    UPDATE = b"U"
    DELETE = b"D"
    INCREMENT = b"+"
    DECREMENT = b"-"


def _modification(find: Find, op: ModifyOp, suffix: bytes, values: Sequence[Value]) -> list[bytes]:
    op_token = _member(op, ModifyOp, "a modification") + suffix
    if op is ModifyOp.DELETE and values:
        raise ValueError("a deletion takes no values")
    return [*find.tokens(more=True), op_token, *_values(values, "values of a modification")]


@dataclass(frozen=True)
class FindModify:
    """A find whose rows are changed. Its result is how many were."""

    find: Find
    op: ModifyOp
    values: Sequence[Value] = ()

    def encode(self) -> bytes:
        return encode_line(_modification(self.find, self.op, b"", self.values))

    def decode(self, reply: RawReply) -> int:
        if len(reply.values) != 1:
            raise ProtocolError("a count was expected", sent=True)
        return _whole_number(reply.values[0])


@dataclass(frozen=True)
class FetchModify:
    """FindModify's `?` form: its result is the rows as they were before."""

    find: Find
    op: ModifyOp
    values: Sequence[Value] = ()

    def encode(self) -> bytes:
        return encode_line(_modification(self.find, self.op, b"?", self.values))

    def decode(self, reply: RawReply) -> list[RawRow]:
        return _rows(reply)


def result_of(request: Request[T_co], reply: RawReply) -> T_co:
    """The result, or the ReplyError raised that the server answered."""
    if reply.code != 0:
        text = reply.values[0] if reply.values else b""
        modifies = not isinstance(request, (Find, OpenIndex, Auth, LogIn))
        raise reply_error(reply.code, (text or b"").decode("utf-8", "replace"), modifies=modifies)
    return request.decode(reply)


def _id(cell: Cell) -> int:
    """A signed column may have been given a negative one."""
    if cell is not None and cell.startswith(b"-"):
        return -_whole_number(cell[1:])
    return _whole_number(cell)


def _whole_number(cell: Cell) -> int:
    if cell is None or not cell.isdigit():
        raise ProtocolError("a number was expected", sent=True)
    return int(cell)


def _rows(reply: RawReply) -> list[RawRow]:
    """The values cut into rows. With no columns there are no values."""
    if len(reply.values) % reply.columns if reply.columns else reply.values:
        raise ProtocolError(f"{len(reply.values)} values in rows of {reply.columns}", sent=True)
    if reply.columns == 0:
        return []
    starts = range(0, len(reply.values), reply.columns)
    return [reply.values[start : start + reply.columns] for start in starts]
