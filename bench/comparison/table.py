"""The table that the plugin has to reach: each row has a required value and a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .load import Result


@dataclass(frozen=True)
class Figures:
    """All figures of one round. The names are those of the cases."""

    cases: Mapping[str, Result]
    extras: Mapping[str, float]


Measure = Callable[[Figures], float]

# What the table says about a row. A row without a required value can still have a target.
MET, MISSED = "met", "**missed**"
TARGET_MET, TARGET_MISSED = "target met", "target missed"


@dataclass(frozen=True)
class Row:
    """`measure` is a ratio (greater is better) or, with a unit, a cost (less is better).

    The documents call `bar` the required value and `aim` the target.
    """

    title: str
    measure: Measure
    bar: float | None = None
    aim: float | None = None
    unit: str = ""
    # Compared with another way into the same server, so every server has this row.
    sql: bool = False

    def verdict(self, value: float) -> str:
        def reached(goal: float) -> bool:
            return value <= goal if self.unit else value >= goal

        if self.bar is not None and not reached(self.bar):
            return MISSED
        aim = self.aim is not None and reached(self.aim)
        if self.bar is None:
            return "" if self.aim is None else TARGET_MET if aim else TARGET_MISSED
        return TARGET_MET if aim else MET


def _rate(ours: str, theirs: str) -> Measure:
    return lambda f: f.cases[ours].rate / f.cases[theirs].rate


def _cpu(ours: str, theirs: str) -> Measure:
    return lambda f: f.cases[theirs].cpu / f.cases[ours].cpu


def _latency(ours: str, theirs: str) -> Measure:
    return lambda f: f.cases[theirs].p50 / f.cases[ours].p50


def _extra(name: str) -> Measure:
    return lambda f: f.extras[name]


def _over_floors(ours: str, engine: str) -> Measure:
    return lambda f: f.cases[ours].cpu / (f.extras[engine] + f.cases["echo pipelined"].cpu)


def _rows(ours: str, theirs: str) -> Measure:
    return lambda f: f.cases[ours].rows_per_cpu_second / f.cases[theirs].rows_per_cpu_second


def _over_echo(f: Figures) -> float:
    return f.cases["ours alone"].p50 - f.cases["echo alone"].p50


FLOORS = "… as a multiple of engine floor + network floor"
# A multiple is a cost, so less is better.
TIMES = "×"

ROWS: tuple[Row, ...] = (
    Row(
        "16 × 100 lookups, 1,000 hot rows: server CPU a request, the original's over ours",
        _cpu("ours hot", "original hot"),
        2.3,
        2.8,
    ),
    Row(FLOORS, _over_floors("ours hot", "engine hot"), unit=TIMES),
    Row(
        "the same, 1,000,000 rows at random",
        _cpu("ours random", "original random"),
        1.4,
        1.6,
    ),
    Row(FLOORS, _over_floors("ours random", "engine random"), aim=1.15, unit=TIMES),
    Row(
        "hot rows, adaptive hash index OFF",
        _cpu("ours hot, no hash", "original hot, no hash"),
        1.5,
    ),
    Row(FLOORS, _over_floors("ours hot, no hash", "engine hot, no hash"), aim=1.15, unit=TIMES),
    Row(
        "at random, adaptive hash index OFF",
        _cpu("ours random, no hash", "original random, no hash"),
        1.35,
    ),
    Row(
        FLOORS, _over_floors("ours random, no hash", "engine random, no hash"), aim=1.15, unit=TIMES
    ),
    Row(
        "100 × 1, 1,000,000 rows: server CPU a request, the original's over ours",
        _cpu("ours single", "original single"),
        1.0,
        1.1,
    ),
    Row(
        "1 × 1: latency (p50), memcached's over ours",
        _latency("ours alone", "memcached alone"),
        0.95,
    ),
    Row("… above the echo floor", _over_echo, aim=2, unit="µs"),
    Row(
        "… server CPU a request, memcached's over ours",
        _cpu("ours alone", "memcached alone"),
    ),
    Row(
        "Unix socket against TCP, 100 × 1: requests a second",
        _rate("ours unix", "ours single"),
        1.5,
        1.7,
    ),
    Row(
        "SQL prepared, 100 × 1: requests a second",
        _rate("ours single", "sql prepared 100"),
        3.5,
        5,
        sql=True,
    ),
    Row(
        "SQL prepared, 16 × 100: the same",
        _rate("ours random", "sql prepared 16"),
        20,
        40,
        sql=True,
    ),
    Row("SQL as text, 100 × 1: the same", _rate("ours single", "sql text 100"), sql=True),
    Row("`HANDLER … READ`, 100 × 1: the same", _rate("ours single", "sql handler 100"), sql=True),
    Row(
        "X plugin, prepared, both over Unix sockets, 100 × 1: the same",
        _rate("ours unix", "x unix"),
        sql=True,
    ),
    Row(
        "X plugin, prepared, both over Unix sockets, 16 × 100: the same",
        _rate("ours unix pipelined", "x unix pipelined"),
        sql=True,
    ),
    Row(
        "memcached, 100 × 1: requests a second", _rate("ours single", "memcached single"), 1.0, 1.1
    ),
    Row("memcached, 16 × 100: the same", _rate("ours random", "memcached random"), 5, 8),
    Row(
        "memcached, `get`, 16 × 100, 1,000,000 rows: server CPU a request",
        _cpu("ours random", "memcached random"),
    ),
    Row(
        "memcached, `get`, 16 × 100, 1,000 hot rows: the same",
        _cpu("ours hot", "memcached hot"),
    ),
    Row(
        "Redis, 16 × 100, 1,000,000 rows: server CPU a request",
        _cpu("ours random", "redis random"),
        1.05,
        1.3,
    ),
    Row("Redis, 16 × 100, 1,000 hot rows: the same", _cpu("ours hot", "redis hot"), 1.5, 2.5),
    Row(
        "Redis with a hash a row (HMGET), 16 × 100, 1,000,000 rows: the same",
        _cpu("ours random", "redis rows random"),
    ),
    Row(
        "Redis with a hash a row (HMGET), 16 × 100, 1,000 hot rows: the same",
        _cpu("ours hot", "redis rows hot"),
    ),
    Row(
        "Valkey, 16 × 100, 1,000,000 rows: server CPU a request",
        _cpu("ours random", "valkey random"),
    ),
    Row("Valkey, 16 × 100, 1,000 hot rows: the same", _cpu("ours hot", "valkey hot")),
    Row(
        "Valkey with a hash a row (HMGET), 16 × 100, 1,000,000 rows: the same",
        _cpu("ours random", "valkey rows random"),
    ),
    Row(
        "Valkey with a hash a row (HMGET), 16 × 100, 1,000 hot rows: the same",
        _cpu("ours hot", "valkey rows hot"),
    ),
    Row(
        "`IN` of 100 keys: rows for a second of server CPU, against 100 pipelined lookups",
        _rows("ours in", "ours random"),
        1.2,
        2,
    ),
    Row("… 1,000 hot rows: the same", _rows("ours in hot", "ours hot")),
    Row(
        "memcached, `get` of 100 keys, 1,000,000 rows, against our pipelined lookups: "
        "rows for a second of server CPU",
        _rows("ours random", "memcached multi"),
        1.0,
    ),
    Row("… against our `IN` of 100 keys", _rows("ours in", "memcached multi"), 1.0),
    Row(
        "memcached, `get` of 100 keys, 1,000 hot rows, against our pipelined lookups: the same",
        _rows("ours hot", "memcached multi hot"),
        1.0,
    ),
    Row(
        "… against our `IN` of 100 keys: the same", _rows("ours in hot", "memcached multi hot"), 1.0
    ),
    Row(
        "updates, 100 × 1, against SQL autocommit with 100 threads: requests a second",
        _rate("ours update single", "sql update"),
        4,
        6,
        sql=True,
    ),
    Row(
        "updates, 16 × 100 pipelined, against the same",
        _rate("ours update pipelined", "sql update"),
        14,
        20,
        sql=True,
    ),
    Row(
        "updates, 100 × 1, against the original, which writes no binlog",
        _rate("ours update single", "original update single"),
        0.7,
        1,
    ),
    Row(
        "updates, 16 × 100, against the original, which writes no binlog",
        _rate("ours update pipelined", "original update pipelined"),
        0.9,
        1.1,
    ),
    Row(
        "updates, 100 × 1, against Redis with `appendfsync always`",
        _rate("ours update single", "redis update single"),
        1.0,
        2,
    ),
    Row("memory of an idle connection, after use", _extra("idle connection"), 2, 1, "KiB"),
    Row(
        "connect, open, get, close: a second, against the original",
        _rate("ours connect", "original connect"),
        1.0,
    ),
    Row(
        "connect, open, get, close: a second, against SQL",
        _rate("ours connect", "sql connect"),
        5,
        sql=True,
    ),
    Row(
        "… both over Unix sockets",
        _rate("ours unix connect", "sql unix connect"),
        sql=True,
    ),
    Row(
        "a find of 1,000,000 rows: growth of the server's memory",
        _extra("find growth"),
        8,
        1,
        "MiB",
    ),
    Row("… first byte after", _extra("find first byte"), 5, 1, "ms"),
    Row(
        "… longest wait of a lookup on another connection of the same worker",
        _extra("find longest wait"),
        5,
        1,
        "ms",
    ),
    Row("… the same while there is no find", _extra("longest wait without a find"), unit="ms"),
)
