"""The command line: how to reach the server, and what to show."""

from __future__ import annotations

import argparse
import getpass
from dataclasses import dataclass
from pathlib import Path

from hs_top.option_file import OptionFileError, options_of, usual_options

USUAL_SOCKETS = ("/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/tmp/mysql.sock")
SHORTEST_INTERVAL = 0.1
LONGEST_INTERVAL = 3600.0
MOST_ROWS = 1000

DESCRIPTION = """Shows once a second what HandlerSocket's clients do: requests, errors, latency,
connections, indexes. It asks the server by SQL, and changes nothing. Keys: q ends it, + and -
change the interval."""
EPILOGUE = """Without options it reads the option files of the server's clients (~/.my.cnf, group
[client] or [hs-top]), as the client `mariadb` or `mysql` does. It takes no password from the
command line, because everybody on the machine can read that: put it into an option file, or into
a file of its own for --password-file. The connections are shown with the privilege PROCESS on
MariaDB, and with SELECT on performance_schema on MySQL."""


@dataclass(frozen=True)
class Way:
    """How to reach the server: by `socket`, or if that is empty, by `host` and `port`."""

    socket: str
    host: str
    port: int
    user: str
    password: str
    tls_ca: str

    @property
    def name(self) -> str:
        return self.socket or f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Wish:
    """What to show: where, how often, how much."""

    interval: float
    once: bool
    batch: bool
    count: int  # 0: until it is ended
    rows: int


def parse(words: list[str]) -> tuple[Way, Wish]:
    """Ends the program with a line if the words, or a file that they name, mean nothing."""
    parser = argparse.ArgumentParser(
        "hs-top", description=DESCRIPTION, epilog=EPILOGUE, allow_abbrev=False
    )
    reach = parser.add_argument_group("how to reach the server")
    reach.add_argument("--socket", help="its Unix socket")
    reach.add_argument("--host", help="its host, for TCP")
    reach.add_argument("--port", type=int, help="its port (3306)")
    reach.add_argument("--user", help="the account's user (by default, who you are)")
    reach.add_argument("--password-file", type=Path, metavar="FILE", help="its first line")
    reach.add_argument("--tls-ca", metavar="FILE", help="use TLS, with certificates of this CA")
    reach.add_argument(
        "--defaults-file", type=Path, metavar="FILE", help="read this option file alone"
    )
    show = parser.add_argument_group("what to show")
    show.add_argument("--interval", type=float, default=1.0, metavar="SECONDS")
    show.add_argument("--rows", type=int, default=10, help="connections and indexes of --once (10)")
    ways = show.add_mutually_exclusive_group()
    ways.add_argument("--once", action="store_true", help="one screen as text, after one interval")
    ways.add_argument("--batch", action="store_true", help="one line of JSON for each interval")
    show.add_argument("--count", type=int, default=0, help="end after so many intervals")
    given = parser.parse_args(words)
    if not SHORTEST_INTERVAL <= given.interval <= LONGEST_INTERVAL:
        parser.error(f"--interval is from {SHORTEST_INTERVAL} to {LONGEST_INTERVAL:.0f} seconds")
    if not 0 <= given.rows <= MOST_ROWS:
        parser.error(f"--rows is from 0 to {MOST_ROWS}")
    if given.count < 0:
        parser.error("--count is a number from 0 on")
    try:
        way = _way(given)
    except (OptionFileError, ValueError) as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}")
    wish = Wish(given.interval, given.once, given.batch, given.count, given.rows)
    return way, wish


def _way(given: argparse.Namespace) -> Way:
    found = options_of([given.defaults_file]) if given.defaults_file else usual_options()
    host = given.host or ("" if given.socket else found.get("host", ""))
    port = given.port if given.port is not None else int(found.get("port") or 3306)
    if not 1 <= port <= 65535:
        raise ValueError(f"port {port}: a port is a number from 1 to 65535")
    # As with the server's clients, localhost means the socket, unless a port is asked for.
    by_tcp = not given.socket and (given.port is not None or host not in {"", "localhost"})
    password = found.get("password", "")
    if given.password_file:
        password = given.password_file.read_text().partition("\n")[0]
    return Way(
        socket="" if by_tcp else given.socket or found.get("socket", "") or _usual_socket(),
        host=(host or "localhost") if by_tcp else "",
        port=port,
        user=given.user or found.get("user") or getpass.getuser(),
        password=password,
        tls_ca=given.tls_ca or found.get("ssl-ca", ""),
    )


def _usual_socket() -> str:
    return next((path for path in USUAL_SOCKETS if Path(path).exists()), USUAL_SOCKETS[0])
