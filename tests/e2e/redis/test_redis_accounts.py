"""Who may do what at Redis's port: log-ins, secrets, privileges on columns, TLS, Unix sockets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.certificates import context_for, make_certificates
from support.database import Sql
from support.resp import OK, Error, Resp, pairs
from support_redis import CONNECTIONS, NO_PERMISSION, connect, hash_of, redis_port, redis_server
from support_servers import fresh_session
from test_log_in import DEFAULT_WAY, DELAY, PASSWORD, identified

CONTAINERS = REPOSITORY / "tools" / "sql" / "containers.sql"
SECRET = "open sesame"
WRONG = Error("WRONGPASS invalid username-password pair or user is disabled.")
NO_LOG_IN = Error("NOAUTH Authentication required.")
HELLO_NO_LOG_IN = "NOAUTH HELLO must be called with the client already authenticated"
TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, open INT, closed INT)",
    "CREATE TABLE other (id INT PRIMARY KEY, v INT)",
    "INSERT INTO t VALUES (1, 10, 100)",
    "INSERT INTO other VALUES (1, 1)",
)
USERS = {
    "ann": ("SELECT, INSERT, UPDATE, DELETE ON safe.*",),
    "reading": ("SELECT ON safe.t",),
    "some": ("SELECT (id, open), UPDATE (open) ON safe.t",),
    "writing": ("INSERT, UPDATE ON safe.t", "SELECT (id) ON safe.t"),
    "nothing": (),
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory, "server")


@pytest.fixture(scope="module")
def server(
    data_root: Path, watch: Any, certificates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerInstance]:
    """Nobody may do anything without a log-in."""
    settings = {
        "handlersocket_anonymous_account": "",
        "handlersocket_secret_account": "ann@localhost",
        "handlersocket_redis_secret": SECRET,
        "handlersocket_redis_socket": str(tmp_path_factory.mktemp("sockets") / "redis"),
        "ssl_cert": str(certificates / "server.pem"),
        "ssl_key": str(certificates / "server-key.pem"),
        "general_log": 1,
        "general_log_file": "general.log",
    }
    with redis_server(data_root, watch, **settings) as instance:
        with fresh_session(instance, "safe", *TABLES) as sql:
            for user, grants in USERS.items():
                sql.run(
                    f"CREATE USER {user}@localhost IDENTIFIED {identified(DEFAULT_WAY, PASSWORD)}"
                )
                sql.run(*(f"GRANT {grant} TO {user}@localhost" for grant in grants))
            sql.run("CREATE USER secure@localhost IDENTIFIED"
                    f" {identified(DEFAULT_WAY, PASSWORD)} REQUIRE SSL")  # fmt: skip
            yield instance


@pytest.fixture
def wire(server: ServerInstance) -> Iterator[Resp]:
    with connect(server) as one:
        yield one


def as_user(server: ServerInstance, user: str, **options: Any) -> Resp:
    wire = connect(server, **options)
    assert wire.ask("AUTH", user, PASSWORD) == OK
    return wire


def test_nothing_before_a_log_in(wire: Resp) -> None:
    requests = ["HGET safe.t:1 open", "HSET safe.t:1 open 1", "DEL safe.t:1", "PING", "ECHO a"]
    requests += ["MULTI", "INFO", "CLIENT ID", "COMMAND", "CONFIG GET x", "SELECT 0"]
    assert [wire.say(line) for line in requests] == [NO_LOG_IN] * len(requests)
    aborted = f"EXECABORT Transaction discarded because of: {NO_LOG_IN.text}"
    assert wire.say("EXEC") == Error(aborted)  # as Redis says it
    refused = wire.ask("HELLO", 3)
    assert isinstance(refused, Error) and refused.text.startswith(HELLO_NO_LOG_IN)
    assert wire.ask("AUTH", SECRET) == OK
    assert wire.ask("HGET", "safe.t:1", "open") == b"10"


def test_every_way_to_log_in(server: ServerInstance) -> None:
    ways: list[tuple[Any, ...]] = [
        ("AUTH", SECRET), ("AUTH", "default", SECRET), ("AUTH", "ann", PASSWORD),
        ("HELLO", 2, "AUTH", "ann", PASSWORD), ("HELLO", 3, "AUTH", "ann", PASSWORD),
        ("HELLO", 3, "AUTH", "default", SECRET),
        ("HELLO", 3, "AUTH", "ann", PASSWORD, "SETNAME", "me"),
    ]  # fmt: skip
    for words in ways:
        with connect(server) as wire, Sql(server.socket) as sql:
            reply = wire.ask(*words)
            assert reply == OK if words[0] == "AUTH" else pairs(reply)[b"proto"] == words[1]
            assert wire.ask("HGET", "safe.t:1", "open") == b"10"
            account = f"SELECT ACCOUNT FROM {CONNECTIONS} WHERE PEER = '127.0.0.1:{wire.own_port}'"
            assert sql.row(account) == (b"ann@localhost",)
            assert wire.ask("CLIENT", "GETNAME") == (b"me" if "SETNAME" in words else None)


def test_a_wrong_password_is_answered_late(server: ServerInstance) -> None:
    wrong: list[tuple[Any, ...]] = [
        ("AUTH", "wrong"), ("AUTH", "default", "wrong"), ("AUTH", "ann", "wrong"),
        ("AUTH", "nobody", PASSWORD), ("AUTH", "ann", ""), ("AUTH", ""), ("AUTH", "", ""),
        ("HELLO", 3, "AUTH", "ann", "wrong"), ("AUTH", "ann@localhost", PASSWORD),
    ]  # fmt: skip
    for words in wrong:
        with connect(server) as wire:
            begun = time.monotonic()
            assert wire.ask(*words) == WRONG
            assert time.monotonic() - begun > DELAY * 0.9
            refused = wire.ask("HGET", "safe.t:1", "open")
            assert refused == NO_LOG_IN


def test_a_wrong_log_in_changes_nothing(server: ServerInstance) -> None:
    """Who is logged in stays it, with the protocol and the name that there were."""
    with as_user(server, "ann") as wire:
        assert wire.ask("HELLO", 3, "AUTH", "ann", "wrong", "SETNAME", "x") == WRONG
        assert isinstance(wire.ask("HGETALL", "safe.t:1"), list), "it is RESP2 still"
        assert wire.ask("CLIENT", "GETNAME") is None
        assert wire.ask("AUTH", "nothing", PASSWORD) == OK
        assert wire.ask("HGET", "safe.t:1", "open").code == NO_PERMISSION
        assert wire.ask("AUTH", "ann", PASSWORD) == OK
        assert wire.ask("HGET", "safe.t:1", "open") == b"10"
        wire.ask("RESET")
        assert wire.ask("HGET", "safe.t:1", "open") == NO_LOG_IN


def test_requests_behind_a_log_in_wait_for_it(server: ServerInstance, wire: Resp) -> None:
    find = ("HGET", "safe.t:1", "open")
    replies = wire.pipeline([("AUTH", "ann", "wrong"), find, ("AUTH", "ann", PASSWORD), find, find])
    assert replies == [WRONG, NO_LOG_IN, OK, b"10", b"10"]


def test_privileges_on_columns(server: ServerInstance) -> None:
    with as_user(server, "some") as wire:
        assert wire.ask("HGET", "safe.t:1", "open") == b"10"
        for line in (
            "HGET safe.t:1 closed", "HMGET safe.t:1 open closed", "HSTRLEN safe.t:1 closed",
            "HEXISTS safe.t:1 closed", "HSET safe.t:1 closed 5", "HDEL safe.t:1 closed",
            "HINCRBY safe.t:1 closed 1", "HSET safe.t:1 open 5 closed 5", "DEL safe.t:1",
            "HSET safe.t:7 open 1", "HGET safe.other:1 v",
        ):  # fmt: skip
            reply = wire.say(line)
            assert isinstance(reply, Error) and reply.code == NO_PERMISSION, (line, reply)
        assert wire.ask("HSET", "safe.t:1", "open", 10) == 0
        assert wire.ask("HINCRBY", "safe.t:1", "open", 0) == 10
        assert wire.ask("EXISTS", "safe.t:1") == 1
    with as_user(server, "reading") as wire:
        assert hash_of(wire, "safe.t:1") == {b"id": b"1", b"open": b"10", b"closed": b"100"}
        for line in ("HSET safe.t:1 open 1", "DEL safe.t:1", "HDEL safe.t:1 open"):
            assert wire.say(line).code == NO_PERMISSION
    with as_user(server, "nothing") as wire:
        for line in ("HGET safe.t:1 open", "EXISTS safe.t:1", "TYPE safe.t:1", "HLEN safe.t:1"):
            assert wire.say(line).code == NO_PERMISSION


def test_what_may_not_be_seen_is_not_there(server: ServerInstance) -> None:
    """Nobody learns which tables and databases there are, by any command."""
    lines = ["HGET {} v", "HGETALL {}", "HSET {} v 1", "DEL {}", "EXISTS {}", "TYPE {}",
             "HDEL {} v", "HINCRBY {} v 1"]  # fmt: skip
    with as_user(server, "nothing") as wire:
        for line in lines:
            answers = {
                wire.say(line.format(key)).text.replace(name, "T")
                for key, name in (
                    ("safe.other:1", "safe.other"), ("safe.nosuch:1", "safe.nosuch"),
                    ("nowhere.t:1", "nowhere.t"),
                )
            }  # fmt: skip
            assert len(answers) == 1, answers
            index = {
                wire.say(line.format(key)).text.replace(name, "T")
                for key, name in (
                    ("safe.other@x:1", "safe.other"),
                    ("safe.nosuch@x:1", "safe.nosuch"),
                )
            }
            assert len(index) == 1, index


def test_mistakes_tell_nobody_of_a_table(server: ServerInstance) -> None:
    """Although another client of the same thread has opened it, and made the same mistakes."""
    mistakes = ["HGET safe.other:x v", "HGETALL safe.other:x", "HSET safe.other:1 nosuch 1",
                "HINCRBY safe.other:1 nosuch 1", "HSET safe.other:1 id 2", "HSET safe.other:x v 1",
                "HS.COUNT safe.other FILTER nosuch = 1", "KEYS safe.other:x",
                "HDEL safe.other:1 nosuch", "HGETDEL safe.other:1 FIELDS 1 nosuch"]  # fmt: skip
    for _ in range(4):
        with as_user(server, "ann") as ann, as_user(server, "nothing") as nothing:
            for line in mistakes:
                known = ann.say(line)
                nothing_to_do = known in ([], 0, [None])
                assert nothing_to_do or isinstance(known, Error) and known.code == "ERR", known
                told = nothing.say(line)
                assert isinstance(told, Error) and told.code == NO_PERMISSION, (line, told)


def test_a_small_column_is_told_to_whom_may_read_it(server: ServerInstance) -> None:
    """The container cannot be used. Why, is the type of a column of its table."""
    server.client(CONTAINERS.read_text())
    with Sql(server.socket, "safe") as sql:
        sql.run("CREATE TABLE tiny (k INT PRIMARY KEY, v INT, f TINYINT)",
                "DELETE FROM handlersocket.containers",
                "INSERT INTO handlersocket.containers VALUES"
                " ('tiny', 'safe', 'tiny', 'k', 'v', 'f', '0', '0', 'PRIMARY')")  # fmt: skip
    for _ in range(2):
        with as_user(server, "ann") as ann, as_user(server, "nothing") as nothing:
            assert ann.ask("HS.RELOAD") == OK
            for words in (("GET", "tiny:1"), ("SET", "tiny:1", 1), ("EXISTS", "tiny:1")):
                told = ann.ask(*words)
                assert isinstance(told, Error) and "too small" in told.text, told
                assert nothing.ask(*words).code == NO_PERMISSION


def test_rights_that_come_and_go(server: ServerInstance) -> None:
    with as_user(server, "reading") as wire, Sql(server.socket) as sql:
        assert wire.ask("HGET", "safe.other:1", "v").code == NO_PERMISSION
        sql.run("GRANT SELECT ON safe.other TO reading@localhost")
        assert wire.ask("HGET", "safe.other:1", "v") == b"1"
        sql.run("REVOKE SELECT ON safe.other FROM reading@localhost")
        assert wire.ask("HGET", "safe.other:1", "v").code == NO_PERMISSION


def test_a_unit_of_somebody_who_may_not(server: ServerInstance) -> None:
    with as_user(server, "some") as wire, Sql(server.socket) as sql:
        done = wire.unit([("HSET", "safe.t:1", "open", 77), ("HSET", "safe.t:1", "closed", 77)])
        assert isinstance(done, Error) and NO_PERMISSION in done.text
        assert sql.row("SELECT open, closed FROM safe.t") == (b"10", b"100")


def test_tls(server: ServerInstance, certificates: Path) -> None:
    with connect(server) as plain:
        assert plain.ask("AUTH", "secure", PASSWORD) == WRONG
    tls = context_for(certificates)
    with connect(server, tls=tls) as wire:
        assert wire.ask("HELLO", 3, "AUTH", "secure", PASSWORD)[b"proto"] == 3
        assert wire.ask("HGET", "safe.t:1", "open").code == NO_PERMISSION
    with connect(server, tls=tls) as wire:
        assert wire.ask("AUTH", SECRET) == OK
        requests = [("HGET", "safe.t:1", "open"), ("HINCRBY", "safe.t:1", "open", 0)] * 500
        assert wire.pipeline(requests) == [b"10", 10] * 500


def test_a_unix_socket(server: ServerInstance) -> None:
    with Resp(Path(str(server.settings["handlersocket_redis_socket"])), protocol=2) as wire:
        assert wire.ask("PING") == NO_LOG_IN
        assert wire.ask("AUTH", "ann", PASSWORD) == OK
        assert wire.ask("HGET", "safe.t:1", "open") == b"10"


def test_a_port_that_demands_tls(data_root: Path, watch: Any, certificates: Path) -> None:
    settings = {
        "ssl_cert": str(certificates / "server.pem"),
        "ssl_key": str(certificates / "server-key.pem"),
        "handlersocket_tls": "REQUIRED",
    }
    with redis_server(data_root, watch, **settings) as instance:
        with Resp(redis_port(instance)) as plain:
            plain.send(b"PING\r\n")
            told = plain.rest()
            assert told.startswith(b"-") and told.count(b"\r\n") == 1 and b"TLS" in told.upper()
        with connect(instance, tls=context_for(certificates)) as wire:
            assert wire.ask("PING").text == "PONG"


def test_no_log_has_a_password(server: ServerInstance, wire: Resp) -> None:
    assert wire.ask("AUTH", SECRET) == OK
    general = (server.data_dir / "general.log").read_bytes()
    for password in (SECRET, PASSWORD):
        assert password.encode() not in general
        assert password.encode() not in server.log_path.read_bytes()
