"""Reading the whole of a table: by HandlerSocket, and in the ways in which SQL's users do it.

hs-whole-table reads by HandlerSocket and by libmariadb, and takes every row apart. The server's own
programs write what they read to /dev/null.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .bystanders import pace_of
from .database import HASH_INDEX, Database
from .load import Pace
from .markdown import hundredths, median_and_ends, table
from .places import ADDRESS, CLIENT_CORES, BenchError, before_others, on_cores, program

from demo import ROWS  # isort: skip  (setup/, put on the path by places)

TIMEOUT = 120.0
TICKS = os.sysconf("SC_CLK_TCK")
DUMPS = {"mariadb": "mariadb-dump", "mysql": "mysqldump"}
SELECT = "SELECT user_id, user_name, user_email, created FROM test.user"


@dataclass(frozen=True)
class Reading:
    """One reading of all rows. Times are in seconds."""

    seconds: float
    server_cpu: float
    client_cpu: float


@dataclass(frozen=True)
class Way:
    title: str
    command: Callable[[Database], Sequence[str]]
    tells_rows: bool = False


def _reader(mode: str) -> Callable[[Database], Sequence[str]]:
    def command(server: Database) -> Sequence[str]:
        is_sql = mode in ("cursor", "result")
        port = server.sql_port if is_sql else server.instance.hs_port
        return [program("hs-whole-table"), mode, str(port)]

    return command


def _own_client(server: Database) -> Sequence[str]:
    return [*_program(server, "client"), "--quick", "--batch", "--skip-column-names", "-e", SELECT]


def _own_dump(server: Database) -> Sequence[str]:
    return [*_program(server, "dump"), "--quick", "--no-create-info", "test", "user"]


def _program(server: Database, what: str) -> list[str]:
    """A program of the server's own, and how it reaches the server over TCP."""
    instance = server.instance
    names = {"client": instance.kind.client, "dump": DUMPS[instance.kind.name]}
    path = instance.tree / "bin" / names[what]
    return [
        str(path),
        "--no-defaults",
        "--protocol=tcp",
        f"--host={ADDRESS}",
        f"--port={server.sql_port}",
        "--user=root",
    ]


WAYS = (
    Way("HandlerSocket, one find", _reader("stream"), tells_rows=True),
    Way("HandlerSocket, finds of 100,000 rows", _reader("pieces"), tells_rows=True),
    Way("libmariadb, rows as they come", _reader("result"), tells_rows=True),
    Way("libmariadb, a cursor of the server", _reader("cursor"), tells_rows=True),
    Way("the server's client, `--quick`", _own_client),
    Way("the server's dump program", _own_dump),
)

# By the way's title: all rounds.
Readings = dict[str, list[Reading]]


def _cpu(pid: int) -> float:
    """The CPU seconds of a process until now."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _read(server: Database, way: Way) -> Reading:
    command = before_others(way.command(server))
    server_before, client_before, began = _cpu(server.pid), _children_cpu(), time.monotonic()
    with on_cores(CLIENT_CORES):
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE if way.tells_rows else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    seconds = time.monotonic() - began
    if done.returncode != 0:
        raise BenchError(f"{way.title}: {done.stderr.strip()}")
    if way.tells_rows and json.loads(done.stdout)["rows"] != ROWS:
        raise BenchError(f"{way.title}: it has not read {ROWS} rows: {done.stdout.strip()}")
    return Reading(seconds, _cpu(server.pid) - server_before, _children_cpu() - client_before)


def measure_whole_table(tree: Path, pace: Pace) -> Readings:
    """In alternating rounds: each way in turn, and each second round in the opposite order."""
    rounds = pace_of(pace).rounds
    measured: Readings = {}
    server = Database("ours", tree, settings={HASH_INDEX: "ON"})
    try:
        for number in range(rounds):
            print(f"   round {number + 1} of {rounds}", flush=True)
            for way in WAYS if number % 2 == 0 else reversed(WAYS):
                measured.setdefault(way.title, []).append(_read(server, way))
    finally:
        server.stop()
    return measured


def as_json(readings: Readings) -> dict[str, Any]:
    return {title: [vars(each) for each in rounds] for title, rounds in readings.items()}


def from_json(data: Mapping[str, Any]) -> Readings:
    return {title: [Reading(**each) for each in rounds] for title, rounds in data.items()}


def _cell(values: Sequence[float]) -> str:
    return median_and_ends(values, hundredths)


def whole_table_table(readings: Readings) -> str:
    """A line for each way to read the table."""
    if not readings:
        return "Not measured."
    lines = []
    for way in WAYS:
        rounds = readings.get(way.title, [])
        if not rounds:
            continue
        seconds = [each.seconds for each in rounds]
        lines.append(
            [
                way.title,
                f"{ROWS / statistics.median(seconds) / 1e6:.2f}",
                _cell(seconds),
                _cell([each.server_cpu for each in rounds]),
                _cell([each.client_cpu for each in rounds]),
            ]
        )
    head = ["way", "million rows a second", "seconds", "server CPU, s", "client CPU, s"]
    return table(head, lines)
