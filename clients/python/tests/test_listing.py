"""Lists of databases, tables and indexes, and pings. The scenarios have what all clients have."""

import asyncio

import pytest
from faces import Face, Played, script
from scenario_server import Play

from handlersocket2 import (
    AsyncClient,
    Client,
    Connection,
    ConnectionLost,
    Databases,
    Echo,
    Hello,
    Indexes,
    ListedIndex,
    ListedPart,
    ProtocolError,
    ReplyError,
    Tables,
)
from handlersocket2 import listing as asks

DATABASES = ("L\n", "0\t1\tdb\tjärn\n")
TABLES = ("L\tdb\n", "0\t1\tt\tu\n")
INDEXES = ("L\tdb\tt\n", "0\t6\tk\t0\t1\ta\t1\t0\tk\t0\t1\t\0\t0\t1\th\t1\t0\tb\t0\t0\n")
LISTED = [
    ListedIndex("k", False, True, (ListedPart("a", True, False), ListedPart(None, False, True))),
    ListedIndex("h", True, False, (ListedPart("b", False, False),)),
]
PING = ("echo\tping\n", "0\t1\tping\n")


@pytest.fixture(params=[Client, AsyncClient], ids=["threads", "asyncio"])
def kind(request):
    return request.param


def of_bytes(*steps):
    """Scripts have a character for each byte."""
    return script(*[(asked, sent.encode().decode("latin-1")) for asked, sent in steps])


def test_without_a_port_for_reading_they_go_with_the_writes(kind):
    steps = of_bytes(DATABASES, TABLES, INDEXES, ("L\tdb\tu\n", "0\t6\n"), PING)
    with Played(kind, write=[steps]) as run:
        assert run(run.client.databases) == ["db", "järn"]
        assert run(lambda: run.client.tables("db")) == ["t", "u"]
        assert run(lambda: run.client.indexes("db", "t")) == LISTED
        assert run(lambda: run.client.indexes("db", "u")) == []
        assert run(run.client.ping) is None


def test_the_database_is_that_of_the_client(kind):
    with Play({"servers": [{"read": [script(TABLES, INDEXES)]}]}) as play:
        (((_, port), _),) = play.addresses
        face = Face(kind, f"handlersocket://127.0.0.1:{port}/db", timeout=10)
        assert face(face.client.tables) == ["t", "u"]
        assert face(lambda: face.client.indexes(None, "t")) == LISTED
        play.wait_for_the_end()
        face.close()
        play.check()


def test_without_a_database_nothing_is_sent(kind):
    with Played(kind, read=[]) as run:
        for ask in (run.client.tables, lambda: run.client.indexes(None, "t")):
            with pytest.raises(ValueError, match="there is no database"):
                run(ask)


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb", "a\0b"])
def test_names_that_cannot_be_sent(kind, name):
    with Played(kind, read=[]) as run:
        for ask in (
            lambda: run.client.tables(name),
            lambda: run.client.indexes(name, "t"),
            lambda: run.client.indexes("db", name),
        ):
            with pytest.raises(ValueError, match="name cannot hold"):
                run(ask)


@pytest.mark.parametrize("cut", range(0, len(INDEXES[1]), 7))
def test_a_connection_that_ends_in_the_middle_of_a_reply(kind, cut):
    """It is sent again if that is wanted: it changes nothing."""
    ends = script((INDEXES[0], INDEXES[1][:cut]), {"close": True})
    retries = {"retry_reads": 1, "backoff_max": 0.001, "backoff_min": 0.001}
    with Played(kind, options=retries, read=[ends, script(INDEXES, PING)]) as run:
        assert run(lambda: run.client.indexes("db", "t")) == LISTED
        run(run.client.ping)


def test_a_server_that_does_not_answer_is_not_there(kind):
    with Played(kind, read=[script((PING[0], ""), {"close": True})]) as run:
        with pytest.raises(ConnectionLost) as lost:
            run(run.client.ping)
        assert lost.value.sent and lost.value.safe_to_retry


def test_tasks_that_ask_at_once():
    """What they ask in one turn of the loop travels together."""
    steps = script((DATABASES[0] + INDEXES[0] + PING[0], "0\t1\n" + INDEXES[1] + PING[1]))

    async def main(client):
        return await asyncio.gather(client.databases(), client.indexes("db", "t"), client.ping())

    with Played(AsyncClient, read=[steps]) as run:
        assert run(lambda: main(run.client)) == [[], LISTED, None]


def test_what_is_seen_of_them(kind):
    seen = []
    steps = script(
        (DATABASES[0], "0\t1\tdb\n"),
        TABLES,
        INDEXES,
        PING,
        (PING[0], "2\t1\tcmd\n"),
        (PING[0], "1\t1\tcmd\n"),
    )
    with Played(kind, options={"on_request": seen.append}, read=[steps]) as run:
        run(run.client.databases)
        run(lambda: run.client.tables("db"))
        run(lambda: run.client.indexes("db", "t"))
        run(run.client.ping)
        run(run.client.ping)  # an older server, which is there, too
        with pytest.raises(ReplyError):
            run(run.client.ping)
    told = [(each.operation, each.database, each.table, each.route, each.rows) for each in seen]
    assert told == [
        ("list", None, None, "read", 1),
        ("list", "db", None, "read", 2),
        ("list", "db", "t", "read", 2),
        *[("ping", None, None, "read", None)] * 3,
    ]
    assert [each.error is None for each in seen] == [True] * 5 + [False]
    assert seen[2].attributes()["db.operation.name"] == "list"
    assert seen[2].attributes()["db.collection.name"] == "t"


NAMES = [
    *("0\t0", "0\t2\ta\tb", "0\t1\t\0", "0\t1\ta\t\0", "0\t10\ta", "0\t6\tk\t0\t1\ta\t0\t0"),
    "0\t1\t\xff",
]
PART = "k\t0\t1\ta\t0\t0"
WRONG_INDEXES = [
    *(
        "0\t1\tk",
        "0\t5\tk\t0\t1\ta\t0",
        "0\t6\tk",
        f"0\t6\t{PART}\tk",
        f"0\t7\t{PART}\t0",
        "0\t6\t",
    ),
    *("0\t6\t\0\t0\t1\ta\t0\t0", "0\t6\tk\t2\t1\ta\t0\t0", "0\t6\tk\t0\tyes\ta\t0\t0"),
    *("0\t6\tk\t0\t1\ta\t\0\t0", "0\t6\tk\t0\t1\ta\t0\t", "0\t6\tk\t0\t1\t\xff\t0\t0"),
]
PONGS = [
    *("0\t1", "0\t1\t", "0\t1\t\0", "0\t1\tpong", "0\t1\tping\tping", "0\t2\tping", "0\t0\tping"),
    "0\t1\tpings",
]


@pytest.mark.parametrize("line", NAMES)
@pytest.mark.parametrize("ask", [asks.databases(None), asks.tables("d", None)])
def test_what_is_no_list_of_names(ask, line):
    with pytest.raises(ProtocolError) as wrong:
        ask.operation.decode(line.encode("latin-1"), False)
    assert wrong.value.sent and wrong.value.safe_to_retry


@pytest.mark.parametrize("line", WRONG_INDEXES)
def test_what_is_no_list_of_indexes(line):
    with pytest.raises(ProtocolError):
        asks.indexes("d", "t", None).operation.decode(line.encode("latin-1"), False)


@pytest.mark.parametrize("line", PONGS)
def test_what_is_no_echo_of_a_ping(line):
    with pytest.raises(ProtocolError):
        asks.ping(None).operation.decode(line.encode("latin-1"), False)


def test_as_requests_without_a_client():
    echoes = [("echo\t\0\n", "0\t1\t\0\n"), ("echo\ta\x01Ib\n", "0\t1\ta\x01Ib\n")]
    steps = script(("H\n", "0\t2\n"), TABLES, ("L\n", "2\t1\tcmd\n"), INDEXES, *echoes)
    with Play({"servers": [{"write": [steps]}]}) as play:
        ((_, address),) = play.addresses
        with Connection(address, timeout=10) as connection:
            assert connection.request(Hello()) == {}
            assert connection.request(Tables("db")) == ["t", "u"]
            with pytest.raises(ReplyError, match="cmd"):
                connection.request(Databases())
            assert connection.request(Indexes("db", "t")) == LISTED
            assert connection.request(Echo(None)) is None
            assert connection.request(Echo("a\tb")) == b"a\tb"
            play.wait_for_the_end()
        play.check()
