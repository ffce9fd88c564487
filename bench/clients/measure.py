"""One run of a program with one client and so many callers, and what was measured."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comparison.places import BenchError

TICKS = os.sysconf("SC_CLK_TCK")
# In addition to the time that it measures: for starting, connecting, and a server that hangs.
PATIENCE = 60.0


@dataclass(frozen=True)
class Result:
    """Latencies, and CPU time for each request, are in microseconds."""

    rate: float
    p50: float
    p99: float
    server_cpu: float
    client_cpu: float


def cpu_seconds(pid: int) -> float:
    """What a process has used, all threads together, also if it has just ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def run_program(
    command: Sequence[str], *, seconds: float, server_pid: int, environment: dict[str, str]
) -> Result:
    """It is an error if the program fails, which it does if a row is a wrong one."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as program:
        assert program.stdout is not None and program.stderr is not None
        watch = threading.Timer(seconds + PATIENCE, program.kill)
        watch.start()
        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.extend(program.stderr or ()))
        reader.start()
        try:
            # Before it, a program may say something about its settings.
            while (line := program.stdout.readline()) not in ("begin\n", ""):
                errors.append(line)
            before = cpu_seconds(server_pid), cpu_seconds(program.pid)
            line = program.stdout.readline()
            after = cpu_seconds(server_pid), cpu_seconds(program.pid)
        finally:
            program.wait()
            watch.cancel()
            reader.join()
    if program.returncode != 0 or not line:
        raise BenchError(
            f"{' '.join(command)}\n{''.join(errors)}it ended with {program.returncode}"
        )
    result = json.loads(line)
    server, client = (
        1e6 * (b - a) / result["requests"] for a, b in zip(before, after, strict=True)
    )
    rate = result["requests"] / result["seconds"]
    return Result(rate, result["p50"], result["p99"], server, client)
