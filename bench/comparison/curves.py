"""How cost grows: the same lookups while one thing changes and everything else stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cases import PIPELINED, SINGLE
from .compare import add, say, settle
from .database import HASH_INDEX, Database, has_original
from .load import Pace, Result, run_load
from .machine import describe_machine, describe_versions
from .peer import Peer
from .places import CLIENT_CORES, RESULTS, SERVER_CORES, need_two_cores

from demo import ROWS  # isort: skip  (setup/, put on the path by places)
from server_instance import Setting  # isort: skip

# By server and point: the results of all rounds.
Series = dict[str, dict[str, list[Result]]]
# Enough memory for 10,000,000 rows and the other tables.
SETTINGS: dict[str, Setting] = {HASH_INDEX: "ON", "innodb_buffer_pool_size": "3G"}


@dataclass(frozen=True)
class Table:
    """A table for one point: made once, kept for later runs, and read before it is measured."""

    name: str
    columns: str
    # Selects its rows from test.user of the demo, which any server has, in the order of its key.
    select: str
    read: str


@dataclass(frozen=True)
class Curve:
    name: str
    title: str
    unit: str
    points: tuple[int, ...]
    options: Callable[[int], list[str]]
    table: Callable[[int], Table] | None = None
    # The rows of the point's table, if there are so many that it has to settle.
    settling: Callable[[int], int] | None = None


def size_table(rows: int) -> Table:
    thousands = " UNION ALL ".join(f"SELECT {i} AS d" for i in range(-(-rows // ROWS)))
    key = f"d * {ROWS} + user_id"
    name = f"CONCAT('user_', LPAD({key}, 8, '0'))"
    return Table(
        f"size_{rows}",
        "user_id INT UNSIGNED NOT NULL PRIMARY KEY, user_name VARCHAR(50),"
        " user_email VARCHAR(255), created DATETIME",
        f"SELECT {key}, {name}, CONCAT({name}, '@example.com'), created"
        f" FROM ({thousands}) AS part STRAIGHT_JOIN user WHERE user_id <= {rows}",
        "user_email",
    )


WIDTH_ROWS = 1_000


def width_table(columns: int) -> Table:
    # With four bytes for each character, InnoDB would not accept 200 of them.
    names = ", ".join(f"c{i} VARCHAR(20) CHARACTER SET ascii" for i in range(columns))
    values = ", ".join(["'0123456789'"] * columns)
    return Table(
        f"width_{columns}",
        f"id INT UNSIGNED NOT NULL PRIMARY KEY, {names}",
        f"SELECT user_id, {values} FROM user WHERE user_id <= {WIDTH_ROWS}",
        "c0",
    )


VALUE_ROWS = 100


def value_table(size: int) -> Table:
    return Table(
        f"value_{size}",
        "id INT UNSIGNED NOT NULL PRIMARY KEY, value LONGTEXT",
        f"SELECT user_id, REPEAT('x', {size}) FROM user WHERE user_id <= {VALUE_ROWS}",
        "value",
    )


CURVES: tuple[Curve, ...] = (
    Curve(
        "table-size",
        "16 × 100 lookups at random",
        "rows of the table",
        (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        lambda rows: [*PIPELINED, f"--keys={rows}", f"--table=size_{rows}"],
        size_table,
        lambda rows: rows,
    ),
    Curve(
        "connections",
        "one lookup at a time on each connection",
        "connections",
        (1, 4, 16, 64, 256, 1000, 2000, 4000, 8000),
        lambda count: [f"--connections={count}", "--depth=1"],
    ),
    Curve(
        "depth",
        "16 connections",
        "requests in each pipeline",
        (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
        lambda depth: ["--connections=16", f"--depth={depth}"],
    ),
    Curve(
        "columns",
        f"16 × 100 lookups, {WIDTH_ROWS:,} rows of 10-byte columns, all asked for",
        "columns",
        (1, 2, 5, 10, 20, 50, 100, 200),
        lambda columns: [
            *PIPELINED,
            f"--keys={WIDTH_ROWS}",
            f"--table=width_{columns}",
            "--columns=" + ",".join(f"c{i}" for i in range(columns)),
        ],
        width_table,
    ),
    Curve(
        "value-size",
        "16 connections × 1 lookup, one column",
        "bytes of the value",
        (10, 100, 1_000, 10_000, 100_000, 1_048_576),
        lambda size: [
            "--connections=16",
            "--depth=1",
            f"--keys={VALUE_ROWS}",
            f"--table=value_{size}",
            "--columns=value",
        ],
        value_table,
    ),
)
WORKERS = (
    Curve(
        "workers",
        "16 × 100 lookups at random, server and client on both cores",
        "workers",
        (1, 2),
        lambda _: [*PIPELINED],
    ),
    Curve(
        "workers-single",
        "100 connections × 1 lookup, server and client on both cores",
        "workers",
        (1, 2),
        lambda _: [*SINGLE],
    ),
)
NAMES = tuple(curve.name for curve in (*CURVES, *WORKERS))


def prepare(database: Database, table: Table) -> None:
    if not database.has_table(table.name):
        # It is loaded under another name first, so that a table of this name is always complete.
        # Without checks the server can load an empty table in bulk.
        # checks an empty table is loaded in bulk where the server can do that.
        database.instance.client(
            f"DROP TABLE IF EXISTS loading; CREATE TABLE loading ({table.columns})"
            " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;"
            "SET unique_checks = 0, foreign_key_checks = 0;"
            f"INSERT INTO loading {table.select};"
            f"RENAME TABLE loading TO {table.name};",
            "test",
        )
        database.write_back()
    database.read_whole(table.name, table.read)


def measure(curve: Curve, databases: Sequence[Database], pace: Pace) -> Series:
    for point in curve.points:
        table = curve.table(point) if curve.table else None
        for database in databases if table else ():
            assert table is not None
            prepare(database, table)
            if curve.settling:
                settle(database, rows=curve.settling(point), options=[f"--table={table.name}"])
    series: Series = {database.name: {} for database in databases}
    for number in range(pace.rounds):
        for point in curve.points:
            for database in databases if number % 2 == 0 else reversed(databases):
                options = [*database.read_options(), *curve.options(point)]
                result = run_load(options, server_pid=database.pid, pace=pace)
                series[database.name].setdefault(str(point), []).append(result)
    return series


def start(tree: Path, stack: ExitStack, settings: dict[str, Setting]) -> list[Database]:
    """Starts them in the folders of the comparison's servers, which contain the rows already."""
    peers: dict[str, Peer] = {}
    databases = [Database("ours", tree, settings=settings)]
    add(stack, peers, databases[0])
    if has_original(tree):
        databases.append(Database("original", tree, original=True, settings=settings))
        add(stack, peers, databases[1])
    return databases


def workers(tree: Path, pace: Pace, curves: Sequence[Curve]) -> dict[str, Series]:
    """Two workers need two cores, so here server and client share the cores."""
    both = SERVER_CORES | CLIENT_CORES
    all_series: dict[str, Series] = {curve.name: {} for curve in curves}
    for count in (1, 2):
        with ExitStack() as stack:
            databases = start(tree, stack, {**SETTINGS, "handlersocket_threads": count})
            for database in databases:
                database.move_to(both)
                settle(database)
            for _ in range(pace.rounds):
                for curve in curves:
                    for database in databases:
                        options = [*database.read_options(), *curve.options(count)]
                        result = run_load(options, server_pid=database.pid, pace=pace, cores=both)
                        of_server = all_series[curve.name].setdefault(database.name, {})
                        of_server.setdefault(str(count), []).append(result)
    return all_series


def measure_curves(tree: Path, pace: Pace, only: frozenset[str], mark: str) -> Path:
    """Writes all curves into one JSON file. Curves of earlier runs stay in it."""
    need_two_cores()
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"curves-{tree.name}{mark}.json"
    data: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"curves": {}}

    def keep(curve: Curve, series: Series) -> None:
        data["curves"][curve.name] = {
            "title": curve.title,
            "unit": curve.unit,
            "series": {
                who: {x: [vars(each) for each in rounds] for x, rounds in points.items()}
                for who, points in series.items()
            },
        }
        data["machine"] = describe_machine()
        data["versions"] = describe_versions(tree)
        path.write_text(json.dumps(data, indent=1) + "\n")

    wanted = [curve for curve in CURVES if not only or curve.name in only]
    if wanted:
        with ExitStack() as stack:
            databases = start(tree, stack, SETTINGS)
            settle(*databases)
            for curve in wanted:
                say(f"curve: {curve.name}")
                keep(curve, measure(curve, databases, pace))
    of_workers = [curve for curve in WORKERS if not only or curve.name in only]
    if of_workers:
        say("curves: workers")
        for name, series in workers(tree, pace, of_workers).items():
            keep(next(curve for curve in of_workers if curve.name == name), series)
    return path
