"""A run: a server, clients, a disturber, and rounds that end with kill -9 and a check.

Only the parent starts and ends processes. All its waits have a limit.
"""

from __future__ import annotations

import collections
import contextlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from server_instance import REPOSITORY, ServerInstance, free_port
from support.certificates import make_certificate
from support.database import Sql
from support.servers import ON_MYSQL, SERVER_TREE, own_settings

from soak.accounts import create_accounts
from soak.binlog import duplicate_xids, log_files
from soak.bystander import run_bystander
from soak.cache import Cache
from soak.cache import create as create_cache
from soak.client import HANG, Settings, run_client
from soak.disturber import Disturber, run_disturber
from soak.items import Items
from soak.items import create as create_items
from soak.remote import LIBRARY, Remote, is_possible
from soak.remote import SETTINGS as REMOTE_SETTINGS
from soak.shared import Phase, Shared, State
from soak.sqlside import SqlSide, check_tables, create_database, make_volatile_anew
from soak.tables import FIRST_OWNER, all_tables
from soak.transfers import Bank
from soak.transfers import create as create_bank

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
LOCK_WAIT_TIMEOUT = 4
SERVER_SETTINGS: dict[str, str | int | None] = {
    "log_bin": "binlog",
    "server_id": 1,
    "binlog_format": "ROW",
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
    "performance_schema": "ON",
    "innodb_print_all_deadlocks": "ON",
    "handlersocket_threads": 3,
    "handlersocket_lock_wait_timeout": LOCK_WAIT_TIMEOUT,
}
LOG_TAIL = 400
CRASH_SECONDS = 5.0


class Failure(Exception):
    """The run has found something."""

    def reason(self) -> str:
        """In one line: the exception that ended a process, or what the run itself says."""
        first, *others = str(self).splitlines()
        for before, line in pairwise(others):
            if before.startswith("  ") and line[:1].isalpha():  # the end of a traceback
                return f"{first} {line}"
        return first


def death(log: str) -> str:
    """The first line of a server's log in which it, or a sanitizer, says why it has died."""
    said = re.search("^.*(Assertion .* failed|AddressSanitizer: |runtime error: ).*$", log, re.M)
    said = said or re.search("^.* got (signal|exception) .*$", log, re.M)
    return said.group() if said else ""


@dataclass(frozen=True)
class Options:
    seconds: float
    seed: int
    clients: int
    round_seconds: float
    patience: float
    writers: int
    features: frozenset[str]


class Run:
    def __init__(self, options: Options) -> None:
        self._options = options
        parent = REPOSITORY / "var" / "soak"
        parent.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix=f"{SERVER_TREE.name}-", dir=parent))
        self._tables = all_tables(ON_MYSQL)
        self._owners = range(FIRST_OWNER, FIRST_OWNER + options.clients)
        self._shared = Shared(self.folder, options.clients, options.patience)
        make_certificate(self.folder, "server")
        sockets = [str(self.folder / name) for name in ("r.sock", "w.sock")]
        self._redis_port = free_port()
        self._memcached_port = free_port()
        settings = {
            **SERVER_SETTINGS,
            "handlersocket_redis_port": self._redis_port,
            "handlersocket_memcached_port": self._memcached_port,
            "handlersocket_threads_wr": options.writers,
            "ssl_cert": str(self.folder / "server.pem"),
            "ssl_key": str(self.folder / "server-key.pem"),
            "handlersocket_socket": sockets[0],
            "handlersocket_socket_wr": sockets[1],
        }
        self._remote = None
        if "remote" in options.features and is_possible():
            self._remote = Remote(self.folder)
            settings.update(REMOTE_SETTINGS)
        self._server = ServerInstance(
            SERVER_TREE,
            self.folder / "server",
            settings=own_settings(settings),
            libraries=[] if self._remote is None else [LIBRARY],
        )
        self._sockets = sockets
        self._processes: list[multiprocessing.process.BaseProcess] = []
        self._fork = multiprocessing.get_context("fork")
        self.rounds = 0
        self.crashes = 0
        self.began = time.monotonic()
        self._run_began = self.began

    def run(self) -> None:
        self._start_server()
        create_database(self._server.socket, self._tables)
        create_accounts(self._server.socket, self._tables, self._owners)
        if "groups" in self._options.features:
            create_bank(self._server.socket)
        self._server.client(CONTAINERS.read_text())
        if "redis" in self._options.features:
            create_cache(self._server.socket)
        if "memcached" in self._options.features:
            create_items(self._server.socket)
        if self._remote is not None:
            self._remote.create(self._server.socket)
            self._remote.settle(self._server.socket)
        self._start_processes()
        self._run_began = time.monotonic()
        end = self._run_began + self._options.seconds
        while time.monotonic() < end:
            self.rounds += 1
            self._round(min(self._options.round_seconds, max(3.0, end - time.monotonic())))
        self._shared.phase = Phase.STOP
        for process in self._processes:
            process.join(10)
            if process.is_alive():
                raise Failure(f"{process.name} does not end")
        self._raise_failures()
        self._server.stop()
        self._check_log()

    def _start_server(self) -> None:
        self._server.start()
        self._shared.server_pid = self._server.pid

    def _start_processes(self) -> None:
        options, parent = self._options, os.getpid()
        guard = self._fork.Process(
            target=_guard, args=(parent, self._shared, self.folder), daemon=False
        )
        guard.start()
        self._guard = guard
        for number, owner in enumerate(self._owners):
            settings = Settings(
                number,
                owner,
                options.seed,
                options.features,
                (self._server.hs_port, self._server.hs_port, self._sockets[0]),
                (self._server.hs_port_wr, self._server.hs_port_wr, self._sockets[1]),
                options.writers > 1,
                self.folder / "server.pem",
            )
            sql = SqlSide(self._server.socket)
            arguments = (parent, settings, self._tables, self._shared, sql)
            self._start(f"client {number}", run_client, *arguments)
        disturber = Disturber(
            self._server.socket,
            self._tables,
            self._owners,
            (self._server.hs_port, self._server.hs_port_wr),
            self._remote,
            self._shared,
            options.features,
            options.seed,
        )
        self._start("the disturber", run_disturber, parent, disturber, self._shared)
        if "groups" in options.features:
            bank = Bank(self._server.socket, self._server.hs_port_wr, self._shared, options.seed)
            self._start("the bank", run_bystander, parent, bank, self._shared)
        if "redis" in options.features:
            cache = Cache(self._server.socket, self._redis_port, self._shared, options.seed)
            self._start("the cache", run_bystander, parent, cache, self._shared)
        if "memcached" in options.features:
            items = Items(self._server.socket, self._memcached_port, self._shared, options.seed)
            self._start("the items", run_bystander, parent, items, self._shared)

    def _start(self, name: str, target: Callable[..., None], *arguments: object) -> None:
        process = self._fork.Process(target=target, args=arguments, name=name, daemon=True)
        process.start()
        self._processes.append(process)

    def _round(self, seconds: float) -> None:
        shared = self._shared
        crash = "crash" in self._options.features
        shared.phase = Phase.RUN
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._look()
            time.sleep(0.05)
        if crash:
            shared.phase = Phase.KILLED
            self._server.kill()
            self.crashes += 1
        else:
            shared.phase = Phase.DRAIN
        self._wait_for(State.WAITING)
        shared.server_restarted = crash
        self._check_xids()
        if crash:
            self._start_server()
            make_volatile_anew(self._server.socket, self._tables)
            if self._remote is not None:
                self._remote.settle(self._server.socket)
        shared.phase = Phase.CHECK
        self._wait_for(State.CHECKED)
        complaints = check_tables(self._server.socket, self._tables)
        if complaints:
            raise Failure("\n".join(complaints))
        self._check_log()

    def _wait_for(self, state: State) -> None:
        deadline = time.monotonic() + 4 * self._options.patience
        while not self._shared.all_are(state):
            self._look(server_has_to_live=state == State.CHECKED)
            if time.monotonic() > deadline:
                raise Failure(f"the clients do not come to be {state.name}\n{self._hints()}")
            time.sleep(0.02)

    def _look(self, *, server_has_to_live: bool = True) -> None:
        if server_has_to_live and not self._server.alive:
            time.sleep(0.5)  # it helps to know what the clients saw of it
            failures = self._shared.failures()
            seen = f"\n{failures[0].read_text()}" if failures else ""
            raise Failure(f"the server has died{seen}")
        self._raise_failures()
        if stalled := self._shared.stalled():
            raise Failure(f"{HANG}: no progress in client {stalled}\n{self._hints()}")
        for process in self._processes:
            if not process.is_alive():
                time.sleep(0.2)
                self._raise_failures()
                raise Failure(f"{process.name} has ended")

    def _raise_failures(self) -> None:
        if failures := self._shared.failures():
            # A server that crashes writes its stack first, which takes a while.
            ended = time.monotonic() + CRASH_SECONDS
            while self._shared.phase == Phase.RUN and time.monotonic() < ended:
                if not self._server.alive:
                    raise Failure("the server has died\n" + failures[0].read_text())
                if "[ERROR]" not in self._server.log_text():
                    break
                time.sleep(0.1)
            text = failures[0].read_text()
            hints = self._hints() if HANG in text else ""
            raise Failure(f"{failures[0].stem}:\n{text}\n{hints}")

    def _check_xids(self) -> None:
        if "xids" not in self._options.features:
            return
        if duplicates := duplicate_xids(log_files(self._server.data_dir)):
            shown = "\n".join(duplicates[:5])
            raise Failure(f"{len(duplicates)} Xids are in the binary log twice\n{shown}")

    def _check_log(self) -> None:
        for line in self._server.log_text().splitlines():
            if "[ERROR]" in line and "handlersocket" in line:
                raise Failure(f"in the server's log: {line}")

    # For a failure.

    def end_of_server(self) -> str:
        """The line of its log that says why it has died; empty if there is none."""
        if self._server.alive or not self._server.log_path.exists():
            return ""
        return death(self._server.log_text())

    def explain(self) -> str:
        lines = []
        if self._server.log_path.exists():
            lines += [f"--- the end of {self._server.log_path}"]
            lines += self._server.log_text().splitlines()[-LOG_TAIL:]
        return "\n".join(lines)

    def _hints(self) -> str:
        hints = []
        try:
            with Sql(self._server.socket) as sql:
                for row in sql.rows("SHOW FULL PROCESSLIST"):
                    cells = (cell.decode("utf-8", "replace") if cell else "-" for cell in row)
                    hints.append("  " + " | ".join(cells))
        except Exception as error:  # noqa: BLE001  # a server that hangs
            hints.append(f"  no processlist: {error}")
        hints.append(stacks(self._server.pid) if self._server.alive else "  the server is dead")
        return "\n".join(hints)

    def summary(self) -> str:
        total: collections.Counter[str] = collections.Counter()
        for path in self.folder.glob("tally-*.json"):
            total.update(json.loads(path.read_text()))
        kinds = ", ".join(
            f"{n} {k[9:]}" for k, n in sorted(total.items()) if k.startswith("request: ")
        )
        faults = ", ".join(
            f"{n} {k[7:]}" for k, n in sorted(total.items()) if k.startswith("fault: ")
        )
        disturbed = ", ".join(
            f"{n} {k[10:]}" for k, n in sorted(total.items()) if k.startswith("disturbed")
        )
        minutes = (time.monotonic() - self._run_began) / 60
        seen = {"requests", "rows compared", "ddl", "kills", "table locks", "row locks"}
        rest = ", ".join(
            f"{n} {k}" for k, n in sorted(total.items()) if k not in seen and ":" not in k
        )
        return (
            f"  requests: {kinds or 'none'}\n"
            f"  faults: {faults or 'none'}\n"
            f"  disturbed replies: {disturbed or 'none'}\n"
            f"  also: {rest}\n"
            f"soak: {SERVER_TREE.name}, seed {self._options.seed}, {minutes:.1f} minutes,"
            f" {total['requests']} requests, {self.rounds} rounds, {self.crashes} kill -9,"
            f" {total['kills']} KILL, {total['ddl']} DDL,"
            f" {total['table locks'] + total['row locks']} locks,"
            f" {total['rows compared']} rows compared"
        )

    def elapsed(self) -> float:
        """Seconds since the clients have begun."""
        return time.monotonic() - self._run_began

    def clean_up(self, *, keep: bool) -> None:
        for process in self._processes:
            if process.is_alive():
                process.kill()
            process.join(10)
        self._server.kill()
        if self._remote is not None:
            self._remote.end()
        if hasattr(self, "_guard"):
            self._guard.kill()
            self._guard.join(10)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            # What a reader needs is kept. The data would fill the disk over time.
            shutil.rmtree(self._server.data_dir, ignore_errors=True)


def stacks(pid: int) -> str:
    """The stacks of a server's threads, if gdb is there to show them."""
    if shutil.which("gdb") is None:
        threads = []
        for task in Path(f"/proc/{pid}/task").iterdir():
            try:
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                threads.append(f"{(task / 'comm').read_text().strip()} {state}")
            except OSError:
                continue
        return "  no gdb here; threads and their states: " + ", ".join(threads)
    done = subprocess.run(
        ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout[-20000:]


def _guard(parent: int, shared: Shared, folder: Path) -> None:
    """Runs on when the parent was killed, and then ends the server."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    while os.getppid() == parent:
        time.sleep(0.5)
    with contextlib.suppress(OSError):
        os.kill(shared.server_pid, 9)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
