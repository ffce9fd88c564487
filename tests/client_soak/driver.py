"""A run: a server, a program for each language, faults, and the comparison at the end.

Only this starts and ends processes. All its waits have a limit.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server_instance import REPOSITORY, ServerInstance
from support.database import Sql
from support.servers import SERVER_TREE, own_settings

from client_soak.faults import DATABASE, Faults
from client_soak.languages import LANGUAGES, Command
from client_soak.ledger import findings

SETTINGS: dict[str, str | int | None] = {
    "log_bin": "binlog",
    "server_id": 1,
    "binlog_format": "ROW",
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
    "handlersocket_lock_wait_timeout": 2,
}
TABLES = (
    f"CREATE DATABASE {DATABASE}",
    f"USE {DATABASE}",
    "CREATE TABLE kept (owner VARCHAR(10), caller INT, number INT, n BIGINT NOT NULL,"
    " text VARCHAR(200) NOT NULL, PRIMARY KEY (owner, caller, number)) CHARSET=utf8mb4",
    "CREATE TABLE log (id BIGINT AUTO_INCREMENT PRIMARY KEY, owner VARCHAR(10), caller INT,"
    " number INT) CHARSET=utf8mb4",
)
OPTIONS = "timeout=5s&connect_attempts=1000&backoff_max=200ms&retry_reads=2"
# Seconds between two faults, at least and at most.
CALM = (0.3, 3.0)


class Failure(Exception):
    """The run has found something."""


@dataclass(frozen=True)
class Options:
    seconds: float
    seed: int
    languages: Sequence[str]
    callers: int = 16
    # Nobody may get no answer for so many seconds, if the server runs.
    patience: float = 60


class Program:
    """One language's program, and what it has said so far."""

    def __init__(
        self, language: str, command: Command, arguments: Sequence[str], errors: Path
    ) -> None:
        """It writes its errors, which are for people, into the file `errors`."""
        words, environment = command
        self.language = language
        self.calls = 0
        self.wrong: list[str] = []
        self.report: dict[str, Any] | None = None
        self._errors = errors
        own = {k: v for k, v in os.environ.items() if not k.startswith("HANDLERSOCKET_")}
        with errors.open("w") as file:
            self._process = subprocess.Popen(
                [*words, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                env={**own, **environment},
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def finish(self, patience: float) -> None:
        """Tells it to end, and waits for its report."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(patience)
        except (OSError, subprocess.TimeoutExpired):
            raise Failure(f"{self.language}: it does not end\n{self.errors()}") from None
        self._reader.join(patience)
        if self._process.returncode != 0 or self.report is None:
            raise Failure(f"{self.language}: it has failed\n{self.errors()}")

    def end(self) -> None:
        if not self.has_ended:
            self._process.kill()
            self._process.wait()

    def errors(self) -> str:
        """What it found, and the end of what it wrote for people."""
        return "\n".join([*self.wrong, self._errors.read_text()[-4000:]])

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "alive":
                self.calls = int(rest)
            elif word == "report":
                self.report = json.loads(rest)
            else:
                self.wrong.append(line.rstrip("\n"))


class Run:
    def __init__(
        self, options: Options, happen: Callable[[ServerInstance], None] | None = None
    ) -> None:
        """`happen` takes the place of the faults."""
        self._options = options
        self._random = random.Random(options.seed)
        parent = REPOSITORY / "var" / "soak"
        parent.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix=f"clients-{SERVER_TREE.name}-", dir=parent))
        self._server = ServerInstance(
            SERVER_TREE, self.folder / "server", settings=own_settings(SETTINGS)
        )
        self._faults = Faults(self._server, options.seed)
        self._happen = happen or (lambda _: self._faults.happen())
        self.programs: list[Program] = []
        self.rows = 0

    def run(self) -> None:
        """Failure, with its reason, if something is wrong."""
        commands = {name: LANGUAGES[name]() for name in self._options.languages}
        self._server.start()
        with Sql(self._server.socket) as sql:
            sql.run(*TABLES)
        ports = f"{self._server.hs_port},{self._server.hs_port_wr}"
        url = f"handlersocket://127.0.0.1:{ports}/{DATABASE}?{OPTIONS}"
        arguments = [url, str(self._options.seed), str(self._options.callers)]
        for language, command in commands.items():
            errors = self.folder / f"{language}.log"
            self.programs.append(Program(language, command, arguments, errors))
        self._wait_for_calls()
        end = time.monotonic() + self._options.seconds
        while time.monotonic() < end:
            time.sleep(self._random.uniform(*CALM))
            self._happen(self._server)
            self._wait_for_calls()
        for program in self.programs:
            program.finish(self._options.patience)
        self._compare()
        self._server.stop()

    def _wait_for_calls(self) -> None:
        """Every program gets answers again."""
        before = {program.language: program.calls for program in self.programs}
        deadline = time.monotonic() + self._options.patience
        for program in self.programs:
            while program.calls <= before[program.language]:
                if program.wrong or program.has_ended:
                    raise Failure(f"{program.language}: it has failed\n{program.errors()}")
                if time.monotonic() > deadline:
                    raise Failure(f"{program.language}: no answer any more\n{program.errors()}")
                time.sleep(0.05)

    def _compare(self) -> None:
        with Sql(self._server.socket, DATABASE) as sql:
            found = []
            for program in self.programs:
                assert program.report is not None
                found += findings(program.language, program.report, sql)
            self.rows = sql.number("SELECT COUNT(*) FROM kept")
            self.rows += sql.number("SELECT COUNT(*) FROM log")
        if found:
            raise Failure("\n".join(found))

    def summary(self) -> str:
        lines = [f"faults: {dict(self._faults.counts)}; {self.rows} rows compared"]
        for program in self.programs:
            report = program.report or {}
            told = {name: report.get(name) for name in ("errors", "unsure", "connections_lost")}
            lines.append(f"{program.language}: {report.get('calls', program.calls)} calls, {told}")
        return "\n".join(lines)

    def clean_up(self, keep: bool = False) -> None:
        for program in self.programs:
            program.end()
        self._server.kill()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
