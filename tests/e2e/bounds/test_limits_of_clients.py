"""Limits that clients meet: whoever is refused or slowed down is counted, and nobody else is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, LogIn
from server_instance import ServerInstance
from support.database import Sql
from support.pace import Pace
from support.wire import Wire
from support_servers import running_server, wait_until

SECRET = "a-secret"
SOCKET = "hs.sock"  # in the data directory
RIGHT = b"A\t2\tann\tpw\n"
WRONG = b"A\t2\tann\tguess\n"
WRONG_SECRET = b"A\t1\tguess\n"
RIGHT_SECRET = b"A\t1\t%s\n" % SECRET.encode()
ACCESS_DENIED = b"1\t1\t1045"
UNAUTH = b"3\t1\tunauth"
OK = b"0\t1"
#: A wrong password is answered after so many seconds at the earliest.
DELAY = 1.0


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    settings = {
        "handlersocket_anonymous_account": "",
        "handlersocket_secret_account": "ann@localhost",
        "handlersocket_plain_secret": SECRET,
        "handlersocket_socket": SOCKET,
    }
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            sql.run(
                "CREATE DATABASE lim",
                "CREATE TABLE lim.t (id INT PRIMARY KEY)",
                "CREATE USER ann@localhost IDENTIFIED BY 'pw'",
                "GRANT SELECT ON lim.* TO ann@localhost",
            )
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket) as session:
        yield session


@contextmanager
def setting(sql: Sql, name: str, value: int) -> Iterator[None]:
    sql.run(f"SET GLOBAL handlersocket_{name} = {value}")
    try:
        yield
    finally:
        sql.run(f"SET GLOBAL handlersocket_{name} = DEFAULT")


@pytest.mark.parametrize(
    ("wrong", "right", "refusal"),
    [(WRONG, RIGHT, ACCESS_DENIED), (WRONG_SECRET, RIGHT_SECRET, UNAUTH)],
    ids=["password", "secret"],
)
def test_wrong_ones_are_slowed_down_by_address(
    wrong: bytes, right: bytes, refusal: bytes, server: ServerInstance, sql: Sql, pace: Pace
) -> None:
    """New connections do not help. Another address does not notice."""
    time.sleep(1.1)  # what other tests have tried is forgotten
    most = 4
    clients = 20
    slowed = sql.status("handlersocket_log_ins_slowed")
    failed = sql.status("handlersocket_log_ins_failed")
    lines = server.log_text().count("failed log-ins from 127.0.0.1:")
    began = time.monotonic()
    with setting(sql, "max_wrong_log_ins", most), ExitStack() as stack:
        wires = [stack.enter_context(Wire(server.hs_port)) for _ in range(clients)]
        for wire in wires:
            wire.send(wrong)
        wait_until(lambda: sql.status("handlersocket_log_ins_slowed") > slowed, "some have to wait")
        asked = time.monotonic()
        with Client(server.data_dir / SOCKET, user="ann", password="pw") as other:
            other.request(LogIn("ann", "pw"))
        assert time.monotonic() - asked < DELAY / 2 + pace.longest
        for wire in wires:
            assert wire.lines(1) == [refusal]
        took = time.monotonic() - began
        # Those that were tried last have waited longer than an answer is held back.
        assert took > (clients - most) / most - 0.5
        wait_until(lambda: ask_anew(server, right) == OK, "the address may try again")
    assert sql.status("handlersocket_log_ins_failed") == failed + clients
    told = server.log_text().count("failed log-ins from 127.0.0.1:") - lines
    assert 1 <= told <= took + 2


def ask_anew(server: ServerInstance, line: bytes) -> bytes:
    with Wire(server.hs_port) as wire:
        return wire.ask(line)


def test_right_ones_are_not_slowed_down(server: ServerInstance, sql: Sql) -> None:
    time.sleep(1.1)
    slowed = sql.status("handlersocket_log_ins_slowed")
    with setting(sql, "max_wrong_log_ins", 2):
        for line in (RIGHT, RIGHT_SECRET) * 20:
            assert ask_anew(server, line) == OK
    assert sql.status("handlersocket_log_ins_slowed") == slowed


def test_who_waits_for_its_turn_is_closed_in_time(server: ServerInstance, sql: Sql) -> None:
    late = sql.status("handlersocket_log_ins_late")
    with (
        setting(sql, "max_wrong_log_ins", 1),
        setting(sql, "log_in_timeout", 3),
        ExitStack() as stack,
    ):
        wires = [stack.enter_context(Wire(server.hs_port)) for _ in range(20)]
        for wire in wires:
            wire.send(WRONG)
        began = time.monotonic()
        ends = [wire.rest() for wire in wires]
        assert time.monotonic() - began < 8
    assert b"" in ends
    assert all(end in (b"", ACCESS_DENIED + b"\n") for end in ends)
    assert sql.status("handlersocket_log_ins_late") > late


def test_open_indexes(server: ServerInstance, sql: Sql) -> None:
    refused = sql.status("handlersocket_open_indexes_refused")
    opening = b"P\t%d\tlim\tt\tPRIMARY\tid\n"
    with setting(sql, "max_open_indexes", 3), Wire(server.hs_port) as wire:
        assert wire.ask(RIGHT) == OK
        for number in (1, 2, 1000):
            assert wire.ask(opening % number) == OK
        for number in (3, 2000):
            assert wire.ask(opening % number) == b"2\t1\tstmtnum"
        assert wire.ask(opening % 1000) == OK  # in its own place
        sql.run("SET GLOBAL handlersocket_max_open_indexes = 1")
        assert wire.ask(opening % 2) == OK
        assert wire.ask(opening % 3) == b"2\t1\tstmtnum"
        sql.run("SET GLOBAL handlersocket_max_open_indexes = 4")
        assert wire.ask(opening % 3) == OK
    assert sql.status("handlersocket_open_indexes_refused") == refused + 3


def test_who_does_nothing(server: ServerInstance, sql: Sql) -> None:
    idle = sql.status("handlersocket_connections_idle")
    with setting(sql, "timeout", 1), Wire(server.hs_port) as wire:
        assert wire.ask(RIGHT) == OK
        assert wire.rest() == b""
    assert sql.status("handlersocket_connections_idle") == idle + 1


def test_why_a_connection_is_refused(server: ServerInstance, sql: Sql) -> None:
    """The port may be full, or the address may have too many that have not logged in."""

    def counted() -> tuple[int, int]:
        name = "handlersocket_connections_refused"
        return sql.status(name), sql.status(f"{name}_address")

    before = counted()
    with Wire(server.hs_port) as one, Wire(server.hs_port) as two:
        for wire in (one, two):
            assert wire.ask(b"nonsense\n") == b"2\t1\tcmd"
        with setting(sql, "max_unauthenticated", 2), Wire(server.hs_port) as third:
            assert third.rest() == b""
        assert counted() == (before[0] + 1, before[1] + 1)
        with setting(sql, "max_connections", 2), Wire(server.hs_port) as third:
            assert third.rest() == b""
        assert counted() == (before[0] + 2, before[1] + 1)
        for wire in (one, two):
            assert wire.ask(b"nonsense\n") == b"2\t1\tcmd"


def test_every_limit_at_once(server: ServerInstance, sql: Sql, pace: Pace) -> None:
    """A client that is logged in is served as always."""
    ends = time.monotonic() + 4.0
    with ExitStack() as stack:
        wire = stack.enter_context(Wire(server.hs_port))
        assert wire.ask(RIGHT) == OK
        assert wire.ask(b"P\t1\tlim\tt\tPRIMARY\tid\n") == OK
        for name, value in (
            ("max_wrong_log_ins", 3),
            ("log_in_timeout", 1),
            ("max_unauthenticated", 5),
            ("max_connections", 20),
            ("max_open_indexes", 1),
            ("max_waiting_bytes", 1 << 20),
        ):
            stack.enter_context(setting(sql, name, value))

        def storm(number: int) -> None:
            lines = (
                WRONG,
                RIGHT + b"P\t7\tlim\tt\t\tid\n" * 9,
                b"\x16\x03\x01",
                b"A\t2\t" + b"x" * 4000,
            )
            while time.monotonic() < ends:
                try:
                    with Wire(server.hs_port) as storming:
                        storming.send(lines[number % len(lines)])
                        time.sleep(0.02)
                except OSError:
                    continue

        threads = [threading.Thread(target=storm, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        waits = []
        while time.monotonic() < ends:
            began = time.monotonic()
            assert wire.ask(b"1\t=\t1\t1\n") == OK
            waits.append(time.monotonic() - began)
        for thread in threads:
            thread.join()
        assert sorted(waits)[len(waits) * 99 // 100] < 0.1 + pace.longest
