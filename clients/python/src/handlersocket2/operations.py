"""What can be asked of an index, as values: each method makes an Ask, and sends nothing.

A connection, a pipeline or a task runs it. So the synchronous client and the one of asyncio share
all that is here, and so do their pipelines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from . import decoders
from .asks import Ask, Nothing, Operation, Spec, Specs
from .changes import NewValue, Outcome, is_assigned
from .codec import VALUE_TYPES, Value, escape
from .keywords import (
    Changes,
    CountOptions,
    ExistsOptions,
    FindInOptions,
    FindOneOptions,
    FindOptions,
    InsertManyOptions,
    InsertOptions,
    Key,
    ModifyOptions,
    NewValues,
    UpsertOptions,
    Values,
)
from .ranges import UNSET, Range, Unset
from .requests import (
    Count,
    Exists,
    Filter,
    Find,
    In,
    OpenIndex,
)
from .rows import RowReader
from .tokens import check_list, check_some_values, limit_token, within_prefix
from .writes import (
    FetchAssign,
    FetchModify,
    FindAssign,
    FindModify,
    Insert,
    InsertRows,
    ModifyOp,
)

R = TypeVar("R")

_EVERYTHING = 2**64 - 1
_LOW = re.compile(rb"[\x00-\x0f]")


def _times(options: dict[str, Any]) -> tuple[float | Unset | None, bytes]:
    """Takes out the time-out, and the time for the server as what stands in front of the line."""
    timeout = options.pop("timeout", UNSET)
    within = options.pop("within", None)
    return timeout, b"" if within is None else within_prefix(within)


class Operations(Generic[R]):
    """The requests of one index, whose rows are R."""

    def __init__(self, specs: Specs, spec: Spec, reader: RowReader[R]) -> None:
        self.spec = spec
        self._specs = specs
        self._reader = reader
        rows, row = decoders.rows_decoder(spec.columns, reader)
        self.find_operation: Operation[list[R]] = Operation("find", spec, rows, modifies=False)
        self.find_one_operation: Operation[R | None] = Operation("find", spec, row, modifies=False)
        self._by_names: dict[tuple[str, ...], Spec] = {}
        self._orders: dict[tuple[str, ...], Callable[[bytes, bool], list[R]]] = {}

    def open(self) -> Ask[None]:
        """Only that the index is open. It has no line: a connection opens what it has not yet."""
        return Ask(Operation("open_index", self.spec, decoders.nothing, modifies=False), b"")

    def find(self, key: Key, options: FindOptions) -> Ask[list[R]]:
        if not options and (line := plain_line(key)):
            return Ask(self.find_operation, line)
        find, reach, timeout, before = self._finding(key, options)
        if _is_empty(find.in_):
            return Nothing(self.find_operation, [])
        return Ask(self.find_operation, _behind_id(find.encode()), reach, timeout, before)

    def find_one(self, key: Key, options: FindOneOptions) -> Ask[R | None]:
        if not options and (line := plain_line(key)):
            return Ask(self.find_one_operation, line)
        if "limit" in options:
            raise TypeError("find_one() has no limit: it answers one row")
        find, reach, timeout, before = self._finding(key, cast(FindOptions, options))
        if _is_empty(find.in_):
            return Nothing(self.find_one_operation, None)
        return Ask(self.find_one_operation, _behind_id(find.encode()), reach, timeout, before)

    def find_in(
        self, values: Sequence[Value], key: Key, key_part: int, options: FindInOptions
    ) -> Ask[list[R]]:
        parts = _parts(key) or [""]
        if isinstance(key, Range) and not key.values:
            parts = replace(key, key=[""])
        if "in_" in options:
            raise TypeError("find_in() makes its own in_")
        with_in = cast(FindOptions, {**options, "in_": In(values, key_part)})
        if "limit" not in options and isinstance(values, Sequence):
            with_in["limit"] = max(1, len(values))
        find, reach, timeout, before = self._finding(parts, with_in)
        if _is_empty(find.in_):
            return Nothing(self.find_operation, [])
        return Ask(self.find_operation, _behind_id(find.encode()), reach, timeout, before)

    def iterate(self, key: Key, options: FindOptions) -> Ask[list[R]]:
        """A find without a limit, unless one is given."""
        return self.find(key, {"limit": _EVERYTHING, **options})

    def count(self, key: Key, options: CountOptions) -> Ask[int]:
        find, reach, timeout, before = self._finding(key, options, _EVERYTHING)
        operation = Operation("count", self.spec, decoders.count, modifies=False)
        if _is_empty(find.in_):
            return Nothing(operation, 0)
        return Ask(operation, _behind_id(Count(find).encode()), reach, timeout, before)

    def exists(self, key: Key, options: ExistsOptions) -> Ask[bool]:
        if "limit" in options:
            raise TypeError("exists() has no limit: one row is enough")
        find, reach, timeout, before = self._finding(key, cast(FindOptions, options))
        operation = Operation("exists", self.spec, decoders.exists, modifies=False)
        if _is_empty(find.in_):
            return Nothing(operation, False)
        return Ask(operation, _behind_id(Exists(find).encode()), reach, timeout, before)

    def modify(
        self, change: ModifyOp, key: Key, values: NewValues, options: ModifyOptions
    ) -> Ask[int]:
        find, _, timeout, before = self._finding(key, cast(FindOptions, options))
        if _is_empty(find.in_):
            return Nothing(Operation(_NAMES[change], self.spec, decoders.count, modifies=True), 0)
        if change is ModifyOp.UPDATE and is_assigned(_list_of(values)):
            spec, assignments = self._assigned(values, self.spec.columns)
            line = FindAssign(find, assignments).encode()
        else:
            spec, given = self._for_columns(change, cast(Values, values))
            line = FindModify(find, change, given).encode()
        operation = Operation(_NAMES[change], spec, decoders.count, modifies=True)
        return Ask(operation, _behind_id(line), 1, timeout, before)

    def fetch(
        self,
        change: ModifyOp,
        key: Key,
        values: NewValues,
        options: ModifyOptions,
        *,
        after: bool = False,
    ) -> Ask[list[R]]:
        """A modification that answers the rows as they were before, or as they are `after` it."""
        find, _, timeout, before = self._finding(key, cast(FindOptions, options))
        spec, decode = self.spec, self.find_operation.decode
        if _is_empty(find.in_):
            return Nothing(self.find_operation, [])
        if change is ModifyOp.UPDATE and is_assigned(_list_of(values)):
            spec, assignments = self._assigned(values, self.spec.columns)
            if spec is not self.spec:
                raise ValueError(_NO_PLACE)
            line = FetchAssign(find, assignments, after=after).encode()
        else:
            if isinstance(values, Mapping):
                spec, decode, values = self._in_front(values)
            self._for_columns(change, cast(Values, values))
            line = FetchModify(find, change, cast(Sequence[Value], values), after=after).encode()
        operation = Operation(_NAMES.get(change, "modify"), spec, decode, modifies=True)
        return Ask(operation, _behind_id(line), 1, timeout, before)

    def insert_many(self, rows: Sequence[Values], options: InsertManyOptions) -> Ask[list[Outcome]]:
        spec, given = self._rows(rows)
        rest: dict[str, Any] = dict(options)
        timeout, before = _times(rest)
        if unknown := rest.keys() - {"duplicate"}:
            raise TypeError(f"insert_many() has no option {min(unknown)!r}")
        line = InsertRows(0, given, **rest).encode()
        operation = Operation("insert", spec, decoders.outcomes_decoder(len(given)), modifies=True)
        return Ask(operation, _behind_id(line), 1, timeout, before)

    def upsert(self, row: Values, changes: Changes, options: UpsertOptions) -> Ask[Outcome]:
        many = self.upsert_many([row], changes, options)
        read = many.operation.decode
        first: Callable[[bytes, bool], Outcome] = lambda line, plain: read(line, plain)[0]  # noqa: E731
        operation = Operation("upsert", many.operation.spec, first, modifies=True)
        return Ask(operation, many.line, 1, many.timeout, many.operation.before)

    def upsert_many(
        self, rows: Sequence[Values], changes: Changes, options: UpsertOptions
    ) -> Ask[list[Outcome]]:
        spec, given = self._rows(rows)
        if not isinstance(changes, Mapping):
            raise TypeError("the changes of an upsert are a dict")
        check_some_values(tuple(changes), "changes of an upsert")
        spec, assignments = self._assigned(changes, spec.columns)
        rest: dict[str, Any] = dict(options)
        timeout, before = _times(rest)
        if filters := rest.get("filters"):
            rest["filters"] = self._numbered(filters)
        line = InsertRows(0, given, changes=assignments, **rest).encode()
        operation = Operation("upsert", spec, decoders.outcomes_decoder(len(given)), modifies=True)
        return Ask(operation, _behind_id(line), 1, timeout, before)

    def insert(self, values: Values, options: InsertOptions) -> Ask[int | None]:
        spec, given = self._named(values, "an insert")
        operation = Operation("insert", spec, decoders.inserted, modifies=True)
        line = Insert(0, given).encode()
        rest: dict[str, Any] = dict(options)
        timeout, before = _times(rest)
        if rest:
            raise TypeError(f"insert() has no option {next(iter(rest))!r}")
        return Ask(operation, _behind_id(line), 1, timeout, before)

    def _finding(
        self, key: Key, options: FindOptions, usual: int = 1
    ) -> tuple[Find, int, float | Unset | None, bytes]:
        """The find, how far it reaches, and its times. `usual` is the limit that it has."""
        rest: dict[str, Any] = dict(options)
        timeout, before = _times(rest)
        long = rest.pop("long", None)
        if filters := rest.get("filters"):
            rest["filters"] = self._numbered(filters)
        find = Find(0, _parts(key), **rest)
        if find.limit is not None:
            limit_token(find.limit)  # also if nothing will be sent
        limit = usual if find.limit is None else find.limit
        reach = limit if long is None else _EVERYTHING if long else 0
        return find, reach, timeout, before

    def _numbered(self, filters: Sequence[Filter]) -> Sequence[Filter]:
        """Filters whose columns are numbers. What is no list of filters is for Find to refuse."""
        if isinstance(filters, VALUE_TYPES) or not isinstance(filters, Sequence):
            return filters
        numbered = []
        for each in filters:
            if isinstance(each, Filter) and isinstance(each.column, str):
                if each.column not in self.spec.filter_columns:
                    among = ", ".join(self.spec.filter_columns) or "none"
                    text = f"no column of a filter is {each.column!r}; those of the index: {among}"
                    raise ValueError(text)
                each = replace(each, column=self.spec.filter_columns.index(each.column))
            numbered.append(each)
        return numbered

    def _rows(self, rows: Sequence[Values]) -> tuple[Spec, Sequence[Sequence[Value]]]:
        """The index with the columns that the rows have, and their values."""
        check_list(rows, "rows of an insert")
        if not rows:
            raise ValueError("an insert has one row at least")
        first = rows[0]
        if not isinstance(first, Mapping):
            if any(isinstance(row, Mapping) for row in rows):
                raise ValueError("the rows of an insert are all dicts, or none of them is")
            specs = [self._named(row, "an insert")[0] for row in rows]
            return specs[0], cast(Any, rows)
        if any(not isinstance(row, Mapping) or row.keys() != first.keys() for row in rows):
            raise ValueError("the rows of an insert name the same columns")
        spec, _ = self._named(first, "an insert")
        return spec, [[cast(Any, row)[name] for name in spec.columns] for row in rows]

    def _assigned(
        self, values: NewValues, columns: Sequence[str]
    ) -> tuple[Spec, list[tuple[int, NewValue]]]:
        """What becomes of which column, and the index that has these columns and those."""
        if not isinstance(values, Mapping):
            self._for_columns(ModifyOp.UPDATE, cast(Values, values))  # refuses too many of them
            return self.spec, list(enumerate(values))
        check_some_values(tuple(values), "values of a modification")
        others = sorted(name for name in values if name not in columns)
        names = (*columns, *others)
        spec = self.spec if names == self.spec.columns else self._spec_of(names)
        return spec, [(names.index(name), value) for name, value in values.items()]

    def _in_front(
        self, values: Mapping[str, NewValue]
    ) -> tuple[Spec, Callable[[bytes, bool], list[R]], list[NewValue]]:
        """The index with these columns in front, what reads its rows, and the values."""
        check_some_values(tuple(values), "values of a modification")
        columns = self.spec.columns
        if any(name not in columns for name in values):
            raise ValueError(_NO_PLACE)
        order = (
            *sorted(values, key=columns.index),
            *(name for name in columns if name not in values),
        )
        given = [values[name] for name in order[: len(values)]]
        if order == columns:
            return self.spec, self.find_operation.decode, given
        if order not in self._orders:
            reader = self._reader.reordered(order)
            self._orders[order] = decoders.rows_decoder(order, reader)[0]
        return self._spec_of(order), self._orders[order], given

    def _for_columns(self, change: ModifyOp, values: Values) -> tuple[Spec, Sequence[Value]]:
        if change in (ModifyOp.DELETE, ModifyOp.LOCK):  # its request refuses values
            return self.spec, cast(Sequence[Value], values)
        return self._named(values, "a modification")

    def _named(self, values: Values, what: str) -> tuple[Spec, Sequence[Value]]:
        """The index with the columns that are meant, and their values.

        The server ignores values that have no column, and does nothing if there are none.
        """
        if isinstance(values, Mapping):
            names = tuple(sorted(values))
            check_some_values(names, f"values of {what}")
            return self._spec_of(names), [values[name] for name in names]
        check_some_values(values, f"values of {what}")
        columns = self.spec.columns
        if len(values) > len(columns):
            noun = "column: " if len(columns) == 1 else "columns: " if columns else "columns"
            raise ValueError(
                f"{len(values)} values for {what}, but the index was opened with"
                f" {len(columns)} {noun}{', '.join(columns)}"
            )
        return self.spec, values

    def _spec_of(self, names: tuple[str, ...]) -> Spec:
        """The same index, with the columns of these names."""
        found = self._by_names.get(names)
        if found is None:
            mine = self.spec
            request = OpenIndex(
                0, mine.database, mine.table, mine.index, names, mine.filter_columns
            )
            found = self._by_names[names] = self._specs.get(request)
        return found


_NO_PLACE = "a request that answers rows can change only columns of the rows"
_NAMES = {
    ModifyOp.UPDATE: "update",
    ModifyOp.DELETE: "delete",
    ModifyOp.INCREMENT: "increment",
    ModifyOp.DECREMENT: "decrement",
    ModifyOp.LOCK: "lock",
}


def plain_line(key: Key) -> bytes | None:
    """The line of the most usual find: one value of one key part, and nothing else."""
    if type(key) is int:
        return b"\t=\t1\t%d\n" % key
    if type(key) is str:
        raw = key.encode()
    elif type(key) is bytes:
        raw = key
    else:
        return None
    return b"\t=\t1\t%b\n" % (escape(raw) if _LOW.search(raw) else raw)


def _behind_id(line: bytes) -> bytes:
    """Without the index id, which was 0."""
    return line[1:]


def _parts(key: Key) -> Sequence[Value] | Range:
    if isinstance(key, Range):
        return key
    return [key] if isinstance(key, VALUE_TYPES) else key


def _list_of(values: NewValues) -> Sequence[NewValue]:
    """The values alone. What is no list is for others to refuse."""
    if isinstance(values, Mapping):
        return tuple(values.values())
    return values if isinstance(values, Sequence) else ()


def _is_empty(in_: In | None) -> bool:
    """Nothing is IN an empty list."""
    return in_ is not None and isinstance(in_.values, (list, tuple)) and not in_.values
