"""One run of a load generator, and what it measured."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .places import CLIENT_CORES, BenchError, before_others, on_cores, program

# In addition to warm-up and duration: for connecting, and for a server that hangs.
PATIENCE = 60.0


@dataclass(frozen=True)
class Pace:
    """How long each run is, and how often it is repeated."""

    warm_up: float = 1.0
    duration: float = 4.0
    rounds: int = 5


@dataclass(frozen=True)
class Result:
    """What hs-bench has written, under the names that the tables use. Times are in microseconds."""

    rate: float
    row_rate: float
    p50: float
    p99: float
    p999: float
    user_cpu: float
    system_cpu: float
    client_cpu: float
    requests: float
    rows: float
    server_seconds: float

    @property
    def cpu(self) -> float:
        """Server CPU for each request."""
        return self.user_cpu + self.system_cpu

    @property
    def busy(self) -> float:
        """The share of a core that the server used. Below 1, it waited for its clients."""
        return self.rate * self.cpu / 1e6

    @property
    def rows_per_cpu_second(self) -> float:
        return self.rows / self.server_seconds if self.server_seconds else 0.0


def run_load(
    options: Sequence[str],
    *,
    server_pid: int,
    pace: Pace,
    generator: str = "hs-bench",
    cores: frozenset[int] = CLIENT_CORES,
    first: bool = False,
) -> Result:
    """Puts a server under load. It is an error if any request failed.

    `first`: the load generator gets its core before other programs, if the machine lets us. Without
    that, what is measured beside busy programs is how long the load generator waits for a core.
    """
    command = [
        program(generator),
        "--quiet",
        "--json=-",
        f"--server-pid={server_pid}",
        f"--warm-up={pace.warm_up}",
        f"--duration={pace.duration}",
        *options,
    ]
    with on_cores(cores):
        done = subprocess.run(
            before_others(command) if first else command,
            capture_output=True,
            text=True,
            errors="backslashreplace",  # a refusal may contain any bytes
            timeout=pace.warm_up + pace.duration + PATIENCE,
            check=False,
        )
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return parse_result(json.loads(done.stdout))


def parse_result(data: dict[str, Any]) -> Result:
    if "server_cpu" not in data:
        raise BenchError("the server under test ended while it was measured")
    server = data["server_cpu"]
    latency = data["latency_us"]
    return Result(
        rate=data["requests_per_second"],
        row_rate=data["rows_per_second"],
        p50=latency["p50"],
        p99=latency["p99"],
        p999=latency["p99.9"],
        user_cpu=server["user_us_per_request"],
        system_cpu=server["system_us_per_request"],
        client_cpu=data["client_cpu"]["us_per_request"],
        requests=data["requests"],
        rows=data["rows"],
        server_seconds=server["user_seconds"] + server["system_seconds"],
    )
