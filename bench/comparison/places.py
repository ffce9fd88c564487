"""Where things are, and which core does what."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
RESULTS = REPOSITORY / "var" / "bench"
SERVERS = RESULTS / "servers"

# The private servers of the demo and of the tests serve here too.
sys.path.insert(0, str(REPOSITORY / "setup"))

ADDRESS = "127.0.0.1"
SERVER_CORES = frozenset({0})
CLIENT_CORES = frozenset({1})
# Set: nothing asks for precedence over what else the machine does.
POLITE = "HS_BENCH_POLITE"


class BenchError(RuntimeError):
    """What a person reads, in a line or two."""


def build_dir() -> Path:
    """The build tree whose programs and plugin are measured; HS_BENCH_BUILD says which."""
    try:
        return Path(os.environ["HS_BENCH_BUILD"])
    except KeyError:
        raise BenchError("HS_BENCH_BUILD is not set: start this with bench/run") from None


def program(name: str) -> str:
    """A program that the build left."""
    path = build_dir() / "bench" / name
    if not path.exists():
        raise BenchError(f"{path} is not built: make bench does that")
    return str(path)


@contextmanager
def on_cores(cores: frozenset[int]) -> Iterator[None]:
    """What is started inside runs on these cores, and so do its threads."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def put_first(pid: int) -> None:
    """Lets a process, and all that share its session, go before whatever else the machine does.

    Takes a privilege; without it the neighbours show in the figures, and no more than that.
    """
    if POLITE in os.environ:
        return
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-15")
    with suppress(OSError):
        os.setpriority(os.PRIO_PGRP, os.getpgid(pid), -15)


def need_two_cores() -> None:
    wanted = SERVER_CORES | CLIENT_CORES
    if not wanted <= os.sched_getaffinity(0):
        raise BenchError(f"the comparison needs the cores {sorted(wanted)}: server and client")
