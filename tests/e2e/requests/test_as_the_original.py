"""What clients of the original rely on. Where the original ships, it is asked the same."""

from __future__ import annotations

import time
from typing import NamedTuple

import pytest
from server_instance import ServerInstance
from support.database import Database, Sql
from support.servers import needs_original
from support.wire import Wire

TABLE = (
    "CREATE TABLE alike (id INT PRIMARY KEY, a VARCHAR(20), n INT)",
    "INSERT INTO alike SELECT seq, CONCAT('v', seq), 10 * seq FROM seq_1_to_9",
)
# Index 1 has the columns id and a, and the filter columns a and n; index 2 the column n.
OPENED = (b"P\t1\t%s\talike\t\tid,a\ta,n\n", b"P\t2\t%s\talike\t\tn\n")


class Asked(NamedTuple):
    request: bytes
    reply: bytes
    ignored: int = 0  # values that handlersocket_values_ignored counts


EXCHANGES = {
    "values beyond the columns of an insert": [
        Asked(b"1\t+\t4\t10\tx\ty\tz", b"0\t1", 2),
        Asked(b"1\t=\t1\t10", b"0\t2\t10\tx"),
    ],
    "tokens behind an insert's values": [
        Asked(b"1\t+\t2\t10\tx\tmore\t\x01\t", b"0\t1", 3),
        Asked(b"1\t=\t1\t10", b"0\t2\t10\tx"),
    ],
    "more values than columns behind U, + and -": [
        Asked(b"1\t=\t1\t1\t1\t0\tU\t1\tnew\tmore\tmore", b"0\t1\t1", 2),
        Asked(b"1\t=\t1\t1\t1\t0\tU?\t1\tnewer\tmore", b"0\t2\t1\tnew", 1),
        Asked(b"1\t=\t1\t1", b"0\t2\t1\tnewer"),
        Asked(b"2\t=\t1\t1\t1\t0\t+\t1\t5\t6", b"0\t1\t1", 2),
        Asked(b"2\t=\t1\t1\t1\t0\t+?\t1\tno number", b"0\t1\t11", 1),
        Asked(b"2\t=\t1\t1\t1\t0\t-\t2\t999", b"0\t1\t1", 1),
        Asked(b"2\t=\t1\t1\t1\t0\t-?\t1\t5\t6", b"0\t1\t10", 2),
        Asked(b"2\t=\t1\t1", b"0\t1\t9"),
    ],
    "tokens behind D": [
        Asked(b"1\t=\t1\t3\t1\t0\tD\tx\ty", b"0\t1\t1"),
        Asked(b"1\t=\t1\t4\t1\t0\tD?\tx", b"0\t2\t4\tv4"),
    ],
    "an empty limit and offset": [
        Asked(b"1\t>\t1\t4\t", b"0\t2\t5\tv5"),
        Asked(b"1\t>\t1\t4\t\t", b"0\t2\t5\tv5"),
        Asked(b"1\t>\t1\t4\t\t\t", b"0\t2\t5\tv5"),
        Asked(b"1\t>\t1\t4\t3\t", b"0\t2\t5\tv5\t6\tv6\t7\tv7"),
        Asked(b"1\t>\t1\t4\t\t2", b"0\t2\t7\tv7"),
        Asked(b"1\t>\t1\t4\t\0\t\0", b"0\t2\t5\tv5"),
        Asked(b"1\t>\t1\t4\t2\t\0", b"0\t2\t5\tv5\t6\tv6"),
    ],
    "an empty limit and offset before what follows them": [
        Asked(b"1\t=\t1\t\t3\t\t@\t0\t2\t6\t7", b"0\t2\t6\tv6\t7\tv7"),
        Asked(b"1\t>\t1\t1\t3\t\tF\t=\t0\tv7", b"0\t2\t7\tv7"),
        Asked(b"1\t>\t1\t1\t\t\tF\t>\t1\t60\t", b"0\t2\t7\tv7"),
        Asked(b"1\t=\t1\t4\t\t\tU\t4\tnew", b"0\t1\t1"),
        Asked(b"1\t=\t1\t4", b"0\t2\t4\tnew"),
    ],
}
every_exchange = pytest.mark.parametrize("name", EXCHANGES)


def ask_all(name: str, server: ServerInstance, database: str) -> None:
    with Wire(server.hs_port_wr) as wire:
        for opening in OPENED:
            assert wire.ask(opening % database.encode()) == b"0\t1"
        for asked in EXCHANGES[name]:
            assert wire.ask(asked.request + b"\n") == asked.reply, asked.request


@every_exchange
def test_the_same_here(name: str, sql: Sql, database: Database) -> None:
    sql.run(*TABLE)
    expected = sum(asked.ignored for asked in EXCHANGES[name])
    expected += sql.status("handlersocket_values_ignored")
    ask_all(name, database.server, database.name)
    deadline = time.monotonic() + 10  # a pass is counted after its replies were sent
    while sql.status("handlersocket_values_ignored") < expected and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sql.status("handlersocket_values_ignored") == expected


@needs_original
def test_the_original_answers_so(make_original) -> None:
    server = make_original()
    with Sql(server.socket, "test") as sql:
        for name in EXCHANGES:
            sql.run("DROP TABLE IF EXISTS alike", *TABLE)
            ask_all(name, server, "test")


def test_values_that_are_missing_are_missed_also_where_they_would_be_ignored(
    sql: Sql, database: Database
) -> None:
    sql.run(*TABLE)
    with database.wire(write=True) as wire:
        assert wire.ask(OPENED[0] % database.name.encode()) == b"0\t1"
        assert wire.ask(b"1\t+\t4\t10\tx\ty\n") == b"2\t1\tklen"
        assert wire.ask(b"1\t=\t1\t10\n") == b"0\t2"


# What docs/migration.md says about values and ids, and what the original does instead.
MOVED = (
    "CREATE TABLE padded (k BINARY(4) PRIMARY KEY)",
    "INSERT INTO padded VALUES ('a')",
    "CREATE TABLE partly (id INT PRIMARY KEY, n INT, s VARCHAR(9), d INT DEFAULT 7)",
    "CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(9))",
)
MOVED_REQUESTS = {
    b"P\t1\t%s\tpadded\t\tk\n": (b"0\t1", b"0\t1"),
    b"1\t=\t1\ta\n": (b"0\t1", b"0\t1\ta\x01@\x01@\x01@"),
    b"1\t=\t1\ta\x01@\x01@\x01@\n": (b"0\t1\ta\x01@\x01@\x01@",) * 2,
    b"P\t2\t%s\tpartly\t\tid\n": (b"0\t1", b"0\t1"),
    b"2\t+\t1\t1\n": (b"0\t1", b"0\t1"),
    b"P\t3\t%s\tpartly\t\tn,s,d\n": (b"0\t1", b"0\t1"),
    b"3\t=\t1\t1\n": (b"0\t3\t\0\t\0\t7", b"0\t3\t0\t\t7"),
    b"P\t4\t%s\tnumbered\t\tid,s\n": (b"0\t1", b"0\t1"),
    b"4\t+\t2\t\tx\n": (b"1\t1\t1366", b"0\t1\t1"),
    b"4\t+\t2\t0\tx\n": (b"0\t1\t1", b"0\t1\t2"),
    b"4\t+\t2\t\0\tx\n": (b"0\t1\t2", b"0\t1\t3"),
}


@needs_original
def test_what_the_original_does_with_values(make_original) -> None:
    server = make_original()
    with Sql(server.socket, "test") as sql, Wire(server.hs_port_wr) as wire:
        sql.run(*MOVED)
        for request, (_, reply) in MOVED_REQUESTS.items():
            assert wire.ask(request.replace(b"%s", b"test")) == reply, request


def test_what_is_done_with_them_here(sql: Sql, database: Database) -> None:
    sql.run(*MOVED)
    with database.wire(write=True) as wire:
        for request, (reply, _) in MOVED_REQUESTS.items():
            assert wire.ask(request.replace(b"%s", database.name.encode())) == reply, request
