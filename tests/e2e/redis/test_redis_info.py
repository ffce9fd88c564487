"""INFO: its sections and what it counts, beside what a Redis answers to the same commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance
from support.peers import running_peer
from support.resp import Resp, Verbatim
from support_redis import connect, redis_server
from support_servers import fresh_session

TABLES = ("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)")
#: Those that we have, by their headings. Redis has more of them.
SECTIONS = {
    "Server", "Clients", "Memory", "Persistence", "Stats", "Replication", "Commandstats",
    "Errorstats", "Cluster", "Keyspace",
}  # fmt: skip
#: What Redis counts by a name that has the subcommand, too.
OF_PARTS = ("config", "client", "command")


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


def info(wire: Resp, *names: str) -> str:
    """RESP3 says that it is text."""
    reply = wire.ask("INFO", *names)
    data: bytes = reply.data if isinstance(reply, Verbatim) else reply
    return data.decode()


def lines_of(text: str) -> dict[str, str]:
    return dict(line.split(":", 1) for line in text.split("\r\n") if ":" in line)


def numbers(line: str) -> dict[str, float]:
    """`calls=1,usec=2`."""
    return {
        name: float(value) for name, _, value in (one.partition("=") for one in line.split(","))
    }


def headings(text: str) -> list[str]:
    return re.findall(r"^# (\w+)\r$", text, re.MULTILINE)


def counts(wire: Resp) -> dict[str, tuple[float, ...]]:
    """By command calls, refused and failed ones, and by code errors."""
    told: dict[str, tuple[float, ...]] = {}
    for name, line in lines_of(info(wire, "commandstats", "errorstats")).items():
        values = numbers(line)
        names = ("calls", "rejected_calls", "failed_calls") if "calls" in values else ("count",)
        told[name] = tuple(values[one] for one in names)
    return told


def test_it_has_the_names_that_monitors_know(wire: Resp, redis: Resp) -> None:
    lines = lines_of(info(wire))
    assert lines["loading"] == "0" and lines["role"] == "master"
    assert int(lines["connected_clients"]) >= 1
    assert lines["redis_version"].count(".") == 2 and lines["redis_mode"] == "standalone"
    known = lines_of(info(redis, "everything"))
    assert set(lines) - set(known) == {"server_name", "database_version"}


@pytest.mark.parametrize(
    "names",
    [
        (), ("default",), ("all",), ("everything",), ("ALL",), ("commandstats",), ("errorstats",),
        ("keyspace",), ("SERVER", "clients"), ("default", "commandstats"), ("nosuch",),
        ("nosuch", "stats", "stats"), ("commandstats", "all"), ("memory", "default"),
    ],
)  # fmt: skip
def test_sections_are_chosen_as_redis_does(wire: Resp, redis: Resp, names: tuple[str, ...]) -> None:
    theirs = [heading for heading in headings(info(redis, *names)) if heading in SECTIONS]
    assert headings(info(wire, *names)) == theirs
    if not theirs:
        assert info(wire, *names) == ""


def test_it_counts_what_redis_counts(wire: Resp, redis: Resp) -> None:
    """As far as the same commands have the same ends."""
    requests: list[tuple[str, ...]] = [
        ("HSET", "t:1", "v", "7"), ("HGET", "t:1", "v"), ("HGET", "t:1", "v"), ("GET", "t:1"),
        ("HGET", "t:1"), ("NOSUCH", "x"), ("ECHO", "x"), ("EXEC",), ("HINCRBY", "t:1", "v", "x"),
        ("MULTI",), ("PING",), ("HINCRBY", "t:1", "v", "2"), ("EXEC",),
        ("MULTI",), ("HGET", "t:1"), ("EXEC",), ("MULTI",), ("HGET", "t:1", "v"), ("DISCARD",),
        ("EXISTS", "t:1", "t:1"), ("AUTH", "nobody", "nothing"), ("SELECT", "x"),
        ("DEL", *(f"t:{number}" for number in range(1, 200))),
    ]  # fmt: skip
    grown = []
    for one in (wire, redis):
        before = counts(one)
        for words in requests:
            one.ask(*words)
        after = counts(one)
        grown.append(
            {
                name: change
                for name, values in after.items()
                if any(
                    change := tuple(
                        value - old
                        for value, old in zip(values, before.get(name, (0,) * 3), strict=False)
                    )
                )
                and name != "cmdstat_info"
            }  # fmt: skip
        )
    mine, theirs = grown
    assert mine == theirs
    assert mine["cmdstat_hget"] == (2, 2, 0) and mine["cmdstat_exec"] == (3, 0, 2)
    assert mine["errorstat_WRONGTYPE"] == (1,) and mine["errorstat_EXECABORT"] == (1,)


def test_its_lines_have_the_form_that_redis_gives_them(wire: Resp, redis: Resp) -> None:
    for one in (wire, redis):
        for words in (("HGET", "t:1", "v"), ("NOSUCH",), ("CONFIG", "GET", "databases")):
            one.ask(*words)
    mine, theirs = (lines_of(info(one, "commandstats", "errorstats")) for one in (wire, redis))
    for name, line in mine.items():
        is_part = name.removeprefix("cmdstat_") in OF_PARTS
        known = theirs.get(name) or theirs["cmdstat_hget" if is_part else "cmdstat_info"]
        assert list(numbers(line)) == list(numbers(known)), name
    assert re.fullmatch(r"calls=\d+,usec=0,usec_per_call=0\.00,rejected_calls=\d+,failed_calls=\d+",
                        mine["cmdstat_hget"])  # fmt: skip


def test_counters_are_those_of_all_connections(server: ServerInstance, wire: Resp) -> None:
    before = counts(wire).get("cmdstat_echo", (0, 0, 0))[0]
    for _ in range(5):
        with connect(server) as other:
            other.pipeline([("ECHO", "x")] * 10)
    assert counts(wire)["cmdstat_echo"][0] == before + 50


def test_nobody_knows_how_many_rows_there_are(wire: Resp) -> None:
    assert info(wire, "keyspace") == "# Keyspace\r\n"
