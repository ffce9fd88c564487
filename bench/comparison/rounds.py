"""Interleaved rounds: every case once, then every case again in the opposite order."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .cases import Case, Reach
from .database import Database
from .load import Pace, Result, run_load
from .peer import Peer
from .places import BenchError


@dataclass(frozen=True)
class Measured:
    """All rounds of one case."""

    rounds: tuple[Result, ...]

    @property
    def median(self) -> Result:
        """The median of each figure separately."""
        values = {
            field.name: statistics.median(getattr(each, field.name) for each in self.rounds)
            for field in fields(Result)
        }
        return Result(**values)

    def as_json(self) -> list[dict[str, Any]]:
        return [vars(each) for each in self.rounds]


def options_of(case: Case, peer: Peer) -> list[str]:
    if case.reach is Reach.READ:
        return peer.read_options()
    if case.reach is Reach.WRITE:
        return peer.write_options()
    if not isinstance(peer, Database):
        raise BenchError(f"{peer.name} has neither a Unix socket nor SQL here")
    ways = {
        Reach.UNIX: peer.unix_options,
        Reach.SQL: peer.sql_options,
        Reach.SQL_UNIX: peer.sql_unix_options,
        Reach.X: peer.x_options,
    }
    return ways[case.reach]()


def possible(cases: Sequence[Case], peers: Mapping[str, Peer]) -> list[Case]:
    """The cases whose server exists and can be reached in the way that they need."""

    def has_way(case: Case) -> bool:
        peer = peers[case.peer]
        return case.reach is not Reach.X or (isinstance(peer, Database) and peer.has_x)

    return [case for case in cases if case.peer in peers and has_way(case)]


def run_case(case: Case, peer: Peer, pace: Pace) -> Result:
    options = [*options_of(case, peer), *case.options]
    return run_load(options, server_pid=peer.pid, pace=pace, generator=case.generator)


def run_rounds(cases: Sequence[Case], peers: Mapping[str, Peer], pace: Pace) -> dict[str, Measured]:
    cases = possible(cases, peers)
    results: dict[str, list[Result]] = {case.name: [] for case in cases}
    started = time.monotonic()
    for number in range(pace.rounds):
        for case in cases if number % 2 == 0 else reversed(cases):
            results[case.name].append(run_case(case, peers[case.peer], pace))
        print(
            f"   round {number + 1} of {pace.rounds}, {time.monotonic() - started:.0f} s;"
            f" load average {os.getloadavg()[0]:.1f}",
            file=sys.stderr,
            flush=True,
        )
    return {name: Measured(tuple(each)) for name, each in results.items()}
