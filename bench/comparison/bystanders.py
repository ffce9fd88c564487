"""How long a light client waits beside greedy ones, by hs-bench --beside, with default settings."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from .caches import Cache, start_redis
from .database import DURABLE, HASH_INDEX, Database, has_original
from .load import PATIENCE, Pace
from .markdown import precise, table
from .peer import Peer
from .places import CLIENT_CORES, SERVER_CORES, BenchError, all_cores, on_cores, program

# For each work of the light client: the greedy kinds beside it.
KINDS: Mapping[str, tuple[str, ...]] = {
    "find": ("filter", "offset", "in", "ranges", "unread", "half"),
    "update": ("updates", "find-modify"),
}
# The kinds that Redis has, too.
REDIS_KINDS = frozenset({"in", "unread", "half", "updates"})
ALONE = {"find": "a lookup alone", "update": "an update alone"}
TITLES = {
    "filter": "… beside finds whose filter no row passes",
    "offset": "… beside finds that skip 900,000 rows",
    "in": "… beside `IN` of 200,000 absent keys",
    "ranges": "… beside 500 pipelined ranges of 3,990 rows",
    "unread": "… beside clients that do not read their replies",
    "half": "… beside half requests",
    "updates": "… beside 16 × 100 pipelined updates",
    "find-modify": "… beside updates of 100,000 rows each",
}
ROWS = (ALONE["find"], *KINDS["find"], ALONE["update"], *KINDS["update"])
PEERS = ("ours", "original", "redis")
MOST_ROUNDS = 3
# How long a request of an earlier greedy client may take to end.
LEFT_OVERS = 60.0
MILLISECOND = 1000.0


@dataclass(frozen=True)
class Wait:
    """The waits of the light client, in microseconds."""

    p50: float
    p99: float
    longest: float


# By place (all cores, or one), peer and row: the results of all rounds.
Waits = dict[str, dict[str, dict[str, list[Wait]]]]


def pace_of(pace: Pace) -> Pace:
    return Pace(pace.warm_up / 2, pace.duration / 2, min(pace.rounds, MOST_ROUNDS))


def parse_waits(data: Mapping[str, Any], work: str) -> dict[str, Wait]:
    """The waits by row. Faulty ones are left out: a load that was refused was no load."""
    stays = {ALONE[work]: data["alone"], **data["beside"]}
    waits = {}
    for row, stay in stays.items():
        if stay["fault"]:
            print(f"   {row}: {stay['fault']}", flush=True)
            continue
        latency = stay["latency_us"]
        waits[row] = Wait(latency["p50"], latency["p99"], latency["max"])
    return waits


def run_bystander(
    peer: Peer, work: str, kinds: Sequence[str], pace: Pace, cores: frozenset[int]
) -> dict[str, Wait]:
    options = peer.read_options() if work == "find" else peer.write_options()
    command = [
        program("hs-bench"),
        "--quiet",
        "--json=-",
        f"--work={work}",
        f"--beside={','.join(kinds)}",
        f"--warm-up={pace.warm_up}",
        f"--duration={pace.duration}",
        *options,
    ]
    patience = (pace.warm_up + pace.duration + LEFT_OVERS) * (1 + len(kinds)) + PATIENCE
    with on_cores(cores):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=patience,
            check=False,
        )
    # 1: a part of it went wrong, and the result says which.
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        raise BenchError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return parse_waits(json.loads(done.stdout), work)


def _start(stack: ExitStack, tree: Path, cores: frozenset[int]) -> dict[str, Peer]:
    """Our server, the original and Redis on these cores: default settings, but durable writes."""
    peers: dict[str, Peer] = {}

    def add(peer: Database | Cache, name: str) -> None:
        stack.callback(peer.stop)
        peers[name] = peer

    names = ["ours", "original"] if has_original(tree) else ["ours"]
    for name in names:
        database = Database(
            f"{name}-durable",
            tree,
            original=name == "original",
            settings={**DURABLE, HASH_INDEX: "OFF"},
            cores=cores,
            default_workers=True,
        )
        add(database, name)
        database.forget_binlogs()
    add(start_redis(name="redis-durable", always_sync=True, cores=cores), "redis")
    return peers


def measure_bystanders(tree: Path, pace: Pace) -> Waits:
    pace = pace_of(pace)
    waits: Waits = {}
    places = {
        "all cores": (all_cores(), all_cores()),
        "one core": (SERVER_CORES, CLIENT_CORES),
    }
    for place, (server_cores, client_cores) in places.items():
        seen: dict[str, dict[str, list[Wait]]] = {}
        with ExitStack() as stack:
            peers = _start(stack, tree, server_cores)
            for number in range(pace.rounds):
                print(f"   {place}: round {number + 1} of {pace.rounds}", flush=True)
                for name, peer in peers.items():
                    for work, kinds in KINDS.items():
                        chosen = [k for k in kinds if name != "redis" or k in REDIS_KINDS]
                        try:
                            found = run_bystander(peer, work, chosen, pace, client_cores)
                        except (BenchError, subprocess.TimeoutExpired) as error:
                            # A greedy client can stop this server. That is a result, and the run
                            # continues.
                            print(f"   {name}, {work}: {error}", flush=True)
                            continue
                        for row, wait in found.items():
                            seen.setdefault(name, {}).setdefault(row, []).append(wait)
        waits[place] = seen
    return waits


def as_json(waits: Waits) -> dict[str, Any]:
    return {
        place: {
            peer: {row: [astuple(wait) for wait in rounds] for row, rounds in rows.items()}
            for peer, rows in peers.items()
        }
        for place, peers in waits.items()
    }


def from_json(data: Mapping[str, Any]) -> Waits:
    return {
        place: {
            peer: {row: [Wait(*wait) for wait in rounds] for row, rounds in rows.items()}
            for peer, rows in peers.items()
        }
        for place, peers in data.items()
    }


def _cell(rounds: Sequence[Wait]) -> str:
    """The median of each figure separately, in milliseconds."""
    if not rounds:
        return ""
    figures = zip(*(astuple(wait) for wait in rounds), strict=True)
    return " / ".join(precise(statistics.median(each) / MILLISECOND) for each in figures)


def bystander_table(waits: Waits) -> str:
    """p50 / p99 / the longest wait: a line for each greedy kind, a column for each peer."""
    tables = []
    for place, of_place in waits.items():
        peers = [peer for peer in PEERS if of_place.get(peer)]
        lines = [
            [TITLES.get(row, row), *(_cell(of_place[peer].get(row, [])) for peer in peers)]
            for row in ROWS
        ]
        tables.append(table([f"{place}: p50 / p99 / longest wait, ms", *peers], lines))
    return "\n\n".join(tables) or "Not measured."
