"""Rows fetched ahead (handlersocket_prefetch): one process with and without, and caches beside it.

Each case is measured with OFF and ON in turns, so both see the machine in the same state.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from .caches import Program, start_memcached, start_redis, start_valkey
from .cases import HOT, MULTI, PIPELINED, SINGLE
from .database import HASH_INDEX, ON_LARGE_PAGES, Database
from .load import Pace, run_load
from .machine import has_large_pages
from .markdown import hundredths, median_and_ends, precise, table
from .places import RESULTS, BenchError
from .ports import BYTES, BYTES_OF_MEMCACHED, PARTS

from demo import ROWS  # isort: skip  (setup/, put on the path by places)
from server_instance import Setting, free_port  # isort: skip

OPTION = "handlersocket_prefetch"
ONE_PART = "1 part"
LARGE_PAGES = "1 part, large pages"
#: The servers, each with a process of its own; of the two with one part only one is measured.
SERVERS: Mapping[str, Mapping[str, Setting]] = {
    "8 parts": {HASH_INDEX: "ON", PARTS: 8},
    ONE_PART: {HASH_INDEX: "ON", PARTS: 1},
    LARGE_PAGES: {HASH_INDEX: "ON", PARTS: 1, **ON_LARGE_PAGES},
    "OFF": {HASH_INDEX: "OFF"},
}
#: A text as the primary key, and a number by which a row is found in two steps.
TABLE = """
CREATE TABLE IF NOT EXISTS test.ahead (name VARCHAR(20) PRIMARY KEY, number INT UNSIGNED NOT NULL,
  UNIQUE (number))
  SELECT CAST(user_id AS CHAR) AS name, user_id AS number, user_name, user_email, created
  FROM test.user;
SELECT COUNT(*), SUM(LENGTH(user_email)) FROM test.ahead;
"""
CONTAINER = """
REPLACE INTO handlersocket.containers
  (name, db_schema, db_table, key_columns, value_columns, flags, unique_idx_name_on_key)
  VALUES ('default', 'test', 'ahead', 'name', 'user_name|user_email|created', '0',
  'PRIMARY');
"""
CONTAINERS = Path(__file__).resolve().parents[2] / "tools" / "sql" / "containers.sql"
FEW = ("--connections=16", "--depth=8")
MANY = ("--connections=4", "--depth=1000")
BY_TEXT = ("--table=ahead",)
BY_NUMBER = (*BY_TEXT, "--index=number")
SEQUENTIAL = ("--distribution=sequential", f"--keys={ROWS}", f"--operations={ROWS}")
#: By the name of the protocol of hs-bench: the options of a request.
GET = ("--protocol=redis", "--stored-key={key}")
HMGET = ("--protocol=redis-hash", "--stored-key=test.user:{key}")
HGETALL = (*HMGET, "--columns=*")
GET_BYTES = ("--protocol=memcached", BYTES_OF_MEMCACHED)
#: The caches that are asked for the same, and by which protocol.
STARTS: Mapping[tuple[str, str], Callable[[], Program]] = {
    ("Redis", "redis"): lambda: start_redis(name="redis-redis", protocol="redis"),
    ("Redis", "redis-hash"): lambda: start_redis(name="redis-redis-hash", protocol="redis-hash"),
    ("Valkey", "redis"): lambda: start_valkey(name="valkey-redis", protocol="redis"),
    ("Valkey", "redis-hash"): lambda: start_valkey(name="valkey-redis-hash", protocol="redis-hash"),
    ("memcached", "memcached"): start_memcached,
}
CACHES = tuple(dict.fromkeys(name for name, _ in STARTS))


@dataclass(frozen=True)
class Case:
    title: str
    options: tuple[str, ...]
    beside: str = ""  # the protocol by which a cache is asked for the same


CASES = (
    Case("16 × 100, random rows", PIPELINED),
    Case("16 × 100, 1,000 hot rows", PIPELINED + HOT),
    Case("16 × 8, random", FEW),
    Case("16 × 8, hot", FEW + HOT),
    Case("4 × 1000, random", MANY),
    Case("4 × 1000, hot", MANY + HOT),
    Case("100 × 1, random", SINGLE),
    Case("100 × 1, hot", SINGLE + HOT),
    Case("`IN` of 100 random keys, 16 × 1", MULTI),
    Case("16 × 100, random, by a text", PIPELINED + BY_TEXT),
    Case("16 × 100, hot, by a text", PIPELINED + HOT + BY_TEXT),
    Case("16 × 100, random, by a unique secondary index", PIPELINED + BY_NUMBER),
    Case("16 × 100, hot, by a unique secondary index", PIPELINED + HOT + BY_NUMBER),
    Case("`GET`, 16 × 100, random", PIPELINED + GET, "redis"),
    Case("`GET`, 16 × 100, hot", PIPELINED + HOT + GET, "redis"),
    Case("`HMGET` of 3 columns, 16 × 100, random", PIPELINED + HMGET, "redis-hash"),
    Case("`HMGET` of 3 columns, 16 × 100, hot", PIPELINED + HMGET + HOT, "redis-hash"),
    Case("`HGETALL`, 16 × 100, random", PIPELINED + HGETALL, "redis-hash"),
    Case("`HGETALL`, 16 × 100, hot", PIPELINED + HGETALL + HOT, "redis-hash"),
    Case("`get` of bytes, 16 × 100, random", PIPELINED + GET_BYTES, "memcached"),
    Case("`get` of bytes, 16 × 100, hot", PIPELINED + HOT + GET_BYTES, "memcached"),
    Case("`get` of 100 keys, of bytes, 16 × 1, random", MULTI + GET_BYTES, "memcached"),
    Case("`get` of 100 keys, of bytes, 16 × 1, hot", MULTI + HOT + GET_BYTES, "memcached"),
)

# By case, and by server with OFF or ON behind it, or the cache: the CPU of a request in each round.
Measured = dict[str, dict[str, list[float]]]


class Server:
    """One of ours, with the table and the container of these cases."""

    def __init__(self, name: str, tree: Path, settings: Mapping[str, Setting]) -> None:
        self._ports = {"redis": free_port(), "memcached": free_port()}
        self._database = Database(
            f"ours-prefetch-{name.replace(' ', '-')}",
            tree,
            settings={
                **settings,
                **{f"handlersocket_{each}_port": port for each, port in self._ports.items()},
            },
        )
        try:
            self._fill()
        except BaseException:
            self.stop()
            raise

    def _fill(self) -> None:
        self._database.instance.client(CONTAINERS.read_text() + TABLE + CONTAINER + BYTES)
        every_row = Pace(warm_up=0, duration=60)
        for options in ((), BY_TEXT, BY_NUMBER, GET_BYTES):
            # Twice, so that the adaptive hash index is there.
            for _ in range(2):
                self._run([*SEQUENTIAL, *PIPELINED, *options], every_row)

    def measure(self, case: Case, value: str, pace: Pace) -> float:
        self._database.set_global(OPTION, value)
        return self._run(list(case.options), pace)

    def _run(self, options: list[str], pace: Pace) -> float:
        where = self._database.read_options()
        for protocol, port in self._ports.items():
            if any(each.startswith(f"--protocol={protocol}") for each in options):
                where = [f"--port={port}"]
        return run_load([*where, *options], server_pid=self._database.pid, pace=pace).cpu

    def stop(self) -> None:
        self._database.stop()


def _ask_cache(cache: Program, case: Case, pace: Pace) -> float:
    options = [each for each in case.options if not each.startswith("--stored-key")]
    return run_load([f"--port={cache.port}", *options], server_pid=cache.pid, pace=pace).cpu


def measure_prefetch(tree: Path, pace: Pace, mark: str) -> Path:
    """One server after the other, because only one fits into the caches of a CPU."""
    if tree.name.startswith("mariadb"):
        raise BenchError(f"{OPTION} is MySQL's")
    measured: Measured = {}
    # The best settings that this machine can have.
    left_out = ONE_PART if has_large_pages() else LARGE_PAGES
    for name, settings in SERVERS.items():
        if name == left_out:
            continue
        with ExitStack() as stack:
            server = Server(name, tree, settings)
            stack.callback(server.stop)
            caches: dict[tuple[str, str], Program] = {}
            if settings.get(PARTS) == 1:
                for cache, start in STARTS.items():
                    caches[cache] = start()
                    stack.callback(caches[cache].stop)
            for number in range(pace.rounds):
                print(f"   {name}: round {number + 1} of {pace.rounds}", flush=True)
                _run_round(server, name, caches, pace, measured, number)
    path = RESULTS / f"prefetch-{tree.name}{mark}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(measured, indent=1))
    return path


def _run_round(
    server: Server,
    name: str,
    caches: Mapping[tuple[str, str], Program],
    pace: Pace,
    measured: Measured,
    number: int,
) -> None:
    values = ("OFF", "ON") if number % 2 == 0 else ("ON", "OFF")
    for case in CASES:
        of_case = measured.setdefault(case.title, {})
        for value in values:
            cpu = server.measure(case, value, pace)
            of_case.setdefault(f"{name} {value}", []).append(cpu)
        for (cache, protocol), program in caches.items():
            if protocol == case.beside:
                of_case.setdefault(cache, []).append(_ask_cache(program, case, pace))


def prefetch_table(path: Path) -> str:
    """For each server the median without the option, and the ratio of two runs side by side."""
    measured: Measured = json.loads(path.read_text())
    head = ["server CPU a request, µs"]
    servers = [name for name in SERVERS if any(f"{name} ON" in each for each in measured.values())]
    for name in servers:
        head += [f"hash index {name}: OFF", "ON / OFF"]
    lines = []
    for title, of_case in measured.items():
        line = [title]
        for name in servers:
            off, on = of_case[f"{name} OFF"], of_case[f"{name} ON"]
            ratios = [with_it / without for without, with_it in zip(off, on, strict=True)]
            line += [precise(statistics.median(off)), median_and_ends(ratios, hundredths)]
        line += [median_and_ends(of_case[each]) if each in of_case else "" for each in CACHES]
        lines.append(line)
    return table([*head, *CACHES], lines)
