"""TLS on the TCP ports, with the server's own certificates."""

from __future__ import annotations

import random
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import Client, Connection, ConnectionLost
from server_instance import ServerInstance
from support.certificates import context_for, make_certificates
from support.database import Sql
from support.pace import Pace
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import fresh_session, running_server, wait_until

VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]
#: The seconds that a client has for its handshake.
HANDSHAKE_TIMEOUT = 10
ROWS = 20_000
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(1000))",
    f"INSERT INTO t SELECT seq, REPEAT(CHAR(97 + seq % 26), 500) FROM seq_1_to_{ROWS}",
)
OPEN = b"P\t1\ttls\tt\tPRIMARY\tid,v\n"
RELOAD = "ALTER INSTANCE RELOAD TLS" if ON_MYSQL else "FLUSH SSL"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory, "server", "later", "client", "stranger")


def settings_of(folder: Path) -> dict[str, Any]:
    return {
        "ssl_cert": str(folder / "server.pem"),
        "ssl_key": str(folder / "server-key.pem"),
        "ssl_ca": str(folder / "client.pem"),
    }


@pytest.fixture(scope="module")
def tls_server(data_root: Path, watch: Any, certificates: Path) -> Iterator[ServerInstance]:
    with running_server(data_root, watch, **settings_of(certificates)) as instance:
        with Sql(instance.socket) as sql:
            sql.run("CREATE DATABASE tls", "USE tls", *TABLES)
        yield instance


@pytest.fixture
def sql(tls_server: ServerInstance) -> Iterator[Sql]:
    with Sql(tls_server.socket, "tls") as session:
        yield session


def connect(port: int, context: ssl.SSLContext, **options: Any) -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", port), 30)
    return context.wrap_socket(plain, server_hostname="127.0.0.1", **options)


def read_line(wire: ssl.SSLSocket | socket.socket, size: int = 65536) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        piece = wire.recv(size)
        assert piece, f"end of file after {received[-100:]!r}"
        received += piece
    return received


def letter(key: int) -> bytes:
    return bytes([97 + key % 26])


@pytest.mark.parametrize("version", VERSIONS, ids=["1.2", "1.3"])
def test_requests(tls_server: ServerInstance, certificates: Path, version: ssl.TLSVersion) -> None:
    """Short and long requests and replies, and a pipeline whose replies the client reads late."""
    with connect(tls_server.hs_port_wr, context_for(certificates, version)) as wire:
        assert wire.version() == {"TLSv1_2": "TLSv1.2", "TLSv1_3": "TLSv1.3"}[version.name]
        wire.sendall(OPEN)
        assert read_line(wire) == b"0\t1\n"
        wire.sendall(b"1\t=\t1\t7\n")
        assert read_line(wire) == b"0\t2\t7\t" + letter(7) * 500 + b"\n"
        keys = range(1, 3001)
        wire.sendall(b"".join(b"1\t=\t1\t%d\n" % key for key in keys))
        time.sleep(0.2)
        reader = wire.makefile("rb")
        for key in keys:
            assert reader.readline() == b"0\t2\t%d\t%b\n" % (key, letter(key) * 500)
        wire.sendall(b"1\t>=\t1\t1\t%d\n" % ROWS)
        row = reader.readline().rstrip(b"\n").split(b"\t")
        assert row[2::2] == [b"%d" % key for key in range(1, ROWS + 1)]
        assert row[3::2] == [letter(key) * 500 for key in range(1, ROWS + 1)]
        long = b"1\t=\t1\t8\t1\t0\tU\t8\t" + b"x" * 900 + b"\n"
        wire.sendall(long * 200 + b"1\t=\t1\t8\n")
        for _ in range(200):
            assert reader.readline() == b"0\t1\t1\n"
        assert reader.readline() == b"0\t2\t8\t" + b"x" * 900 + b"\n"
        wire.sendall(b"1\t=\t1\t8\t1\t0\tU\t8\t" + letter(8) * 500 + b"\n")
        assert reader.readline() == b"0\t1\t1\n"


def test_many_clients(tls_server: ServerInstance, certificates: Path, sql: Sql) -> None:
    """Of both kinds, on both ports, with half-closed connections among them."""
    context, wrong = context_for(certificates), []
    before = sql.status("handlersocket_tls_handshakes")

    def work(number: int) -> None:
        port = tls_server.hs_port if number % 2 else tls_server.hs_port_wr
        for _ in range(5):
            with ExitStack() as stack:
                plain = socket.create_connection(("127.0.0.1", port), 30)
                stack.enter_context(plain)
                wire: socket.socket = plain
                if number % 3:
                    wire = context.wrap_socket(plain, server_hostname="localhost")
                    stack.enter_context(wire)
                wire.sendall(OPEN + b"1\t=\t1\t5\n" * 50)
                expected = b"0\t1\n" + 50 * (b"0\t2\t5\t" + letter(5) * 500 + b"\n")
                received = b""
                while len(received) < len(expected):
                    piece = wire.recv(100_000)
                    if not piece:
                        break
                    received += piece
                if received != expected:
                    wrong.append(received[:100])
                if isinstance(wire, ssl.SSLSocket):
                    wire.unwrap()  # fails unless the server says farewell, too

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert sql.status("handlersocket_tls_handshakes") - before == 16 * 5


def test_a_handshake_in_pieces(tls_server: ServerInstance, certificates: Path) -> None:
    """Every byte of the client's side comes alone."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context_for(certificates).wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with socket.create_connection(("127.0.0.1", tls_server.hs_port), 30) as wire:
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def send() -> None:
            for byte in outgoing.read():
                wire.sendall(bytes([byte]))
                time.sleep(0.0005)

        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                send()
                incoming.write(wire.recv(65536))
        send()
        tls.write(OPEN)
        tls.write(b"1\t=\t1\t3\n")
        send()
        received = b""
        while received.count(b"\n") < 2:
            try:
                received += tls.read(65536)
            except ssl.SSLWantReadError:
                incoming.write(wire.recv(65536))
        assert received == b"0\t1\n0\t2\t3\t" + letter(3) * 500 + b"\n"


@pytest.mark.parametrize("version", VERSIONS, ids=["1.2", "1.3"])
def test_a_session_is_resumed(
    tls_server: ServerInstance, certificates: Path, version: ssl.TLSVersion
) -> None:
    context = context_for(certificates, version)
    with connect(tls_server.hs_port, context) as first:
        first.sendall(OPEN)
        assert read_line(first) == b"0\t1\n"
        session = first.session
    with connect(tls_server.hs_port, context, session=session) as second:
        assert second.session_reused
        second.sendall(OPEN)
        assert read_line(second) == b"0\t1\n"


def test_client_certificates(tls_server: ServerInstance, certificates: Path) -> None:
    """One that the server's ssl_ca has signed is accepted, another one is not."""
    known, unknown = context_for(certificates), context_for(certificates)
    known.load_cert_chain(certificates / "client.pem", certificates / "client-key.pem")
    unknown.load_cert_chain(certificates / "stranger.pem", certificates / "stranger-key.pem")
    with connect(tls_server.hs_port, known) as wire:
        wire.sendall(OPEN)
        assert read_line(wire) == b"0\t1\n"
    with pytest.raises(OSError):
        with connect(tls_server.hs_port, unknown) as wire:
            wire.sendall(OPEN)
            read_line(wire)


def test_certificates_are_loaded_anew(
    data_root: Path, watch: Any, certificates: Path, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    for name in ("server.pem", "server-key.pem", "client.pem"):
        (tmp_path / name).write_bytes((certificates / name).read_bytes())
    with (
        running_server(data_root, watch, **settings_of(tmp_path)) as instance,
        fresh_session(instance, "tls", "CREATE TABLE t (id INT PRIMARY KEY, v INT)") as sql,
        connect(instance.hs_port, context_for(certificates)) as old,
    ):
        for name in (".pem", "-key.pem"):
            (tmp_path / f"server{name}").write_bytes((certificates / f"later{name}").read_bytes())
        sql.run(RELOAD)
        with connect(instance.hs_port, context_for(certificates, trusted="later")) as new:
            for wire in (old, new):
                wire.sendall(OPEN)
                assert read_line(wire) == b"0\t1\n"
        with pytest.raises(ssl.SSLCertVerificationError):
            connect(instance.hs_port, context_for(certificates))


def test_plain_tcp_is_refused(data_root: Path, watch: Any, certificates: Path) -> None:
    """By the plugin's setting, and by the server's, which may change at any time."""
    refused = b"3\t1\ttls\n"
    for setting in ("REQUIRED", "PREFERRED"):
        settings = {**settings_of(certificates), "handlersocket_tls": setting}
        with (
            running_server(data_root, watch, **settings) as instance,
            fresh_session(instance, "tls", "CREATE TABLE t (id INT PRIMARY KEY, v INT)") as sql,
        ):
            if setting == "PREFERRED":
                with Wire(instance.hs_port) as plain:
                    assert plain.ask(OPEN) == b"0\t1"
                    sql.run("SET GLOBAL require_secure_transport = ON")
                    assert plain.ask(OPEN) == b"0\t1", "it was there before"
            for port in (instance.hs_port, instance.hs_port_wr):
                for request in (OPEN, b"x", b"\n", b"1\t=\t1\t1\n" * 10_000):
                    with Wire(port) as plain:
                        plain.send(request)
                        assert plain.rest() == refused
                with connect(port, context_for(certificates)) as wire:
                    wire.sendall(OPEN)
                    assert read_line(wire) == b"0\t1\n"
            if setting == "PREFERRED":
                sql.run("SET GLOBAL require_secure_transport = OFF")
                with Wire(instance.hs_port) as plain:
                    assert plain.ask(OPEN) == b"0\t1"


def test_tls_that_is_off(data_root: Path, watch: Any, certificates: Path) -> None:
    settings = {**settings_of(certificates), "handlersocket_tls": "OFF"}
    with running_server(data_root, watch, **settings) as instance:
        with pytest.raises(OSError):
            connect(instance.hs_port, context_for(certificates))
        with Sql(instance.socket) as sql:
            assert sql.status("handlersocket_tls_handshakes") == 0


def hello_of(certificates: Path) -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context_for(certificates).wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


def test_slow_handshakes(
    tls_server: ServerInstance, certificates: Path, sql: Sql, pace: Pace
) -> None:
    """Each costs a place in a list until its time is over, and nobody else notices."""
    hello = hello_of(certificates)
    failed = sql.status("handlersocket_tls_handshakes_failed")
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", tls_server.hs_port), 30))
            for _ in range(300)
        ]
        begun = time.monotonic()
        for number, wire in enumerate(slow):
            wire.sendall(hello[: 1 + number % len(hello)])
        with connect(tls_server.hs_port, context_for(certificates)) as wire:
            wire.sendall(OPEN)
            assert read_line(wire) == b"0\t1\n"
            assert sql.status("handlersocket_connections") >= 300
            while time.monotonic() - begun < HANDSHAKE_TIMEOUT - 2:
                asked = time.monotonic()
                wire.sendall(b"1\t=\t1\t3\n")
                read_line(wire)
                assert time.monotonic() - asked < 1 + pace.longest
                time.sleep(0.05)
        wait_until(lambda: sql.status("handlersocket_connections") == 0, "the slow ones are ended")
        assert time.monotonic() - begun < HANDSHAKE_TIMEOUT + 8
    assert sql.status("handlersocket_tls_handshakes_failed") == failed + 300


def test_mutated_handshakes(tls_server: ServerInstance, certificates: Path, sql: Sql) -> None:
    """What is no handshake ends its own connection. A client beside it is served all the time."""
    rng = random.Random(12)
    hello = hello_of(certificates)

    def mutated() -> bytes:
        bytes_ = bytearray(hello)
        for _ in range(rng.choice([0, 1, 1, 3, 30])):
            place = rng.randrange(1, len(bytes_))
            match rng.randrange(4):
                case 0:
                    bytes_[place] = rng.randrange(256)
                case 1:
                    del bytes_[place : place + rng.randrange(40)]
                case 2:
                    bytes_[place:place] = rng.randbytes(rng.randrange(40))
                case 3:
                    bytes_ += hello
        return bytes(bytes_) + rng.randbytes(rng.choice([0, 0, 5, 20_000]))

    with connect(tls_server.hs_port, context_for(certificates)) as witness:
        witness.sendall(OPEN)
        assert read_line(witness) == b"0\t1\n"
        for _ in range(400):
            with socket.create_connection(("127.0.0.1", tls_server.hs_port), 30) as wire:
                wire.settimeout(0.02)
                try:
                    wire.sendall(mutated())
                    while wire.recv(65536):
                        pass
                except OSError:
                    pass  # it waits for more, or has ended the connection
            witness.sendall(b"1\t=\t1\t3\n")
            assert read_line(witness).startswith(b"0\t2\t3\t")
    wait_until(lambda: sql.status("handlersocket_connections") == 0, "all are gone")


def test_the_table_of_connections_shows_it(
    tls_server: ServerInstance, certificates: Path, sql: Sql
) -> None:
    schema = "performance_schema" if ON_MYSQL else "information_schema"
    # Not by ID: two workers that take two connections at a time may number them either way.
    shown = f"SELECT PROTOCOL, STATE FROM {schema}.handlersocket_connections"
    with (
        connect(tls_server.hs_port, context_for(certificates)),
        Wire(tls_server.hs_port) as plain,
        Wire(tls_server.hs_port) as half,
    ):
        plain.ask(OPEN)
        half.send(hello_of(certificates)[:50])
        expected = [(b"", b"handshake"), (b"", b"waiting"), (b"TLSv1.3", b"waiting")]
        wait_until(lambda: len(sql.rows(shown)) == 3, "all three are there")
        # If they are not as they should be, what is seen tells why.
        with suppress(AssertionError):
            wait_until(lambda: sorted(sql.rows(shown)) == expected, "as they should be", 5)
        assert sorted(sql.rows(shown)) == expected


def test_the_python_client(tls_server: ServerInstance, certificates: Path, sql: Sql) -> None:
    address = ("127.0.0.1", tls_server.hs_port_wr)
    with Client(address, tls=context_for(certificates)) as client:
        table = client.index("tls", "t", ["id", "v"])
        assert table.find(3) == [(b"3", letter(3) * 500)]
        opened = sql.status("handlersocket_connections_opened")
        rows = table.find(1, op=">=", limit=ROWS)
        assert [key for key, _ in rows] == [b"%d" % key for key in range(1, ROWS + 1)]
        with client.pipeline() as pipeline:
            found = [pipeline.on(table).find(key) for key in range(1, 2001)]
        assert [one.result()[0][0] for one in found] == [b"%d" % key for key in range(1, 2001)]
        again = sql.status("handlersocket_connections_opened") - opened
        assert again == 0, "a ticket is no reason to connect again"
    with pytest.raises(ConnectionLost, match="certificate verify failed"):
        Client(address, tls=True).ping()
    with pytest.raises(ConnectionLost, match="certificate"):
        Client(address, tls=context_for(certificates, trusted="later")).ping()
    with pytest.raises(ValueError):
        Connection("/tmp/no.sock", tls=True)
