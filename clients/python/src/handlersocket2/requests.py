"""Requests as values, each with the line that asks it and the meaning of its reply."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, get_args

from .codec import Cell, RawReply, Value, encode_line, encode_value
from .descriptions import Description, description_of
from .errors import ProtocolError
from .lists import ListedIndex, echoed, indexes_of, names_of
from .ranges import Range
from .results import RawRow, error_of, names_and_values, one_number, rows_of_values
from .tokens import (
    check_list,
    limit_token,
    member_token,
    name_token,
    names_token,
    number_token,
    operator_token,
    some_values_tokens,
    values_tokens,
    within_prefix,
)

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
        tokens = [b"P", number_token(self.index_id, "an index id")]
        tokens.append(name_token(self.database, "a database's name"))
        tokens.append(name_token(self.table, "a table's name"))
        tokens.append(name_token(self.index, "an index's name"))
        tokens.append(names_token(self.columns, "columns"))
        if filter_columns := names_token(self.filter_columns, "filter columns"):
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
class Describe:
    """`D`: what the columns of an open index are, and what its key is made of."""

    index_id: int

    def encode(self) -> bytes:
        return encode_line([b"D", number_token(self.index_id, "an index id")])

    def decode(self, reply: RawReply) -> Description:
        return description_of(reply)


@dataclass(frozen=True)
class Hello:
    """`H`: asks for versions and for what the server understands, as names and values.

    It turns `options` on for its connection, and those off that it does not name.
    """

    options: Sequence[str] = ()

    def encode(self) -> bytes:
        check_list(self.options, "options of a hello")
        return encode_line([b"H", *(name_token(each, "an option") for each in self.options)])

    def decode(self, reply: RawReply) -> dict[str, str]:
        return names_and_values(reply)


@dataclass(frozen=True)
class Databases:
    """`L`: the names of the databases in which the account has a privilege."""

    def encode(self) -> bytes:
        return encode_line([b"L"])

    def decode(self, reply: RawReply) -> list[str]:
        return names_of(reply)


@dataclass(frozen=True)
class Tables:
    """`L`: the names of the tables of a database that the account can open."""

    database: str

    def encode(self) -> bytes:
        return encode_line([b"L", name_token(self.database, "a database's name")])

    def decode(self, reply: RawReply) -> list[str]:
        return names_of(reply)


@dataclass(frozen=True)
class Indexes:
    """`L`: the indexes of a table, with their parts."""

    database: str
    table: str

    def encode(self) -> bytes:
        tokens = [b"L", name_token(self.database, "a database's name")]
        return encode_line([*tokens, name_token(self.table, "a table's name")])

    def decode(self, reply: RawReply) -> list[ListedIndex]:
        return indexes_of(reply)


@dataclass(frozen=True)
class Echo:
    """`echo`: the reply has this value. So a server shows that it is there, without a table."""

    value: Value

    def encode(self) -> bytes:
        return encode_line([b"echo", encode_value(self.value)])

    def decode(self, reply: RawReply) -> Cell:
        return echoed(reply)


@dataclass(frozen=True)
class In:
    """`@`: key part `key_part` takes each of `values` in turn."""

    values: Sequence[Value]
    key_part: int = 0

    def tokens(self) -> list[bytes]:
        values = some_values_tokens(self.values, "values of IN")
        return [b"@", number_token(self.key_part, "a key part"), b"%d" % len(values), *values]


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
            member_token(self.kind, FilterKind, "the kind of a filter"),
            operator_token(self.op, get_args(FilterOp), "the op of a filter"),
            number_token(self.column, "the column of a filter"),
            encode_value(self.value),
        ]


@dataclass(frozen=True)
class Find:
    """Rows by a key, by the first parts of one, or in a range.

    Without a limit it answers one row. A count has none, unless one is given.
    """

    index_id: int
    key: Sequence[Value] | Range
    op: FindOp = "="
    limit: int | None = None
    offset: int = 0
    in_: In | None = None
    filters: Sequence[Filter] = ()

    def tokens(self, *, more: bool = False, usual: bytes = b"1") -> list[bytes]:
        """In the shortest form, or in the one behind which `more` tokens stand.

        `usual` is the limit that the server takes where none is written.
        """
        tokens = [number_token(self.index_id, "an index id"), *self._key_tokens()]
        limit = usual if self.limit is None else limit_token(self.limit)
        offset = number_token(self.offset, "an offset")
        check_list(self.filters, "filters")
        more = more or self.in_ is not None or bool(self.filters)
        if more or offset != b"0":
            tokens += [limit, offset]
        elif limit != usual:
            tokens.append(limit)
        if self.in_ is not None:
            tokens += self.in_.tokens()
        for condition in self.filters:
            if not isinstance(condition, Filter):
                raise TypeError(f"a filter is a Filter, not {type(condition).__name__}")
            tokens += condition.tokens()
        return tokens

    def _key_tokens(self) -> list[bytes]:
        op = operator_token(self.op, get_args(FindOp), "the op of a find")
        if isinstance(self.key, Range):
            if op != b"=":
                raise ValueError("a range has no op: its ends say the same")
            key = values_tokens(self.key.values, "values of a key")
            return [self.key.way, b"%d" % len(key), *key, *self.key.ends()]
        key = some_values_tokens(self.key, "values of a key")
        return [op, b"%d" % len(key), *key]

    def encode(self) -> bytes:
        return encode_line(self.tokens())

    def decode(self, reply: RawReply) -> list[RawRow]:
        return rows_of_values(reply)


@dataclass(frozen=True)
class Count:
    """`C`: how many rows a find would give."""

    find: Find

    def encode(self) -> bytes:
        return encode_line([*self.find.tokens(usual=b"0"), b"C"])

    def decode(self, reply: RawReply) -> int:
        return one_number(reply)


@dataclass(frozen=True)
class Exists:
    """`E`: whether a find would give a row."""

    find: Find

    def encode(self) -> bytes:
        if self.find.limit is not None:
            raise ValueError("whether there is a row does not depend on a limit")
        return encode_line([*self.find.tokens(), b"E"])

    def decode(self, reply: RawReply) -> bool:
        found = one_number(reply)
        if found > 1:
            raise ProtocolError("1 or 0 was expected", sent=True)
        return found == 1


@dataclass(frozen=True)
class Within(Generic[T_co]):
    """`within`: a find, a modification or an insert for which the server may take so many seconds.

    When they are over, it has done nothing, and answers `max_request_time`.
    """

    seconds: float
    request: Request[T_co]

    def encode(self) -> bytes:
        return within_prefix(self.seconds) + self.request.encode()

    def decode(self, reply: RawReply) -> T_co:
        return self.request.decode(reply)


#: The requests that change nothing.
READS = (
    *(Find, Count, Exists, OpenIndex, Auth, LogIn),
    *(Describe, Hello, Databases, Tables, Indexes, Echo),
)


def is_read(request: Request[Any]) -> bool:
    return isinstance(request.request if isinstance(request, Within) else request, READS)


def result_of(request: Request[T_co], reply: RawReply) -> T_co:
    """The result, or the ReplyError raised that the server answered."""
    if reply.code != 0:
        raise error_of(reply, modifies=not is_read(request))
    return request.decode(reply)
