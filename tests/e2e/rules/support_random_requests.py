"""Random requests to random tables: finds, modifications, inserts, mistakes, and ALTERs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from support_random_kinds import Kind, Value
from support_random_tables import Column, IndexModel, Row, TableMaker, TableModel, can_be_judged

COMPARISONS = ("=", "=", "=", ">", ">=", "<", "<=")


@dataclass(frozen=True)
class FilterModel:
    kind: str  # F or W
    comparison: str
    column: str
    value: Value


@dataclass(frozen=True)
class EndModel:
    """An end of a range: `>`, `>=`, `<`, `<=`, or `^` for a text with which the rows begin."""

    comparison: str
    value: Value


@dataclass(frozen=True)
class FindRequest:
    """A find; with a `modification` it is a find_modify, whose values go into the first columns.

    The comparisons `up` and `down` are those of a range. `answer` is C or E.
    """

    table: str
    index: str
    columns: tuple[str, ...]
    comparison: str
    key: tuple[Value, ...]
    limit: int = 1
    offset: int = 0
    in_part: int = 0
    in_values: tuple[Value, ...] = ()
    filters: tuple[FilterModel, ...] = ()
    modification: str = ""
    values: tuple[Value, ...] = ()
    asks_rows: bool = False
    ends: tuple[EndModel, ...] = ()
    answer: str = ""

    @property
    def is_range(self) -> bool:
        return self.comparison in ("up", "down")


@dataclass(frozen=True)
class InsertRequest:
    table: str
    columns: tuple[str, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class RawRequest:
    """A request whose reply does not depend on a table."""

    line: bytes
    reply: bytes


Request = FindRequest | InsertRequest | RawRequest


@dataclass(frozen=True)
class Sending:
    """What one connection sends at once."""

    connection: int
    requests: tuple[Request, ...]


@dataclass(frozen=True)
class Alteration:
    """A statement that alters one table, and the table after it."""

    table: str
    sql: str
    after: TableModel


Step = tuple[Sending, ...] | Alteration

#: Connections by number: the first ones to the write port, the others to the read port.
WRITERS, READERS = 2, 2

RAW = (
    RawRequest(b"nonsense\n", b"2\t1\tcmd"),
    RawRequest(b"9999\t=\t1\t1\n", b"2\t1\tstmtnum"),
    RawRequest(b"?\n", b"2\t1\tcmd"),
    RawRequest(b"P\t4000\tno_database\tt\tPRIMARY\trid\n", b"1\t1\topen_table"),
    RawRequest(b"P\t4000\tby_plugin\tparents\tPRIMARY\tno_column\n", b"2\t1\tfld"),
)


class RequestMaker:
    """Makes requests to tables. It remembers their values, so that some requests find something."""

    def __init__(self, rng: random.Random, maker: TableMaker) -> None:
        self._rng = rng
        self._maker = maker
        self._rows: dict[str, list[Row]] = {}
        self._next_rid: dict[str, int] = {}

    def remember(self, table: str, rows: Sequence[Row]) -> None:
        self._rows[table] = list(rows)
        self._next_rid[table] = len(rows) + 1

    def step(self, tables: dict[str, TableModel]) -> Step:
        rng = self._rng
        if rng.random() < 0.12:
            altered = self._alteration(rng.choice(list(tables.values())))
            if altered is not None:
                return altered
        # If a table is written, only one connection uses it until all replies have come.
        owner = {name: rng.choice([0, 0, 1, None]) for name in tables}
        sendings = []
        for connection in range(WRITERS + READERS):
            free = [name for name, whose in owner.items() if whose is None]
            own = [name for name, whose in owner.items() if whose == connection]
            requests: list[Request] = []
            for _ in range(rng.choice([0, 1, 3, 8, 16])):
                name = rng.choice([*own, *own, *own, *free] or [""])
                if not name or rng.random() < 0.04:
                    requests.append(rng.choice(RAW))
                elif name in own and rng.random() < 0.7:
                    requests.append(self._write(tables[name]))
                else:
                    answer = rng.choice(["", "", "", "C", "E"])
                    requests.append(replace(self.find(tables[name]), answer=answer))
            sendings.append(Sending(connection, tuple(requests)))
        return tuple(sendings)

    def find(self, table: TableModel) -> FindRequest:
        rng = self._rng
        index = rng.choice(table.indexes)
        parts = index.parts[: rng.randint(1, len(index.parts))]
        if index.hashed and rng.random() < 0.8:
            parts = index.parts
        near = rng.choice(self._rows[table.name]) if rng.random() < 0.6 else ()
        key = tuple(self._key_value(table.column(part.column), near) for part in parts)
        comparison = "=" if index.hashed and rng.random() < 0.8 else rng.choice(COMPARISONS)
        in_values: tuple[Value, ...] = ()
        in_part = 0
        if rng.random() < 0.2:
            in_part = rng.randrange(len(key))
            column = table.column(parts[in_part].column)
            in_values = tuple(self._key_value(column, ()) for _ in range(rng.randint(1, 5)))
            if rng.random() < 0.3:
                in_values += in_values[:1]
        limit = rng.choice([1, 2, 5, 1000])
        if table.column(parts[0].column).kind.family == "int" and rng.random() < 0.02:
            # So many rows that a worker hands the find to a streamer.
            in_part, limit = 0, 100_000
            in_values = tuple(b"%d" % number for number in rng.sample(range(-200, 200), 150))
        names = [column.name for column in table.columns if column.name != "rid"]
        shown = rng.sample(names, rng.randint(0, min(3, len(names))))
        columns = [*shown, "rid"]
        rng.shuffle(columns)
        find = FindRequest(
            table.name,
            index.name,
            tuple(columns),
            comparison,
            key,
            limit,
            rng.choice([0, 0, 0, 1, 3]),
            in_part,
            in_values,
            tuple(self._filter(table) for _ in range(rng.choice([0, 0, 0, 1, 2, 3]))),
        )
        return self._range(table, index, find, near) if rng.random() < 0.3 else find

    def _range(
        self, table: TableModel, index: IndexModel, find: FindRequest, near: Row
    ) -> FindRequest:
        """The find as a range: with fewer key values, and ends for the part behind them."""
        rng = self._rng
        key = find.key[: rng.randint(0, len(find.key))]
        in_values = find.in_values if find.in_part < len(key) else ()
        ends: list[EndModel] = []
        # A unique index of a versioned table has one part more than it was declared with.
        if len(key) < len(index.parts):
            column = table.column(index.parts[len(key)].column)
            for comparisons in ((">", ">="), ("<", "<=")):
                if rng.random() < 0.6:
                    value = self._key_value(column, near)
                    ends.append(EndModel(rng.choice(comparisons), value))
            if column.kind.family in ("text", "bytes") and rng.random() < 0.4:
                ends = [EndModel("^", self._beginning(column, near))]
        return replace(
            find,
            comparison=rng.choice(["up", "down"]),
            key=key,
            in_part=find.in_part if in_values else 0,
            in_values=in_values,
            ends=tuple(ends),
        )

    def _beginning(self, column: Column, near: Row) -> Value:
        value = self._key_value(column, near)
        if value is None:
            return None
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return value[: self._rng.randint(0, 3)] if column.kind.family == "bytes" else b"a"
        return text[: self._rng.randint(0, 3)].encode()

    def _key_value(self, column: Column, near: Row) -> Value:
        rng = self._rng
        if rng.random() < 0.08:
            return None
        stored = dict(near).get(column.name, b"")
        if near and not column.generated and rng.random() < 0.75:
            return stored
        return column.kind.probe(rng)

    def _filter(self, table: TableModel) -> FilterModel:
        rng = self._rng
        column = rng.choice([c for c in table.columns if filterable(c.kind)])
        comparison = rng.choice(["=", "!=", ">", ">=", "<", "<="])
        near = rng.choice(self._rows[table.name])
        return FilterModel(
            rng.choice("FFW"), comparison, column.name, self._key_value(column, near)
        )

    def _write(self, table: TableModel) -> Request:
        rng = self._rng
        changeable = [c for c in table.columns if not c.generated and c.name != "rid"]
        if rng.random() < 0.35 or not changeable:
            return self._insert(table)
        find = self.find(table)
        kind = rng.choice("UUUUUD+-")
        asks = rng.random() < 0.25
        limit = find.limit
        if not table.transactional and kind != "D":
            # If a statement fails half way, its first rows stay changed.
            limit = 1
        find = replace(find, modification=kind, asks_rows=asks, limit=limit)
        if kind == "D":
            return replace(find, limit=min(limit, 2))
        if kind in "+-":
            numbers = [c for c in changeable if c.kind.number]
            if not numbers:
                return replace(find, modification="D", limit=1)
            chosen = rng.sample(numbers, min(len(numbers), rng.choice([1, 1, 2])))
            values: tuple[Value, ...] = tuple(self._amount() for _ in chosen)
        else:
            chosen = rng.sample(changeable, rng.randint(1, min(3, len(changeable))))
            values = tuple(self._new_value(column) for column in chosen)
        first = tuple(column.name for column in chosen)
        rest = tuple(name for name in find.columns if name not in first)
        return replace(find, columns=first + rest, values=values)

    def _amount(self) -> Value:
        return self._rng.choice(
            [b"0", b"1", b"3", b"-5", b"100", b"40000", b"1.5", b"", b" ", None]
        )

    def _new_value(self, column: Column) -> Value:
        # A NULL in a TIMESTAMP that allows none becomes the present time.
        clock = column.kind.family == "timestamp" and not column.nullable
        if self._rng.random() < 0.12 and not clock:
            return None
        return column.kind.put(self._rng)

    def _insert(self, table: TableModel) -> InsertRequest:
        rng = self._rng
        rid = self._next_rid[table.name]
        self._next_rid[table.name] += 1
        row = dict(self._maker.row(rng, table, rid))
        names = [name for name in row if name == "rid" or rng.random() < 0.8]
        rng.shuffle(names)
        values = tuple(row[name] for name in names)
        self._rows[table.name].append(tuple(zip(names, values)))  # noqa: B905
        return InsertRequest(table.name, tuple(names), values)

    def _alteration(self, table: TableModel) -> Alteration | None:
        rng = self._rng
        makers: list[Callable[[TableModel], Alteration | None]] = [
            lambda t: Alteration(t.name, f"ALTER TABLE {t.name} FORCE", t),
            self._add_column,
            self._replace_index,
            self._change_column,
        ]
        return rng.choice(makers)(table)

    def _add_column(self, table: TableModel) -> Alteration | None:
        name = f"n{len(table.columns)}"
        kind = next(c.kind for c in table.columns if c.name == "rid")
        columns = (Column(name, kind, "INT DEFAULT 3", True), *table.columns)
        sql = f"ALTER TABLE {table.name} ADD COLUMN {name} INT DEFAULT 3 FIRST"
        return Alteration(table.name, sql, replace(table, columns=columns))

    def _replace_index(self, table: TableModel) -> Alteration | None:
        secondary = [index for index in table.indexes if index.name != "PRIMARY"]
        if not secondary:
            return None
        old = self._rng.choice(secondary)
        new = self._maker.index(self._rng, table.columns, old.name, table.engine)
        if new is None:
            return None
        new = replace(new, hashed=False)
        rest = tuple(index for index in table.indexes if index.name != old.name)
        using = " USING BTREE" if table.engine == "MEMORY" else ""
        sql = f"ALTER TABLE {table.name} DROP KEY {old.name}, ADD {new.sql()}{using}"
        return Alteration(table.name, sql, replace(table, indexes=(*rest, new)))

    def _change_column(self, table: TableModel) -> Alteration | None:
        changeable = [c for c in table.columns if not c.generated and c.name != "rid"]
        old = self._rng.choice(changeable)
        kind = self._maker.kind(self._rng)
        # MariaDB makes a UNIQUE index on a long column into a hash, which no find can use.
        indexed = {part.column for index in table.indexes for part in index.parts}
        if kind.blob and old.name in indexed:
            return None
        new = Column(old.name, kind, kind.sql.removesuffix(" NULL") + " NULL", True)
        if old.name in indexed and not can_be_judged(new, table.engine):
            return None
        if any(part.prefix and part.column == old.name for i in table.indexes for part in i.parts):
            return None
        # MariaDB does not look at the values then: some may be too large for DOUBLE(10,4), and its
        # own search of an index does not find them.
        if {old.kind.family, kind.family} <= {"float", "double"} and "(" in kind.sql:
            return None
        # A column of the PRIMARY KEY stays NOT NULL, whatever the statement says.
        primary = any(
            part.column == old.name
            for index in table.indexes
            if index.name == "PRIMARY"
            for part in index.parts
        )
        new = replace(new, nullable=not primary)
        columns = tuple(new if column is old else column for column in table.columns)
        sql = f"ALTER IGNORE TABLE {table.name} MODIFY `{old.name}` {new.sql}"
        return Alteration(table.name, sql, replace(table, columns=columns))


def filterable(kind: Kind) -> bool:
    return kind.family not in ("opaque",) and not (kind.family == "json" and not kind.blob)


def escaped(value: Value) -> bytes:
    if value is None:
        return b"\0"
    return b"".join(bytes((1, byte + 0x40)) if byte < 0x10 else bytes((byte,)) for byte in value)


def opening(request: FindRequest | InsertRequest, table: TableModel) -> tuple[bytes, ...]:
    """The tokens of the `P` that a request needs, after the index's number."""
    if isinstance(request, InsertRequest):
        index: str = table.indexes[0].name
        return (table.name.encode(), index.encode(), ",".join(request.columns).encode(), b"")
    filters = ",".join(dict.fromkeys(condition.column for condition in request.filters))
    return (
        request.table.encode(),
        request.index.encode(),
        ",".join(request.columns).encode(),
        filters.encode(),
    )


def line(request: FindRequest | InsertRequest, number: int) -> bytes:
    """The request's bytes, for the open index with this number."""
    tokens: list[bytes] = [b"%d" % number]
    if isinstance(request, InsertRequest):
        tokens += [b"+", b"%d" % len(request.values), *map(escaped, request.values)]
        return b"\t".join(tokens) + b"\n"
    tokens += [request.comparison.encode(), b"%d" % len(request.key), *map(escaped, request.key)]
    for end in request.ends:
        tokens += [end.comparison.encode(), escaped(end.value)]
    tokens += [b"%d" % request.limit, b"%d" % request.offset]
    if request.in_values:
        tokens += [b"@", b"%d" % request.in_part, b"%d" % len(request.in_values)]
        tokens += map(escaped, request.in_values)
    names = list(dict.fromkeys(condition.column for condition in request.filters))
    for condition in request.filters:
        place = b"%d" % names.index(condition.column)
        tokens += [condition.kind.encode(), condition.comparison.encode(), place]
        tokens.append(escaped(condition.value))
    if request.modification:
        tokens.append((request.modification + ("?" if request.asks_rows else "")).encode())
        tokens += map(escaped, request.values)
    if request.answer:
        tokens.append(request.answer.encode())
    return b"\t".join(tokens) + b"\n"


def index_of(table: TableModel, request: FindRequest) -> IndexModel:
    return table.index(request.index)
