"""CLIENT LIST and CLIENT KILL: a client sees and ends the connections of its own account."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql
from support.resp import OK, PONG, Error, Resp, Verbatim
from support_redis import connect, redis_server
from support_servers import fresh_session, wait_until

USERS = ("ann", "bob")


@pytest.fixture(scope="module")
def server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    with redis_server(data_root, watch, handlersocket_threads=2) as instance:
        with fresh_session(instance, "listed", "CREATE TABLE t (id INT PRIMARY KEY, v INT)") as sql:
            for user in USERS:
                sql.run(
                    f"CREATE USER {user}@localhost IDENTIFIED BY 'pw'",
                    f"GRANT ALL ON listed.* TO {user}@localhost",
                )
            yield instance


def logged_in(server: ServerInstance, user: str, name: str, **options: Any) -> Resp:
    wire = connect(server, **options)
    assert wire.ask("AUTH", user, "pw") == OK
    assert wire.ask("CLIENT", "SETNAME", name) == OK
    return wire


@pytest.fixture
def ann(server: ServerInstance) -> Iterator[Resp]:
    with logged_in(server, "ann", "first") as wire:
        wait_until(lambda: len(listed(wire)) == 1, "what was before has ended")
        yield wire


def listed(wire: Resp, *words: object) -> dict[str, dict[str, str]]:
    """By their names."""
    told = wire.ask("CLIENT", "LIST", *map(str, words))
    data = told.data if isinstance(told, Verbatim) else told
    assert isinstance(data, bytes), told
    lines = [
        dict(one.split("=", 1) for one in line.split(" ")) for line in data.decode().splitlines()
    ]
    return {line["name"]: line for line in lines}


def test_one_sees_ones_own_account(server: ServerInstance, ann: Resp) -> None:
    with (
        logged_in(server, "ann", "second", protocol=3) as second,
        logged_in(server, "bob", "third") as third,
    ):
        assert second.ask("CLIENT", "SETINFO", "LIB-NAME", "mine") == OK
        second.ask("HGET", "listed.t:1", "v")
        lines = listed(ann)
        assert set(lines) == {"first", "second"} and set(listed(third)) == {"third"}
        line = lines["second"]
        assert line["addr"] == f"127.0.0.1:{second.own_port}" and line["lib-name"] == "mine"
        assert (line["id"], line["resp"]) == (str(second.ask("CLIENT", "ID")), "3")
        assert line["user"] == "ann@localhost" and line["cmd"] == "find" and line["db"] == "0"
        assert int(line["age"]) >= 0 and int(line["tot-net-in"]) > 0
        assert set(listed(ann, "ID", line["id"], third.ask("CLIENT", "ID"))) == {"second"}
        assert listed(ann, "TYPE", "pubsub") == {} and len(listed(ann, "TYPE", "normal")) == 2
        assert set(listed(second)) == {"first", "second"}


def test_one_ends_ones_own_account(server: ServerInstance, ann: Resp) -> None:
    with (
        logged_in(server, "ann", "second") as second,
        logged_in(server, "ann", "fourth") as fourth,
        logged_in(server, "bob", "third") as third,
    ):
        assert ann.ask("CLIENT", "KILL", "ID", third.ask("CLIENT", "ID")) == 0
        assert ann.ask("CLIENT", "KILL", "USER", "bob@localhost") == 0
        no_such = ann.ask("CLIENT", "KILL", f"127.0.0.1:{third.own_port}")
        assert no_such == Error("ERR No such client")
        assert ann.ask("CLIENT", "KILL", "MAXAGE", 1000) == 0
        assert ann.ask("CLIENT", "KILL", f"127.0.0.1:{second.own_port}") == OK
        assert second.is_closed()
        assert ann.ask("CLIENT", "KILL", "TYPE", "normal") == 1
        assert fourth.is_closed()
        assert ann.ask("PING") == PONG and third.ask("PING") == PONG
        assert set(listed(ann)) == {"first"}


def test_in_a_pipeline_and_in_a_transaction(ann: Resp) -> None:
    told = ann.pipeline([("PING",), ("CLIENT", "LIST"), ("CLIENT", "ID"), ("CLIENT", "LIST")])
    assert told[0] == PONG and b"name=first" in told[1] and b"name=first" in told[3]
    refused = ann.pipeline([("MULTI",), ("CLIENT", "LIST"), ("EXEC",)])
    assert isinstance(refused[1], Error) and isinstance(refused[2], Error)
    assert len(ann.ask("CLIENT", "HELP")) > 10


def test_many_ask_at_once(server: ServerInstance, ann: Resp) -> None:
    """Each asks all workers, while connections come, go and work."""
    wrong: list[object] = []

    def ask(number: int) -> None:
        for turn in range(20):
            with logged_in(server, "ann", f"n{number}") as wire:
                lines = listed(wire)
                if f"n{number}" not in lines or "first" not in lines:
                    wrong.append((number, turn, lines))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_port_that_closes_does_not_wait(server: ServerInstance, ann: Resp) -> None:
    with Sql(server.socket) as sql:
        ann.pipeline([("CLIENT", "LIST")] * 50)
        sql.run("SET GLOBAL handlersocket_enabled = OFF", "SET GLOBAL handlersocket_enabled = ON")
    assert ann.is_closed()
    with logged_in(server, "ann", "again") as wire:
        assert set(listed(wire)) == {"again"}
