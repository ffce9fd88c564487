"""How cost grows: the same lookups while one thing changes and all else stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .compare import HASH_INDEX, running, say, settle
from .load import Pace, Result, run_load
from .places import RESULTS, need_two_cores
from .rounds import Measured
from .servers import Database

Make = Callable[[str, dict[str, str | int | None]], Database]


@dataclass(frozen=True)
class Curve:
    """`prepare` makes the point's table, if it needs one of its own."""

    name: str
    title: str
    unit: str
    points: tuple[int, ...]
    options: Callable[[int], list[str]]
    prepare: Callable[[int], str] = lambda _: ""


def size_table(rows: int) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS test.size_{rows} LIKE test.user;"
        f"INSERT IGNORE INTO test.size_{rows} SELECT seq, CONCAT('user_', LPAD(seq, 7, '0')),"
        " CONCAT('user_', LPAD(seq, 7, '0'), '@example.com'), '2020-01-01'"
        f" FROM test.seq_1_to_{rows} WHERE NOT EXISTS (SELECT 1 FROM test.size_{rows});"
        f"SELECT COUNT(*), SUM(LENGTH(user_email)) FROM test.size_{rows};"
    )


WIDTH_ROWS = 1_000


def width_table(columns: int) -> str:
    names = ", ".join(f"c{i} VARCHAR(20)" for i in range(columns))
    values = ", ".join("'0123456789'" for _ in range(columns))
    return (
        f"CREATE TABLE IF NOT EXISTS test.width_{columns}"
        f" (id INT UNSIGNED NOT NULL PRIMARY KEY, {names});"
        f"INSERT IGNORE INTO test.width_{columns}"
        f" SELECT seq, {values} FROM test.seq_1_to_{WIDTH_ROWS};"
    )


def value_table(size: int) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS test.value_{size}"
        " (id INT UNSIGNED NOT NULL PRIMARY KEY, value LONGTEXT);"
        f"INSERT IGNORE INTO test.value_{size}"
        f" SELECT seq, REPEAT('x', {size}) FROM test.seq_1_to_100;"
    )


CURVES: tuple[Curve, ...] = (
    Curve(
        "table-size",
        "16 × 100 lookups at random",
        "rows of the table",
        (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        lambda rows: ["--connections=16", "--depth=100", f"--keys={rows}", f"--table=size_{rows}"],
        size_table,
    ),
    Curve(
        "connections",
        "one lookup at a time on each connection",
        "connections",
        (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000, 4000, 8000),
        lambda count: [f"--connections={count}", "--depth=1"],
    ),
    Curve(
        "depth",
        "16 connections",
        "requests in each pipeline",
        (1, 2, 4, 8, 16, 32, 64, 100, 200, 500, 1000),
        lambda depth: ["--connections=16", f"--depth={depth}"],
    ),
    Curve(
        "columns",
        f"16 × 100 lookups, {WIDTH_ROWS} rows of 10-byte columns, all asked for",
        "columns",
        (1, 2, 5, 10, 20, 50, 100, 200),
        lambda columns: [
            "--connections=16",
            "--depth=100",
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
            "--keys=100",
            f"--table=value_{size}",
            "--columns=value",
        ],
        value_table,
    ),
)


def measure(
    curve: Curve, databases: Sequence[Database], pace: Pace
) -> dict[str, dict[str, Result]]:
    """By server and point: the medians."""
    rounds: dict[tuple[str, int], list[Result]] = {}
    for point in curve.points:
        statements = curve.prepare(point)
        for database in databases if statements else ():
            database.instance.client(statements, "test")
    for _ in range(pace.rounds):
        for point in curve.points:
            for database in databases:
                options = [*database.read_options(), *curve.options(point)]
                result = run_load(options, server_pid=database.pid, pace=pace)
                rounds.setdefault((database.name, point), []).append(result)
    medians: dict[str, dict[str, Result]] = {}
    for (name, point), results in rounds.items():
        medians.setdefault(name, {})[str(point)] = Measured(tuple(results)).median
    return medians


def measure_curves(make: Make, pace: Pace, only: frozenset[str]) -> Path:
    """All curves and the workers, as one JSON file; curves of earlier runs stay in it."""
    need_two_cores()
    path = RESULTS / "curves.json"
    data = json.loads(path.read_text()) if path.exists() else {}

    def keep(name: str, title: str, unit: str, medians: dict[str, dict[str, Result]]) -> None:
        series = {who: {x: vars(y) for x, y in each.items()} for who, each in medians.items()}
        data[name] = {"title": title, "unit": unit, "series": series}
        path.write_text(json.dumps(data, indent=1) + "\n")

    with running(make("ours", {HASH_INDEX: "ON"})) as ours:
        with running(make("original", {HASH_INDEX: "ON"})) as original:
            databases = [
                peer for peer in (*ours.values(), *original.values()) if isinstance(peer, Database)
            ]
            settle(*databases)
            for curve in CURVES:
                if not only or curve.name in only:
                    say(f"curve: {curve.name}")
                    keep(curve.name, curve.title, curve.unit, measure(curve, databases, pace))
    if not only or "workers" in only:
        say("curve: workers")
        keep(
            "workers",
            "100 × 1 lookups, server and client on both cores",
            "workers",
            workers(make, pace),
        )
    return path


def workers(make: Make, pace: Pace) -> dict[str, dict[str, Result]]:
    """Two workers need two cores: here server and client share them."""
    both = frozenset({0, 1})
    medians: dict[str, dict[str, Result]] = {}
    for name in ("ours", "original"):
        for count in (1, 2):
            with running(make(name, {HASH_INDEX: "ON", "handlersocket_threads": count})) as peers:
                for peer in peers.values():
                    assert isinstance(peer, Database)
                    peer.move_to(both)
                    options = [*peer.read_options(), "--connections=100", "--depth=1"]
                    rounds = [
                        run_load(options, server_pid=peer.pid, pace=pace, cores=both)
                        for _ in range(pace.rounds)
                    ]
                    medians.setdefault(name, {})[str(count)] = Measured(tuple(rounds)).median
    return medians
