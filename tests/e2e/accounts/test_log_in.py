"""Clients that log in as accounts of the server: `A 2 <user> <password>`."""

from __future__ import annotations

import itertools
import os
import pwd
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from handlersocket2 import AuthenticationError, Client, LogIn
from server_instance import ServerInstance
from support.certificates import context_for, make_certificates
from support.database import Sql
from support.servers import ON_MYSQL
from support.wire import Wire
from support_servers import running_server, wait_until

ACCESS_DENIED = b"1\t1\t1045"
TABLE_DENIED = b"1\t1\t1142"
TOO_MANY_CONNECTIONS = b"1\t1\t1226"
LOCKED = b"1\t1\t3118" if ON_MYSQL else b"1\t1\t4151"
EXPIRED = b"1\t1\t1862" if ON_MYSQL else b"1\t1\t1820"
OK = b"0\t1"
#: How long the answer to a wrong password is held back, in seconds.
DELAY = 1.0
PASSWORD = "s3 cr\tet\\'\"é"
OPEN = b"P\t1\tlogin\tt\tPRIMARY\tid,v\n"
FIND = b"1\t=\t1\t7\n"
UPDATE = b"1\t=\t1\t7\t1\t0\tU\t7\tnew\n"
STORM = 6.0  # seconds

# How the password of an account may be proved.
WAYS = (
    ("caching_sha2_password", "sha256_password")
    if ON_MYSQL
    else ("mysql_native_password", "ed25519", "several")
)
DEFAULT_WAY = WAYS[0]


def identified(way: str, password: str) -> str:
    """The clause of CREATE USER."""
    text = password.replace("\\", "\\\\").replace("'", "\\'")
    if ON_MYSQL:
        return f"WITH {way} BY '{text}'"
    if way == "several":
        other = "ed25519 USING PASSWORD('other')"
        return f"VIA {other} OR mysql_native_password USING PASSWORD('{text}')"
    return f"VIA {way} USING PASSWORD('{text}')"


def log_in(user: str, password: str = PASSWORD) -> bytes:
    return b"A\t2\t%s\t%s\n" % (user.encode(), password.replace("\t", "\1I").encode())


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory, "server", "client")


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any, certificates: Path) -> Iterator[ServerInstance]:
    """Nobody may do anything without a log-in."""
    settings = {
        "handlersocket_anonymous_account": "",
        "ssl_cert": str(certificates / "server.pem"),
        "ssl_key": str(certificates / "server-key.pem"),
        "ssl_ca": str(certificates / "client.pem"),
        "general_log": 1,
        "general_log_file": "general.log",
    }
    with running_server(data_root, watch, **settings) as instance:
        with Sql(instance.socket) as sql:
            if not ON_MYSQL:
                sql.run("INSTALL SONAME 'auth_ed25519'")
            sql.run(
                "CREATE DATABASE login",
                "CREATE TABLE login.t (id INT PRIMARY KEY, v VARCHAR(20))",
                "INSERT INTO login.t VALUES (7, 'seven'), (8, 'eight')",
            )
        yield instance


@pytest.fixture
def sql(server: ServerInstance) -> Iterator[Sql]:
    with Sql(server.socket, "login") as session:
        yield session


@pytest.fixture
def make_user(sql: Sql) -> Iterator[Callable[..., str]]:
    users = []

    def make(
        way: str = DEFAULT_WAY,
        *,
        name: str = "ann",
        host: str = "localhost",
        options: str = "",
        grants: tuple[str, ...] = ("SELECT ON login.*",),
    ) -> str:
        sql.run(f"DROP USER IF EXISTS '{name}'@'{host}'")
        users.append(f"'{name}'@'{host}'")
        sql.run(f"CREATE USER '{name}'@'{host}' IDENTIFIED {identified(way, PASSWORD)} {options}")
        sql.run(*(f"GRANT {grant} TO '{name}'@'{host}'" for grant in grants))
        return name

    yield make
    sql.run(*(f"DROP USER IF EXISTS {user}" for user in users))


@pytest.fixture
def wire(server: ServerInstance) -> Iterator[Wire]:
    with Wire(server.hs_port_wr) as wire:
        yield wire


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_prove_a_password(
    way: str, make_user: Callable[..., str], server: ServerInstance
) -> None:
    user = make_user(way)
    for _ in range(3):  # the server may remember a password that was right
        with Wire(server.hs_port) as wire:
            wire.send(log_in(user) + OPEN + FIND)
            assert wire.lines(3) == [OK, OK, b"0\t2\t7\tseven"]


@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_password(way: str, make_user: Callable[..., str], wire: Wire, sql: Sql) -> None:
    user = make_user(way)
    failed = sql.status("handlersocket_log_ins_failed")
    begin = time.monotonic()
    for password in ("", "wrong"):
        assert wire.ask(log_in(user, password)) == ACCESS_DENIED
    assert time.monotonic() - begin >= 2 * DELAY
    assert wire.ask(OPEN) == b"3\t1\tunauth"
    assert wire.ask(log_in(user)) == OK
    assert wire.ask(OPEN) == OK
    # Whoever is logged in must not try other passwords any faster.
    begin = time.monotonic()
    assert wire.ask(log_in("root", "guess")) == ACCESS_DENIED
    assert time.monotonic() - begin >= DELAY
    assert wire.ask(FIND) == b"0\t2\t7\tseven"
    assert sql.status("handlersocket_log_ins_failed") == failed + 3


def test_a_user_that_does_not_exist(wire: Wire) -> None:
    assert wire.ask(log_in("nobody")) == ACCESS_DENIED
    assert wire.ask(b"A\t2\n") == ACCESS_DENIED
    assert wire.ask(b"A\t2\t\t\n") == ACCESS_DENIED


def test_texts_that_no_account_has(make_user: Callable[..., str], wire: Wire) -> None:
    """The server's protocol could not carry them."""
    user = make_user()
    assert wire.ask(log_in(user)) == OK
    assert wire.ask(log_in(user * 400)) == ACCESS_DENIED
    assert wire.ask(log_in(user, PASSWORD * 10_000)) == ACCESS_DENIED
    assert wire.ask(log_in(user + "\1@", PASSWORD)) == ACCESS_DENIED
    assert wire.ask(log_in(user, PASSWORD + "\1@")) == ACCESS_DENIED
    assert wire.ask(OPEN) == OK


def test_an_account_without_a_password(make_user: Callable[..., str], sql: Sql, wire: Wire) -> None:
    user = make_user()
    sql.run(f"ALTER USER {user}@localhost IDENTIFIED BY ''")
    assert wire.ask(b"A\t2\t%s\n" % user.encode()) == OK
    assert wire.ask(OPEN) == OK


@pytest.mark.parametrize(
    ("options", "answer"), [("ACCOUNT LOCK", LOCKED), ("PASSWORD EXPIRE", EXPIRED)]
)
def test_an_account_that_cannot_be_used(
    options: str, answer: bytes, make_user: Callable[..., str], wire: Wire
) -> None:
    assert wire.ask(log_in(make_user(options=options))) == answer
    assert wire.ask(OPEN) == b"3\t1\tunauth"


def test_the_host_counts(make_user: Callable[..., str], wire: Wire) -> None:
    """Clients of TCP come from 127.0.0.1, whose name is localhost for both servers here."""
    user = make_user(name="far", host="192.0.2.1")
    assert wire.ask(log_in(user)) == ACCESS_DENIED


def test_what_the_account_may_do(make_user: Callable[..., str], sql: Sql, wire: Wire) -> None:
    user = make_user()
    assert wire.ask(log_in(user)) == OK
    assert wire.ask(OPEN) == OK
    assert wire.ask(UPDATE) == TABLE_DENIED
    sql.run(f"GRANT UPDATE ON login.t TO {user}@localhost")
    assert wire.ask(UPDATE) == b"0\t1\t1"
    sql.run(f"REVOKE UPDATE ON login.t FROM {user}@localhost", "UPDATE t SET v = 'seven'")
    assert wire.ask(UPDATE) == TABLE_DENIED
    sql.run(f"REVOKE SELECT ON login.* FROM {user}@localhost")
    assert wire.ask(FIND) == TABLE_DENIED
    # Whoever may see nothing of a table learns nothing about it.
    absent = b"P\t2\tlogin\tabsent\tPRIMARY\tid\n"
    assert [wire.ask(absent), wire.ask(OPEN)] == [TABLE_DENIED, TABLE_DENIED]


def test_roles(make_user: Callable[..., str], sql: Sql, wire: Wire) -> None:
    user = make_user(grants=())
    sql.run("DROP ROLE IF EXISTS reader", "CREATE ROLE reader", "GRANT SELECT ON login.* TO reader")
    sql.run(f"GRANT reader TO {user}@localhost")
    other = make_user(name="other", grants=())
    default = f"{user}@localhost"
    sql.run(
        f"ALTER USER {default} DEFAULT ROLE reader"
        if ON_MYSQL
        else f"SET DEFAULT ROLE reader FOR {default}"
    )
    assert wire.ask(log_in(user)) == OK
    assert wire.ask(OPEN) == OK
    assert wire.ask(FIND).startswith(b"0\t2\t7\t")
    assert wire.ask(log_in(other)) == OK
    assert wire.ask(FIND) == TABLE_DENIED
    assert wire.ask(log_in(user)) == OK
    sql.run("REVOKE SELECT ON login.* FROM reader")
    assert wire.ask(FIND) == TABLE_DENIED
    sql.run("DROP ROLE reader")


def test_accounts_that_share_an_open_index_and_a_pass(
    make_user: Callable[..., str], server: ServerInstance
) -> None:
    """Each request is executed as the account of its own connection."""
    may = make_user(name="may", grants=("SELECT, UPDATE ON login.*",))
    may_not = make_user(name="may_not")
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(server.hs_port_wr)) for _ in range(8)]
        for number, wire in enumerate(wires):
            assert wire.ask(log_in(may_not if number % 2 else may)) == OK
            assert wire.ask(OPEN) == OK
        change = b"1\t=\t1\t8\t1\t0\tU\t8\teight\n"
        for _ in range(100):
            for wire in wires:
                wire.send(change + b"1\t=\t1\t8\n")
            for number, wire in enumerate(wires):
                changed, found = wire.lines(2)
                assert changed == TABLE_DENIED if number % 2 else changed.startswith(b"0\t1\t")
                assert found == b"0\t2\t8\teight"


def test_connections_of_one_account_ask_once(
    make_user: Callable[..., str], server: ServerInstance, sql: Sql
) -> None:
    """Each of them has logged in by itself, and they take turns in the same passes."""
    user = make_user()
    rounds = 200
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(server.hs_port)) for _ in range(8)]
        for wire in wires:
            assert wire.ask(log_in(user)) == OK
            assert wire.ask(OPEN) == OK
        counters = ("passes", "privileges_asked")
        before = [sql.status(f"handlersocket_{name}") for name in counters]
        for _ in range(rounds):
            for wire in wires:
                wire.send(FIND)
            for wire in wires:
                assert wire.lines(1)[0].startswith(b"0\t2\t7")
        passes, asked = (
            sql.status(f"handlersocket_{name}") - was
            for name, was in zip(counters, before, strict=True)
        )
    assert passes < rounds * len(wires), "some passes had turns of several connections"
    assert asked <= passes


@pytest.mark.parametrize("by", ["role", "privilege everywhere"])
def test_log_ins_of_one_account_that_may_not_do_the_same(
    by: str, make_user: Callable[..., str], server: ServerInstance, sql: Sql
) -> None:
    """Those from before a change have less than those from after it, as in SQL."""
    user = make_user(grants=("SELECT ON login.*",))
    account = f"{user}@localhost"
    change = {
        "role": [
            "DROP ROLE IF EXISTS changer",
            "CREATE ROLE changer",
            "GRANT UPDATE ON login.* TO changer",
            f"GRANT changer TO {account}",
            f"ALTER USER {account} DEFAULT ROLE changer"
            if ON_MYSQL
            else f"SET DEFAULT ROLE changer FOR {account}",
        ],
        "privilege everywhere": [f"GRANT UPDATE ON *.* TO {account}"],
    }
    with ExitStack() as stack:
        wires: list[Wire] = []
        for statements in ([], change[by]):
            sql.run(*statements)
            for _ in range(3):
                wires.append(stack.enter_context(Wire(server.hs_port_wr)))
                assert wires[-1].ask(log_in(user)) == OK
                assert wires[-1].ask(OPEN) == OK
        for _ in range(100):
            for wire in wires:
                wire.send(b"1\t=\t1\t8\t1\t0\tU\t8\tocho\n")
            answers = [wire.lines(1)[0] for wire in wires]
            assert answers[:3] == [TABLE_DENIED] * 3
            assert all(answer.startswith(b"0\t1\t") for answer in answers[3:])
    sql.run("UPDATE t SET v = 'eight' WHERE id = 8", "DROP ROLE IF EXISTS changer")


def test_requests_behind_a_log_in_wait_for_it(
    make_user: Callable[..., str], server: ServerInstance
) -> None:
    user = make_user()
    with Wire(server.hs_port) as wire:
        wire.send((log_in(user, "wrong") + OPEN + log_in(user) + OPEN + FIND * 3) * 2)
        found = [b"0\t2\t7\tseven"] * 3
        assert wire.lines(7) == [ACCESS_DENIED, b"3\t1\tunauth", OK, OK, *found]
        assert wire.lines(7) == [ACCESS_DENIED, OK, OK, OK, *found]


def test_init_connect_that_fails(
    make_user: Callable[..., str], server: ServerInstance, sql: Sql
) -> None:
    user = make_user(options="WITH MAX_USER_CONNECTIONS 1")
    sql.run("SET GLOBAL init_connect = 'SELECT nonsense'")
    try:
        with Wire(server.hs_port) as wire:
            assert wire.ask(log_in(user)).startswith(b"1\t1\t")
    finally:
        sql.run("SET GLOBAL init_connect = ''")
    with Wire(server.hs_port) as wire:
        assert wire.ask(log_in(user)) == OK, "the place was given back"


def test_accounts_that_require_tls(
    make_user: Callable[..., str], server: ServerInstance, certificates: Path
) -> None:
    secure = make_user(name="secure", options="REQUIRE SSL")
    certified = make_user(name="certified", options="REQUIRE X509")
    with Wire(server.hs_port) as wire:
        assert wire.ask(log_in(secure)) == ACCESS_DENIED
    own = context_for(certificates)

    def find(user: str) -> Any:
        address = ("127.0.0.1", server.hs_port)
        with Client(address, user=user, password=PASSWORD, tls=own) as client:
            return client.index("login", "t", ["v"]).find_one(7)

    assert find(secure) == (b"seven",)
    with pytest.raises(AuthenticationError):
        find(certified)
    own.load_cert_chain(certificates / "client.pem", certificates / "client-key.pem")
    assert find(certified) == (b"seven",)


def test_the_user_at_the_other_end_of_a_unix_socket(
    data_root: Path, watch: Any, tmp_path: Path
) -> None:
    own = pwd.getpwuid(os.getuid()).pw_name
    path = tmp_path / "hs.sock"
    with running_server(data_root, watch, handlersocket_socket=str(path)) as instance:
        with Sql(instance.socket) as sql:
            if ON_MYSQL:
                sql.run(
                    "INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'",
                    f"CREATE USER mine@localhost IDENTIFIED WITH auth_socket AS '{own}'",
                    "CREATE USER other@localhost IDENTIFIED WITH auth_socket AS 'nobody'",
                )
                mine = "mine"
            else:
                sql.run(
                    f"CREATE OR REPLACE USER {own}@localhost IDENTIFIED VIA unix_socket",
                    f"GRANT ALL ON *.* TO {own}@localhost",
                    "CREATE USER other@localhost IDENTIFIED VIA unix_socket",
                )
                mine = own
        with Client(path, user=mine) as client:
            client.request(LogIn(mine))
        for address, user in ((path, "other"), (("127.0.0.1", instance.hs_port), mine)):
            with Client(address, user=user) as client, pytest.raises(AuthenticationError):
                client.request(LogIn(user))


def test_no_log_has_a_password(
    make_user: Callable[..., str], server: ServerInstance, wire: Wire
) -> None:
    user = make_user()
    secret = "never-to-be-seen"
    assert wire.ask(log_in(user, secret)) == ACCESS_DENIED
    assert wire.ask(log_in(user)) == OK
    general = (server.data_dir / "general.log").read_bytes()
    assert f"{user}@localhost".encode() in general
    log = server.log_path.read_bytes()
    for password in (secret, PASSWORD):
        assert password.encode() not in general
        assert password.encode() not in log


def test_the_table_of_connections_shows_accounts(
    make_user: Callable[..., str], server: ServerInstance, sql: Sql
) -> None:
    schema = "performance_schema" if ON_MYSQL else "information_schema"

    def account(wire: Wire) -> bytes | None:
        peer = f"127.0.0.1:{wire.own_port}"
        query = f"SELECT ACCOUNT FROM {schema}.handlersocket_connections WHERE PEER = '{peer}'"
        return sql.row(query)[0]

    user = make_user(name="änn", host="%")
    with Wire(server.hs_port) as wire:
        assert wire.ask(OPEN) == b"3\t1\tunauth"
        assert account(wire) == b""
        assert wire.ask(log_in(user)) == OK
        assert account(wire) == "änn@%".encode()
        assert wire.ask(log_in(user, "wrong")) == ACCESS_DENIED
        assert account(wire) == "änn@%".encode()
        assert wire.ask(log_in(make_user())) == OK
        assert account(wire) == b"ann@localhost"


def test_who_does_not_log_in_is_closed(
    make_user: Callable[..., str], server: ServerInstance, sql: Sql
) -> None:
    late = sql.status("handlersocket_log_ins_late")
    refused = sql.status("handlersocket_connections_refused")
    sql.run(
        "SET GLOBAL handlersocket_log_in_timeout = 4",
        "SET GLOBAL handlersocket_max_unauthenticated = 2",
    )
    try:
        user = make_user()
        with Wire(server.hs_port) as known, Wire(server.hs_port) as silent:
            assert known.ask(log_in(user)) == OK
            with Wire(server.hs_port) as refusing:
                assert refusing.ask(b"nonsense\n") == b"2\t1\tcmd"
                with Wire(server.hs_port) as one_more:
                    assert one_more.rest() == b""
                assert refusing.ask(log_in(user, "wrong")) == ACCESS_DENIED
                assert refusing.rest() == b""
            assert silent.rest() == b""
            assert known.ask(b"nonsense\n") == b"2\t1\tcmd"
        assert sql.status("handlersocket_log_ins_late") == late + 2
        assert sql.status("handlersocket_connections_refused") == refused + 1
    finally:
        sql.run(
            "SET GLOBAL handlersocket_log_in_timeout = DEFAULT",
            "SET GLOBAL handlersocket_max_unauthenticated = DEFAULT",
        )


def test_log_ins_in_a_storm(
    make_user: Callable[..., str], server: ServerInstance, sql: Sql
) -> None:
    """Right and wrong ones, clients that leave in the middle, and accounts that come and go."""
    user = make_user(options="WITH MAX_USER_CONNECTIONS 4")
    refused = sql.status("handlersocket_connections_refused")
    ends = time.monotonic() + STORM
    wrong: list[bytes] = []
    finished: list[int] = []

    def storm(number: int) -> None:
        for attempt in itertools.count():
            if time.monotonic() > ends:
                break
            with Wire(server.hs_port_wr if number % 2 else server.hs_port) as wire:
                # Each tenth time it waits for the answer. Without that, a server that is slow to
                # log in would get more and more of those who have left, until it refuses the next.
                if number % 3 == 0 and attempt % 10 != 0:
                    wire.send(log_in(user) * 3 + OPEN)
                    time.sleep(0.002)
                    continue  # and is gone
                answer = wire.ask(log_in(user, "wrong" if number % 5 == 0 else PASSWORD))
                if answer == OK:
                    answer = wire.ask(OPEN)
                if answer not in (OK, ACCESS_DENIED, TOO_MANY_CONNECTIONS):
                    wrong.append(answer)
        finished.append(number)

    def change_accounts() -> None:
        password = identified(DEFAULT_WAY, "x")
        with Sql(server.socket) as session:
            while time.monotonic() < ends:
                session.run("DROP USER IF EXISTS passing@localhost")
                session.run(f"CREATE USER passing@localhost IDENTIFIED {password}")
                session.run("GRANT SELECT ON login.* TO passing@localhost", "FLUSH PRIVILEGES")

    def look() -> None:
        with Sql(server.socket) as session:
            while time.monotonic() < ends:
                session.rows("SHOW PROCESSLIST")
                session.rows("SELECT * FROM information_schema.processlist")

    threads = [threading.Thread(target=storm, args=(number,)) for number in range(10)]
    threads += [threading.Thread(target=change_accounts), threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sorted(finished) == list(range(10)), "a connection was closed, or not answered"
    assert sql.status("handlersocket_connections_refused") == refused
    sql.run("DROP USER IF EXISTS passing@localhost")
    with ExitStack() as stack:
        for _ in range(4):
            wire = stack.enter_context(Wire(server.hs_port))
            wait_until(lambda wire=wire: wire.ask(log_in(user)) == OK, "places are given back")


def test_the_server_stops_amid_log_ins(data_root: Path, watch: Any) -> None:
    stopped = threading.Event()
    with running_server(data_root, watch) as instance:
        with Sql(instance.socket) as sql:
            for user, options in (("ann", ""), ("counted", "WITH MAX_USER_CONNECTIONS 9")):
                password = identified(DEFAULT_WAY, PASSWORD)
                sql.run(f"CREATE USER {user}@localhost IDENTIFIED {password} {options}")

        def storm() -> None:
            while not stopped.is_set():
                try:
                    with socket.create_connection(("127.0.0.1", instance.hs_port), 5) as client:
                        client.sendall(log_in("ann") * 5)
                        client.recv(1000)
                except OSError:
                    time.sleep(0.01)

        def stay_logged_in() -> list[Wire]:
            wires = [Wire(instance.hs_port) for _ in range(5)]
            for wire in wires:
                assert wire.ask(log_in("counted")) == OK
            return wires

        threads = [threading.Thread(target=storm) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            with Sql(instance.socket) as sql:
                for _ in range(3):
                    time.sleep(0.3)
                    logged_in = stay_logged_in()
                    sql.run("UNINSTALL PLUGIN handlersocket")
                    time.sleep(0.1)
                    sql.run("INSTALL PLUGIN handlersocket SONAME 'handlersocket2.so'")
                    del logged_in
            time.sleep(0.3)
            logged_in = stay_logged_in()
            instance.stop()
            assert len(logged_in) == 5
        finally:
            stopped.set()
            for thread in threads:
                thread.join()
