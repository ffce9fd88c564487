"""The demo server of `make run` and `make stop`, in var/demo.

Only one runs at a time, always with the same socket. Each server has its own data, in data-NAME,
and never opens those of another.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from demo_settings import (
    DemoError,
    Door,
    anonymous_account,
    meaning,
    require_account,
    settings_in,
)
from server_instance import ACCOUNT, REPOSITORY, STOP_TIMEOUT, ServerError, ServerInstance
from server_kind import kind_of

BASE_DIR = REPOSITORY / "var" / "demo"
DATA_PREFIX = "data-"
ADDRESS = "127.0.0.1"
LOG_PATH = BASE_DIR / "server.log"
READ_PORT = 9998
WRITE_PORT = 9999
REDIS_PORT = 6380  # beside that of a Redis on this machine
MEMCACHED_PORT = 11311  # the same of a memcached
ROWS = 1_000_000
SHOWN_ROW = 500_000
REPLY_TIMEOUT = 10.0
PORT_SETTING = r'handlersocket_(?:redis_|memcached_)?port(?:_wr)? = "(\d+)"'
INTERRUPTED = 130  # the exit code of a program that Ctrl-C has ended

# Enough for the whole table and its log, so that measurements by hand show the plugin's speed.
LOG_FILE_SIZE = "256M"
DATA_MB = 600  # what that, the table and the server's own tables take, rounded up
SETTINGS = {
    "innodb_buffer_pool_size": "512M",
    "handlersocket_address": ADDRESS,
    "event_scheduler": "ON",  # deletes the strings that have expired
}
CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"

# It is loaded under another name, so that a table called `user` is always complete.
LOAD = """
CREATE DATABASE IF NOT EXISTS test;
USE test;
DROP TABLE IF EXISTS user_loading;
CREATE TABLE user_loading (
  user_id INT UNSIGNED NOT NULL PRIMARY KEY,
  user_name VARCHAR(50),
  user_email VARCHAR(255),
  created DATETIME
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO user_loading
  WITH RECURSIVE
    digit (d) AS (SELECT 0 UNION ALL SELECT d + 1 FROM digit WHERE d < 9),
    numbers (seq) AS (
      SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d
      FROM digit a, digit b, digit c, digit e, digit f, digit g)
  SELECT seq, CONCAT('user_', LPAD(seq, 7, '0')),
    CONCAT('user_', LPAD(seq, 7, '0'), '@example.com'),
    '2020-01-01' + INTERVAL seq * 97 SECOND
  FROM numbers WHERE seq <= {rows};
RENAME TABLE user_loading TO user;
"""


def say(line: str) -> None:
    print(f"== {line}", flush=True)


def running_pid() -> int | None:
    """The demo server's process, or None.

    A pid file alone proves nothing: by now its number may belong to another process.
    """
    try:
        pid = int((BASE_DIR / "server.pid").read_text())
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    ours = os.fsencode(f"--defaults-file={BASE_DIR / 'server.cnf'}")
    return pid if ours in arguments else None


def running_name() -> str:
    """The name of the server with which the demo was started, from its settings."""
    for line in (BASE_DIR / "server.cnf").read_text().splitlines():
        if match := re.match(rf'datadir = ".*/{DATA_PREFIX}([^"/]+)"', line):
            return match[1]
    return "unknown"


def running_ports() -> set[int]:
    """The ports of the running demo server, which are free as soon as it is stopped."""
    if running_pid() is None:
        return set()
    text = (BASE_DIR / "server.cnf").read_text()
    return {int(port) for port in re.findall(PORT_SETTING, text)}


def stop() -> bool:
    """Returns whether there was a server to stop."""
    pid = running_pid()
    if pid is None:
        return False
    handle = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        if not select.select([handle], [], [], STOP_TIMEOUT)[0]:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            raise DemoError(f"the demo server took over {STOP_TIMEOUT:g} s to stop: it was killed")
    finally:
        os.close(handle)
    return True


def require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError as error:
            raise DemoError(f"port {port} is taken by another program: {error.strerror}") from None


def require_room(data_dir: Path) -> None:
    """For data that are made now. A server that runs out of space says so in its own words."""
    if data_dir.exists():
        return
    BASE_DIR.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(BASE_DIR).free // 1_000_000
    if free < DATA_MB:
        raise DemoError(f"the disk of {BASE_DIR} has {free} MB free, the data take {DATA_MB} MB")


def converse(door: Door, *requests: str) -> None:
    """Sends each request, waits for its reply and prints both. Fails unless each succeeds."""
    port = door.port
    login = [f"A\t1\t{door.secret}"] if door.secret else []
    try:
        connection = socket.create_connection((ADDRESS, port), timeout=REPLY_TIMEOUT)
    except OSError as error:
        raise DemoError(f"nothing answers on port {port} ({error})") from None
    with connection, connection.makefile("rwb") as stream:
        for request in [*login, *requests]:
            print("   > A\t1\t(the secret)" if request in login else f"   > {request}")
            stream.write(request.encode() + b"\n")
            stream.flush()
            reply = stream.readline().decode()
            print(f"   < {reply.rstrip()}")
            if not reply.startswith("0\t"):
                raise DemoError(f"port {port} refused that request{meaning(reply.rstrip())}")


def converse_as_redis(port: int, *requests: str) -> None:
    """The same at the port of Redis's clients, in its inline form, which needs no lengths."""
    try:
        connection = socket.create_connection((ADDRESS, port), timeout=REPLY_TIMEOUT)
    except OSError as error:
        raise DemoError(f"nothing answers on port {port} ({error})") from None
    with connection, connection.makefile("rwb") as stream:
        for request in requests:
            print(f"   > {request}")
            stream.write(request.encode() + b"\r\n")
            stream.flush()
            head = stream.readline().decode().rstrip()
            if not head.startswith("*"):
                raise DemoError(f"port {port} refused that request: {head}")
            for _ in range(int(head[1:])):
                stream.readline()  # the length of the next line
                print(f"   < {stream.readline().decode().rstrip()}")


def load(server: ServerInstance) -> None:
    server.client(CONTAINERS.read_text())
    if server.sql("SHOW TABLES FROM test LIKE 'user'"):
        return
    say(f"loading {ROWS:,} rows into test.user (once)")
    started = time.monotonic()
    server.client(LOAD.format(rows=ROWS))
    say(f"loaded ({time.monotonic() - started:.0f} s)")


def show(server: ServerInstance, wish: Wish) -> None:
    reading, writing = wish.reading, wish.writing
    email = f"user_{SHOWN_ROW}.{time.time():.0f}@example.com"
    say(f"a lookup on port {reading.port}")
    converse(
        reading,
        "P\t1\ttest\tuser\tPRIMARY\tuser_name,user_email,created",
        f"1\t=\t1\t{SHOWN_ROW}",
    )
    say(f"an update on port {writing.port}")
    converse(
        writing,
        "P\t1\ttest\tuser\tPRIMARY\tuser_email",
        f"1\t=\t1\t{SHOWN_ROW}\t1\t0\tU\t{email}",
    )
    if wish.account:
        say(f"a lookup by a client for Redis on port {wish.redis_port}")
        converse_as_redis(wish.redis_port, f"HMGET test.user:{SHOWN_ROW} user_name user_email")
    say("and what SQL sees")
    query = f"SELECT * FROM test.user WHERE user_id = {SHOWN_ROW}"
    print(f"   {query}")
    rows = server.client(query)
    print(f"   {rows.rstrip()}")
    if email not in rows:
        raise DemoError("the update is not there")


def explain(server: ServerInstance, wish: Wish) -> None:
    # By the name that the repository has for it: var/servers may be a link to another place.
    client = Path("var/servers") / server.tree.name / "bin" / server.kind.client
    path = os.path.relpath(server.socket, REPOSITORY)
    may = ", who may do everything" if wish.acts_as == ACCOUNT else ""
    reach = "; only this machine reaches the ports" if wish.address == ADDRESS else ""
    say(f"the demo server is up: {server.tree.name}, process {server.pid}")
    print(f"   clients act as {wish.acts_as}{may}{reach}")
    print("   Try it, with a TAB between the words:")
    print(f"   telnet {ADDRESS} {wish.reading.port}")
    if wish.reading.secret:
        print("   A\t1\t(the secret)")
    print("   P\t1\ttest\tuser\tPRIMARY\tuser_name,user_email")
    print("   1\t=\t1\t42")
    print(f"   redis-cli -p {wish.redis_port} HGETALL test.user:42")
    print(f"   printf 'get a\\r\\nquit\\r\\n' | nc {ADDRESS} {wish.memcached_port}")
    print(f"   {client} --no-defaults -uroot --socket={path} test")
    secret = " --secret (the secret)" if wish.reading.secret else ""
    print(f"   var/bin/hs-bench --port {wish.reading.port}{secret}")
    print(f"   var/bin/hs-top --socket {path} --user root")
    print("   make stop")


class Wish:
    """A demo server as somebody has asked for it."""

    def __init__(
        self,
        tree: Path,
        settings_file: Path | None,
        port: int,
        port_wr: int,
        redis_port: int,
        memcached_port: int,
    ) -> None:
        self.tree = tree
        self.settings_file = settings_file
        # As it is now: the file may be another one when the demo server is started again.
        self.text = settings_file.read_text() if settings_file else ""
        settings = settings_in(tree, settings_file) if settings_file else {}
        self.reading = Door(settings, "port", "plain_secret", port)
        self.writing = Door(settings, "port_wr", "plain_secret_wr", port_wr)
        self.redis_port = Door(settings, "redis_port", "redis_secret", redis_port).port
        door = Door(settings, "memcached_port", "memcached_secret", memcached_port)
        self.memcached_port = door.port
        self.address = settings.get("address", ADDRESS)
        doors = (self.reading, self.writing)
        self.account = anonymous_account(settings, doors)
        self.acts_as = (
            settings.get("secret_account", ACCOUNT) if self.reading.secret else self.account
        )
        if settings_file:
            require_account(settings_file, settings, doors)

    def keep(self) -> None:
        """Notes the wish, and gives the server a copy of its file."""
        BASE_DIR.mkdir(parents=True, exist_ok=True)
        if self.settings_file is not None:
            self.settings_file = BASE_DIR / "settings.cnf"
            self.settings_file.touch(mode=0o600)  # it may contain secrets
            self.settings_file.write_text(self.text)
        words = [str(self.tree), self.settings_file and str(self.settings_file)]
        ports = (self.reading.port, self.writing.port, self.redis_port, self.memcached_port)
        wish = [*words, *ports]
        (BASE_DIR / "wish.json").write_text(json.dumps(wish))

    @staticmethod
    def of_running() -> Wish | None:
        """With which the demo server was started, if one runs."""
        try:
            tree, file, *ports = json.loads((BASE_DIR / "wish.json").read_text())
            return Wish(Path(tree), Path(file) if file else None, *ports)
        except (OSError, ValueError, TypeError, DemoError):
            return None  # an older version of this program has started it

    @property
    def ports(self) -> set[int]:
        return {self.reading.port, self.writing.port, self.redis_port, self.memcached_port}

    @property
    def data_dir(self) -> Path:
        return BASE_DIR / f"{DATA_PREFIX}{self.tree.name}"

    def server(self, base_dir: Path, data_dir: Path) -> ServerInstance:
        return ServerInstance(
            self.tree,
            base_dir,
            settings={
                **SETTINGS,
                **kind_of(self.tree).log_file_size(LOG_FILE_SIZE),
                "handlersocket_anonymous_account": self.account,
                "handlersocket_redis_port": self.redis_port,
                "handlersocket_memcached_port": self.memcached_port,
            },
            hs_port=self.reading.port,
            hs_port_wr=self.writing.port,
            data_dir=data_dir,
            extra_settings_file=self.settings_file,
            detached=True,
        )

    def check(self) -> None:
        """Asks the server about the file of settings. Not all of its faults show before a start."""
        if self.settings_file is None:
            return
        with tempfile.TemporaryDirectory(prefix="hs-demo-") as folder:
            try:
                self.server(Path(folder), Path(folder) / "data").check_settings()
            except ServerError as error:
                # Without the end of the log, which is deleted with the folder.
                reason = str(error).splitlines()[0]
                raise DemoError(f"MYCNF={self.settings_file}: {reason}") from None


def complaint(server: ServerInstance) -> str:
    """What the plugin has said against the settings of this start, if it has."""
    of_level = r"\[(?:Warning|ERROR)\](?: \[[^]]*\])* (.*handlersocket.*)"
    found = re.search(f"{of_level}|(handlersocket: listens nowhere.*)", server.log_of_this_start())
    return f": {found[1] or found[2]}" if found else ""


def start(wish: Wish) -> None:
    """Starts the demo server and shows that it works. If it does not, nothing is left running."""
    for port in wish.ports:
        require_free(port)
    wish.keep()
    server = wish.server(BASE_DIR, wish.data_dir)
    try:
        server.start()
        load(server)
        show(server, wish)
    except DemoError as error:
        reason = f"{error}{complaint(server)}; see {LOG_PATH}"
        server.kill()
        raise DemoError(reason) from None
    except BaseException:
        server.kill()
        raise
    explain(server, wish)


def run(tree: Path, settings_file: Path | None, *ports: int) -> None:
    """The ports are in the order that Wish gives them."""
    wish = Wish(tree, settings_file, *ports)
    # Before the demo server that runs is stopped for nothing.
    for port_wanted in wish.ports - running_ports():
        require_free(port_wanted)
    require_room(wish.data_dir)
    if wish.server(BASE_DIR, wish.data_dir).socket.parent != BASE_DIR:
        raise DemoError(f"{BASE_DIR} is too long for a socket's path: move the repository up")
    wish.check()
    before = Wish.of_running() if running_pid() is not None else None
    if running_pid() is not None:
        say(f"stopping the demo server that runs ({running_name()})")
        stop()
    try:
        start(wish)
    except (DemoError, ServerError) as error:
        if before is None:
            raise
        say("starting the demo server again that ran before")
        reason = words_of(error)
        try:
            start(before)
        except (DemoError, ServerError) as again:
            both = f"{reason}; and what ran before does not start: {words_of(again)}"
            raise DemoError(both) from None
        raise DemoError(f"{reason}; what ran before runs again") from None


def words_of(error: DemoError | ServerError) -> str:
    """In one line. What a server says has the end of its log below."""
    if isinstance(error, DemoError):
        return str(error)
    return f"{str(error).splitlines()[0]}; see {LOG_PATH}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run_parser = commands.add_parser("run")
    run_parser.add_argument("tree", type=Path)
    run_parser.add_argument("--settings", type=Path)
    run_parser.add_argument("--port", type=int, default=READ_PORT)
    run_parser.add_argument("--port-wr", type=int, default=WRITE_PORT)
    run_parser.add_argument("--redis-port", type=int, default=REDIS_PORT)
    run_parser.add_argument("--memcached-port", type=int, default=MEMCACHED_PORT)
    commands.add_parser("stop")
    arguments = parser.parse_args()
    try:
        if arguments.command == "run":
            ports = (
                arguments.port,
                arguments.port_wr,
                arguments.redis_port,
                arguments.memcached_port,
            )
            run(arguments.tree, arguments.settings, *ports)
        else:
            say("the demo server is stopped" if stop() else "the demo server is not running")
    except (DemoError, ServerError) as error:
        print(f"error: {words_of(error)}", file=sys.stderr)
        return 1
    except (OSError, subprocess.CalledProcessError) as error:  # a full disk, for example
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted; the demo server is not running", file=sys.stderr)
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
