"""The peers of one program each: memcached, Redis, Valkey, and the echo for the network's cost."""

from __future__ import annotations

import atexit
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence

from .load import Pace, run_load
from .places import (
    ADDRESS,
    SERVER_CORES,
    SERVERS,
    BenchError,
    newest_peer,
    on_cores,
    program,
    put_first,
)

from demo import ROWS  # isort: skip  (setup/, put on the path by places)
from server_instance import free_port  # isort: skip

START_TIMEOUT = 20.0


class Program:
    """A server that is one program with a TCP port."""

    def __init__(
        self, name: str, command: list[str], port: int, cores: frozenset[int] = SERVER_CORES
    ) -> None:
        self.name = name
        self.port = port
        folder = SERVERS / name
        # Deletes what an earlier run left: an append-only file would be read again.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with (folder / "log").open("wb") as log, on_cores(cores):
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        put_first(self.pid)
        # For any failure from here on, in this server or in another.
        atexit.register(self.stop)
        deadline = time.monotonic() + START_TIMEOUT
        while not _listens(port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise BenchError(f"{name} did not start; see {folder / 'log'}")
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        return self._process.pid

    def read_options(self) -> list[str]:
        return [f"--port={self.port}"]

    def write_options(self) -> list[str]:
        return self.read_options()

    def stop(self) -> None:
        """May be called several times."""
        self._process.terminate()
        try:
            self._process.wait(START_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Cache(Program):
    """memcached, Redis or Valkey, holding the values of the same 1,000,000 rows."""

    def __init__(
        self,
        name: str,
        protocol: str,
        command: list[str],
        port: int,
        cores: frozenset[int] = SERVER_CORES,
    ) -> None:
        self.protocol = protocol
        super().__init__(name, command, port, cores)
        options = [*self.write_options(), "--work=update", "--distribution=sequential"]
        options += ["--connections=1", "--depth=1000"]
        options += [f"--keys={ROWS}", f"--operations={ROWS}"]
        print(f"== loading {ROWS:,} values into {name}", flush=True)
        result = run_load(options, server_pid=self.pid, pace=Pace(warm_up=0, duration=600))
        if result.requests < ROWS:
            raise BenchError(f"{name} was not loaded whole")

    def read_options(self) -> list[str]:
        return [*super().read_options(), f"--protocol={self.protocol}"]


def start_memcached() -> Cache:
    port = free_port()
    command = [newest_peer("memcached"), "-l", ADDRESS, "-p", str(port), "-U", "0", "-t", "1"]
    # More connections than a curve asks for.
    command += ["-m", "1024", "-c", "10000", "-u", "root"]
    return Cache("memcached", "memcached", command, port)


def start_redis(
    *,
    name: str = "redis",
    protocol: str = "redis",
    always_sync: bool = False,
    cores: frozenset[int] = SERVER_CORES,
) -> Cache:
    """`protocol` redis-hash: a row is a hash with a field for each column, not one string."""
    synced = [
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
        "--auto-aof-rewrite-percentage",
        "0",
    ]
    return _start("redis-server", name, protocol, synced if always_sync else [], cores)


def start_valkey(*, name: str = "valkey", protocol: str = "redis") -> Cache:
    """It has Redis's options and protocol."""
    return _start("valkey-server", name, protocol, [], SERVER_CORES)


def _start(
    server: str, name: str, protocol: str, options: Sequence[str], cores: frozenset[int]
) -> Cache:
    port = free_port()
    command = [newest_peer(server), "--bind", ADDRESS, "--port", str(port), "--save", "", *options]
    return Cache(name, protocol, command, port, cores)


def start_echo() -> Program:
    port = free_port()
    return Program("echo", [program("hs-echo"), ADDRESS, str(port)], port)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((ADDRESS, port)) == 0
