"""What the settings do, and what the log says about them."""

from __future__ import annotations

import os
import re
import socket
import statistics
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from handlersocket2 import AuthenticationError, Client, ReplyError
from server_instance import ServerInstance
from support.database import Sql
from support.servers import LOG_ERROR, LOG_WARNING, VARIABLES_TABLE, VARIABLES_VALUE
from support.wire import Wire
from support_servers import wait_until


def prepared(server: ServerInstance) -> ServerInstance:
    server.client("CREATE TABLE IF NOT EXISTS test.t (id INT PRIMARY KEY, v INT)")
    server.client("REPLACE INTO test.t VALUES (1, 10)")
    return server


def answers(address: object) -> bool:
    with Client(address) as client:  # type: ignore[arg-type]
        return client.index("test", "t", ["v"]).find(1) == [(b"10",)]


def listening_addresses(server: ServerInstance) -> set[tuple[str, int]]:
    """The TCP addresses on which the server's process listens."""
    inodes = set()
    for link in Path(f"/proc/{server.pid}/fd").iterdir():
        try:
            target = str(link.readlink())
        except FileNotFoundError:  # closed since the folder was listed
            continue
        if match := re.fullmatch(r"socket:\[(\d+)\]", target):
            inodes.add(match[1])
    found = set()
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state != "0A" or rest[5] not in inodes:
                continue
            address, port = local.split(":")
            words = bytes.fromhex(address)
            packed = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
            found.add((socket.inet_ntop(family, packed), int(port, 16)))
    return found


def test_unset_address_is_loopback_and_the_log_says_as_whom_clients_act(make_server) -> None:
    server = prepared(make_server())
    addresses = listening_addresses(server)
    assert {port for _, port in addresses} == {server.hs_port, server.hs_port_wr}
    assert {address for address, _ in addresses} <= {"127.0.0.1", "::1"}
    log = server.log_text()
    assert log.count("; clients act as root@localhost") == 2


def test_without_ports_nothing_listens(make_server) -> None:
    server = prepared(make_server(handlersocket_port="", handlersocket_port_wr=""))
    assert listening_addresses(server) == set()
    assert re.search(LOG_WARNING + "listens nowhere", server.log_text())


def test_one_port_alone(make_server) -> None:
    server = prepared(make_server(handlersocket_port_wr=""))
    assert {port for _, port in listening_addresses(server)} == {server.hs_port}
    assert answers(("127.0.0.1", server.hs_port))


def test_the_secret_is_shown_nowhere(make_server) -> None:
    secret = "psssst-read", "psssst-write"
    server = prepared(
        make_server(
            handlersocket_plain_secret=secret[0],
            handlersocket_plain_secret_wr=secret[1],
            log_warnings=9,
            general_log=1,
            general_log_file="general.log",
        )
    )
    for port, own in ((server.hs_port, secret[0]), (server.hs_port_wr, secret[1])):
        with Client(("127.0.0.1", port)) as nobody, pytest.raises(AuthenticationError):
            nobody.index("test", "t", ["v"])
        with Client(("127.0.0.1", port), secret="wrong") as wrong:
            with pytest.raises(AuthenticationError):
                wrong.index("test", "t", ["v"])
        with Client(("127.0.0.1", port), secret=own) as client:
            assert client.index("test", "t", ["v"]).find(1) == [(b"10",)]
    with Sql(server.socket) as sql:
        assert sql.rows("SHOW GLOBAL VARIABLES WHERE Value LIKE 'psss%'") == []
        assert sql.rows(
            f"SELECT * FROM {VARIABLES_TABLE} WHERE {VARIABLES_VALUE} LIKE 'psss%'"
        ) == []  # fmt: skip
    assert "psssst" not in server.log_text()
    assert "psssst" not in (server.data_dir / "general.log").read_text(errors="replace")
    assert server.log_text().count("; with the secret as root@localhost") == 2


@pytest.mark.parametrize("writes", [False, True], ids=["read port", "write port"])
def test_who_tries_secrets_waits_alone(writes: bool, make_server) -> None:
    """Each wrong secret takes its connection a second, and nobody else any time."""
    secrets = {"handlersocket_plain_secret": "sesame", "handlersocket_plain_secret_wr": "sesame"}
    server = prepared(make_server(handlersocket_threads=1, **secrets))
    port = server.hs_port_wr if writes else server.hs_port
    with ExitStack() as stack:
        sql = stack.enter_context(Sql(server.socket))
        began = time.monotonic()
        guessing = [stack.enter_context(Wire(port)) for _ in range(50)]
        for wire in guessing:
            wire.send(b"A\t1\tguess\nA\t1\tanother\nA\t1\tsesame\nP\t1\ttest\tt\t\tv\n")
        gone = Wire(port)
        gone.send(b"A\t1\tguess\n")
        gone.close()
        client = stack.enter_context(Client(("127.0.0.1", port), secret="sesame"))
        index = client.index("test", "t", ["v"])
        waits = []
        while time.monotonic() < began + 1.5 or not waits:
            asked = time.monotonic()
            assert index.find(1) == [(b"10",)]
            waits.append(time.monotonic() - asked)
        for wire in guessing:
            assert wire.lines(4) == [b"3\t1\tunauth", b"3\t1\tunauth", b"0\t1", b"0\t1"]
        assert time.monotonic() - began >= 2
        assert statistics.median(waits) < 0.1
        wait_until(lambda: sql.status("handlersocket_connections") == 51, "the one that left")
        assert sql.status("handlersocket_log_ins_failed") in (100, 101)


@pytest.mark.parametrize("busy_poll", [0, 1000])
def test_whether_a_worker_stays_awake(busy_poll: int, make_server) -> None:
    server = prepared(make_server(handlersocket_busy_poll=busy_poll))
    deadline = time.monotonic() + 60
    with Client(("127.0.0.1", server.hs_port)) as client, Sql(server.socket) as sql:
        index = client.index("test", "t", ["v"])
        while True:
            for _ in range(500):
                assert index.find(1) == [(b"10",)]
            polls = sql.status("handlersocket_busy_polls")
            hits = sql.status("handlersocket_busy_poll_hits")
            # On a busy machine the client is often too late.
            if busy_poll == 0 or hits >= 50 or time.monotonic() > deadline:
                break
    assert (polls == hits == 0) if busy_poll == 0 else (polls >= hits >= 50)


def test_the_cores_say_how_many_workers(make_server) -> None:
    cores = os.sched_getaffinity(0)
    shown = "SELECT @@handlersocket_threads"
    assert 1 <= Sql(make_server().socket).number(shown) <= len(cores)
    try:
        os.sched_setaffinity(0, {min(cores)})
        assert Sql(make_server().socket).number(shown) == 1
        server = make_server(handlersocket_threads=5)
        assert Sql(server.socket).number(shown) == 5
    finally:
        os.sched_setaffinity(0, cores)


def test_nonsense_in_an_address(make_server) -> None:
    server = prepared(make_server(handlersocket_address="no.such.host.invalid"))
    assert listening_addresses(server) == set()
    assert re.search(LOG_ERROR + "cannot listen on no.such.host.invalid:", server.log_text())


def test_a_restart_keeps_everything(make_server) -> None:
    server = prepared(make_server())
    server.restart()
    assert answers(("127.0.0.1", server.hs_port))


def test_a_crash_and_unix_sockets(make_server, tmp_path: Path) -> None:
    paths = tmp_path / "r.sock", tmp_path / "w.sock"
    server = prepared(
        make_server(
            handlersocket_port="",
            handlersocket_port_wr="",
            handlersocket_socket=str(paths[0]),
            handlersocket_socket_wr=str(paths[1]),
        )
    )
    assert listening_addresses(server) == set()
    assert all(answers(path) for path in paths)
    with Client(paths[0]) as reader, pytest.raises(ReplyError, match="readonly"):
        reader.index("test", "t", ["id", "v"]).insert([2, 20])
    with Client(paths[1]) as writer:
        writer.index("test", "t", ["id", "v"]).insert([2, 20])
    server.kill()
    assert paths[0].exists(), "a server that was killed cannot have removed its socket"
    server.start()
    assert all(answers(path) for path in paths)
    server.stop()
    assert not any(path.exists() for path in paths)
    server.start()


class TestLimits:
    @pytest.fixture
    def small(self, make_server) -> ServerInstance:
        return prepared(
            make_server(
                handlersocket_timeout=2,
                handlersocket_max_connections=3,
                handlersocket_max_request_size=1024,
            )
        )

    def test_an_idle_connection_is_closed(self, small: ServerInstance) -> None:
        with Wire(small.hs_port) as idle, Wire(small.hs_port) as busy:
            started = time.monotonic()
            while time.monotonic() - started < 1.5:
                assert busy.ask(b"x\n").startswith(b"2\t1\t")
                time.sleep(0.2)
            idle_from = started
            assert idle.rest() == b""
            assert 1.9 < time.monotonic() - idle_from < 10.0
            assert busy.ask(b"x\n").startswith(b"2\t1\t")

    def test_a_connection_too_many_is_closed(self, small: ServerInstance) -> None:
        for port in (small.hs_port, small.hs_port_wr):
            wires = [Wire(port) for _ in range(3)]
            for wire in wires:
                wire.ask(b"x\n")
            with Wire(port) as refused:
                assert refused.rest() == b""
            wires.pop().close()
            with Sql(small.socket) as sql:
                deadline = time.monotonic() + 5
                while sql.status("handlersocket_connections") > 2:
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
                assert sql.status("handlersocket_connections_refused") >= 1
            with Wire(port) as accepted:
                accepted.ask(b"x\n")
            for wire in wires:
                wire.close()

    def test_a_request_too_large(self, small: ServerInstance) -> None:
        opened = b"P\t1\ttest\tt\t\tid,v\n"
        for end in (b"\n", b""):
            with Wire(small.hs_port_wr) as wire:
                wire.send(opened + b"1\t+\t2\t7\t" + b"7" * 1100 + end)
                wire.lines(1)
                assert wire.lines(1) == [b"2\t1\trequest_size"]
                assert wire.rest() == b""
        with Wire(small.hs_port_wr) as wire:
            wire.ask(opened)
            assert wire.ask(b"1\t=\t1\t" + b"0" * 1000 + b"1\n") == b"0\t2\t1\t10"
