"""The Go client against a real server. Its own tests run in setup/test_clients.sh.

setup/go.sh gives them a Go that is new enough.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from server_instance import ServerInstance
from support.certificates import make_certificates
from support.database import Database, Sql
from support.servers import ON_MYSQL, needs_original
from support_go import CLIENT, TABLES, go, go_tests

CONNECTIONS = ("performance" if ON_MYSQL else "information") + "_schema.handlersocket_connections"


def test_every_request(database: Database, sql: Sql) -> None:
    sql.run(*TABLES)
    output = go_tests("TestE2E(Types|Requests|Errors|ManyCallers|Rows)$", database)
    assert output.count("--- PASS: TestE2E") == 5
    assert sql.rows("SELECT id, name FROM people ORDER BY id")[:2] == [
        (b"1", b"Anna"),
        (b"2", b"Bobby"),
    ]
    assert sql.number("SELECT COUNT(*) FROM counters WHERE id >= 1000 AND n = 200") == 64
    assert sql.rows("SELECT txt, bits + 0, span FROM typed WHERE id = 1") == [
        (b"a\tb\n\0\x01\xc3\xa9", b"511", b"-838:59:59.000000")
    ]


def test_the_readme_and_the_examples(database: Database, sql: Sql, tmp_path: Path) -> None:
    """Examples of README.md that are programs are run as they stand there."""
    sql.run(*TABLES)
    blocks = (CLIENT / "README.md").read_text().split("```go\n")[1:]
    programs = [block.split("```")[0] for block in blocks if block.startswith("package main")]
    server = database.server
    url = f"handlersocket://127.0.0.1:{server.hs_port},{server.hs_port_wr}/{database.name}"
    go("mod", "init", "example", folder=tmp_path)
    module = go("list", "-m").strip()
    go("mod", "edit", f"-replace={module}={CLIENT}", f"-require={module}@v0.0.0", folder=tmp_path)
    printed = []
    for program in programs:
        assert "handlersocket://127.0.0.1/test" in program
        (tmp_path / "main.go").write_text(program.replace("handlersocket://127.0.0.1/test", url))
        printed.append(go("run", ".", folder=tmp_path).strip())
    assert printed == ["user_0000042 user_0000042@example.com", "int64 user_0000042 <nil>"]
    output = go_tests("^Example", database)
    assert output.count("--- PASS: Example") >= 5


def test_groups(database: Database, sql: Sql) -> None:
    sql.run(*TABLES)
    output = go_tests("TestE2EGroup(Transfer|CompareAndSet|Locks)$", database)
    assert output.count("--- PASS: TestE2E") == 3
    assert sql.rows("SELECT id, balance FROM accounts WHERE id > 2") == [(b"3", b"7")]
    assert sql.rows("SELECT name FROM people") == [(b"Group",)]


@needs_original
def test_the_original(make_original) -> None:
    """The plugin that MariaDB ships, which has neither log-ins of accounts nor TLS."""
    server: ServerInstance = make_original()
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE original")
    database = Database(server, "original")
    database.sql.run(*TABLES)
    go_tests("TestE2E(Original|ManyCallers|Rows)$", database)
    database.close()


def test_connections_that_are_closed_under_load(database: Database, sql: Sql) -> None:
    sql.run(*TABLES)
    seconds = 8
    end = time.monotonic() + seconds + 60
    over = threading.Event()

    def close_connections() -> None:
        with database.connect() as killer:
            while not over.wait(0.05) and time.monotonic() < end:
                for (number,) in killer.rows(f"SELECT id FROM {CONNECTIONS}"):
                    killer.error(f"SET GLOBAL handlersocket_close_connection = {int(number or 0)}")

    closing = threading.Thread(target=close_connections)
    closing.start()
    try:
        go_tests("TestE2EFaults$", database, HS_E2E_SECONDS=str(seconds))
    finally:
        over.set()
        closing.join()


def test_a_server_that_is_restarted_under_load(make_server) -> None:
    server: ServerInstance = make_server()
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE restarted")
    database = Database(server, "restarted")
    database.sql.run(*TABLES)
    database.close()
    failures: list[BaseException] = []

    def restart() -> None:
        try:
            with Sql(server.socket) as sql:  # the program may have to be compiled first
                end = time.monotonic() + 200
                while not sql.status("handlersocket_connections") and time.monotonic() < end:
                    time.sleep(0.1)
            for _ in range(2):
                time.sleep(2)
                server.restart()
        except BaseException as error:  # it is raised where the test sees it
            failures.append(error)

    restarting = threading.Thread(target=restart)
    restarting.start()
    try:
        go_tests("TestE2EFaults$", database, HS_E2E_SECONDS="15")
    finally:
        restarting.join()
    assert failures == []


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory, "server", "stranger")


def test_log_ins_and_tls(make_server, certificates: Path) -> None:
    server: ServerInstance = make_server(
        ssl_cert=str(certificates / "server.pem"),
        ssl_key=str(certificates / "server-key.pem"),
        handlersocket_plain_secret="r\tr",
        handlersocket_plain_secret_wr="w",
    )
    with Sql(server.socket, "test") as sql:
        sql.run(
            "CREATE TABLE t (id INT PRIMARY KEY)",
            "INSERT INTO t VALUES (1)",
            "CREATE USER app@'%' IDENTIFIED BY 'a:b@/c' REQUIRE SSL",
            "GRANT SELECT ON test.t TO app@'%'",
        )
    ports = f"127.0.0.1:{server.hs_port}"
    good, bad = certificates / "server.pem", certificates / "stranger.pem"
    user = "app:a%3Ab%40%2Fc"

    def check(works: str, refused: str, kind: str) -> None:
        go(
            *("test", "-tags", "e2e", "-count=1", "-run", "TestE2ELogIn$", "."),
            HS_E2E_URL=f"handlersocket://{works}",
            HS_E2E_REFUSED=f"handlersocket://{refused}",
            HS_E2E_KIND=kind,
        )

    check(
        f"{user}@{ports}/test?tls=verify&tls_ca={good}",
        f"{user}@{ports}/test?tls=verify&tls_ca={bad}",
        "connect",
    )
    check(
        f"{user}@{ports}/test?tls=verify&tls_ca={good}&tls_name=localhost",
        f"app:wrong@{ports}/test?tls=verify&tls_ca={good}",
        "log_in",
    )
    check(f"{ports}/test?secret=r%09r", f"{ports}/test?secret=w", "log_in")
    check(f"{ports}/test?secret=r%09r&tls=unverified", f"{user}@{ports}/test", "log_in")
    check(f"{ports}/test?secret=r%09r", f"{ports}/test?secret=r%09r&tls=verify", "connect")


def test_many_callers_over_tls(make_server, certificates: Path) -> None:
    server: ServerInstance = make_server(
        ssl_cert=str(certificates / "server.pem"),
        ssl_key=str(certificates / "server-key.pem"),
        handlersocket_tls="REQUIRED",
    )
    with Sql(server.socket) as sql:
        sql.run("CREATE DATABASE tls")
    database = Database(server, "tls")
    database.sql.run(*TABLES)
    url = f"handlersocket://127.0.0.1:{server.hs_port},{server.hs_port_wr}/tls"
    trusted = f"tls=verify&tls_ca={certificates / 'server.pem'}"
    go_tests("TestE2E(ManyCallers|Rows)$", database, HS_E2E_URL=f"{url}?{trusted}")
    database.close()


def test_unix_sockets(make_server) -> None:
    paths = {name: f"/tmp/hs-go-{os.getpid()}-{name}.sock" for name in ("r", "w")}
    server: ServerInstance = make_server(
        handlersocket_socket=paths["r"], handlersocket_socket_wr=paths["w"]
    )
    with Sql(server.socket, "test") as sql:
        sql.run("CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    go(
        *("test", "-tags", "e2e", "-count=1", "-run", "TestE2ELogIn$", "."),
        HS_E2E_URL=f"handlersocket:///test?socket={paths['r']}&socket_wr={paths['w']}",
        HS_E2E_REFUSED="handlersocket:///test?socket=/nowhere/hs.sock",
        HS_E2E_KIND="connect",
    )
