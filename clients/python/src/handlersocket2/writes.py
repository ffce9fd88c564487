"""Requests that change rows, as values like those of requests.py."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from .changes import NewValue, Outcome, assignment_of
from .codec import RawReply, Value, encode_line
from .requests import Filter, FilterKind, Find
from .results import RawRow, id_of, one_number, outcomes, rows_of_values
from .tokens import (
    check_list,
    member_token,
    number_token,
    operator_token,
    some_values_tokens,
    values_tokens,
)

#: What is done about a row that is there already.
Duplicate: TypeAlias = Literal["fail", "ignore", "replace"]


@dataclass(frozen=True)
class Insert:
    """`+`: a row, its values for the first of the opened columns."""

    index_id: int
    values: Sequence[Value]

    def encode(self) -> bytes:
        values = some_values_tokens(self.values, "values of an insert")
        tokens = [number_token(self.index_id, "an index id"), b"+", b"%d" % len(values)]
        return encode_line(tokens + values)

    def decode(self, reply: RawReply) -> int | None:
        """The row's auto-increment value, or None if the table has none."""
        return id_of(reply.values[0]) if reply.values else None


class ModifyOp(enum.Enum):
    UPDATE = b"U"
    DELETE = b"D"
    INCREMENT = b"+"
    DECREMENT = b"-"
    #: Changes nothing: in a group it keeps the rows as they are until its end.
    LOCK = b"lock"


def _modification(find: Find, op: ModifyOp, suffix: bytes, values: Sequence[Value]) -> list[bytes]:
    op_token = member_token(op, ModifyOp, "a modification") + suffix
    if op in (ModifyOp.DELETE, ModifyOp.LOCK) and values:
        what = "deletion" if op is ModifyOp.DELETE else "lock"
        raise ValueError(f"a {what} takes no values")
    return [*find.tokens(more=True), op_token, *values_tokens(values, "values of a modification")]


@dataclass(frozen=True)
class FindModify:
    """A find whose rows are changed. Its result is how many were."""

    find: Find
    op: ModifyOp
    values: Sequence[Value] = ()

    def encode(self) -> bytes:
        return encode_line(_modification(self.find, self.op, b"", self.values))

    def decode(self, reply: RawReply) -> int:
        return one_number(reply)


@dataclass(frozen=True)
class FetchModify:
    """FindModify's `?` form: its result is the rows as they were before.

    With `after` it is the `!` form, whose result is the rows as they are afterwards.
    """

    find: Find
    op: ModifyOp
    values: Sequence[Value] = ()
    after: bool = False

    def encode(self) -> bytes:
        if self.after and self.op is ModifyOp.DELETE:
            raise ValueError("a row that is deleted is not there afterwards")
        if self.after and self.op is ModifyOp.LOCK:
            raise ValueError("a row that is locked is afterwards as it was before")
        return encode_line(
            _modification(self.find, self.op, _suffix(after=self.after), self.values)
        )

    def decode(self, reply: RawReply) -> list[RawRow]:
        return rows_of_values(reply)


def _suffix(*, after: bool) -> bytes:
    return b"!" if after else b"?"


#: Columns, by their positions among those of the open index, and what becomes of them.
Assignments: TypeAlias = Sequence[tuple[int, NewValue]]


def _assignments(assignments: Assignments, *, of_upsert: bool) -> list[bytes]:
    check_list(assignments, "assignments")
    if not assignments:
        raise ValueError("the assignments are empty: there has to be one at least")
    tokens = [b"%d" % len(assignments)]
    for column, value in assignments:
        assignment = assignment_of(value)
        if assignment.how == "new" and not of_upsert:
            raise ValueError("only an upsert has a new row: inserted() belongs there")
        tokens += [number_token(column, "a column of an assignment"), *assignment.tokens()]
    return tokens


@dataclass(frozen=True)
class FindAssign:
    """`set`: a find whose rows are assigned to. Its result is how many were."""

    find: Find
    assignments: Assignments

    def encode(self) -> bytes:
        assignments = _assignments(self.assignments, of_upsert=False)
        return encode_line([*self.find.tokens(more=True), b"set", *assignments])

    def decode(self, reply: RawReply) -> int:
        return one_number(reply)


@dataclass(frozen=True)
class FetchAssign:
    """FindAssign's `?` form, or with `after` its `!` form: its result is the rows."""

    find: Find
    assignments: Assignments
    after: bool = False

    def encode(self) -> bytes:
        op = b"set" + _suffix(after=self.after)
        assignments = _assignments(self.assignments, of_upsert=False)
        return encode_line([*self.find.tokens(more=True), op, *assignments])

    def decode(self, reply: RawReply) -> list[RawRow]:
        return rows_of_values(reply)


@dataclass(frozen=True)
class InsertRows:
    """`insert`: several rows, with values for the first of the opened columns: all of them or none.

    With `changes` it is an upsert: a row that is there is changed if it meets the `filters`.
    """

    index_id: int
    rows: Sequence[Sequence[Value]]
    duplicate: Duplicate = "fail"
    changes: Assignments = ()
    filters: Sequence[Filter] = ()

    def encode(self) -> bytes:
        check_list(self.rows, "rows of an insert")
        if not self.rows:
            raise ValueError("an insert has one row at least")
        rows = [some_values_tokens(row, "values of an insert") for row in self.rows]
        width = len(rows[0])
        if any(len(row) != width for row in rows):
            raise ValueError("the rows of an insert have as many values each")
        tokens = [number_token(self.index_id, "an index id"), b"insert"]
        tokens += [b"%d" % len(rows), b"%d" % width]
        for row in rows:
            tokens += row
        return encode_line([*tokens, *self._else()])

    def _else(self) -> list[bytes]:
        word = operator_token(self.duplicate, get_args(Duplicate), "what is done about a duplicate")
        check_list(self.filters, "filters")
        if not self.changes:
            if self.filters:
                raise ValueError("the filters of an insert belong to changes")
            return [] if word == b"fail" else [b"else", word]
        if word != b"fail":
            raise ValueError(f"an insert has changes or is to {self.duplicate}, and not both")
        tokens = [b"else", b"update", *_assignments(self.changes, of_upsert=True)]
        for condition in self.filters:
            if condition.kind is not FilterKind.SKIP:
                raise ValueError("there is no find that a filter of an upsert could stop")
            tokens += condition.tokens()
        return tokens

    def decode(self, reply: RawReply) -> list[Outcome]:
        return outcomes(reply, len(self.rows))
