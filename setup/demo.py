"""The demo server of `make run` and `make stop`, in var/demo.

One runs at a time, always with the same ports and socket. Each server keeps data of
its own, in data-NAME: none ever opens another's.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import signal
import socket
import sys
import time
from pathlib import Path

from server_instance import REPOSITORY, STOP_TIMEOUT, ServerError, ServerInstance
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

# Room for the whole table and its log, so that what one measures by hand is the plugin.
LOG_FILE_SIZE = "256M"
SETTINGS = {"innodb_buffer_pool_size": "512M", "handlersocket_address": ADDRESS}

# Loaded under another name, so that a table called `user` is always a whole one.
LOAD = f"""
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
  FROM numbers WHERE seq <= {ROWS};
RENAME TABLE user_loading TO user;
"""


class DemoError(RuntimeError):
    """What a person reads, in one line."""


def say(line: str) -> None:
    print(f"== {line}", flush=True)


def running_pid() -> int | None:
    """The demo server's process, or None.

    A pid file alone proves nothing: its number may be anyone's by now.
    """
    try:
        pid = int((BASE_DIR / "server.pid").read_text())
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    ours = os.fsencode(f"--defaults-file={BASE_DIR / 'server.cnf'}")
    return pid if ours in arguments else None


def running_name() -> str:
    """Which server the demo was started with, as its settings tell."""
    for line in (BASE_DIR / "server.cnf").read_text().splitlines():
        if match := re.match(rf'datadir = ".*/{DATA_PREFIX}([^"/]+)"', line):
            return match[1]
    return "unknown"


def stop() -> bool:
    """Whether there was a server to stop."""
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


def converse(port: int, *requests: str) -> None:
    """Sends each request, waits for its reply and prints both; only success will do."""
    try:
        connection = socket.create_connection((ADDRESS, port), timeout=REPLY_TIMEOUT)
    except OSError as error:
        raise DemoError(f"nothing answers on port {port} ({error}); see {LOG_PATH}") from None
    with connection, connection.makefile("rwb") as stream:
        for request in requests:
            print(f"   > {request}")
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
    server.client(LOAD)
    say(f"loaded ({time.monotonic() - started:.0f} s)")


def show(server: ServerInstance) -> None:
    email = f"user_{SHOWN_ROW}.{time.time():.0f}@example.com"
    say(f"a lookup on port {READ_PORT}")
    converse(
        READ_PORT,
        "P\t1\ttest\tuser\tPRIMARY\tuser_name,user_email,created",
        f"1\t=\t1\t{SHOWN_ROW}",
    )
    say(f"an update on port {WRITE_PORT}")
    converse(
        WRITE_PORT,
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


def explain(server: ServerInstance) -> None:
    client = (server.tree / "bin" / server.kind.client).relative_to(REPOSITORY)
    say(f"the demo server is up: {server.tree.name}, process {server.pid}")
    print("   Try it, with a TAB between the words:")
    print(f"   telnet {ADDRESS} {READ_PORT}")
    print("   P\t1\ttest\tuser\tPRIMARY\tuser_name,user_email")
    print("   1\t=\t1\t42")
    print(f"   {client} --no-defaults -uroot --socket={server.socket.relative_to(REPOSITORY)} test")
    print("   make stop")


def run(tree: Path, settings_file: Path | None) -> None:
    if running_pid() is not None:
        say(f"stopping the demo server that runs ({running_name()})")
        stop()
    for port in (READ_PORT, WRITE_PORT):
        require_free(port)
    server = ServerInstance(
        tree,
        BASE_DIR,
        settings={**SETTINGS, **kind_of(tree).log_file_size(LOG_FILE_SIZE)},
        hs_port=READ_PORT,
        hs_port_wr=WRITE_PORT,
        data_dir=BASE_DIR / f"{DATA_PREFIX}{tree.name}",
        extra_settings_file=settings_file,
        detached=True,
    )
    if server.socket.parent != BASE_DIR:
        raise DemoError(f"{BASE_DIR} is too long for a socket's path: move the repository up")
    server.start()
    load(server)
    show(server)
    explain(server)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run_parser = commands.add_parser("run")
    run_parser.add_argument("tree", type=Path)
    run_parser.add_argument("--settings", type=Path)
    commands.add_parser("stop")
    arguments = parser.parse_args()
    try:
        if arguments.command == "run":
            run(arguments.tree, arguments.settings)
        else:
            say("the demo server is stopped" if stop() else "the demo server is not running")
    except DemoError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except ServerError as error:
        print(f"error: {str(error).splitlines()[0]}; see {LOG_PATH}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
