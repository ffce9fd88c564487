"""Where things are, and which core does what."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
RESULTS = REPOSITORY / "var" / "bench"
SERVERS = RESULTS / "servers"

# The private servers of the demo and of the tests are used here, too.
sys.path.insert(0, str(REPOSITORY / "setup"))

ADDRESS = "127.0.0.1"
SERVER_CORES = frozenset({0})
CLIENT_CORES = frozenset({1})
# If it is set, nothing asks to run before other programs of the machine.
POLITE = "HS_BENCH_POLITE"


class BenchError(RuntimeError):
    """An error for a person to read, in a line or two."""


def all_cores() -> frozenset[int]:
    """The cores that this process may use."""
    return frozenset(os.sched_getaffinity(0))


def build_dir() -> Path:
    """The build tree whose programs and plugin are measured; HS_BENCH_BUILD says which."""
    try:
        return Path(os.environ["HS_BENCH_BUILD"])
    except KeyError:
        raise BenchError("HS_BENCH_BUILD is not set: start this with bench/run") from None


def program(name: str) -> str:
    """A program in the build tree."""
    path = build_dir() / "bench" / name
    if not path.exists():
        raise BenchError(f"{path} is not built: make bench does that")
    return str(path)


def newest_peer(name: str) -> str:
    """A program that setup/peers.sh has downloaded: the newest that Debian has."""
    path = REPOSITORY / "var" / "peers" / "bin" / name
    if not path.exists():
        raise BenchError(f"{path} is missing: setup/peers.sh gets it")
    return str(path)


@contextmanager
def on_cores(cores: frozenset[int]) -> Iterator[None]:
    """What is started inside runs on these cores, and its threads, too."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def put_first(pid: int) -> None:
    """Lets a process, and all that share its session, run before other programs of the machine.

    This needs a privilege. Without it the other programs show in the figures, but nothing fails.
    """
    if POLITE in os.environ:
        return
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-15")
    with suppress(OSError):
        os.setpriority(os.PRIO_PGRP, os.getpgid(pid), -15)


def before_others(command: Sequence[str]) -> list[str]:
    """The command that runs a program before all others, the servers of the benchmark too."""
    if POLITE in os.environ:
        return list(command)
    return ["nice", "--adjustment=-18", *command]


def need_two_cores() -> None:
    wanted = SERVER_CORES | CLIENT_CORES
    if not wanted <= os.sched_getaffinity(0):
        raise BenchError(f"the comparison needs the cores {sorted(wanted)}: server and client")
