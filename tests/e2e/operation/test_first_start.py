"""What the plugin says when it starts: where it listens, and which settings are wrong or idle."""

from __future__ import annotations

import grp
import re
import socket
import stat
from pathlib import Path

import pytest
from handlersocket2 import Client
from server_instance import ServerError, ServerInstance, Setting, free_port
from support.database import Sql
from support.servers import (
    LOG_ERROR,
    LOG_NEWS,
    LOG_WARNING,
    ON_MYSQL,
    SERVER_TREE,
    in_dialect,
    own_settings,
)
from support_servers import listens, wait_until

INSTALL = in_dialect("INSTALL SONAME 'handlersocket2'")
UNINSTALL = in_dialect("UNINSTALL SONAME 'handlersocket2'")
GENERAL_ERROR = 1105
# A port that does not matter, because nothing gets as far as to listen on it.
SOME_PORT = 9998


def lines(server: ServerInstance, level: str) -> list[str]:
    """The plugin's lines of a level in the log, without their beginning."""
    found = []
    for line in server.log_text().splitlines():
        if match := re.search(level + "(.*)", line):
            found.append(match[1].rstrip("'"))
    return found


def news(server: ServerInstance) -> list[str]:
    """What it says of its ports. The rest depends on the machine, and on the server's defaults."""
    other = ("open_files_limit", "innodb_adaptive_hash_index")
    return [line for line in lines(server, LOG_NEWS) if not any(name in line for name in other)]


def is_loaded(server: ServerInstance) -> bool:
    query = (
        "SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = 'handlersocket'"
    )
    return server.client(query).strip() == "ACTIVE"


def option(server: ServerInstance, name: str) -> str:
    return server.client(f"SELECT @@handlersocket_{name}").strip()


class Holder:
    """A program that has a port."""

    def __enter__(self) -> int:
        self.socket = socket.create_server(("127.0.0.1", free_port()))
        return int(self.socket.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def test_it_says_where_it_listens(make_server, tmp_path: Path) -> None:
    path = tmp_path / "r.sock"
    server = make_server(handlersocket_socket=str(path), handlersocket_threads=3)
    read, write = news(server)
    ports = (server.hs_port, server.hs_port_wr)
    tcp = [rf"listens on 127\.0\.0\.1:{port}(?:(?: and|,) \[::1\]:{port})?" for port in ports]
    whom = "clients act as root@localhost"
    assert re.fullmatch(rf"{tcp[0]} and {path} for reading, with 3 workers; {whom}", read)
    both = "with 3 readers and 1 writer"
    assert re.fullmatch(rf"{tcp[1]} for reading and writing, {both}; {whom}", write)
    assert lines(server, LOG_ERROR) == []


def test_the_mode_and_group_of_unix_sockets(make_server, tmp_path: Path) -> None:
    paths = tmp_path / "r.sock", tmp_path / "w.sock"
    sockets = {
        "handlersocket_socket": str(paths[0]),
        "handlersocket_socket_wr": str(paths[1]),
    }
    server = make_server(**sockets)
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o777, 0o777]
    own = grp.getgrgid(paths[0].stat().st_gid).gr_name
    server.stop()
    server = make_server(
        **sockets, handlersocket_socket_mode="0620", handlersocket_socket_group=own
    )
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o620, 0o620]
    server.stop()
    server = make_server(**sockets, handlersocket_socket_group="no such group")
    assert lines(server, LOG_ERROR) == [
        f"cannot listen on {path}: there is no group no such group" for path in paths
    ]
    assert listens(server.hs_port)


def test_it_says_so_unless_it_is_told_to_be_silent(make_server) -> None:
    assert lines(make_server(handlersocket_verbose=0), LOG_NEWS) == []


@pytest.mark.parametrize("taken", ["port", "port_wr"])
def test_a_server_starts_though_a_port_is_taken(taken: str, make_server) -> None:
    with Holder() as port:
        server = make_server(**{f"handlersocket_{taken}": port})
        assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in lines(
            server, LOG_ERROR
        )
        other = server.hs_port_wr if taken == "port" else server.hs_port
        assert listens(other)
        (line,) = news(server)
        assert f"127.0.0.1:{other}" in line


def test_a_server_serves_a_port_though_its_socket_cannot_be(make_server, tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "r.sock"
    server = make_server(handlersocket_socket=str(path))
    assert lines(server, LOG_ERROR) == [f"cannot listen on {path}: No such file or directory"]
    assert str(path) not in "".join(lines(server, LOG_NEWS))
    assert listens(server.hs_port)


def test_an_install_fails_if_a_port_is_taken(make_server) -> None:
    with Holder() as port:
        server = make_server(load_plugin=False, loose_handlersocket_port=port)
        with Sql(server.socket) as sql:
            assert sql.error(INSTALL) == GENERAL_ERROR
            told = [message for _, _, message in sql.rows("SHOW WARNINGS")]
        what = f"handlersocket: cannot listen on 127.0.0.1:{port}: Address already in use"
        assert told[0] == what.encode()
        assert not is_loaded(server)
        assert news(server) == []
        assert not listens(server.hs_port_wr)
    server.client(INSTALL)
    assert listens(port)
    assert listens(server.hs_port_wr)


def test_without_a_port_it_says_what_to_do(make_server) -> None:
    server = make_server(
        load_plugin=False, loose_handlersocket_port="", loose_handlersocket_port_wr=""
    )
    with Sql(server.socket) as sql:
        assert sql.error(INSTALL) is None
        ((level, _, message),) = sql.rows("SHOW WARNINGS")
    assert level == b"Warning"
    assert message is not None
    assert re.search(rb"listens nowhere.*Set handlersocket_port .*restart the server", message)
    (line,) = lines(server, LOG_WARNING)
    assert f"handlersocket: {line}".encode() == message
    assert is_loaded(server)


NO_PORT = "a port is a number from 1 to 65535, or empty for none"
# Settings, and what the log says about each.
IMPOSSIBLE = {
    "too large": (
        {"port": 99980, "port_wr": 65536, "character_set": "latin1"},
        [
            f"handlersocket_port is '99980': {NO_PORT}",
            f"handlersocket_port_wr is '65536': {NO_PORT}",
            "handlersocket_character_set has to be utf8mb4 or binary",
        ],
    ),
    "too small": (
        {"port": "-1", "port_wr": 0},
        [f"handlersocket_port is '-1': {NO_PORT}", f"handlersocket_port_wr is '0': {NO_PORT}"],
    ),
    "text": (
        {"port": "http", "socket": "/tmp/hs", "socket_wr": "/tmp/hs", "socket_mode": "rw"},
        [
            "handlersocket_socket_mode has to be an octal number up to 0777",
            f"handlersocket_port is 'http': {NO_PORT}",
            "handlersocket_socket and handlersocket_socket_wr are both /tmp/hs",
        ],
    ),
    "twice": (
        {"port": SOME_PORT, "port_wr": f"0{SOME_PORT}"},
        [f"handlersocket_port and handlersocket_port_wr are both {SOME_PORT}"],
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be_meant_is_refused(case: str, make_server) -> None:
    """The plugin does not start. The server does, and says why the plugin does not."""
    settings, reasons = IMPOSSIBLE[case]
    server = make_server(**{f"handlersocket_{name}": value for name, value in settings.items()})
    assert set(lines(server, LOG_ERROR)) == set(reasons)
    assert lines(server, LOG_NEWS) == []
    assert not is_loaded(server)
    assert not any(listens(port) for port in (server.hs_port, server.hs_port_wr))


def test_the_servers_own_port_and_socket_are_refused(make_server, tmp_path: Path) -> None:
    port = free_port()
    own = tmp_path / "own.sock"
    server = make_server(load_plugin=False, port=port)
    server.stop()
    server.socket = own
    server.load_plugin = True
    server.settings |= {"handlersocket_port": port, "handlersocket_socket_wr": str(own)}
    server.start()
    errors = lines(server, LOG_ERROR)
    assert f"handlersocket_port is {port}, which is the server's own port" in errors
    assert f"handlersocket_socket_wr is {own}, which is the server's own socket" in errors
    assert not is_loaded(server)


def test_numbers_are_kept_within_their_bounds(make_server) -> None:
    """As for the server's own variables: the next possible number, and a warning."""
    beyond = {"threads": 3001, "threads_wr": 0, "stream_patience": 0, "max_waiting_bytes": 1}
    nearest = {"threads": "3000", "threads_wr": "1", "stream_patience": "1"}
    nearest["max_waiting_bytes"] = "1048576"
    # Not that many threads: the plugin does not start, for there is no port.
    settings = {f"handlersocket_{name}": value for name, value in beyond.items()}
    server = make_server(handlersocket_port="", handlersocket_port_wr="", **settings)
    assert {name: option(server, name) for name in beyond} == nearest
    for name in beyond:
        told = rf"\[Warning\].* option 'handlersocket-{name.replace('_', '-')}'.* adjusted to"
        assert re.search(told, server.log_text()), name


def test_a_number_that_is_none_is_refused_by_install(make_server) -> None:
    """MariaDB goes on with 0, even where that is out of bounds."""
    for name, value in (("threads_wr", "abc"), ("max_waiting_bytes", "1.5")):
        server = make_server(load_plugin=False, **{f"loose_handlersocket_{name}": value})
        with Sql(server.socket) as sql:
            error = sql.error(INSTALL)
        assert f"'handlersocket-{name.replace('_', '-')}'" in server.log_text()
        assert not is_loaded(server)
        if not ON_MYSQL:  # MySQL says that all is well, and does not start the plugin
            assert error == GENERAL_ERROR
            (told,) = lines(server, LOG_ERROR)
            assert told.startswith(f"handlersocket_{name} was given a value that is no number")


class TestSettingsWithoutEffect:
    """They are named, also if they are set to their defaults."""

    def named(self, server: ServerInstance) -> set[str]:
        found = (
            re.fullmatch(r"(\w+) does nothing: .*", line) for line in lines(server, LOG_WARNING)
        )
        return {match[1].removeprefix("handlersocket_") for match in found if match}

    def test_those_of_the_original_and_of_a_port_that_is_not_there(self, make_server) -> None:
        defaults = {"epoll": 1, "wrlock_timeout": 12, "accept_balance": 0, "threads_wr": 1}
        settings = {f"handlersocket_{name}": value for name, value in defaults.items()}
        secret = "not-in-the-log"
        server = make_server(
            handlersocket_port_wr="",
            handlersocket_threads=2,
            handlersocket_plain_secret_wr=secret,
            **settings,
        )
        assert self.named(server) == {*defaults, "plain_secret_wr"}
        assert secret not in server.log_text()

    def test_threads_for_tables_that_there_are_not(self, make_server) -> None:
        server = make_server(handlersocket_threads_remote=2)
        assert self.named(server) == ({"threads_remote"} if ON_MYSQL else set())
        threads = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE '%{}'"
        remote = threads.format("requests to other servers")
        others = threads.format("waiting for log-ins")
        expected = 0 if ON_MYSQL else 4
        with Sql(server.socket) as sql:
            # The server answers SQL a moment before the plugin's threads have their sessions.
            wait_until(
                lambda: sql.number(others) > 0 and sql.number(remote) >= expected,
                "the threads have started",
            )
            assert sql.number(remote) == expected

    def test_an_address_without_a_tcp_port(self, make_server, tmp_path: Path) -> None:
        server = make_server(
            handlersocket_port="",
            handlersocket_port_wr="",
            handlersocket_socket=str(tmp_path / "r.sock"),
            handlersocket_address="127.0.0.1",
            handlersocket_threads=1,
        )
        assert self.named(server) == {"address"}
        with Client(tmp_path / "r.sock"):
            pass

    def test_who_may_connect_to_no_unix_socket(self, make_server) -> None:
        server = make_server(handlersocket_socket_mode="0600", handlersocket_socket_group="root")
        assert self.named(server) == {"socket_mode", "socket_group"}

    def test_those_that_are_not_set_are_not_named(self, server: ServerInstance) -> None:
        assert self.named(server) == set()

    def test_the_install_tells_its_client(self, make_server) -> None:
        server = make_server(load_plugin=False, loose_handlersocket_epoll=1)
        with Sql(server.socket) as sql:
            assert sql.error(INSTALL) is None
            told = [message for _, _, message in sql.rows("SHOW WARNINGS")]
        assert len(told) == 1
        assert told[0] is not None
        assert told[0].startswith(b"handlersocket: handlersocket_epoll does nothing: ")
        server.client(UNINSTALL)


@pytest.mark.parametrize("reason", ["an unknown option", "a port that is taken", "no socket"])
def test_a_start_that_the_server_gives_up_is_no_error_of_the_plugin(
    reason: str, tmp_path: Path
) -> None:
    with Holder() as port:
        settings: dict[str, dict[str, Setting]] = {
            "an unknown option": {"nonexistent_option": 1},
            "a port that is taken": {"port": port},
            "no socket": {"socket": str(tmp_path / "missing" / "server.sock")},
        }
        server = ServerInstance(
            SERVER_TREE, tmp_path / "server", settings=own_settings(settings[reason])
        )
        with pytest.raises(ServerError):
            server.start()
    assert lines(server, LOG_ERROR) == []
