"""The table that the plugin has to reach: one row each, with its bar and its aim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .load import Result

Medians = Mapping[str, Result]
Extras = Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """`measure` is the ratio (greater is better) or, with a unit, a cost (less is better)."""

    title: str
    measure: Callable[[Medians, Extras], float]
    bar: float | None
    aim: float | None = None
    unit: str = ""
    note: Callable[[Medians, Extras], str] | None = None

    def verdict(self, value: float) -> str:
        def reached(goal: float) -> bool:
            return value <= goal if self.unit else value >= goal

        if self.aim is not None and reached(self.aim):
            return "aim"
        if self.bar is None:
            return ""
        return "bar" if reached(self.bar) else "SHORT"


def _rate(ours: str, theirs: str) -> Callable[[Medians, Extras], float]:
    return lambda m, _: m[ours].rate / m[theirs].rate


def _cpu(ours: str, theirs: str) -> Callable[[Medians, Extras], float]:
    return lambda m, _: m[theirs].cpu / m[ours].cpu


def _latency(ours: str, theirs: str) -> Callable[[Medians, Extras], float]:
    return lambda m, _: m[theirs].p50 / m[ours].p50


def _extra(name: str) -> Callable[[Medians, Extras], float]:
    return lambda _, extras: extras[name]


def _floors(ours: str, engine: str) -> Callable[[Medians, Extras], str]:
    def note(m: Medians, extras: Extras) -> str:
        floor = extras[engine] + m["echo pipelined"].cpu
        return f"{m[ours].cpu:.3f} us is {m[ours].cpu / floor:.2f} of engine + network floor"

    return note


def _over_echo(m: Medians, _: Extras) -> str:
    return f"{m['ours alone'].p50 - m['echo alone'].p50:+.1f} us against the echo floor"


PIPELINED = "16 × 100 lookups"

ROWS: tuple[Row, ...] = (
    Row(
        f"{PIPELINED}, 1,000 hot rows: server CPU, the original's over ours",
        _cpu("ours hot", "original hot"),
        2.3,
        2.8,
        note=_floors("ours hot", "engine hot"),
    ),
    Row(
        f"{PIPELINED}, 1,000,000 rows at random: the same",
        _cpu("ours random", "original random"),
        1.4,
        1.6,
        note=_floors("ours random", "engine random"),
    ),
    Row(
        "hot, adaptive hash index OFF",
        _cpu("ours hot, no hash", "original hot, no hash"),
        1.5,
        note=_floors("ours hot, no hash", "engine hot, no hash"),
    ),
    Row(
        "random, adaptive hash index OFF",
        _cpu("ours random, no hash", "original random, no hash"),
        1.35,
        note=_floors("ours random, no hash", "engine random, no hash"),
    ),
    Row(
        "100 × 1, 1,000,000 rows: server CPU, the original's over ours",
        _cpu("ours single", "original single"),
        1.0,
        1.1,
    ),
    Row(
        "1 × 1: latency (p50), memcached's over ours",
        _latency("ours alone", "memcached alone"),
        0.95,
        note=_over_echo,
    ),
    Row("Unix socket against TCP, 100 × 1: requests", _rate("ours unix", "ours single"), 1.5, 1.7),
    Row("SQL prepared, 100 × 1: requests", _rate("ours single", "sql prepared 100"), 3.5, 5),
    Row("SQL prepared, 16 × 100: requests", _rate("ours random", "sql prepared 16"), 20, 40),
    Row("memcached, 100 × 1: requests", _rate("ours single", "memcached single"), 1.0, 1.1),
    Row("memcached, 16 × 100: requests", _rate("ours random", "memcached random"), 5, 8),
    Row("Redis, 16 × 100, random: server CPU", _cpu("ours random", "redis random"), 1.05, 1.3),
    Row("Redis, 16 × 100, hot: server CPU", _cpu("ours hot", "redis hot"), 1.5, 2.5),
    Row(
        "IN of 100 keys: rows for a second of server CPU against 100 pipelined lookups",
        lambda m, _: m["ours in"].rows_per_cpu_second / m["ours random"].rows_per_cpu_second,
        1.2,
        2,
    ),
    Row(
        "updates 100 × 1 against SQL, 100 threads", _rate("ours update single", "sql update"), 4, 6
    ),
    Row("updates 16 × 100 against SQL", _rate("ours update pipelined", "sql update"), 14, 20),
    Row(
        "updates 100 × 1 against the original, which writes no binlog",
        _rate("ours update single", "original update single"),
        0.7,
        1,
    ),
    Row(
        "updates 16 × 100 against the original",
        _rate("ours update pipelined", "original update pipelined"),
        0.9,
        1.1,
    ),
    Row(
        "updates 100 × 1 against Redis, appendfsync always",
        _rate("ours update single", "redis update single"),
        1.0,
        2,
    ),
    Row("memory of an idle connection, after use", _extra("idle connection"), 2, 1, "KiB"),
    Row(
        "connect, open, get, close against the original",
        _rate("ours connect", "original connect"),
        1.0,
    ),
    Row("connect, get, close against SQL", _rate("ours connect", "sql connect"), 5),
    Row("find of 1,000,000 rows: growth of memory", _extra("find growth"), 8, 1, "MiB"),
    Row("find of 1,000,000 rows: first byte", _extra("find first byte"), 5, 1, "ms"),
    Row(
        "find of 1,000,000 rows: longest wait of a lookup beside it",
        _extra("find longest wait"),
        5,
        1,
        "ms",
    ),
)
