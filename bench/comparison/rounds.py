"""Interleaved rounds: every case once, then every case again, in the other order."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .cases import Case, Reach
from .load import Pace, Result, run_load
from .places import BenchError
from .servers import Database, Peer


@dataclass(frozen=True)
class Measured:
    """All rounds of one case."""

    rounds: tuple[Result, ...]

    @property
    def median(self) -> Result:
        """The median of each figure by itself."""
        values = {
            field.name: statistics.median(getattr(each, field.name) for each in self.rounds)
            for field in fields(Result)
        }
        return Result(**values)

    @property
    def spread(self) -> float:
        """How far apart the rounds' server CPU a request is: (greatest - least) / median."""
        costs = [each.cpu for each in self.rounds]
        middle = statistics.median(costs)
        return (max(costs) - min(costs)) / middle if middle else 0.0

    def as_json(self) -> list[dict[str, Any]]:
        return [vars(each) for each in self.rounds]


def options_of(case: Case, peer: Peer) -> list[str]:
    if case.reach is Reach.READ:
        return peer.read_options()
    if case.reach is Reach.WRITE:
        return peer.write_options()
    if not isinstance(peer, Database):
        raise BenchError(f"{peer.name} has neither a Unix socket nor SQL here")
    return peer.unix_options() if case.reach is Reach.UNIX else peer.sql_options()


def run_case(case: Case, peer: Peer, pace: Pace) -> Result:
    options = [*options_of(case, peer), *case.options]
    return run_load(options, server_pid=peer.pid, pace=pace, program=case.program)


def run_rounds(cases: Sequence[Case], peers: Mapping[str, Peer], pace: Pace) -> dict[str, Measured]:
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
