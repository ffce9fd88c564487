"""Runs random work on twin tables, by the plugin and by SQL, and reduces cases that differ."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pymysql.constants import CLIENT
from pymysql.err import Error as SqlError
from server_instance import ServerInstance
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire, WireError
from support_random_judge import (
    Cells,
    Found,
    Judge,
    insert_sql,
    literal,
    modify_sql,
    run_sql,
)
from support_random_kinds import NotJudgedError
from support_random_requests import (
    WRITERS,
    Alteration,
    FindRequest,
    InsertRequest,
    RawRequest,
    Request,
    RequestMaker,
    Sending,
    Step,
    line,
    opening,
)
from support_random_tables import Row, TableMaker, TableModel
from support_twins import BY_PLUGIN, BY_SQL

SQL_MODES = (
    "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    "",
    "TRADITIONAL",
    "STRICT_ALL_TABLES,ALLOW_INVALID_DATES",
)
#: So many seconds without a reply are a hang. A busy disk has stood still for one minute.
PATIENCE = 120.0
ZONES = ("+00:00", "+05:30", "-11:00")


@dataclass(frozen=True)
class Case:
    sql_mode: str
    zone: str
    tables: tuple[TableModel, ...]
    rows: tuple[tuple[str, tuple[Row, ...]], ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Difference:
    kind: str
    step: int
    story: str
    #: If the answer to a request differs: its sending in the step, and its place in the sending.
    place: tuple[int, Request] | None = None


@dataclass
class _Expected:
    request: Request
    found: Found | None = None
    reply: bytes | None = None
    rids: tuple[bytes, ...] | None = None


class Hunt:
    """One server's twin databases, and what was compared in them."""

    def __init__(self, server: ServerInstance) -> None:
        self._server = server
        self.counts: Counter[str] = Counter()
        self._connect()
        self._maker = TableMaker(self._judging)

    def _connect(self) -> None:
        self._judging = Sql(self._server.socket)
        self._judging.run("SET SESSION sql_mode = '', max_sort_length = 65536")
        if not ON_MYSQL:
            # MariaDB's cache of subquery results takes a NULL beside a BIT(9) for the value before.
            self._judging.run("SET SESSION optimizer_switch = 'subquery_cache=off'")
        for database in (BY_SQL, BY_PLUGIN):
            self._judging.run(
                f"DROP DATABASE IF EXISTS {database}",
                f"CREATE DATABASE {database}",
                f"USE {database}",
                "CREATE TABLE parents (id INT PRIMARY KEY)",
                "INSERT INTO parents VALUES (1), (42), (7), (0)",
            )
        self._made: set[str] = set()
        self._writing = Sql(self._server.socket, BY_SQL, client_flag=CLIENT.FOUND_ROWS)
        self._judge = Judge(self._judging, BY_SQL)

    def close(self) -> None:
        self._judging.close()
        self._writing.close()

    # Making a case.

    def make(self, seed: int) -> Case:
        rng = random.Random(seed)
        mode, zone = rng.choice(SQL_MODES), rng.choice(ZONES)
        self._begin(mode, zone)
        tables, rows = [], []
        requests = RequestMaker(rng, self._maker)
        for number in range(rng.choice([1, 2, 2, 3])):
            table = self._table(rng, f"t{number}")
            tables.append(table)
            made = tuple(
                self._maker.row(rng, table, rid + 1) for rid in range(rng.choice([1, 8, 25, 40]))
            )
            rows.append((table.name, made))
            requests.remember(table.name, made)
        models = {table.name: table for table in tables}
        steps = []
        for _ in range(rng.randint(3, 12)):
            step = requests.step(models)
            if isinstance(step, Alteration):
                if not self._tried(models[step.table], step):
                    continue
                models[step.table] = step.after
            steps.append(step)
        return Case(mode, zone, tuple(tables), tuple(rows), tuple(steps))

    def _table(self, rng: random.Random, name: str) -> TableModel:
        """A table that this server takes."""
        while True:
            table = self._maker.table(rng, name)
            if not table.indexes:
                continue
            try:
                self._create(BY_SQL, table)
            except SqlError as error:
                self.counts[f"no such table: {error.args[0]}"] += 1
                self._judging.run(f"DROP TABLE IF EXISTS {BY_SQL}.{name}")
                continue
            return table

    def _tried(self, before: TableModel, step: Alteration) -> bool:
        """Whether an empty table can be altered in this way."""
        try:
            self._judging.run(f"USE {BY_SQL}", step.sql)
        except SqlError:
            return False
        return True

    # Running it.

    def _begin(self, mode: str, zone: str) -> None:
        self._judging.run(
            f"SET GLOBAL sql_mode = '{mode}'",
            f"SET GLOBAL time_zone = '{zone}'",
            f"SET SESSION time_zone = '{zone}'",
        )
        self._writing.run(f"SET SESSION sql_mode = '{mode}', time_zone = '{zone}'")
        self._judging.run(
            *(f"DROP TABLE IF EXISTS {name}" for name in sorted(self._made, reverse=True))
        )
        self._made.clear()

    def _create(self, database: str, table: TableModel, rows: Sequence[Row] = ()) -> None:
        self._made.add(f"{database}.{table.name}")
        create, *after = table.create()
        self._judging.run(f"USE {database}", create)
        self._fill(table, rows)
        self._judging.run(*after)

    def run(self, case: Case) -> Difference | None:
        self._begin(case.sql_mode, case.zone)
        rows = dict(case.rows)
        for table in case.tables:
            for database in (BY_SQL, BY_PLUGIN):
                self._create(database, table, rows[table.name])
        models = {table.name: table for table in case.tables}
        if (story := self._compare_tables(models)) is not None:
            raise AssertionError(f"the twins begin with a difference: {story}")
        with _Connections(self._server) as connections:
            for number, step in enumerate(case.steps):
                if isinstance(step, Alteration):
                    if not self._alter(step, models):
                        break  # later steps expect the table as it would be after this one
                    continue
                difference = self._run_step(number, step, models, connections)
                if difference is not None:
                    return difference
        return None

    def _fill(self, table: TableModel, rows: Sequence[Row]) -> None:
        if not rows:
            return
        names = b", ".join(b"`%s`" % name.encode() for name, _ in rows[0])
        head = b"INSERT IGNORE INTO %s (%s) VALUES " % (table.name.encode(), names)
        lists = [
            b"(%s)" % b", ".join(literal(table.column(name).kind, value) for name, value in row)
            for row in rows
        ]
        if run_sql(self._judging, head + b", ".join(lists))[0] is not None:
            run_sql(self._judging, b"DELETE FROM " + table.name.encode())  # what MyISAM has kept
            for values in lists:
                run_sql(self._judging, head + values)

    def _alter(self, step: Alteration, models: dict[str, TableModel]) -> bool:
        done = 0
        for database in (BY_SQL, BY_PLUGIN):
            try:
                self._judging.run(f"USE {database}", step.sql)
                done += 1
            except SqlError as error:
                self.counts[f"ALTER: {error.args[0]}"] += 1
        assert done in (0, 2), f"one twin can be altered, the other cannot: {step.sql}"
        if done:
            models[step.table] = step.after
        return done > 0

    def _run_step(
        self, number: int, step: Sequence[Sending], models: dict[str, TableModel],
        connections: _Connections,
    ) -> Difference | None:  # fmt: skip
        expected = [
            [e for request in sending.requests if (e := self._expect(request, models)) is not None]
            for sending in step
        ]
        try:
            replies = connections.ask(
                [(sending.connection, [e.request for e in wanted])
                 for sending, wanted in zip(step, expected, strict=True)],
                models,
            )  # fmt: skip
        except (WireError, OSError) as error:
            return Difference(self._no_reply(), number, f"{error}\n{connections.sent()}")
        for part, (sending, wanted, got) in enumerate(zip(step, expected, replies, strict=True)):
            for e, (sent, reply) in zip(wanted, got, strict=True):
                self.counts["requests"] += 1
                if (wrong := _wrong(e, reply)) is not None:
                    port = "write" if sending.connection < WRITERS else "read"
                    kind = getattr(e.request, "modification", "") or type(e.request).__name__
                    story = (
                        f"to the {port} port: {sent!r}\n  SQL: {wrong}\n  plugin: {reply[:3000]!r}"
                    )
                    story += f"\n{connections.sent()}"
                    return Difference(f"answer {kind}", number, story, (part, e.request))
        apart = self._compare_tables(models)
        if apart is not None:
            return Difference("table", number, f"{apart}\n{connections.sent()}")
        return None

    def _no_reply(self) -> str:
        time.sleep(0.5)
        if self._server.alive:
            return "no reply"
        self._server.kill()
        self._server.start()
        self._connect()
        return "crash"

    def _expect(self, request: Request, models: dict[str, TableModel]) -> _Expected | None:
        """What SQL answers; for a write, SQL executes it. None if SQL has more than one answer."""
        if isinstance(request, RawRequest):
            return _Expected(request, reply=request.reply)
        table = models[request.table]
        if isinstance(request, InsertRequest):
            error, _, _ = run_sql(self._writing, insert_sql(table, request))
            self.counts["not inserted" if error else "inserted"] += 1
            return _Expected(request, reply=_status(error, b"0\t1"))
        index = table.index(request.index)
        too_many = len(request.key) + bool(request.ends) > len(index.parts)
        if too_many or (
            index.hashed and (request.comparison != "=" or len(request.key) < len(index.parts))
        ):
            return _Expected(request, reply=b"2\t1\tkpnum" if too_many else b"1\t1\t131")
        try:
            found = self._judge.find(table, request)
            self.counts["ranges"] += request.is_range
            self.counts["prefixes"] += any(end.comparison == "^" for end in request.ends)
            if request.answer:
                self.counts["counted"] += 1
                return _Expected(request, reply=b"0\t1\t%d" % found.count(request.answer))
            if not request.modification:
                rows = sum(len(group.rows) for group in found.groups)
                self.counts["found" if rows else "found nothing"] += 1
                return _Expected(request, found)
            rids = found.the_one_answer()
            if len(rids) > 1 and found.alike() and any(i.unique for i in table.indexes):
                raise NotJudgedError("the order of rows that are alike decides")
            overlap = len(request.in_values) > 1 and request.comparison != "="
            if overlap and (request.offset or len(rids) > request.limit // 2):
                raise NotJudgedError("which rows count for the limit")
        except NotJudgedError as reason:
            self.counts[f"not judged: {reason}"] += 1
            return None
        if not rids:
            empty = b"0\t%d" % len(request.columns) if request.asks_rows else b"0\t1\t0"
            return _Expected(request, reply=empty)
        error, count, _ = run_sql(self._writing, modify_sql(table, request, rids))
        self.counts["failed" if error else "modified"] += 1
        if error is not None or not request.asks_rows:
            return _Expected(request, reply=_status(error, b"0\t1\t%d" % count))
        return _Expected(request, found.each_once())

    def _compare_tables(self, models: dict[str, TableModel]) -> str | None:
        for name, model in models.items():
            wanted, got = (
                self._judging.rows(f"SELECT * FROM {database}.{name} ORDER BY rid")
                for database in (BY_SQL, BY_PLUGIN)
            )
            if wanted != got:
                columns = [column.name for column in model.columns]
                return (
                    f"table {name} {columns} differs\n  by SQL alone:"
                    f" {[row for row in wanted if row not in got]}\n  by the plugin alone:"
                    f" {[row for row in got if row not in wanted]}"
                )
        return None


def _status(error: int | None, well: bytes) -> bytes:
    return well if error is None else b"1\t1\t%d" % error


def _wrong(e: _Expected, reply: bytes) -> str | None:
    if e.reply is not None:
        return None if e.reply == reply else repr(e.reply)
    assert e.found is not None
    assert isinstance(e.request, FindRequest)
    width = len(e.request.columns)
    head, *cells = reply.split(b"\t")
    right = head == b"0" and cells[:1] == [b"%d" % width] and (len(cells) - 1) % width == 0
    if right:
        values = [_unescaped(cell) for cell in cells[1:]]
        rows: list[Cells] = [
            tuple(values[place : place + width]) for place in range(0, len(values), width)
        ]
        right = e.found.explains(rows, e.request.columns.index("rid"))
    if right:
        return None
    shown = [
        [*group.rows.values(), *(["may end"] if group.ends else [])] for group in e.found.groups
    ]
    return f"from row {e.found.offset}, {e.found.limit} of {str(shown)[:3000]}"


def _unescaped(cell: bytes) -> bytes | None:
    if cell == b"\0":
        return None
    first, *others = cell.split(b"\1")
    return first + b"".join(bytes((part[0] - 0x40,)) + part[1:] for part in others)


class _Connections:
    """Connections to both ports, and the indexes that they have opened."""

    def __init__(self, server: ServerInstance) -> None:
        self._server = server
        self._wires: dict[int, Wire] = {}
        self._opened: dict[int, dict[tuple[bytes, ...], int]] = {}
        self._sent: list[tuple[int, bytes]] = []

    def __enter__(self) -> _Connections:
        return self

    def __exit__(self, *_: object) -> None:
        for wire in self._wires.values():
            wire.close()

    def ask(
        self, work: Sequence[tuple[int, Sequence[Request]]], models: dict[str, TableModel]
    ) -> list[list[tuple[bytes, bytes]]]:
        """Sends everything, connection by connection, and then reads the replies."""
        lines = [
            (connection, *self._lines(connection, requests, models))
            for connection, requests in work
            if requests
        ]
        self._sent = [(connection, b"".join(sent)) for connection, sent, _ in lines]
        for connection, data in self._sent:
            self._wire(connection).send(data)
        replies: dict[int, list[tuple[bytes, bytes]]] = {}
        for connection, sent, opens in lines:
            got = self._wire(connection).lines(len(sent))
            for place in opens:
                if got[place] != b"0\t1":
                    raise WireError(f"{sent[place]!r} is answered {got[place]!r}")
            replies[connection] = [
                (request, reply)
                for place, (request, reply) in enumerate(zip(sent, got, strict=True))
                if place not in opens
            ]
        return [replies.get(connection, []) for connection, _ in work]

    def sent(self) -> str:
        ports = (f"  connection {number}: {data!r}" for number, data in self._sent)
        return "sent together:\n" + "\n".join(ports)

    def _wire(self, connection: int) -> Wire:
        if connection not in self._wires:
            server = self._server
            port = server.hs_port_wr if connection < WRITERS else server.hs_port
            self._wires[connection] = Wire(port, PATIENCE)
        return self._wires[connection]

    def _lines(
        self, connection: int, requests: Sequence[Request], models: dict[str, TableModel]
    ) -> tuple[list[bytes], set[int]]:
        """The lines to send, and which of them open an index."""
        opened = self._opened.setdefault(connection, {})
        lines: list[bytes] = []
        opens: set[int] = set()
        for request in requests:
            if isinstance(request, RawRequest):
                lines.append(request.line)
                continue
            tokens = opening(request, models[request.table])
            if tokens not in opened:
                opened[tokens] = len(opened) + 1
                opens.add(len(lines))
                head = b"P\t%d\t%s\t" % (opened[tokens], BY_PLUGIN.encode())
                kept = tokens if tokens[-1] else tokens[:-1]
                lines.append(head + b"\t".join(kept) + b"\n")
            lines.append(line(request, opened[tokens]))
        return lines, opens
