"""What SQL says about a request: the rows of a find in the index's order, or a write's result.

A find's SELECT computes for each row of the table whether the key and each filter hold. It also
computes the row's rank in the index: how many rows come before it. It searches no index for that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from pymysql.err import Error as SqlError
from support.database import Sql
from support.servers import ON_MYSQL
from support_random_index_order import (
    by_whole_values,
    filled_columns,
    indexed,
    is_plain,
    searched,
    searched_length,
)
from support_random_kinds import Beyond, Kind, NotJudgedError, Operand, Value
from support_random_requests import FilterModel, FindRequest, InsertRequest, index_of
from support_random_tables import IndexModel, Part, TableModel
from support_twins import ENGINE_NUMBERS

Cells = tuple[bytes | None, ...]


@dataclass(frozen=True)
class Group:
    """Rows that are equal in the index, in no order: for each rid, what is answered for its row.

    `ends`: a filter ends the find at one of them, so any of the other rows may be answered or not.
    """

    rows: dict[bytes, Cells]
    ends: bool


@dataclass(frozen=True)
class Found:
    groups: tuple[Group, ...]
    offset: int
    limit: int
    #: Rows that must not be missing, if it is open which of the others are met.
    must: frozenset[bytes] = frozenset()

    def explains(self, answer: Sequence[Cells], rid: int) -> bool:
        """Whether these may be the rows of a reply. `rid` is the place of that column."""
        rest, skip, room = list(answer), self.offset, self.limit
        if len(answer) < room and not self.must <= {cells[rid] for cells in answer}:
            return False
        for group in self.groups:
            usable = max(0, len(group.rows) - skip)
            wanted = min(usable, room)
            skip = max(0, skip - len(group.rows))
            taken = rest[: len(rest) if group.ends else wanted]
            if len(taken) > wanted or (len(taken) < wanted and not group.ends):
                return False
            if len({cells[rid] for cells in taken}) != len(taken):
                return False
            if any(group.rows.get(cells[rid] or b"") != cells for cells in taken):
                return False
            rest, room = rest[len(taken) :], room - len(taken)
            if group.ends:
                break
        return not rest

    def the_one_answer(self) -> list[bytes]:
        """The rids in order, each once, if only one answer is right."""
        skip, room, rids = self.offset, self.limit, []
        for group in self.groups:
            size = len(group.rows)
            if group.ends and group.rows:
                raise NotJudgedError("where a filter ends is open")
            if group.ends:
                break
            if (0 < skip < size) or 0 < room < size - skip:
                raise NotJudgedError("the limit or offset is within rows that are alike")
            if skip:
                skip -= size
            elif room:
                room -= size
                rids += sorted(group.rows, key=int)
        return list(dict.fromkeys(rids))

    def count(self, answer: str) -> int:
        """What C or E answer."""
        if any(group.ends and group.rows for group in self.groups):
            raise NotJudgedError("where a filter ends is open")
        if self.must:
            raise NotJudgedError("where the engine has put blanks decides")
        rows = max(0, sum(len(group.rows) for group in self.groups) - self.offset)
        return min(rows, 1 if answer == "E" else self.limit)

    def each_once(self) -> Found:
        """Without rows that came before: a modification answers each row once.

        For the offset and the limit a row counts each time. Only for what has one answer.
        """
        met: set[bytes] = set()
        groups = []
        skip, room = self.offset, self.limit
        for group in self.groups:
            size = len(group.rows)
            if skip:
                skip -= size
            elif room or not size:
                room -= size
                rows = {rid: cells for rid, cells in group.rows.items() if rid not in met}
                met |= rows.keys()
                groups.append(Group(rows, group.ends))
        return Found(tuple(groups), 0, self.limit)

    def alike(self) -> bool:
        """Whether rows are equal in the index, so that they may come in any order."""
        return any(len(group.rows) > 1 for group in self.groups)


class Judge:
    def __init__(self, sql: Sql, database: str) -> None:
        self._sql = sql
        self._database = database

    def find(self, table: TableModel, request: FindRequest) -> Found:
        unsure = filled_columns(table, index_of(table, request).parts)
        if unsure and (request.is_range or request.answer):
            raise NotJudgedError("where the engine has put blanks decides")
        found = self._find(table, request)
        if not unsure:
            return found
        if request.in_values and request.comparison != "=":
            raise NotJudgedError("where the engine has put blanks decides")
        # Which rows are met depends on the engine. But SQL's comparison has to accept all of them,
        # and no row may be missing whose place in the index is sure.
        skipping = tuple(replace(condition, kind="F") for condition in request.filters)
        whole = self._find(by_whole_values(table), replace(request, filters=skipping))
        rows = {rid: cells for group in whole.groups for rid, cells in group.rows.items()}
        sure = self._plain_rows(table, unsure)
        is_open = request.filters or request.offset
        if is_open or not all(map(is_plain, (*request.key, *request.in_values))):
            sure = set()
        must = {rid for group in found.groups for rid in group.rows} & sure
        return Found((Group(rows, True),), 0, whole.limit, frozenset(must))

    def _plain_rows(self, table: TableModel, columns: Sequence[str]) -> set[bytes | None]:
        texts = ", ".join(f"CONVERT(`{name}` USING utf8mb4)" for name in columns)
        rows = self._sql.rows(f"SELECT rid, {texts} FROM {self._database}.{table.name}")
        return {rid for rid, *values in rows if all(map(is_plain, values))}

    def _find(self, table: TableModel, request: FindRequest) -> Found:
        index = index_of(table, request)
        first_descends = index.parts[0].descends
        up = request.comparison not in ("<", "<=")
        if request.comparison == "=":
            up = not first_descends  # in the order of the index
        if request.is_range:
            first_descends, up = _pivot_descends(index, request), request.comparison == "up"
        before = _before(
            [
                (_ordered(table, part), up != (part.descends != first_descends))
                for part in index.parts
            ]
        )
        shown = ", ".join(f"`{name}`" for name in request.columns)
        filters = [_filter_sql(table, condition) for condition in request.filters]
        keys = self._keys(table, request)
        hits = [
            _range_sql(table, index, request, key)
            if request.is_range
            else _key_sql(table, index.parts, request.comparison, key)
            for key in keys
        ]
        chosen = ", ".join([*hits, *filters, "1"])
        name = f"{self._database}.{table.name}"
        indexes = ", ".join(index.name for index in table.indexes)
        query = (
            f"SELECT rid, (SELECT COUNT(*) FROM {name} other IGNORE INDEX ({indexes})"
            f" WHERE {before}), {chosen}, {shown} FROM {name} mine"
        )
        try:
            rows = self._sql.rows(query)
        except SqlError as error:
            raise NotJudgedError(f"{error.args[0]}") from None
        if _text_in(table, request) and (
            request.comparison != "=" or _weighs_accents(table, request)
        ):
            raise NotJudgedError("whether two texts of IN are the same")
        if request.comparison != "=" and _times_within_a_second(table, request):
            raise NotJudgedError("whether two times of IN are the same, rounded as the column is")
        groups: list[Group] = []
        for number in range(len(keys)):
            if _groups(rows, number, len(keys), request.filters, groups):
                break
            if request.comparison == "=":
                # A value that differs only in case finds the same rows again.
                rows = [row for row in rows if row[2 + number] != b"1"]
        limit = request.limit or 1
        return Found(tuple(groups), request.offset, limit)

    def _keys(self, table: TableModel, request: FindRequest) -> list[tuple[Value, ...]]:
        """The keys to search: one for each value of IN that does not equal an earlier one."""
        if not request.in_values:
            return [request.key]
        part = index_of(table, request).parts[request.in_part]
        column = table.column(part.column)
        values: list[Value] = []
        for value in request.in_values:
            if not any(self._same(column.kind, part.column, value, other) for other in values):
                values.append(value)
        place = request.in_part
        return [(*request.key[:place], value, *request.key[place + 1 :]) for value in values]

    def _same(self, kind: Kind, name: str, value: Value, other: Value) -> bool:
        if value is None or other is None or value == other:
            return value == other
        mine, its = kind.place(name, value), kind.place(name, other)
        if mine is None or its is None or isinstance(mine, Beyond) or isinstance(its, Beyond):
            return False
        return _same_literal(kind, mine.literal, its.literal)


def _same_literal(kind: Kind, one: str, other: str) -> bool:
    """Whether two literals are the same value in different spellings."""

    def plain(text: str) -> str:
        if kind.family in ("date", "datetime", "timestamp", "time"):
            digits = text.split("'")[1].replace("T", " ")
            digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
            return digits + " 00:00:00" if re.fullmatch(r"\d{4}-\d\d-\d\d", digits) else digits
        if kind.family in ("int", "decimal", "year"):
            return str(Decimal(text.strip("'")).normalize())
        if kind.family in ("float", "double"):
            return str(float(text) + 0.0)  # -0 equals 0
        return text

    return plain(one) == plain(other)


def _text_in(table: TableModel, request: FindRequest) -> bool:
    column = index_of(table, request).parts[request.in_part].column
    return len(request.in_values) > 1 and table.column(column).kind.family == "text"


def _weighs_accents(table: TableModel, request: FindRequest) -> bool:
    """In MariaDB's collations of this name a equals ä, but their WEIGHT_STRINGs differ."""
    column = index_of(table, request).parts[request.in_part].column
    return "_ai_cs" in table.column(column).kind.sql


def _times_within_a_second(table: TableModel, request: FindRequest) -> bool:
    """MySQL compares a TIME with the value as its column would store it."""
    column = index_of(table, request).parts[request.in_part].column if request.in_values else ""
    if not column or table.column(column).kind.family != "time":
        return False
    values = {value or b"00:00:00" for value in request.in_values if value is not None}
    seconds = {value.partition(b".")[0] for value in values}
    is_rounded = ON_MYSQL and len(values) > 1 and any(b"." in value for value in values)
    return is_rounded or len(seconds) < len(values)


def _groups(
    rows: Sequence[Cells],
    number: int,
    keys: int,
    filters: Sequence[FilterModel],
    groups: list[Group],
) -> bool:
    """Adds what one key finds. True: a filter ended the find."""
    ranks: dict[int, tuple[dict[bytes, Cells], bool]] = {}
    cells_from = 2 + keys + len(filters) + 1
    for row in rows:
        if row[2 + number] != b"1":
            continue
        rank = int(row[1] or 0)
        taken, ends = ranks.get(rank, ({}, False))
        failed = next(
            (
                condition
                for condition, holds in zip(filters, row[2 + keys : cells_from - 1], strict=True)
                if holds != b"1"
            ),
            None,
        )
        if failed is None:
            taken[row[0] or b""] = row[cells_from:]
        ranks[rank] = (taken, ends or (failed is not None and failed.kind == "W"))
    for rank in sorted(ranks):
        taken, ends = ranks[rank]
        groups.append(Group(taken, ends))
        if ends:
            return True
    return False


def _ordered(table: TableModel, part: Part) -> str:
    """An SQL expression by which the index orders the row {0} in this part."""
    column = "{0}.`" + part.column + "`"
    numbered = table.column(part.column).kind.family in ("enum", "set", "bit")
    return f"({column} + 0)" if numbered else indexed(table, part, column)


def _before(parts: Sequence[tuple[str, bool]]) -> str:
    """Whether the row `other` comes before `mine`. It compares: what SQL sorts by may be cut."""
    alternatives: list[str] = []
    equal: list[str] = []
    for expression, up in parts:
        names = ("other", "mine") if up else ("mine", "other")
        first, second = (expression.format(name) for name in names)
        less = f"COALESCE({first} < {second}, {first} IS NULL AND {second} IS NOT NULL)"
        alternatives.append(" AND ".join([*equal, less]))
        equal.append(f"{first} <=> {second}")
    return " OR ".join(f"({alternative})" for alternative in alternatives)


def _compared(
    table: TableModel, name: str, value: Value, length: int = 0, comparison: str = "="
) -> tuple[str, str, str] | None:
    """SQL for: the column is below, equals, is above the value. NULL is below everything.

    If the index is searched by the first `length` characters, they compare as the whole value does,
    as in SQL's searches of that index. This is not obvious: if ß equals ss, their first letters
    still differ.
    """
    kind = table.column(name).kind
    column = f"`{name}`"
    if value is None:
        return "FALSE", f"{column} IS NULL", f"{column} IS NOT NULL"
    place = kind.place(name, value)
    if place is None:
        return None
    if isinstance(place, Beyond):
        if place.above:
            return "TRUE", "FALSE", "FALSE"
        return f"{column} IS NULL", "FALSE", f"{column} IS NOT NULL"
    mine, its = place.column, place.literal
    starts = ["TRUE"] * 3
    if length:
        starts = list(searched(table, kind, value, length, mine, its, comparison))
    return (
        f"({column} IS NULL OR ({mine} < {its} AND {starts[0]}))",
        f"COALESCE({mine} = {its} AND {starts[1]}, FALSE)",
        f"COALESCE({mine} > {its} AND {starts[2]}, FALSE)",
    )


def _key_sql(
    table: TableModel, parts: Sequence[Part], comparison: str, key: Sequence[Value]
) -> str:
    """The comparison of tuples, written out.

    The first part of which the index holds only the beginning ends the search of a range. Behind
    it, only whole values are compared.
    """
    alternatives: list[str] = []
    equal: list[str] = []
    searches = True
    for part, value in zip(parts, key):  # noqa: B905
        length = searched_length(table, part, value) if searches else 0
        searches = comparison == "=" or not length
        compared = _compared(table, part.column, value, length, comparison)
        if compared is None:
            return "FALSE"
        below, same, above = compared
        if part.descends != parts[0].descends:
            below, above = above, below
        if comparison != "=":
            beyond = above if comparison[0] == ">" else below
            alternatives.append(" AND ".join([*equal, beyond]))
        equal.append(same)
    if comparison in ("=", ">=", "<="):
        alternatives.append(" AND ".join(equal))
    return "(" + " OR ".join(f"({alternative})" for alternative in alternatives) + ")"


def _pivot_descends(index: IndexModel, request: FindRequest) -> bool:
    """Whether the part that decides about up and down is in descending order."""
    place = len(request.key)
    return place < len(index.parts) and index.parts[place].descends


def _range_sql(
    table: TableModel, index: IndexModel, request: FindRequest, key: Sequence[Value]
) -> str:
    parts = index.parts[: len(key)]
    terms = [_key_sql(table, parts, "=", key)] if key else []
    values = [*zip(parts, key, strict=True)]
    if request.ends:
        values += [(index.parts[len(key)], end.value) for end in request.ends]
    if any(searched_length(table, part, value) for part, value in values):
        raise NotJudgedError("a range by the beginning of values")
    pivot = index.parts[min(len(key), len(index.parts) - 1)]
    for end in request.ends:
        if end.comparison == "^":
            terms.append(_prefix_sql(table, pivot.column, end.value))
        else:
            terms.append(_key_sql(table, [pivot], end.comparison, [end.value]))
    if len(request.ends) == 1 and request.ends[0].comparison in ("<", "<="):
        terms.append(f"`{pivot.column}` IS NOT NULL")
    return " AND ".join(terms) or "TRUE"


def _prefix_sql(table: TableModel, name: str, value: Value) -> str:
    if value is None:
        return "FALSE"
    pattern = b"".join(b"|" + one if one in b"|%_" else one for one in map(_byte, value))
    place = table.column(name).kind.place(name, pattern + b"%")
    if not isinstance(place, Operand):
        return "FALSE"
    escape = "_binary '|'" if table.column(name).kind.family == "bytes" else "'|'"
    return f"COALESCE({place.column} LIKE {place.literal} ESCAPE {escape}, FALSE)"


def _byte(number: int) -> bytes:
    return bytes((number,))


def _filter_sql(table: TableModel, condition: FilterModel) -> str:
    compared = _compared(table, condition.column, condition.value)
    comparison = condition.comparison
    if compared is None:
        # The value is not of the column's kind: it differs from all values, and NULL is below it.
        if comparison == "!=":
            return "TRUE"
        return f"`{condition.column}` IS NULL" if comparison[0] == "<" else "FALSE"
    below, same, above = compared
    return {
        "=": same, "!=": f"NOT {same}", "<": below, "<=": f"({below} OR {same})", ">": above,
        ">=": f"({above} OR {same})",
    }[comparison]  # fmt: skip


def literal(kind: Kind, value: Value) -> bytes:
    """A value as SQL needs it for an insert or an update."""
    if value is None:
        return b"NULL"
    if kind.family in ("bytes", "bit", "opaque"):
        return b"_binary x'%s'" % value.hex().encode()
    try:
        value.decode()
    except UnicodeDecodeError:
        quoted = value.replace(b"\\", b"\\\\").replace(b"'", b"''").replace(b"\0", b"\\0")
        return b"'%s'" % quoted
    return b"_utf8mb4 x'%s'" % value.hex().encode()


def insert_sql(table: TableModel, request: InsertRequest) -> bytes:
    names = ", ".join(f"`{name}`" for name in request.columns).encode()
    values = b", ".join(
        literal(table.column(name).kind, value)
        for name, value in zip(request.columns, request.values, strict=True)
    )
    return b"INSERT INTO %s (%s) VALUES (%s)" % (table.name.encode(), names, values)


def modify_sql(table: TableModel, request: FindRequest, rids: Sequence[bytes]) -> bytes:
    """The modification of the rows that were found, in the order in which they were found."""
    name = table.name.encode()
    chosen = b", ".join(rids)
    order = b" ORDER BY FIELD(rid, %s)" % chosen
    where = b" WHERE rid IN (%s)" % chosen
    if request.modification == "D":
        return b"DELETE FROM %s%s%s" % (name, where, order)
    settings = []
    for column, value in zip(request.columns, request.values):  # noqa: B905
        quoted = b"`%s`" % column.encode()
        if request.modification == "U":
            new = literal(table.column(column).kind, value)
            settings.append(b"%s = %s" % (quoted, new))
        elif value is None or not value.strip():
            settings.append(b"%s = %s" % (quoted, quoted))
        else:
            sign = request.modification.encode()
            settings.append(b"%s = %s %s %s" % (quoted, quoted, sign, value))
            if sign == b"-":
                # The protocol's own rule: a value that would cross zero stays, and does not count.
                where += b" AND COALESCE(SIGN(%s) * ((%s > %s) - (%s < %s)), 0) >= 0" % (
                    quoted, quoted, value, quoted, value,
                )  # fmt: skip
    return b"UPDATE %s SET %s%s%s" % (name, b", ".join(settings), where, order)


def run_sql(sql: Sql, statement: bytes) -> tuple[int | None, int, int]:
    """The error as the plugin reports it, the number of rows found, and the generated id."""
    with sql.connection.cursor() as cursor:
        try:
            found = cursor.execute(statement)  # type: ignore[arg-type]
        except SqlError as error:
            number = int(error.args[0])
            return ENGINE_NUMBERS.get(number, number), 0, 0
        return None, found, int(cursor.lastrowid or 0)
