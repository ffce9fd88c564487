"""Clients that have come to the wrong port: each is told so, or closed in time."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest
from handlersocket2 import Client
from server_instance import ServerInstance
from support.certificates import context_for, make_certificate
from support.database import Sql
from support.servers import LOG_WARNING, ON_MYSQL
from support.wire import Wire
from support_servers import running_server, wait_until

ANSWER = b"2\t1\tthis_is_a_handlersocket_port\n"
LOG_IN_TIMEOUT = 2

BEGINNINGS = {
    "HTTP": b"GET / HTTP/1.1\r\nHost: db:9998\r\nUser-Agent: curl/8\r\nAccept: */*\r\n\r\n",
    "a form of a page": b"POST /x HTTP/1.1\r\nHost: db\r\n\r\nP\t1\ttest\tt\t\tid\n1\t+\t1\t1\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "Redis": b"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n",
    "PostgreSQL": b"\0\0\0\x08\x04\xd2\x16\x2f",
    "MySQL X": b"\1\0\0\0\1",
}


@pytest.fixture(scope="module")
def plain_server(data_root: Any, watch: Any) -> Iterator[ServerInstance]:
    """Without TLS, and with a short time for the first byte."""
    with running_server(
        data_root,
        watch,
        handlersocket_tls="OFF",
        handlersocket_log_in_timeout=LOG_IN_TIMEOUT,
    ) as instance:
        instance.client("CREATE TABLE test.t (id INT PRIMARY KEY)")
        yield instance


@pytest.mark.parametrize("name", BEGINNINGS)
@pytest.mark.parametrize("in_pieces", [False, True], ids=["at once", "byte by byte"])
def test_another_protocol_is_told_so_at_once(
    name: str, in_pieces: bool, plain_server: ServerInstance
) -> None:
    with Sql(plain_server.socket) as sql:
        before = sql.status("handlersocket_connections_foreign")
        for port in (plain_server.hs_port, plain_server.hs_port_wr):
            with Wire(port) as wire:
                began = time.monotonic()
                if in_pieces:
                    # No more than what decides, as the server closes the connection behind it.
                    begin, lf, _ = BEGINNINGS[name].partition(b"\n")
                    for byte in begin + lf:
                        wire.send(bytes([byte]))
                else:
                    wire.send(BEGINNINGS[name])
                assert wire.rest() == ANSWER
                assert time.monotonic() - began < LOG_IN_TIMEOUT
        assert sql.status("handlersocket_connections_foreign") == before + 2
        assert sql.number("SELECT COUNT(*) FROM test.t") == 0
    named = re.findall(
        LOG_WARNING + r".* was disconnected from port \d+.*", plain_server.log_text()
    )
    assert 1 <= len(named) <= 4  # of each port one a minute, and the tests take less than two
    assert re.search(r"127\.0\.0\.1:\d+ speaks .* is a port of HandlerSocket", named[0])


def test_real_clients(plain_server: ServerInstance) -> None:
    web = http.client.HTTPConnection("127.0.0.1", plain_server.hs_port, timeout=30)
    with pytest.raises(http.client.BadStatusLine, match="this_is_a_handlersocket_port"):
        web.request("GET", "/")
        web.getresponse()
    plain = socket.create_connection(("127.0.0.1", plain_server.hs_port), 30)
    with pytest.raises(ssl.SSLError, match="(?i)wrong.version.number"):
        ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")


def test_tls_without_a_certificate(make_server) -> None:
    server = make_server(**({"tls_version": ""} if ON_MYSQL else {"ssl": 0}))
    plain = socket.create_connection(("127.0.0.1", server.hs_port), 30)
    plain.sendall(b"\x16\x03\x01\x00\x05hello")
    assert plain.makefile("rb").read() == ANSWER
    assert re.search(
        LOG_WARNING + ".* speaks TLS, for which the server has no certificate,", server.log_text()
    )


def test_http_within_tls(make_server, tmp_path: Any) -> None:
    tmp_path.chmod(0o755)
    make_certificate(tmp_path, "server")
    server = make_server(
        ssl_cert=str(tmp_path / "server.pem"), ssl_key=str(tmp_path / "server-key.pem")
    )
    plain = socket.create_connection(("127.0.0.1", server.hs_port), 30)
    with context_for(tmp_path).wrap_socket(plain, server_hostname="localhost") as wire:
        wire.sendall(BEGINNINGS["HTTP"])
        assert wire.makefile("rb").read() == ANSWER


def test_only_the_first_line_counts(plain_server: ServerInstance) -> None:
    with Wire(plain_server.hs_port) as wire:
        wire.send(b"?\n" + BEGINNINGS["HTTP"] + BEGINNINGS["Redis"])
        assert wire.lines(11) == [b"2\t1\tcmd"] * 10 + [b"2\t1\tstmtnum"]  # "3" is an index id
        assert wire.ask(b"P\t1\ttest\tt\t\tid\n") == b"0\t1"


def test_a_client_of_sql_does_not_wait_for_ever(plain_server: ServerInstance) -> None:
    program = plain_server.tree / "bin" / plain_server.kind.client
    with Sql(plain_server.socket) as sql:
        before = sql.status("handlersocket_connections_silent")
        began = time.monotonic()
        done = subprocess.run(
            [program, "--no-defaults", "-h127.0.0.1", f"-P{plain_server.hs_port}", "-uroot"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert done.returncode != 0
        assert LOG_IN_TIMEOUT - 0.2 < time.monotonic() - began < LOG_IN_TIMEOUT + 10
        assert sql.status("handlersocket_connections_silent") == before + 1
        assert sql.status("handlersocket_log_ins_late") == 0
    assert re.search(
        LOG_WARNING + r"127\.0\.0\.1:\d+ has sent nothing for handlersocket_log_in_timeout .*"
        rf" disconnected from port {plain_server.hs_port}, which is a port of HandlerSocket",
        plain_server.log_text(),
    )


def test_who_has_sent_a_byte_may_rest(plain_server: ServerInstance) -> None:
    """A pool's connections that have opened their indexes, and half a request."""
    port = plain_server.hs_port
    with Client(("127.0.0.1", port)) as pooled, Wire(port) as half, Wire(port) as silent:
        index = pooled.index("test", "t", ["id"])
        assert index.find(1) == []
        half.send(b"P\t1\ttest")
        assert silent.rest() == b""
        time.sleep(1)
        half.send(b"\tt\t\tid\n")
        assert half.lines(1) == [b"0\t1"]
        assert index.find(1) == []


def test_the_time_can_be_changed(plain_server: ServerInstance) -> None:
    with Sql(plain_server.socket) as sql:
        sql.run("SET GLOBAL handlersocket_log_in_timeout = 0")
        try:
            with Wire(plain_server.hs_port) as silent:
                time.sleep(LOG_IN_TIMEOUT + 1)
                assert silent.ask(b"?\n") == b"2\t1\tcmd"
            with Wire(plain_server.hs_port) as silent:
                wait_until(
                    lambda: sql.status("handlersocket_connections") == 1, "one connection is there"
                )
                sql.run("SET GLOBAL handlersocket_log_in_timeout = 1")
                assert silent.rest() == b""
        finally:
            sql.run(f"SET GLOBAL handlersocket_log_in_timeout = {LOG_IN_TIMEOUT}")
