"""Lookups with the settings as they come, beside fixed numbers of workers and the original.

Server and clients share the cores, as they do on a small machine. Nothing is pinned.
"""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from .database import HASH_INDEX, Database, has_original
from .load import Pace, run_load
from .markdown import table
from .places import ADDRESS, SERVER_CORES, all_cores, on_cores, program

LOOKUPS = ("--connections=100", "--depth=1")
BESIDE_SQL = "all cores, beside SQL that takes them all"
# The sessions that ask for as much as the server gives.
SQL_SESSIONS = 8
MILLISECOND = 1000.0


@dataclass(frozen=True)
class Figures:
    rate: float
    p99: float  # microseconds
    p999: float


# By place and server: the results of all rounds.
Defaults = dict[str, dict[str, list[Figures]]]


@contextmanager
def _sql(database: Database, seconds: float) -> Iterator[None]:
    """SQL sessions that look rows up as fast as they can."""
    command = [program("hs-bench-sql"), "--quiet", "--json=-", "--mode=prepared"]
    command += [f"--connections={SQL_SESSIONS}", "--warm-up=0", f"--duration={seconds}"]
    command += [f"--host={ADDRESS}", f"--port={database.sql_port}"]
    busy = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def _servers(stack: ExitStack, tree: Path, cores: frozenset[int]) -> dict[str, Database]:
    """Ours with the number of workers that it chooses, and with 1 and 2; the original as it comes.

    All of them run at once, and all but one of them are idle.
    """
    started = {}

    def add(name: str, folder: str, *, original: bool = False, workers: int | None = None) -> None:
        settings = {HASH_INDEX: "OFF"}
        fixed = {} if workers is None else {"handlersocket_threads": workers}
        started[name] = Database(
            folder,
            tree,
            original=original,
            settings={**settings, **fixed},
            cores=cores,
            default_workers=True,
        )
        stack.callback(started[name].stop)

    add("as it comes", "ours")
    add("1 worker", "ours-1", workers=1)
    add("2 workers", "ours-2", workers=2)
    if has_original(tree):
        add("the original as it comes", "original", original=True)
    return started


def measure_defaults(tree: Path, pace: Pace) -> Defaults:
    measured: Defaults = {}
    places = {"all cores": all_cores(), "one core": SERVER_CORES, BESIDE_SQL: all_cores()}
    for place, cores in places.items():
        of_place = measured.setdefault(place, {})
        with ExitStack() as stack:
            servers = _servers(stack, tree, cores)
            for number in range(pace.rounds):
                print(f"   {place}: round {number + 1} of {pace.rounds}", flush=True)
                for name, server in servers.items():
                    with ExitStack() as beside:
                        if place == BESIDE_SQL:
                            seconds = pace.warm_up + pace.duration + 5
                            beside.enter_context(on_cores(cores))
                            beside.enter_context(_sql(server, seconds))
                        result = run_load(
                            [*server.read_options(), *LOOKUPS],
                            server_pid=server.pid,
                            pace=pace,
                            cores=cores,
                            first=place == BESIDE_SQL,
                        )
                    found = Figures(result.rate, result.p99, result.p999)
                    of_place.setdefault(name, []).append(found)
    return measured


def as_json(defaults: Defaults) -> dict[str, Any]:
    return {
        place: {name: [astuple(each) for each in rounds] for name, rounds in servers.items()}
        for place, servers in defaults.items()
    }


def from_json(data: Mapping[str, Any]) -> Defaults:
    return {
        place: {name: [Figures(*each) for each in rounds] for name, rounds in servers.items()}
        for place, servers in data.items()
    }


def _cell(rounds: Sequence[Figures]) -> str:
    rate, p99, p999 = (
        statistics.median(each) for each in zip(*(astuple(one) for one in rounds), strict=True)
    )
    return f"{rate:,.0f} / {p99 / MILLISECOND:.1f} / {p999 / MILLISECOND:.1f}"


def defaults_table(defaults: Defaults) -> str:
    """A line for each place, a column for each server: medians of all rounds."""
    if not defaults:
        return "Not measured."
    names = list(next(iter(defaults.values())))
    lines = [
        [place, *(_cell(servers[name]) if name in servers else "" for name in names)]
        for place, servers in defaults.items()
    ]
    return table(["requests/s / p99 / p99.9, ms", *names], lines)
