"""hs-memory-server: the front end over tables in memory, as a process for a test."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from server_instance import REPOSITORY

from support.scripts import DEFAULT_SIGNALS
from support.servers import SERVER_TREE

PROGRAM = REPOSITORY / "build" / SERVER_TREE.name / "src/standalone/hs-memory-server"


@dataclass(frozen=True)
class MemoryServer:
    """Its ports have the names that they have in a ServerInstance."""

    hs_port: int
    hs_port_wr: int


@contextmanager
def memory_server(program: Path = PROGRAM) -> Iterator[MemoryServer]:
    """A server with fresh sample tables. It has to end well when it is asked to."""
    process = subprocess.Popen(
        [*DEFAULT_SIGNALS, program, "--port", "0", "--port-wr", "0", "--rows", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    ports = re.findall(r"\d+", process.stdout.readline())
    try:
        assert len(ports) == 2, process.communicate()[1]
        yield MemoryServer(*map(int, ports))
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
