"""What one client's rows are, and what one of its requests would do to them.

The rows of others are not known here. Nothing here talks to a server: requests.py computes the
edits that a request makes, and applies them when the server has said that it made them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from soak.columns import NULL, SortKey
from soak.tables import ID, OWNER, TXT, VER, M, N, Row, Table, X

#: (kind, operator, column, token); kind is F or W.
Filter = tuple[str, str, int, bytes]
#: Old id and new row; None for none.
Edit = tuple[bytes | None, Row | None]

DUPLICATE, NO_PARENT, HAS_CHILDREN, NOT_WITH_HASH = 121, 151, 152, 131


class Refused(Exception):
    """The request ends with this error, or with `other` if the server checks for that first."""

    def __init__(self, error: int, other: int = 0) -> None:
        super().__init__(error)
        self.error = error
        self.other = other


@dataclass(frozen=True)
class End:
    """An end of a range. If it is open, rows with just this value do not belong to the range."""

    token: bytes
    open: bool = False


@dataclass(frozen=True)
class Search:
    """What a find looks for. `values` are for the first parts of `index`.

    Only if `op` is `up` or `down`: the ends of the part behind them, or how its text begins.
    """

    index: str
    op: str
    values: tuple[bytes, ...]
    limit: int = 1
    offset: int = 0
    in_part: int = 0
    in_values: tuple[bytes, ...] = ()
    filters: tuple[Filter, ...] = ()
    low: End | None = None
    high: End | None = None
    begins: bytes = b""


class Rows:
    """The rows of one owner in one table, by id."""

    def __init__(self, table: Table, owner: int) -> None:
        self.table = table
        self.owner = owner
        self.rows: dict[bytes, Row] = {}

    def find(self, search: Search) -> list[Row]:
        """The rows that the search gives, in its order, as if nobody else had any rows."""
        parts = self.table.indexes[search.index]
        if self.table.hashed and search.index == "PRIMARY" and search.op != "=":
            raise Refused(NOT_WITH_HASH)
        if not search.in_values:
            found = self._matches(search, search.values)
        else:
            found = []
            for value in dict.fromkeys(search.in_values):
                values = list(search.values)
                values[search.in_part] = value
                found += self._matches(search, values)
        assert len(search.values) <= len(parts)
        found = self._filtered(found, search.filters)
        return found[search.offset : search.offset + search.limit]

    def _matches(self, search: Search, values: Sequence[bytes]) -> list[Row]:
        table = self.table
        parts = table.indexes[search.index]
        if search.op in ("up", "down"):
            return self._range(search, values)
        if search.op == "=" and search.index == "PRIMARY" and len(values) == len(parts):
            row = self.rows.get(values[-1])
            return (
                [row]
                if row and all(row[p] == v for (p, _), v in zip(parts, values, strict=False))
                else []
            )
        wanted = tuple(table.key_of(p, value) for (p, _), value in zip(parts, values, strict=False))
        columns = [p for p, _ in parts[: len(values)]]
        pairs = [
            (tuple(table.key_of(c, row[c]) for c in columns), row) for row in self.rows.values()
        ]
        compare = COMPARISONS[search.op]
        chosen = [row for key, row in pairs if compare(key, wanted)]
        if len(chosen) > 1:
            up = search.op in ("=", ">", ">=")
            # On an index whose first part descends, the scan goes the other way.
            backwards = parts[0][1] != (not up) if search.op != "=" else False
            chosen.sort(key=lambda row: self._position(row, parts), reverse=backwards)
        return chosen

    def _range(self, search: Search, values: Sequence[bytes]) -> list[Row]:
        parts = self.table.indexes[search.index]
        key = [self.table.key_of(p, value) for (p, _), value in zip(parts, values, strict=False)]
        columns = [p for p, _ in parts[: len(values)]]
        column, descends = parts[len(values)] if len(values) < len(parts) else (ID, False)
        chosen = [
            row
            for row in self.rows.values()
            if [self.table.key_of(c, row[c]) for c in columns] == key
            and self._is_between(row[column], column, search)
        ]
        backwards = (search.op == "down") != descends
        chosen.sort(key=lambda row: self._position(row, parts), reverse=backwards)
        return chosen

    def _is_between(self, token: bytes, column: int, search: Search) -> bool:
        if search.begins:
            return token.startswith(search.begins)
        low, high = search.low, search.high
        if low is None and high is not None and token == NULL:
            return False  # a NULL is not less than a value
        key = self.table.key_of(column, token)
        for end, op in ((low, ">"), (high, "<")):
            if end is not None:
                compare = COMPARISONS[op if end.open else f"{op}="]
                if not compare(key, self.table.key_of(column, end.token)):
                    return False
        return True

    def _position(self, row: Row, parts: Sequence[tuple[int, bool]]) -> tuple[SortKey, ...]:
        """The position of the row in the index."""
        table = self.table
        keys: list[SortKey] = []
        for column, descends in parts:
            token = row[column]
            if column == X and table.x_prefix and len(parts) == 1:
                token = token[: table.x_prefix] if token != NULL else token
            flag, value = table.key_of(column, token)
            if descends:
                assert isinstance(value, int)
                flag, value = -flag, -value
            keys.append((flag, value))
        keys.append(table.key_of(ID, row[ID]))
        return tuple(keys)

    def _filtered(self, rows: list[Row], filters: Sequence[Filter]) -> list[Row]:
        if not filters:
            return rows
        kept = []
        for row in rows:
            failed = [
                kind
                for kind, op, column, token in filters
                if not self._holds(row, op, column, token)
            ]
            # The first filter that does not hold decides.
            if failed and failed[0] == "W":
                break
            if not failed:
                kept.append(row)
        return kept

    def _holds(self, row: Row, op: str, column: int, token: bytes) -> bool:
        return COMPARISONS[op](
            self.table.key_of(column, row[column]), self.table.key_of(column, token)
        )


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


class Model:
    """All rows of one owner."""

    def __init__(self, tables: Sequence[Table], owner: int) -> None:
        self.owner = owner
        self.tables = {table.name: Rows(table, owner) for table in tables}

    def insert(self, table: str, row: Row) -> list[Edit]:
        """What an insert of such a row does. `x` may be the stored value of an Odd."""
        orphan = self._has_no_parent(table, row)
        if row[ID] in self.tables[table].rows:
            raise Refused(DUPLICATE, NO_PARENT if orphan else 0)
        if orphan:
            raise Refused(NO_PARENT)
        return [(None, row)]

    def delete(self, table: str, found: Sequence[Row]) -> list[Edit]:
        for row in found:
            self._check_children(table, row)
        return [(row[ID], None) for row in found]

    def update(self, table: str, found: Sequence[Row], news: Sequence[Row]) -> list[Edit]:
        """Each row of `found` becomes the row at the same place in `news`."""
        rows = self.tables[table]
        present = set(rows.rows)
        edits: list[Edit] = []
        for old, wanted in zip(found, news, strict=True):
            new = wanted
            if rows.table.flips_x:
                x = NULL if old[X] == NULL else b"%d" % (int(old[X]) ^ 1)
                new = (*wanted[:X], x, *wanted[X + 1 :])
            if new[ID] != old[ID]:
                if new[ID] in present:
                    orphan = new[X] != old[X] and self._has_no_parent(table, new)
                    raise Refused(DUPLICATE, NO_PARENT if orphan else 0)
                self._check_children(table, old)
                present.remove(old[ID])
                present.add(new[ID])
            if new[X] != old[X] and self._has_no_parent(table, new):
                raise Refused(NO_PARENT)
            edits.append((old[ID], new))
        return edits

    def upsert(
        self, table: str, news: Sequence[Row], action: str, amount: int | None
    ) -> tuple[list[Edit], list[str]]:
        """Several rows as one statement, and what becomes of each.

        `update` adds `amount` to the row that is there, or gives it the new version if it is None.
        The x of a row has no parent to ask for.
        """
        before = self.tables[table].rows
        after: dict[bytes, Row] = {}  # the rows that it has touched
        fates = []
        for new in news:
            old = after.get(new[ID]) or before.get(new[ID])
            kept = new
            if old is None:
                fates.append("inserted")
            elif action == "fail":
                raise Refused(DUPLICATE)
            elif action == "ignore":
                fates.append("ignored")
                continue
            elif action == "replace":
                self._check_children(table, old)
                fates.append("replaced")
            else:
                wanted = (*old[:VER], new[VER], new[TXT], *old[X:])
                wanted = wanted if amount is None else self.added(old, amount)
                ((_, changed),) = self.update(table, [old], [wanted])
                assert changed is not None
                kept = changed
                fates.append("unchanged" if kept == old else "updated")
            after[new[ID]] = kept
        edits: list[Edit] = [(key if key in before else None, row) for key, row in after.items()]
        return edits, fates

    @staticmethod
    def added(row: Row, amount: int) -> Row:
        """The row after `+ amount -amount` for n and m."""
        n, m = int(row[N]) + amount, int(row[M]) - amount
        return (*row[:N], b"%d" % n, b"%d" % m, *row[M + 1 :])

    def apply(self, table: str, edits: Sequence[Edit]) -> None:
        rows = self.tables[table].rows
        for old, _ in edits:
            if old is not None:
                del rows[old]
        for _, new in edits:
            if new is not None:
                assert int(new[OWNER]) == self.owner
                rows[new[ID]] = new

    def _has_no_parent(self, table: str, row: Row) -> bool:
        parent = self.tables[table].table.parent
        return bool(parent) and row[X] != NULL and row[X] not in self.tables[parent].rows

    def _check_children(self, table: str, row: Row) -> None:
        for rows in self.tables.values():
            if rows.table.parent == table and any(
                child[X] == row[ID] for child in rows.rows.values()
            ):
                raise Refused(HAS_CHILDREN)
