"""What clients and monitors ask of a connection and of the server, beside rows."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import REPOSITORY, ServerInstance
from support.peers import running_peer
from support.resp import OK, PONG, RESET, Error, Resp, Simple, Verbatim, pairs
from support_redis import connect, redis_server
from support_servers import fresh_session

PAGE = REPOSITORY / "docs/redis.md"
TABLES = ("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)")


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, handlersocket_default_database="asked") as instance:
        with fresh_session(instance, "asked", *TABLES):
            yield instance


@pytest.fixture
def wire(server: ServerInstance) -> Iterator[Resp]:
    with connect(server) as one:
        yield one


@pytest.fixture(scope="module")
def redis() -> Iterator[Resp]:
    with running_peer("redis-server") as port, Resp(port) as one:
        yield one


def text_of(reply: Any) -> str:
    """RESP3 says that it is text."""
    data: bytes = reply.data if isinstance(reply, Verbatim) else reply
    return data.decode()


def test_hello(server: ServerInstance) -> None:
    with connect(server) as wire:
        told = wire.ask("HELLO")
        assert isinstance(told, list) and pairs(told)[b"proto"] == 2
        told = wire.ask("HELLO", 3)
        assert isinstance(told, dict) and told[b"proto"] == 3
        assert (told[b"mode"], told[b"role"], told[b"modules"]) == (b"standalone", b"master", [])
        assert told[b"server"] and told[b"version"] and told[b"id"] == wire.ask("CLIENT", "ID")
        assert wire.ask("HELLO", 4) == Error("NOPROTO unsupported protocol version")
        assert isinstance(wire.ask("HGETALL", "t:1"), dict), "it is RESP3 still"
        assert isinstance(wire.ask("HELLO", 2), list)
        assert isinstance(wire.ask("HGETALL", "t:1"), list)


def test_plain_ones(wire: Resp) -> None:
    assert wire.ask("PING") == PONG
    assert wire.ask("PING", "x") == b"x"
    assert wire.ask("ECHO", b"\x00\r\n") == b"\x00\r\n"
    assert wire.ask("SELECT", 0) == OK
    assert wire.ask("SELECT", 1) == Error("ERR DB index is out of range")
    seconds, micros = wire.ask("TIME")
    assert abs(int(seconds) - time.time()) < 60 and 0 <= int(micros) < 1_000_000
    assert wire.ask("WAIT", 0, 10) == 0
    assert isinstance(wire.ask("LASTSAVE"), int)
    assert wire.ask("RESET") == RESET
    assert wire.ask("QUIT") == OK
    assert wire.is_closed()


def test_who_one_is(wire: Resp, server: ServerInstance) -> None:
    assert wire.ask("CLIENT", "GETNAME") is None
    assert wire.ask("CLIENT", "SETNAME", "worker-1") == OK
    assert wire.ask("CLIENT", "GETNAME") == b"worker-1"
    assert wire.ask("CLIENT", "SETINFO", "LIB-NAME", "mine") == OK
    info = text_of(wire.ask("CLIENT", "INFO"))
    assert f"id={wire.ask('CLIENT', 'ID')} " in info
    assert "name=worker-1" in info and "addr=127.0.0.1:" in info and "lib-name=mine" in info
    assert wire.ask("RESET") == RESET
    assert wire.ask("CLIENT", "GETNAME") is None
    for line in ("CLIENT NO-EVICT ON", "CLIENT NO-TOUCH ON", "CLIENT NO-TOUCH OFF"):
        assert wire.say(line) == OK


def test_what_clients_turn_off(wire: Resp) -> None:
    """They ask, and go on without it if it is refused."""
    for line in (
        "CLIENT TRACKING ON OPTIN",
        "CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type none",
        "CLUSTER SLOTS", "CLUSTER SHARDS", "SENTINEL masters", "READONLY",
    ):  # fmt: skip
        assert isinstance(wire.say(line), Error), line
    assert wire.ask("READONLY") == Error("ERR This instance has cluster support disabled")
    assert wire.ask("CLUSTER", "SLOTS") == Error("ERR This instance has cluster support disabled")
    assert wire.ask("PING") == PONG


def test_config(wire: Resp) -> None:
    told = pairs(wire.ask("CONFIG", "GET", "maxmemory"))
    assert told in ({}, {b"maxmemory": b"0"})
    assert pairs(wire.ask("CONFIG", "GET", "databases")) == {b"databases": b"1"}
    assert pairs(wire.ask("CONFIG", "GET", "nosuch")) == {}
    assert isinstance(wire.ask("CONFIG", "SET", "databases", "2"), Error)
    assert isinstance(wire.ask("CONFIG", "GET"), Error)
    assert "only grow" in wire.ask("CONFIG", "RESETSTAT").text


def test_command_tells_what_there_is(wire: Resp, redis: Resp) -> None:
    """COMMAND has the form that Redis gives it, and the same keys and numbers of words."""
    mine = {entry[0]: entry for entry in wire.ask("COMMAND")}
    assert len(mine) == wire.ask("COMMAND", "COUNT")
    theirs = {entry[0]: entry for entry in redis.ask("COMMAND")}
    for name, entry in mine.items():
        if name in theirs:
            assert entry[1] == theirs[name][1], (name, "arity")
            assert entry[3:6] == theirs[name][3:6], (name, "keys")
            if entry[3] and name != b"watch":  # which reads rows here
                effect = {"readonly", "write"}
                assert effect & _flags(entry) == effect & _flags(theirs[name]), (name, "flags")
    assert wire.ask("COMMAND", "INFO", "HGET", "nosuch")[0][0] == b"hget"
    assert wire.ask("COMMAND", "INFO", "hget", "nosuch")[1] is None
    documents = pairs(wire.ask("COMMAND", "DOCS"))
    assert set(documents) == set(mine)
    for name, told in documents.items():
        about = pairs(told)
        assert about[b"summary"] and about[b"since"] and about[b"group"], name
    assert set(pairs(wire.ask("COMMAND", "DOCS", "hget", "nosuch"))) == {b"hget"}


def _flags(entry: list[Any]) -> set[str]:
    return {one.text for one in entry[2] if isinstance(one, Simple)}


@pytest.mark.parametrize(
    ("line", "keys"),
    [("HGET a b", ["a"]), ("DEL a b c", ["a", "b", "c"]), ("HSET a f v g w", ["a"])],
)
def test_command_getkeys(wire: Resp, redis: Resp, line: str, keys: list[str]) -> None:
    words = ("COMMAND", "GETKEYS", *line.split())
    assert wire.ask(*words) == redis.ask(*words) == [key.encode() for key in keys]
    for odd in (("COMMAND", "GETKEYS", "PING"), ("COMMAND", "GETKEYS", "nosuch"),
                ("COMMAND", "GETKEYS", "HGET"), ("COMMAND", "GETKEYS")):  # fmt: skip
        assert wire.ask(*odd) == redis.ask(*odd)


def test_the_page_has_the_same_commands(wire: Resp) -> None:
    """The table of docs/redis.md names what COMMAND names, and nothing else."""
    section = PAGE.read_text().split("\n## Commands\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    listed = {name for cell in cells for name in re.findall(r"`([A-Z.]+)`", cell)}
    assert listed == {entry[0].decode().upper() for entry in wire.ask("COMMAND")}


def test_unknown_commands_as_redis_names_them(wire: Resp, redis: Resp) -> None:
    for words in (("nosuch",), ("NOSUCH", "a", "b"), ("", "x"), ("x" * 300, "y" * 300),
                  ("CLIENT", "nosuch"), ("COMMAND", "nosuch"), ("CONFIG", "nosuch"), ("CLIENT",),
                  ("HGET",), ("hset", "t:1", "v"), ("PING", "a", "b"), ("ECHO",)):  # fmt: skip
        assert wire.ask(*words) == redis.ask(*words), words


def test_reply_off_and_skip(wire: Resp) -> None:
    wire.pipeline([("CLIENT", "REPLY", "ON")])
    wire.send(b"CLIENT REPLY SKIP\r\nECHO a\r\nECHO b\r\n")
    assert wire.reply() == b"b"
    wire.send(b"CLIENT REPLY OFF\r\nECHO c\r\nCLIENT REPLY ON\r\nECHO d\r\n")
    assert wire.replies(2) == [OK, b"d"]


def test_a_port_of_another_protocol(server: ServerInstance) -> None:
    """Redis's requests at HandlerSocket's port, and the other way round, are refused quickly."""
    with Resp(server.hs_port) as wire:
        wire.send(b"*1\r\n$4\r\nPING\r\n")
        wire.half_close()
        wire.rest()
    with connect(server) as wire:
        wire.send(b"P\t1\tasked\tt\t\tid\n")
        assert isinstance(wire.reply(), Error)
    with connect(server) as wire:
        assert wire.ask("PING") == PONG
