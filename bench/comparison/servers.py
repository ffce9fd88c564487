"""The servers that are compared: how each is started, filled, and spoken to."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from .load import Pace, build_dir, run_load
from .places import ADDRESS, SERVER_CORES, SERVERS, BenchError, on_cores, put_first

from demo import LOAD, ROWS  # isort: skip  (setup/, put on the path by places)
from server_instance import ServerInstance, Setting, free_port  # isort: skip

START_TIMEOUT = 20.0

# Everything fits into memory, and no log is ever full while something is measured.
DATABASE_SETTINGS: Mapping[str, Setting] = {
    "innodb_buffer_pool_size": "1G",
    "innodb_log_file_size": "1G",
    "max_connections": 1000,
    "handlersocket_address": ADDRESS,
    # As many as there are cores for the server.
    "handlersocket_threads": 1,
    "handlersocket_threads_wr": 1,
}


class Peer(Protocol):
    """A running server under test."""

    name: str

    @property
    def pid(self) -> int: ...
    def read_options(self) -> list[str]:
        """How hs-bench reaches it to read."""
        ...

    def write_options(self) -> list[str]: ...
    def stop(self) -> None: ...


class Database:
    """A MariaDB server with our plugin or with the original, and the 1,000,000 rows of the demo."""

    def __init__(
        self,
        name: str,
        tree: Path,
        plugin_dir: Path,
        *,
        original: bool = False,
        settings: Mapping[str, Setting] = {},
    ) -> None:
        self.name = name
        self.sql_port = free_port()
        plugin: dict[str, Setting] = {}
        base = SERVERS / name
        if original:
            plugin = {
                "plugin_maturity": "beta",
                "plugin_load_add": "handlersocket=handlersocket.so",
            }
        else:
            # A socket's path is short: it cannot stand in the server's own folder everywhere.
            plugin = {"handlersocket_socket": str(base / "hs.sock")}
        self.instance = ServerInstance(
            tree,
            base,
            plugin_dir=plugin_dir,
            settings={**DATABASE_SETTINGS, "port": self.sql_port, **plugin, **settings},
            load_plugin=not original,
        )
        with on_cores(SERVER_CORES):
            self.instance.start()
        put_first(self.pid)
        self.fill()

    @property
    def pid(self) -> int:
        return self.instance.pid

    def fill(self) -> None:
        if not self.instance.sql("SHOW TABLES FROM test LIKE 'user'"):
            print(f"== loading {ROWS:,} rows into the server '{self.name}' (once)", flush=True)
            self.instance.client(LOAD)
        # Every page is in memory before anything is measured.
        self.instance.client("SELECT COUNT(*), SUM(LENGTH(user_email)) FROM test.user")

    def move_to(self, cores: frozenset[int]) -> None:
        """All threads that there are now, and those that they start."""
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), cores)

    def set_global(self, variable: str, value: str) -> None:
        self.instance.sql(f"SET GLOBAL {variable} = {value}")

    def add_engine_floor(self) -> None:
        """Loads the function that extras.engine_floor calls."""
        library = build_dir() / "hs_engine_floor.so"
        (self.instance.base_dir / "plugins" / library.name).symlink_to(library)
        self.instance.sql(
            f"CREATE OR REPLACE FUNCTION hs_engine_floor RETURNS REAL SONAME '{library.name}'"
        )

    def read_options(self) -> list[str]:
        return [f"--port={self.instance.hs_port}"]

    def write_options(self) -> list[str]:
        return [f"--port={self.instance.hs_port_wr}"]

    def unix_options(self) -> list[str]:
        return [f"--socket={self.instance.settings['handlersocket_socket']}"]

    def sql_options(self) -> list[str]:
        return [f"--host={ADDRESS}", f"--port={self.sql_port}"]

    def stop(self) -> None:
        self.instance.stop()


class Program:
    """A server that is one program with a TCP port."""

    def __init__(self, name: str, command: list[str], port: int) -> None:
        self.name = name
        self.port = port
        folder = SERVERS / name
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "log").open("wb") as log, on_cores(SERVER_CORES):
            self._process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        # Whatever goes wrong from here on, in this server or in another.
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
        """Any number of times."""
        self._process.terminate()
        try:
            self._process.wait(START_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Cache(Program):
    """memcached or Redis, holding the values of the same 1,000,000 rows."""

    def __init__(self, name: str, protocol: str, command: list[str], port: int) -> None:
        self.protocol = protocol
        super().__init__(name, command, port)
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
    command = [_program("memcached"), "-l", ADDRESS, "-p", str(port), "-U", "0", "-t", "1"]
    # Above the most connections that a curve asks for.
    command += ["-m", "1024", "-c", "10000", "-u", "root"]
    return Cache("memcached", "memcached", command, port)


def start_redis(*, name: str = "redis", always_sync: bool = False) -> Cache:
    port = free_port()
    command = [_program("redis-server"), "--bind", ADDRESS, "--port", str(port), "--save", ""]
    shutil.rmtree(SERVERS / name, ignore_errors=True)
    if always_sync:
        command += ["--appendonly", "yes", "--appendfsync", "always"]
        command += ["--auto-aof-rewrite-percentage", "0"]
    return Cache(name, "redis", command, port)


def start_echo() -> Program:
    port = free_port()
    return Program("echo", [str(build_dir() / "hs-echo"), ADDRESS, str(port)], port)


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise BenchError(f"{name} is not installed: setup/packages.sh bench does that")
    return path


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((ADDRESS, port)) == 0
