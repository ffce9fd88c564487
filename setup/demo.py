"""The demo server of `make run` and `make stop`, in var/demo.

Only one runs at a time, always with the same socket. Each server has its own data, in data-NAME,
and never opens those of another.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from server_instance import ACCOUNT, REPOSITORY, STOP_TIMEOUT, ServerError, ServerInstance
from server_kind import kind_of

BASE_DIR = REPOSITORY / "var" / "demo"
DATA_PREFIX = "data-"
ADDRESS = "127.0.0.1"
LOG_PATH = BASE_DIR / "server.log"
READ_PORT = 9998
WRITE_PORT = 9999
ROWS = 1_000_000
SHOWN_ROW = 500_000
REPLY_TIMEOUT = 10.0
# The groups of an option file that a server reads, besides those with its version.
GROUPS = {"mariadb": ("server", "mysqld", "mariadb", "mariadbd"), "mysql": ("server", "mysqld")}
INTERRUPTED = 130  # the exit code of a program that Ctrl-C has ended

# Enough for the whole table and its log, so that measurements by hand show the plugin's speed.
LOG_FILE_SIZE = "256M"
DATA_MB = 600  # what that, the table and the server's own tables take, rounded up
SETTINGS = {"innodb_buffer_pool_size": "512M", "handlersocket_address": ADDRESS}

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


class DemoError(RuntimeError):
    """An error for a person to read, in one line."""


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
    return {int(port) for port in re.findall(r'handlersocket_port(?:_wr)? = "(\d+)"', text)}


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


def settings_in(tree: Path, file: Path) -> dict[str, str]:
    """What an option file says about the plugin, by names without `handlersocket_`."""
    kind = kind_of(tree).name
    series = tree.name.partition("-")[2]
    groups = [*GROUPS[kind], *(f"{group}-{series}" for group in GROUPS[kind])]
    command = [str(tree / "bin/my_print_defaults"), f"--defaults-file={file.resolve()}", *groups]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip() or "it cannot be read").splitlines()[-1]
        raise DemoError(f"MYCNF={file}: {reason}")
    found = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition("=")
        name = name.lstrip("-").replace("-", "_").removeprefix("loose_")
        if name.startswith("handlersocket_"):
            found[name.removeprefix("handlersocket_")] = value
    return found


class Door:
    """A port of the plugin, and what it asks of its clients."""

    def __init__(self, settings: dict[str, str], suffix: str, port: int) -> None:
        text = settings.get(f"port{suffix}", str(port))
        if not text.isdecimal():
            raise DemoError(f"handlersocket_port{suffix} is '{text}': the demo needs a port")
        self.port = int(text)
        self.secret = settings.get(f"plain_secret{suffix}", "")


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
        raise DemoError(f"nothing answers on port {port} ({error}); see {LOG_PATH}") from None
    with connection, connection.makefile("rwb") as stream:
        for request in [*login, *requests]:
            print("   > A\t1\t(the secret)" if request in login else f"   > {request}")
            stream.write(request.encode() + b"\n")
            stream.flush()
            reply = stream.readline().decode()
            print(f"   < {reply.rstrip()}")
            if not reply.startswith("0\t"):
                raise DemoError(f"port {port} did not answer as it should; see {LOG_PATH}")


def load(server: ServerInstance) -> None:
    if server.sql("SHOW TABLES FROM test LIKE 'user'"):
        return
    say(f"loading {ROWS:,} rows into test.user (once)")
    started = time.monotonic()
    server.client(LOAD.format(rows=ROWS))
    say(f"loaded ({time.monotonic() - started:.0f} s)")


def show(server: ServerInstance, reading: Door, writing: Door) -> None:
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
    say("and what SQL sees")
    query = f"SELECT * FROM test.user WHERE user_id = {SHOWN_ROW}"
    print(f"   {query}")
    rows = server.client(query)
    print(f"   {rows.rstrip()}")
    if email not in rows:
        raise DemoError("the update is not there")


def explain(server: ServerInstance, reading: Door) -> None:
    # By the name that the repository has for it: var/servers may be a link to another place.
    client = Path("var/servers") / server.tree.name / "bin" / server.kind.client
    path = os.path.relpath(server.socket, REPOSITORY)
    say(f"the demo server is up: {server.tree.name}, process {server.pid}")
    print(
        f"   clients act as {ACCOUNT}, who may do everything; only this machine reaches the ports"
    )
    print("   Try it, with a TAB between the words:")
    print(f"   telnet {ADDRESS} {reading.port}")
    if reading.secret:
        print("   A\t1\t(the secret)")
    print("   P\t1\ttest\tuser\tPRIMARY\tuser_name,user_email")
    print("   1\t=\t1\t42")
    print(f"   {client} --no-defaults -uroot --socket={path} test")
    secret = " --secret (the secret)" if reading.secret else ""
    print(f"   var/bin/hs-bench --port {reading.port}{secret}")
    print(f"   var/bin/hs-top --socket {path} --user root")
    print("   make stop")


def run(tree: Path, settings_file: Path | None, port: int, port_wr: int) -> None:
    settings = settings_in(tree, settings_file) if settings_file else {}
    reading, writing = Door(settings, "", port), Door(settings, "_wr", port_wr)
    if bool(reading.secret) != bool(writing.secret) and not settings.get("anonymous_account"):
        raise DemoError(
            f"MYCNF={settings_file} sets one of handlersocket_plain_secret and"
            " handlersocket_plain_secret_wr, so nobody could use the other port: set both"
        )
    # Before the demo server that runs is stopped for nothing.
    for port_wanted in {reading.port, writing.port} - running_ports():
        require_free(port_wanted)
    if running_pid() is not None:
        say(f"stopping the demo server that runs ({running_name()})")
        stop()
    for door in (reading, writing):
        require_free(door.port)
    data_dir = BASE_DIR / f"{DATA_PREFIX}{tree.name}"
    require_room(data_dir)
    server = ServerInstance(
        tree,
        BASE_DIR,
        settings={
            **SETTINGS,
            **kind_of(tree).log_file_size(LOG_FILE_SIZE),
            # Who sets a secret wants that it is needed.
            "handlersocket_anonymous_account": "" if reading.secret or writing.secret else ACCOUNT,
        },
        hs_port=reading.port,
        hs_port_wr=writing.port,
        data_dir=data_dir,
        extra_settings_file=settings_file,
        detached=True,
    )
    if server.socket.parent != BASE_DIR:
        raise DemoError(f"{BASE_DIR} is too long for a socket's path: move the repository up")
    try:
        server.start()
        load(server)
        show(server, reading, writing)
    except BaseException:
        server.kill()
        raise
    explain(server, reading)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run_parser = commands.add_parser("run")
    run_parser.add_argument("tree", type=Path)
    run_parser.add_argument("--settings", type=Path)
    run_parser.add_argument("--port", type=int, default=READ_PORT)
    run_parser.add_argument("--port-wr", type=int, default=WRITE_PORT)
    commands.add_parser("stop")
    arguments = parser.parse_args()
    try:
        if arguments.command == "run":
            run(arguments.tree, arguments.settings, arguments.port, arguments.port_wr)
        else:
            say("the demo server is stopped" if stop() else "the demo server is not running")
    except DemoError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except ServerError as error:
        print(f"error: {str(error).splitlines()[0]}; see {LOG_PATH}", file=sys.stderr)
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
