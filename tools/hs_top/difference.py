"""Makes rates of two readings. Pure: it asks nobody."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hs_top.latencies import Latency, latencies
from hs_top.reading import Reading, Row, Table

KINDS = ("find", "count", "find_modify", "insert", "group", "open_index", "auth", "other")
# Counters that stand still in a healthy server.
ALARMS = (
    "connections_refused",
    "connections_foreign",
    "connections_silent",
    "connections_shed",
    "log_ins_failed",
    "log_ins_late",
    "tls_handshakes_failed",
    "requests_malformed",
    "requests_timed_out",
    "passes_replayed",
    "rollbacks",
    "values_ignored",
)


@dataclass(frozen=True)
class Busy:
    """One connection. The rates are None if it was not seen before."""

    row: Row
    requests: float | None
    received: float | None
    sent: float | None

    @property
    def weight(self) -> tuple[float, float, int]:
        bytes_a_second = (self.received or 0.0) + (self.sent or 0.0)
        return (self.requests or 0.0, bytes_a_second, int(self.row.get("waiting_bytes", 0)))


@dataclass(frozen=True)
class BusyIndex:
    """One index on one port. The rate is None if the index was not open before."""

    row: Row
    requests: float | None


class Difference:
    """What happened between two readings. Without an earlier one, no rate is known."""

    def __init__(self, before: Reading | None, now: Reading) -> None:
        # Counters begin at 0 again when the server or the plugin has started again.
        if before is not None and (
            now.uptime < before.uptime
            or any(
                now.counters.get(name, 0) < count
                for name, count in before.counters.items()
                if name not in {"connections", "waiting_bytes"}
            )
        ):
            before = None
        self.now = now
        self._before = before
        self.seconds = now.at - before.at if before else 0.0

    def count(self, name: str) -> int:
        """A counter as it is now."""
        return self.now.counters.get(name, 0)

    def has(self, name: str) -> bool:
        return name in self.now.counters

    def moved(self, name: str) -> int:
        """By how much a counter has grown."""
        return self.count(name) - self._before.counters.get(name, 0) if self._before else 0

    def rate(self, name: str) -> float | None:
        return self.moved(name) / self.seconds if self.seconds else None

    def requests(self) -> float | None:
        """All kinds of requests together."""
        rates = [self.rate(f"requests_{kind}") for kind in KINDS]
        known = [rate for rate in rates if rate is not None]
        return sum(known) if known else None

    def ratio(self, above: float | None, below: float | None) -> float | None:
        return above / below if above is not None and below else None

    def busiest(self) -> list[Busy]:
        """The connections, those that do most first."""
        old = {row["id"]: row for row in self._before.connections.rows} if self._before else {}
        found = [self._busy(old.get(row["id"]), row) for row in self.now.connections.rows]
        return sorted(found, key=lambda one: one.weight, reverse=True)

    def latencies(self) -> list[Latency]:
        """Of the requests between the readings. Empty, too, if the plugin does not tell."""
        before = self._before.tables.get("latency", Table()) if self._before else None
        return (
            latencies(before.rows, self.now.tables["latency"].rows)
            if (before is not None and "latency" in self.now.tables)
            else []
        )

    def busiest_indexes(self) -> list[BusyIndex]:
        """Those with the most requests first. Empty, too, if the plugin does not tell."""

        def key(row: Row) -> tuple[str, ...]:
            return tuple(row[name] for name in ("port", "table_schema", "table_name", "index_name"))

        before = self._before.tables.get("open_indexes", Table()) if self._before else Table()
        old = {key(row): int(row["requests"]) for row in before.rows}
        found = []
        for row in self.now.tables.get("open_indexes", Table()).rows:
            # A count goes down when clients go that had the index open.
            moved = max(int(row["requests"]) - old[key(row)], 0) if key(row) in old else None
            rate = moved / self.seconds if moved is not None and self.seconds else None
            found.append(BusyIndex(row, rate))
        return sorted(found, key=lambda one: one.requests or 0.0, reverse=True)

    def states(self) -> dict[str, int]:
        """How many connections are in each state. Those that were not read wait for clients."""
        found: dict[str, int] = {}
        for row in self.now.connections.rows:
            found[row["state"]] = found.get(row["state"], 0) + 1
        others = self.count("connections") - sum(found.values())
        if others > 0:
            found["waiting"] = found.get("waiting", 0) + others
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def _busy(self, old: Row | None, row: Row) -> Busy:
        def rate(name: str) -> float | None:
            if name not in row or not self.seconds:
                return None
            if old is None and row["age_ms"] > self.seconds * 1000:
                return None
            return float(row[name] - (old[name] if old else 0)) / self.seconds

        return Busy(row, rate("requests"), rate("bytes_received"), rate("bytes_sent"))

    def as_json(self, rows: int) -> dict[str, Any]:
        """For scripts: the names are those of the counters and of the tables' columns."""
        return {
            "seconds": round(self.seconds, 3),
            "server": self.now.server,
            "uptime": self.now.uptime,
            "counters": dict(self.now.counters),
            "rates": {
                name: round(rate, 1)
                for name in self.now.counters
                if name not in {"connections", "waiting_bytes"}
                and (rate := self.rate(name)) is not None
            },
            "requests": round(self.requests() or 0.0, 1) if self.seconds else None,
            "latencies": [asdict(one) for one in self.latencies()],
            "states": self.states(),
            "busiest": [
                {
                    **one.row,
                    "received_a_second": one.received,
                    "sent_a_second": one.sent,
                }
                for one in self.busiest()[:rows]
            ],
            "indexes": [
                {**one.row, "requests_a_second": one.requests}
                for one in self.busiest_indexes()[:rows]
            ],
            "remark": self.now.connections.remark,
        }
