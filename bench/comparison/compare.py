"""The comparison from start to end: servers, rounds, extras; its result is one JSON file."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .cases import READS, READS_WITHOUT_HASH, WRITES
from .extras import engine_floor, idle_connection_kib, long_find
from .load import Pace, run_load
from .places import RESULTS, SERVERS, need_two_cores, put_first
from .rounds import Measured, run_rounds
from .servers import Database, Peer, start_echo, start_memcached, start_redis

from server_instance import Setting  # isort: skip  (setup/, put on the path by places)

HASH_INDEX = "innodb_adaptive_hash_index"
DURABLE: Mapping[str, Setting] = {
    "log_bin": "binlog",
    "server_id": 1,
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
}
PARTS = ("reads", "writes")
# Until every page that is asked for has its place in the adaptive hash index.
SETTLING = Pace(warm_up=0, duration=12, rounds=1)


def say(line: str) -> None:
    print(f"== {line}", flush=True)


def settle(*databases: Database) -> None:
    for database in databases:
        run_load(database.read_options(), server_pid=database.pid, pace=SETTLING)


@contextmanager
def running(*peers: Peer) -> Iterator[dict[str, Peer]]:
    with ExitStack() as stack:
        for peer in peers:
            stack.callback(peer.stop)
        yield {peer.name: peer for peer in peers}


class Comparison:
    def __init__(self, tree: Path, plugin_dir: Path, pace: Pace) -> None:
        self.tree = tree
        self.plugin_dir = plugin_dir
        self.pace = pace
        self.measured: dict[str, Measured] = {}
        self.extras: dict[str, float] = {}

    def database(self, name: str, settings: Mapping[str, Setting], *, original: bool) -> Database:
        return Database(name, self.tree, self.plugin_dir, original=original, settings=settings)

    def reads(self) -> None:
        say("starting the servers for the reads")
        on = {HASH_INDEX: "ON"}
        ours = self.database("ours", on, original=False)
        with running(ours):
            original = self.database("original", on, original=True)
            with running(original):
                self.all_reads(ours, original)

    def all_reads(self, ours: Database, original: Database) -> None:
        with running(start_memcached(), start_redis(), start_echo()) as others:
            peers: dict[str, Peer] = {ours.name: ours, original.name: original, **others}
            say("warming up")
            settle(ours, original)
            say(f"reads, {len(READS)} cases")
            self.measured |= run_rounds(READS, peers, self.pace)
            say("the floor of the engine, memory, a long find")
            ours.add_engine_floor()
            self.extras["engine random"] = engine_floor(ours, 1_000_000)
            self.extras["engine hot"] = engine_floor(ours, 1_000)
            self.extras["idle connection"] = idle_connection_kib(ours)
            self.extras |= long_find(ours)
            say(f"reads without the adaptive hash index, {len(READS_WITHOUT_HASH)} cases")
            for database in (ours, original):
                database.set_global(HASH_INDEX, "OFF")
            self.measured |= run_rounds(READS_WITHOUT_HASH, peers, self.pace)
            self.extras["engine random, no hash"] = engine_floor(ours, 1_000_000)
            self.extras["engine hot, no hash"] = engine_floor(ours, 1_000)

    def writes(self) -> None:
        say("starting the servers for the writes")
        ours = self.database("ours-durable", DURABLE, original=False)
        with running(ours):
            original = self.database("original-durable", DURABLE, original=True)
            with (
                running(original),
                running(start_redis(name="redis-durable", always_sync=True)) as redis,
            ):
                peers: dict[str, Peer] = {ours.name: ours, original.name: original, **redis}
                for database in (ours, original):
                    database.instance.sql("RESET MASTER")  # what earlier runs wrote
                say(f"writes, {len(WRITES)} cases")
                self.measured |= run_rounds(WRITES, peers, self.pace)

    def as_json(self) -> dict[str, Any]:
        return {
            "machine": describe_machine(),
            "when": time.strftime("%Y-%m-%d %H:%M"),
            "pace": vars(self.pace),
            "cases": {name: each.as_json() for name, each in self.measured.items()},
            "extras": self.extras,
        }


def describe_machine() -> dict[str, Any]:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": platform.release(),
        "load_average": os.getloadavg()[0],
    }


def compare(tree: Path, plugin_dir: Path, pace: Pace, parts: frozenset[str]) -> Path:
    """Measures, and returns where the result is."""
    need_two_cores()
    SERVERS.mkdir(parents=True, exist_ok=True)
    put_first(os.getpid())
    comparison = Comparison(tree, plugin_dir, pace)
    if "reads" in parts:
        comparison.reads()
    if "writes" in parts:
        comparison.writes()
    # A part alone never takes the place of a whole comparison.
    whole = len(parts) == len(PARTS)
    path = RESULTS / ("comparison.json" if whole else f"comparison-{'-'.join(sorted(parts))}.json")
    path.write_text(json.dumps(comparison.as_json(), indent=1) + "\n")
    return path
