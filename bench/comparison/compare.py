"""The comparison from start to end: servers, rounds and extras. The result is one JSON file."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from . import bystanders, defaults, ports, whole_table
from .bystanders import Waits, measure_bystanders
from .caches import start_echo, start_memcached, start_redis, start_valkey
from .cases import READS, READS_WITHOUT_HASH, WRITES, Case
from .database import DURABLE, HASH_INDEX, Database, has_original
from .defaults import Defaults, measure_defaults
from .extras import engine_floor, idle_connection_kib, long_finds
from .load import Pace, run_load
from .machine import describe_machine, describe_versions
from .peer import Peer
from .places import RESULTS, SERVERS, need_two_cores, put_first
from .ports import Ports, measure_ports
from .rounds import Measured, run_rounds
from .whole_table import Readings, measure_whole_table

from demo import ROWS  # isort: skip  (setup/, put on the path by places)
from server_instance import Setting  # isort: skip

PARTS = ("reads", "writes", "bystanders", "defaults", "ports", "bulk")
# The limit for settling. It ends earlier when every row was looked up once.
LONGEST_SETTLING = 60.0


def say(line: str) -> None:
    print(f"== {line}", flush=True)


def settle(*databases: Database, rows: int = ROWS, options: Sequence[str] = ()) -> None:
    """Looks up every row once, in the order of the key.

    When a page was asked for often, the adaptive hash index builds its part for this page, at many
    times the cost of a lookup. With random keys that goes on for long; in order it is soon over.
    """
    pace = Pace(warm_up=0, duration=LONGEST_SETTLING, rounds=1)
    settling = [*options, "--distribution=sequential", f"--keys={rows}", f"--operations={rows}"]
    for database in databases:
        run_load([*database.read_options(), *settling], server_pid=database.pid, pace=pace)


def add(stack: ExitStack, peers: dict[str, Peer], peer: Peer) -> None:
    """Adds a peer. It is stopped when the stack ends, whatever happens."""
    stack.callback(peer.stop)
    peers[peer.name] = peer


class Comparison:
    def __init__(self, tree: Path, pace: Pace) -> None:
        self.tree = tree
        self.pace = pace
        self.measured: dict[str, Measured] = {}
        self.extras: dict[str, list[float]] = {}
        self.bystanders: Waits = {}
        self.defaults: Defaults = {}
        self.ports: Ports = {}
        self.whole_table: Readings = {}
        self.began = time.monotonic()

    def databases(
        self, stack: ExitStack, peers: dict[str, Peer], suffix: str, settings: Mapping[str, Setting]
    ) -> list[Database]:
        """Our server, and the original if there is one: both plugins have the same name in a
        server."""
        started = [Database(f"ours{suffix}", self.tree, settings=settings)]
        add(stack, peers, started[0])
        if has_original(self.tree):
            started.append(
                Database(f"original{suffix}", self.tree, original=True, settings=settings)
            )
            add(stack, peers, started[1])
        return started

    def rounds(self, what: str, cases: tuple[Case, ...], peers: Mapping[str, Peer]) -> None:
        say(f"{what}: {self.pace.rounds} rounds ({time.monotonic() - self.began:.0f} s so far)")
        self.measured |= run_rounds(cases, peers, self.pace)

    def floors(self, ours: Database, suffix: str) -> None:
        for name, keys in (("engine random", 1_000_000), ("engine hot", 1_000)):
            self.extras[name + suffix] = engine_floor(ours, keys, self.pace.rounds)

    def memory(self, ours: Database) -> None:
        """Of a server that has done nothing yet: later it has free memory and grows by less."""
        self.extras["find growth"] = long_finds(ours, 1)["find growth"]
        self.extras["idle connection"] = [idle_connection_kib(ours)]

    def reads(self) -> None:
        say("starting the servers for the reads")
        peers: dict[str, Peer] = {}
        with ExitStack() as stack:
            databases = self.databases(stack, peers, "", {HASH_INDEX: "ON"})
            ours = databases[0]
            say("memory")
            self.memory(ours)
            for start in (start_memcached, start_redis, start_valkey, start_echo):
                add(stack, peers, start())
            add(stack, peers, start_redis(name="redis-rows", protocol="redis-hash"))
            add(stack, peers, start_valkey(name="valkey-rows", protocol="redis-hash"))
            say("warming up")
            settle(*databases)
            self.rounds("reads", READS, peers)
            say("long finds, the floor of the engine")
            self.extras = {**long_finds(ours, self.pace.rounds), **self.extras}
            has_floor = ours.add_engine_floor()
            if has_floor:
                self.floors(ours, "")
            for database in databases:
                database.set_global(HASH_INDEX, "OFF")
            self.rounds("reads without the adaptive hash index", READS_WITHOUT_HASH, peers)
            if has_floor:
                self.floors(ours, ", no hash")

    def writes(self) -> None:
        say("starting the servers for the writes")
        peers: dict[str, Peer] = {}
        with ExitStack() as stack:
            databases = self.databases(stack, peers, "-durable", DURABLE)
            add(stack, peers, start_redis(name="redis-durable", always_sync=True))
            for database in databases:
                database.forget_binlogs()
            say("warming up")
            settle(*databases)
            self.rounds("writes", WRITES, peers)

    def beside_greedy_clients(self) -> None:
        say(f"beside greedy clients ({time.monotonic() - self.began:.0f} s so far)")
        self.bystanders = measure_bystanders(self.tree, self.pace)

    def as_it_comes(self) -> None:
        say(f"the settings as they come ({time.monotonic() - self.began:.0f} s so far)")
        self.defaults = measure_defaults(self.tree, bystanders.pace_of(self.pace))

    def of_caches_clients(self) -> None:
        say(f"the ports of the caches' clients ({time.monotonic() - self.began:.0f} s so far)")
        self.ports = measure_ports(self.tree, self.pace)

    def of_whole_table(self) -> None:
        say(f"the whole of a table ({time.monotonic() - self.began:.0f} s so far)")
        self.whole_table = measure_whole_table(self.tree, self.pace)

    def absent(self) -> dict[str, str]:
        """What cannot be measured with this server: the beginnings of the cases' names, and why."""
        reasons = {}
        if not has_original(self.tree):
            reasons["original"] = "the original does not exist for this server"
            reasons["engine"] = "the floor of the engine is written for MariaDB"
        else:
            reasons["x "] = "this server has no X plugin"
        return reasons

    def as_json(self) -> dict[str, Any]:
        return {
            "server": self.tree.name,
            "machine": describe_machine(),
            "versions": describe_versions(self.tree),
            "when": time.strftime("%Y-%m-%d %H:%M"),
            "minutes": (time.monotonic() - self.began) / 60,
            "pace": vars(self.pace),
            "absent": self.absent(),
            "cases": {name: each.as_json() for name, each in self.measured.items()},
            "extras": self.extras,
            "bystanders": bystanders.as_json(self.bystanders),
            "defaults": defaults.as_json(self.defaults),
            "ports": ports.as_json(self.ports),
            "whole_table": whole_table.as_json(self.whole_table),
        }


def compare(tree: Path, pace: Pace, parts: frozenset[str], mark: str) -> Path:
    """Measures, and returns the result's path. A mark keeps it from replacing a whole run's."""
    need_two_cores()
    SERVERS.mkdir(parents=True, exist_ok=True)
    put_first(os.getpid())
    comparison = Comparison(tree, pace)
    if "reads" in parts:
        comparison.reads()
    if "writes" in parts:
        comparison.writes()
    if "bystanders" in parts:
        comparison.beside_greedy_clients()
    if "defaults" in parts:
        comparison.as_it_comes()
    if "ports" in parts:
        comparison.of_caches_clients()
    if "bulk" in parts:
        comparison.of_whole_table()
    path = RESULTS / f"comparison-{tree.name}{mark}.json"
    path.write_text(json.dumps(comparison.as_json(), indent=1) + "\n")
    return path
