"""A private database server: its data directory, its start and its end.

Used by the demo and by the end-to-end tests. A server lives wholly in one
folder, its base_dir:

    data/         the data directory, copied from a template that is made once per server
    plugins/      links to the server's own plugins and to ours
    server.cnf    every setting that it was started with
    server.log    its error log, all starts in one
    server.sock, server.pid

It listens on the Unix socket alone, for user root without a password, unless the
settings name a `port`. Needs nothing but Python's standard library and a tree
that setup/server.sh made.
"""

from __future__ import annotations

import atexit
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from data_directory import copy_template
from server_kind import ServerError, Setting, kind_of

__all__ = ["ServerError", "ServerInstance", "Setting", "free_port"]

PLUGIN_NAME = "handlersocket"
PLUGIN_LIBRARY = "handlersocket2.so"
# As whom clients act, unless the settings say otherwise.
ACCOUNT = "root@localhost"
REPOSITORY = Path(__file__).resolve().parent.parent
# It is long, because a machine may be busy and a sanitizer slow.
START_TIMEOUT = 120.0
STOP_TIMEOUT = 120.0
# The kernel's limit for a Unix socket's path, without its final NUL.
MAX_SOCKET_PATH = 107

# Blocks of ports for servers: the first port of each.
PORTS = range(11_000, 32_000, 100)
# What a server with a sanitizer's library gets, followed by the caller's own options. The first
# error ends the server. How the server mixes malloc and new is not checked. Leaks at its end are
# valgrind's part, and only those of the plugin.
ASAN_OPTIONS = (
    "abort_on_error=0:alloc_dealloc_mismatch=0:new_delete_type_mismatch=0:detect_odr_violation=0"
    ":detect_leaks=0:quarantine_size_mb=64"
)
UBSAN_OPTIONS = "print_stacktrace=1"

_running: weakref.WeakSet[ServerInstance] = weakref.WeakSet()
_ports: list[int] = []
_reservations: list[socket.socket] = []


def free_port() -> int:
    """A free TCP port of 127.0.0.1 that no other process gets from here.

    The ports are below those that the kernel gives to clients. Otherwise some client might get the
    port between this call and the server's start.
    """
    while True:
        if not _ports:
            _ports.extend(_reserve_ports())
        port = _ports.pop()
        with socket.socket() as probe:
            # As servers do: connections of an earlier server that are still closing do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def _reserve_ports() -> list[int]:
    """A block of ports that belongs to this process until it ends.

    The process that has bound the abstract socket with a block's name has the block. The kernel
    releases it however the process ends.
    """
    starts = list(range(PORTS.start, PORTS.stop, PORTS.step))
    random.SystemRandom().shuffle(starts)
    for start in starts:
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f"\0handlersocket-test-ports-{start}")
        except OSError:
            holder.close()
            continue
        _reservations.append(holder)
        return list(range(start, start + PORTS.step))
    raise ServerError("every block of ports for tests is taken")


def default_plugin_dir(tree: Path) -> Path:
    """Where the build puts the plugin for the server in `tree`. HS_PLUGIN_DIR overrides it."""
    override = os.environ.get("HS_PLUGIN_DIR")
    return Path(override) if override else REPOSITORY / "build" / tree.name / "src" / "mysqld"


def server_environment() -> dict[str, str]:
    """The environment of a server. HS_PRELOAD names libraries that it loads before all others, as
    a plugin built with a sanitizer needs them; what that finds is written into the server's log."""
    environment = dict(os.environ)
    if preload := environment.get("HS_PRELOAD"):
        environment["LD_PRELOAD"] = preload
        for name, options in (("ASAN_OPTIONS", ASAN_OPTIONS), ("UBSAN_OPTIONS", UBSAN_OPTIONS)):
            own = environment.get(name)
            environment[name] = f"{options}:{own}" if own else options
    return environment


class ServerInstance:
    """One server process in one folder. Not thread-safe: one thread starts and stops it."""

    def __init__(
        self,
        tree: Path,
        base_dir: Path,
        *,
        plugin_dir: Path | None = None,
        settings: Mapping[str, Setting] = {},
        load_plugin: bool = True,
        hs_port: int | None = None,
        hs_port_wr: int | None = None,
        data_dir: Path | None = None,
        extra_settings_file: Path | None = None,
        detached: bool = False,
        launcher: Sequence[str] = (),
        libraries: Sequence[Path] = (),
    ) -> None:
        """`settings` overrides the defaults; None as a value makes a setting without a value.

        data_dir is where the data are, if not in base_dir.
        extra_settings_file is an option file that is read last. A detached
        server outlives this Python process; any other is killed at its exit.
        launcher is a program with its arguments that runs the server, such as prlimit.
        libraries are other plugins that the server may load.
        """
        self.tree = tree.resolve()
        self.kind = kind_of(self.tree)
        self.base_dir = base_dir.resolve()
        self.data_dir = (data_dir or self.base_dir / "data").resolve()
        self.log_path = self.base_dir / "server.log"
        self.pid_path = self.base_dir / "server.pid"
        self.config_path = self.base_dir / "server.cnf"
        self.plugin_dir = plugin_dir or default_plugin_dir(self.tree)
        self.load_plugin = load_plugin
        self.hs_port = hs_port or free_port()
        self.hs_port_wr = hs_port_wr or free_port()
        self.settings: dict[str, Setting] = dict(settings)
        self._extra_settings_file = extra_settings_file
        self._detached = detached
        self._launcher = launcher
        self._libraries = libraries
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        self._socket_dir: tempfile.TemporaryDirectory[str] | None = None
        self.socket = self.base_dir / "server.sock"
        if len(os.fsencode(self.socket)) > MAX_SOCKET_PATH:
            self._socket_dir = tempfile.TemporaryDirectory(prefix="hs-")
            self.socket = Path(self._socket_dir.name) / "server.sock"

    def __enter__(self) -> ServerInstance:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()  # the present error says more than how the server ends
        else:
            self.stop()

    @property
    def pid(self) -> int:
        if self._process is None:
            raise ServerError("the server was not started")
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def log_text(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_of_this_start(self) -> str:
        return self.log_path.read_bytes()[self._log_start :].decode(errors="replace")

    def start(self, timeout: float = START_TIMEOUT) -> None:
        """Starts the server and returns when it answers on its socket."""
        if self.alive:
            raise ServerError("the server is already running")
        self._prepare()
        command = self._command()
        with self.log_path.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                command,
                cwd=self.base_dir,
                env=server_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if not self._detached:
            _running.add(self)
        self._wait_until_ready(timeout)

    def check_settings(self) -> None:
        """Raises what the server says against its settings. Data are neither made nor opened.

        It is for an instance in a folder of its own, which is not started.
        """
        self.data_dir.mkdir(parents=True)
        self._prepare()
        with self.log_path.open("ab") as log:
            done = subprocess.run(
                [*self._command(), *self.kind.only_reads_settings],
                cwd=self.base_dir,
                env=server_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                timeout=START_TIMEOUT,
                check=False,
            )
        if done.returncode != 0:
            raise self._error(
                f"the server refuses its settings ({_describe_exit(done.returncode)})"
            )

    def stop(self, timeout: float = STOP_TIMEOUT) -> None:
        """Shuts the server down. It is an error if the server has died, hangs, or ends badly."""
        if self._process is None:
            return
        process, self._process = self._process, None
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise self._error(f"the server did not shut down within {timeout:g} s") from None
        if process.returncode != 0:
            raise self._error(f"the server ended with {_describe_exit(process.returncode)}")

    def kill(self) -> None:
        """Ends the server at once, as a power failure would."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()

    def restart(self, timeout: float = STOP_TIMEOUT) -> None:
        self.stop(timeout)
        self.start()

    def client(self, sql: str, database: str | None = None) -> str:
        """The output of the server's client in batch mode: tab-separated, no column names."""
        command = [
            str(self.tree / "bin" / self.kind.client),
            "--no-defaults",
            "--batch",
            "--skip-column-names",
            "--default-character-set=utf8mb4",
            "--user=root",
            f"--socket={self.socket}",
            *([f"--database={database}"] if database else []),
        ]
        result = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise ServerError(result.stderr.strip() or "the SQL client failed")
        return result.stdout

    def sql(self, query: str, database: str | None = None) -> list[list[str]]:
        """The rows of `query` as text, escaped as batch mode does."""
        return [line.split("\t") for line in self.client(query, database).splitlines()]

    def _command(self) -> list[str]:
        return [
            *self._launcher,
            str(self.tree / "bin" / self.kind.server),
            f"--defaults-file={self.config_path}",
            *(["--user=root"] if os.geteuid() == 0 else []),
        ]

    def _prepare(self) -> None:
        self.base_dir.mkdir(parents=True, exist_ok=True)
        if not self.data_dir.exists():
            copy_template(self.tree, self.data_dir, self.settings)
        plugins = self.base_dir / "plugins"
        shutil.rmtree(plugins, ignore_errors=True)
        plugins.mkdir()
        shipped = (self.tree / "root/usr/lib/mysql/plugin").glob("*.so")
        for library in (*shipped, *self._libraries):
            (plugins / library.name).symlink_to(library)
        ours = self.plugin_dir.resolve() / PLUGIN_LIBRARY
        if ours.exists():
            (plugins / PLUGIN_LIBRARY).symlink_to(ours)
        elif self.load_plugin:
            raise ServerError(f"{ours} does not exist: the plugin is not built")
        # A server deletes the files for temporary tables when it starts. Another server's must
        # stay.
        temporary = self.base_dir / "tmp"
        temporary.mkdir(exist_ok=True)
        self.config_path.write_text(self._configuration(plugins, temporary))

    def _configuration(self, plugins: Path, temporary: Path) -> str:
        settings: dict[str, Setting] = {
            **self.kind.paths(),
            "datadir": str(self.data_dir),
            "socket": str(self.socket),
            "pid_file": str(self.pid_path),
            "plugin_dir": str(plugins),
            "tmpdir": str(temporary),
        }
        # Without the plugin the server does not know its settings, until an INSTALL SONAME.
        prefix = "" if self.load_plugin else "loose_"
        settings[f"{prefix}handlersocket_port"] = self.hs_port
        settings[f"{prefix}handlersocket_port_wr"] = self.hs_port_wr
        settings.update(self.kind.defaults)
        own = {name.replace("-", "_"): value for name, value in self.settings.items()}
        settings[f"{prefix}handlersocket_secret_account"] = ACCOUNT
        if not {"handlersocket_plain_secret", "handlersocket_plain_secret_wr"} & own.keys():
            settings[f"{prefix}handlersocket_anonymous_account"] = ACCOUNT
        settings.update(own)
        if "port" in own:
            settings.setdefault("bind_address", "127.0.0.1")
        elif "skip_networking" not in own:
            settings["skip_networking"] = None
        lines = ["[mysqld]", *(_option_line(*setting) for setting in settings.items())]
        if self.load_plugin:
            # In addition to plugins that the settings load: each such line adds one.
            lines += [
                _option_line(*setting)
                for setting in self.kind.load_plugin(PLUGIN_NAME, PLUGIN_LIBRARY).items()
            ]
        if self._extra_settings_file:
            lines.append(f"!include {self._extra_settings_file.resolve()}")
        return "\n".join(lines) + "\n"

    def _wait_until_ready(self, timeout: float) -> None:
        assert self._process is not None
        deadline = time.monotonic() + timeout
        while not _greets(self.socket, self._process.pid):
            if self._process.poll() is not None:
                code = self._process.returncode
                self._process = None
                raise self._error(f"the server did not start ({_describe_exit(code)})")
            if time.monotonic() > deadline:
                self.kill()
                raise self._error(f"the server did not come up within {timeout:g} s")
            time.sleep(0.02)

    def _error(self, message: str) -> ServerError:
        lines = self.log_of_this_start().splitlines()
        cause = next((line.partition("[ERROR]")[2] for line in lines if "[ERROR]" in line), "")
        summary = f"{message}:{cause}" if cause else message
        return ServerError("\n".join([summary, f"--- the end of {self.log_path}", *lines[-30:]]))


def _option_line(name: str, value: Setting) -> str:
    if value is None:
        return name
    text = str(value)
    if "\n" in text:
        raise ValueError(f"the value of {name} has a line break")
    escaped = text.replace("\\", "\\\\")
    return f'{name} = "{escaped}"'


def _greets(path: Path, pid: int) -> bool:
    """Whether process `pid` greets an SQL client, as a server does when it has started."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1.0)
        try:
            client.connect(str(path))
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            if int.from_bytes(credentials[:4], "little") != pid:
                return False  # an earlier server's socket, which another process has now
            readable, _, _ = select.select([client], [], [], 1.0)
            return bool(readable) and len(client.recv(1)) == 1
        except OSError:
            return False


def _describe_exit(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@atexit.register
def _kill_leftovers() -> None:
    for instance in list(_running):
        instance.kill()
