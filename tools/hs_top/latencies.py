"""Latency by kind of request, from the buckets of the table handlersocket_latency. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hs_top.reading import Row

# (port, kind) and where the bucket begins and ends, in µs.
Counts = dict[tuple[str, str], dict[tuple[int, int], int]]


@dataclass(frozen=True)
class Latency:
    """The requests of one kind on one port, between two readings. Times in µs."""

    port: str
    kind: str
    count: int
    p50: float
    p95: float
    p99: float
    longest: int  # the end of the last bucket that has one


def latencies(before: Sequence[Row], now: Sequence[Row]) -> list[Latency]:
    """Kinds without a request are left out. The most frequent comes first."""
    old = _counts(before)
    found = []
    for (port, kind), buckets in _counts(now).items():
        earlier = old.get((port, kind), {})
        moved = [(edges, count - earlier.get(edges, 0)) for edges, count in sorted(buckets.items())]
        moved = [(edges, count) for edges, count in moved if count > 0]
        if not moved:
            continue
        found.append(
            Latency(
                port=port,
                kind=kind,
                count=sum(count for _, count in moved),
                p50=quantile(moved, 0.50),
                p95=quantile(moved, 0.95),
                p99=quantile(moved, 0.99),
                longest=_end(*moved[-1][0]),
            )
        )
    return sorted(found, key=lambda one: -one.count)


def quantile(buckets: Sequence[tuple[tuple[int, int], int]], share: float) -> float:
    """Within its bucket a time is taken to be anywhere, each with the same probability."""
    wanted = share * sum(count for _, count in buckets)
    for (low, high), count in buckets:
        if count >= wanted:
            return low + (_end(low, high) - low) * wanted / count
        wanted -= count
    return float(_end(*buckets[-1][0]))


def _end(low: int, high: int) -> int:
    """Where a bucket ends. The last one has no end, so it is taken to be like the others."""
    return min(high, 2 * max(low, 1))


def _counts(rows: Sequence[Row]) -> Counts:
    found: Counts = {}
    for row in rows:
        edges = int(row["bucket_low_us"]), int(row["bucket_high_us"])
        found.setdefault((row["port"], row["kind"]), {})[edges] = int(row["count_bucket"])
    return found
