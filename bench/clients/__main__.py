"""Measures our client libraries beside others, by `make bench-clients`."""

from __future__ import annotations

import argparse
import atexit
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comparison.caches import Cache, start_redis
from comparison.compare import settle
from comparison.database import HASH_INDEX, Database
from comparison.load import Pace as LoadPace
from comparison.load import run_load
from comparison.machine import describe_machine, describe_versions
from comparison.markdown import fill_document
from comparison.places import REPOSITORY, SERVERS, BenchError, all_cores, put_first

from .measure import Result, run_program
from .programs import (
    CALLERS,
    LANGUAGES,
    LIMITS,
    Language,
    Library,
    command_of,
    environment,
    pinned_versions,
)
from .results import Results, Rounds, file_of

from demo import ROWS  # isort: skip  (setup/, put on the path by places)
from server_instance import ServerError  # isort: skip

DOCUMENT = REPOSITORY / "docs" / "clients.md"


@dataclass(frozen=True)
class Pace:
    rounds: int
    seconds: float
    # Of each language's own time of warming up.
    warm_up: float = 1.0


FULL = Pace(rounds=5, seconds=2.0)
QUICK = Pace(rounds=1, seconds=0.5, warm_up=0.3)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run clients", description=__doc__)
    parser.add_argument("server", help="one that setup/server.sh got, such as mariadb-10.11")
    parser.add_argument("--quick", action="store_true", help="the figures are worth nothing")
    parser.add_argument("--only", action="append", choices=LANGUAGES, help="a language")
    parser.add_argument("--callers", action="append", type=int, choices=CALLERS)
    parser.add_argument("--rounds", type=int, help="how many (5)")
    parser.add_argument("--seconds", type=float, help="of each cell in a round (2)")
    parser.add_argument("--add", action="store_true", help="to the rounds of an earlier run")
    parser.add_argument("--report", action="store_true", help="the last run's tables again")
    parser.add_argument("--write", action="store_true", help="put them into docs/clients.md")
    return parser.parse_args()


class Servers:
    """The database server and Redis, with the same rows. Nothing is bound to a core: clients have
    threads, and share the machine with their server as an application does."""

    def __init__(self, tree: Path) -> None:
        SERVERS.mkdir(parents=True, exist_ok=True)
        cores = all_cores()
        self.database = Database("clients", tree, settings={HASH_INDEX: "ON"}, cores=cores)
        atexit.register(self.stop)
        self.redis: Cache = start_redis(name="clients-redis", cores=cores)
        settle(self.database)

    def pid_of(self, library: Library) -> int:
        return self.redis.pid if library.server == "redis" else self.database.pid

    def arguments(self) -> list[str]:
        ports = self.database.instance.hs_port, self.redis.port, self.database.sql_port
        return [*map(str, ports), str(ROWS)]

    def stop(self) -> None:
        self.database.stop()


def measure(language: Language, servers: Servers, callers: Sequence[int], pace: Pace) -> Rounds:
    """In each round all libraries with as many callers one after the other, every other round in
    the opposite order."""
    measured: Rounds = {}
    warm_up = language.warm_up * pace.warm_up
    for number in range(pace.rounds):
        began = time.monotonic()
        for count in callers:
            libraries = language.libraries[:: 1 if number % 2 == 0 else -1]
            for library in libraries:
                if count > library.most_callers:
                    continue
                if language is LIMITS:
                    result = limit_of(library, servers, count, warm_up, pace)
                else:
                    times = [str(count), f"{warm_up:g}", f"{pace.seconds:g}"]
                    result = run_program(
                        [*command_of(language), library.name, *times, *servers.arguments()],
                        seconds=warm_up + pace.seconds,
                        server_pid=servers.pid_of(library),
                        environment=environment(),
                    )
                measured.setdefault((library.name, count), []).append(result)
        print(
            f"   {language.name}: round {number + 1} of {pace.rounds},"
            f" {time.monotonic() - began:.0f} s; load average {os.getloadavg()[0]:.1f}",
            file=sys.stderr,
            flush=True,
        )
    return measured


def limit_of(
    library: Library, servers: Servers, callers: int, warm_up: float, pace: Pace
) -> Result:
    peer = servers.redis if library.server == "redis" else servers.database
    told = run_load(
        [*peer.read_options(), f"--keys={ROWS}", "--connections=1", f"--depth={callers}"],
        server_pid=peer.pid,
        pace=LoadPace(warm_up, pace.seconds),
        cores=all_cores(),
    )
    return Result(told.rate, told.p50, told.p99, told.cpu, told.client_cpu)


def describe(tree: Path) -> dict[str, Any]:
    versions = describe_versions(tree)
    chosen = {name: versions[name] for name in ("server", "plugin", "redis")}
    return {
        "server": tree.name,
        "machine": describe_machine(),
        "versions": chosen,
        "libraries": pinned_versions(),
    }


def run(arguments: argparse.Namespace) -> Results:
    path = file_of(arguments.server, quick=arguments.quick)
    if arguments.report:
        return Results.read(path)
    tree = REPOSITORY / "var" / "servers" / arguments.server
    usual = QUICK if arguments.quick else FULL
    pace = Pace(arguments.rounds or usual.rounds, arguments.seconds or usual.seconds, usual.warm_up)
    put_first(os.getpid())
    before = Results.read(path) if path.exists() else Results({}, {}, {})
    servers = Servers(tree)
    results = Results(describe(tree), before.languages, before.paces)
    for name in arguments.only or LANGUAGES:
        rounds = results.languages.get(name, {}) if arguments.add else {}
        measured = measure(LANGUAGES[name], servers, arguments.callers or CALLERS, pace)
        for key, each in measured.items():
            rounds.setdefault(key, []).extend(each)
        results.languages[name] = rounds
        now = time.strftime("%Y-%m-%d %H:%M")
        results.paces[name] = f"{now}, {pace.seconds:g} s for a cell"
        # What is measured stays, whatever becomes of the next language.
        results.write(path)
    print(f"== all rounds are in {path.relative_to(REPOSITORY)}")
    return results


def main() -> None:
    arguments = parse_arguments()
    try:
        results = run(arguments)
    except (BenchError, ServerError) as error:
        sys.exit(f"error: {error}")
    print(f"\n{results.text()}\n")
    if arguments.write:
        if arguments.quick:
            sys.exit("error: a quick run's figures are not for the documents")
        fill_document(DOCUMENT, "clients", results.text())
        print(f"== written: {DOCUMENT.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main()
