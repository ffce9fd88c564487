"""What the calls of an index take: keys, values, and their keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypedDict

from .changes import NewValue
from .codec import Value
from .ranges import Range
from .requests import Filter, FindOp, In
from .writes import Duplicate

#: A key: its parts in order, or the one value of the first part. Or a range in its place.
Key: TypeAlias = Value | Sequence[Value] | Range
#: Values for the first of the opened columns, or for columns by their names.
Values: TypeAlias = Sequence[Value] | Mapping[str, Value]
#: The same with assignments among them.
NewValues: TypeAlias = Sequence[NewValue] | Mapping[str, NewValue]
#: What becomes of columns of a row that is there, by their names.
Changes: TypeAlias = Mapping[str, NewValue]


class _EveryCall(TypedDict, total=False):
    #: Seconds for this call in place of the client's; None: it may take for ever.
    timeout: float | None
    #: Seconds that the server may take. When they are over, it has done nothing, and says so.
    within: float


class _Finding(_EveryCall, total=False):
    op: FindOp
    offset: int
    filters: Sequence[Filter]


class FindOneOptions(_Finding, total=False):
    """Keywords of a find that answers one row."""

    in_: In | None
    #: Whether it takes the connection for long finds. Without it the limit decides.
    long: bool


class FindOptions(FindOneOptions, total=False):
    """Keywords of every other find."""

    limit: int


class FindInOptions(_Finding, total=False):
    """Keywords of find_in()."""

    limit: int
    long: bool


class ExistsOptions(_Finding, total=False):
    """Keywords of exists()."""

    in_: In | None


class CountOptions(ExistsOptions, total=False):
    """Keywords of count()."""

    limit: int
    #: Whether it takes the connection for long finds. It does so if it has no limit.
    long: bool


class ModifyOptions(_Finding, total=False):
    """Keywords of every modification."""

    in_: In | None
    limit: int


class InsertOptions(_EveryCall, total=False):
    """Keywords of insert()."""


class InsertManyOptions(_EveryCall, total=False):
    """Keywords of insert_many()."""

    #: What is done about a row that is there already: `fail`, `ignore` or `replace`.
    duplicate: Duplicate


class UpsertOptions(_EveryCall, total=False):
    """Keywords of upsert() and upsert_many()."""

    #: A row that is there is left as it is unless it meets all of them.
    filters: Sequence[Filter]
