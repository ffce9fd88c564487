"""The same work on twin tables: by SQL in one database, by the plugin in another."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from handlersocket2 import Client, Index, Pending, ReplyError
from pymysql.constants import CLIENT
from pymysql.err import Error as SqlError
from server_instance import ServerInstance
from support.database import Sql
from support.servers import NULL_IS_NO_DEFAULT, REFUSED_BEFORE_LOOKING
from support_binlog import RowEvent

Value = str | None
BY_SQL, BY_PLUGIN = "by_sql", "by_plugin"

#: Errors for which the plugin gives the storage engine's number, as the original does.
ENGINE_NUMBERS = {1062: 121, 1205: 146, 1213: 149, 1452: 151, 1451: 152}


@dataclass(frozen=True)
class Table:
    """A table, and the values that random work puts into its columns, also bad ones."""

    name: str
    create: Sequence[str]
    columns: Mapping[str, Sequence[Value]]
    #: Indexes by which rows are found, with their one column.
    keys: Mapping[str, str] = field(default_factory=lambda: {"PRIMARY": "id"})
    #: By this the rows found are ordered, so that a limit takes the same rows. Empty for a table
    #: without a primary key: they come in the order of storage.
    order: str = "id"
    #: Columns for + and -.
    numbers: Sequence[str] = ()
    #: Columns that an insert always gives.
    given: Sequence[str] = ("id",)
    auto_increment: bool = False
    transactional: bool = True
    versioned: bool = False
    #: Generated columns. A NULL leaves them alone.
    generated: Sequence[str] = ()
    #: Its rows get values from a sequence.
    draws: bool = False
    #: Columns of whole seconds where a NULL means now. An update never gives them one: whether it
    #: changes the row, and so is logged, depends on the second in which each twin works.
    now_for_null: Sequence[str] = ()
    #: Its engine may refuse a row with an error after which the pass is executed again.
    replays: bool = False


@dataclass(frozen=True)
class Insert:
    table: Table
    columns: tuple[str, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Change:
    """A find_modify: U, D, + or -."""

    table: Table
    index: str
    comparison: str
    key: str
    limit: int
    kind: str
    columns: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()


Operation = Insert | Change


def random_operation(rng: random.Random, table: Table) -> Operation:
    kinds = "IIIIIIIUUUUDD" + ("++-" if table.numbers else "")
    kind = rng.choice(kinds)
    if kind == "I":
        names = [name for name in table.columns if name in table.given or rng.random() < 0.5]
        rng.shuffle(names)
        if names:
            return Insert(table, tuple(names), _values(rng, table, names))
    index = rng.choice(list(table.keys))
    key = next(
        v for v in iter(lambda: rng.choice(table.columns[table.keys[index]]), 0) if v is not None
    )
    # In a table without transactions, a statement that fails half way leaves its first rows
    # changed.
    several = table.transactional and rng.random() < 0.4
    # A deletion takes few rows. Otherwise there would soon be few rows to find.
    limit = rng.randint(2, 3 if kind == "D" else 10) if several else 1
    comparison = rng.choice(["=", ">=", ">"]) if several and index == "PRIMARY" else "="
    names = []
    values: tuple[Value, ...] = ()
    if kind in "+-":
        names = [rng.choice(table.numbers)]
        values = (rng.choice(["0", "1", "3", "-5", "100", "40000"]),)
    elif kind in "IU":
        kind = "U"
        names = rng.sample(list(table.columns), rng.randint(1, min(3, len(table.columns))))
        values = _values(rng, table, names, never_null=table.now_for_null)
    return Change(table, index, comparison, key, limit, kind, tuple(names), values)


def _values(
    rng: random.Random, table: Table, names: Sequence[str], never_null: Sequence[str] = ()
) -> tuple[Value, ...]:
    return tuple(
        rng.choice([v for v in table.columns[name] if v is not None or name not in never_null])
        for name in names
    )


def _draws(operation: Operation) -> bool:
    return operation.table.draws or operation.table.auto_increment


def describe(operation: Operation) -> str:
    return repr(operation).replace(repr(operation.table), operation.table.name)


class Twins:
    """Two databases with the same tables, and the two ways to change them."""

    def __init__(
        self, server: ServerInstance, tables: Sequence[Table], beside: Sequence[str] = ()
    ) -> None:
        self.tables = tables
        self.names = [*(table.name for table in tables), *beside]
        with Sql(server.socket) as admin:
            for database in (BY_SQL, BY_PLUGIN):
                admin.run(f"DROP DATABASE IF EXISTS {database}", f"CREATE DATABASE {database}")
                admin.run(f"USE {database}", *(line for table in tables for line in table.create))
        self.sql = Sql(server.socket, BY_SQL, client_flag=CLIENT.FOUND_ROWS)
        self.client = Client(("127.0.0.1", server.hs_port_wr))
        (self._begin,) = self.sql.row("SELECT NOW()")
        self.outcomes: Counter[object] = Counter()
        self._selects = {name: self._select(name) for name in self.names}

    def close(self) -> None:
        self.client.close()
        self.sql.close()

    def run(self, batch: Sequence[Operation]) -> None:
        """Executes the batch both ways, by the plugin in one pipeline, and compares."""
        expected = [self._run_sql(operation) for operation in batch]
        actual = self._run_plugin(batch)
        for number, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
            if wanted in REFUSED_BEFORE_LOOKING and got == ("rows", 0):
                expected[number] = got
        story = "\n".join(
            f"  {describe(operation)}\n    SQL {wanted}, plugin {got}"
            for operation, wanted, got in zip(batch, expected, actual, strict=True)
        )
        assert actual == expected, f"the answers differ:\n{story}"
        self._count(expected)
        self.compare_tables(f"after the batch\n{story}")

    def compare_tables(self, when: str) -> None:
        for name, select in self._selects.items():
            wanted = self.sql.rows(select.format(database=BY_SQL))
            got = self.sql.rows(select.format(database=BY_PLUGIN))
            assert got == wanted, (
                f"{name} differs {when}\nby SQL alone: {[row for row in wanted if row not in got]}"
                f"\nby the plugin alone: {[row for row in got if row not in wanted]}"
            )

    def run_plugin_alone(self, batch: Sequence[Operation]) -> None:
        """For tests that compare something other than answers."""
        self._count(self._run_plugin(batch))

    def _count(self, answers: Sequence[tuple[object, ...]]) -> None:
        """Counts by kind: error numbers, inserted, modified nothing, modified something."""
        for kind, value in answers:
            what = {"id": "inserted", "rows": "modified" if value else "found nothing"}
            self.outcomes[what.get(str(kind), value)] += 1

    def _run_sql(self, operation: Operation) -> tuple[object, ...]:
        text, values = _statement(operation)
        with self.sql.connection.cursor() as cursor:
            try:
                found = cursor.execute(text, values)
            except SqlError as error:
                number = int(error.args[0])
                return ("error", ENGINE_NUMBERS.get(number, number))
            if isinstance(operation, Insert):
                return (
                    "id",
                    _with_sign(cursor.lastrowid) if operation.table.auto_increment else None,
                )
            return ("rows", found)

    def _run_plugin(self, batch: Sequence[Operation]) -> list[tuple[object, ...]]:
        """In one pipeline.

        But when a pass is executed again, sequences and AUTO_INCREMENT draw once more. So if that
        may happen, each request that draws has a pipeline of its own.
        """
        may_replay = any(operation.table.replays for operation in batch)
        pieces = groupby(
            enumerate(batch), lambda one: one[0] if may_replay and _draws(one[1]) else -1
        )
        return [
            answer
            for _, piece in pieces
            for answer in self._run_pipeline([operation for _, operation in piece])
        ]

    def _run_pipeline(self, batch: Sequence[Operation]) -> list[tuple[object, ...]]:
        indexes = [self._index(operation) for operation in batch]
        with self.client.pipeline() as pipeline:
            pending = [
                _request(pipeline.on(index), operation)
                for index, operation in zip(indexes, batch, strict=True)
            ]
        return [_answer(reply, operation) for reply, operation in zip(pending, batch, strict=True)]

    def _index(self, operation: Operation) -> Index:
        index = operation.index if isinstance(operation, Change) else "PRIMARY"
        if index not in operation.table.keys:
            index = next(iter(operation.table.keys))
        return self.client.index(BY_PLUGIN, operation.table.name, operation.columns, index=index)

    def _select(self, name: str) -> str:
        columns = [
            (column or b"").decode()
            for (column,) in self.sql.rows(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = %s"
                " AND table_name = %s ORDER BY ordinal_position",
                [BY_SQL, name],
            )
        ]
        # A column at_… takes the present time. It differs between the twins, but is never before
        # the work began. The times that requests give are older.
        now = f"BETWEEN '{(self._begin or b'').decode()}' AND NOW(6)"
        shown = [
            f"IF({column} {now}, 'now', {column})" if column.startswith("at_") else f"`{column}`"
            for column in columns
        ]
        history = ""
        if any(table.versioned and table.name == name for table in self.tables):
            shown.append("row_end > '2037-01-01'")
            history = "FOR SYSTEM_TIME ALL"
        places = ", ".join(str(place + 1) for place in range(len(shown)))
        return f"SELECT {', '.join(shown)} FROM {{database}}.{name} {history} ORDER BY {places}"


def _with_sign(number: int) -> int:
    """SQL's protocol has no sign for ids. No table here has one so large without a sign."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _statement(operation: Operation) -> tuple[str, tuple[Value, ...]]:
    table = operation.table
    if isinstance(operation, Insert):
        places, given = _places(operation)
        return (
            f"INSERT INTO {table.name} ({', '.join(operation.columns)})"
            f" VALUES ({', '.join(places)})",
            given,
        )
    order = f" ORDER BY {table.order}" if table.order else ""
    condition = f"{table.keys[operation.index]} {operation.comparison} %s"
    values: tuple[Value, ...] = (operation.key,)
    if operation.kind == "D":
        head = f"DELETE FROM {table.name}"
    elif operation.kind == "U":
        places, given = _places(operation)
        settings = (f"{name} = {place}" for name, place in zip(operation.columns, places))  # noqa: B905
        head = f"UPDATE {table.name} SET " + ", ".join(settings)
        values = (*given, operation.key)
    else:
        (name,), (amount,) = operation.columns, operation.values
        head = f"UPDATE {table.name} SET {name} = {name} {operation.kind} {amount}"
    if operation.kind == "-":
        # The protocol's own rule: a value that would cross zero stays, and does not count.
        return (
            f"{head} WHERE {table.order} IN (SELECT {table.order} FROM (SELECT * FROM {table.name}"
            f" WHERE {condition}{order} LIMIT {operation.limit}) found WHERE"
            f" COALESCE(SIGN({name}) * (({name} > {amount}) - ({name} < {amount})), 0) >= 0)"
            f"{order}",
            values,
        )
    return f"{head} WHERE {condition}{order} LIMIT {operation.limit}", values


def _places(operation: Operation) -> tuple[list[str], tuple[Value, ...]]:
    """The expression for each column's value in the statement, and the values for its %s."""
    left = [
        NULL_IS_NO_DEFAULT and value is None and name in operation.table.generated
        for name, value in zip(operation.columns, operation.values, strict=True)
    ]
    places = ["DEFAULT" if default else "%s" for default in left]
    return places, tuple(
        value for default, value in zip(left, operation.values, strict=True) if not default
    )


def _request(index: object, operation: Operation) -> Pending[object]:
    if isinstance(operation, Insert):
        return index.insert(operation.values)
    call = {"U": "update", "D": "delete", "+": "increment", "-": "decrement"}[operation.kind]
    arguments = [] if operation.kind == "D" else [operation.values]
    return getattr(index, call)(
        operation.key, *arguments, op=operation.comparison, limit=operation.limit
    )


def _answer(reply: Pending[object], operation: Operation) -> tuple[object, ...]:
    error = reply.error()
    if error is None:
        return ("id" if isinstance(operation, Insert) else "rows", reply.result())
    assert isinstance(error, ReplyError), error
    number = error.number if error.code == 1 else None
    return ("error", str(error) if number is None else number)


def compare_events(events: Sequence[RowEvent], twins: Twins, outside: Sequence[str] = ()) -> int:
    """Compares both databases' row events, except the clock's values. Returns how many there are.

    `outside` are further tables that are written outside any transaction.
    """
    # The tool stops at the first value that it cannot show, and leaves out all rows behind it.
    unshown = {event.table for event in events if event.is_cut_short}
    events = [event for event in events if event.table not in unshown]
    plain = {table.name for table in twins.tables if not table.transactional} | set(outside)
    clocks = {name: _clock_columns(twins, name) for name in twins.names}
    for name in [None, *plain]:
        wanted, got = (
            [
                _comparable(event, clocks.get(event.table, set()))
                for event in events
                if event.database == database
                # Without transactions, only the order within each table is certain.
                and (event.table == name if name else event.table not in plain)
            ]
            for database in (BY_SQL, BY_PLUGIN)
        )
        for number, (by_sql, by_plugin) in enumerate(zip(wanted, got)):  # noqa: B905
            assert by_plugin == by_sql, f"row event {number}: SQL {by_sql}, plugin {by_plugin}"
        assert len(got) == len(wanted), (
            f"{name}: SQL {wanted[len(got) :]}, plugin {got[len(wanted) :]}"
        )
    return sum(event.database == BY_PLUGIN for event in events)


def _clock_columns(twins: Twins, name: str) -> set[int]:
    rows = twins.sql.rows(
        "SELECT ordinal_position, column_name FROM information_schema.columns"
        " WHERE table_schema = %s AND table_name = %s",
        [BY_SQL, name],
    )
    clocks = {int(position or 0) for position, column in rows if (column or b"").startswith(b"at_")}
    if any(table.name == name and table.versioned for table in twins.tables):
        clocks |= {len(rows) + 1, len(rows) + 2}  # the start and the end of a row version's life
    return clocks


def _comparable(event: RowEvent, clocks: set[int]) -> tuple[object, ...]:
    def image(values: Mapping[int, str]) -> dict[int, str]:
        return {number: "clock" if number in clocks else text for number, text in values.items()}

    return event.kind, event.table, image(event.before), image(event.after)
