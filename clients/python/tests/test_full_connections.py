"""Connections that can open no more indexes, beyond what the scenarios play."""

import asyncio
from functools import partial

import pytest
from faces import Face, Played, script
from played_server import PlayedServer
from test_threads import Caller

from handlersocket2 import AsyncClient, Client, ReplyError, links
from handlersocket2.asks import Ask, Operation
from handlersocket2.calls import fate_of, leaves_full
from handlersocket2.decoders import opened
from handlersocket2.thread_wires import Call


@pytest.fixture
def server():
    with PlayedServer() as played:
        played.most_open = 1
        yield played


def asked(server):
    """The tables whose indexes were asked for on each connection."""
    return [
        [line.split(b"\t")[3].decode() for line in lines if line.startswith(b"P")]
        for lines in server.connections
    ]


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_request_goes_on_once(server, kind):
    face = Face(kind, [(server.address, None)])
    indexes = [face.client.index("d", table, ["a"]) for table in "tuv"]
    pipeline = face.client.pipeline()
    pending = [pipeline.on(index).find(1) for index in indexes]
    with pytest.raises(ReplyError):
        face(pipeline.run)
        pending[2].result()
    assert [each.result() for each in pending[:2]] == [[(b"1",)]] * 2
    assert pending[2].error().text == "stmtnum"
    assert asked(server) == [["t", "u", "v"], ["u", "v"]]
    face.close()


def test_who_only_wants_an_index_to_be_open_goes_on(server):
    """A client of one address opens an index when it is made."""
    with Client(server.address) as client:
        for table in "tuv":
            assert client.index("d", table, ["a"]).find(1) == [(b"1",)]
    assert asked(server) == [["t", "u"], ["u", "v"], ["v"]]


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_connection_that_is_left_is_closed_and_not_lost(server, kind):
    seen = []
    face = Face(kind, [(server.address, None)], on_connection=seen.append)
    for table in "tuv":
        index = face.client.index("d", table, ["a"])
        assert face(partial(index.find, 1)) == [(b"1",)]
    face.close()
    assert [each.what for each in seen] == ["connected", "closed"] * 3
    assert [each.reason for each in seen][1:-1:2] == [links.FULL] * 2


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_two_who_want_the_same_index_to_be_open_go_on(server, kind):
    face = Face(kind, [(server.address, None)], timeout=10)
    first, second = (face.client.index("d", table, ["a"]) for table in "tu")
    assert face(partial(first.find, 1)) == [(b"1",)]
    if kind is Client:
        openings = [Caller(second.open) for _ in range(2)]
        assert [each.ended().error for each in openings] == [None, None]
    else:

        async def both():
            return await asyncio.gather(second.open(), second.open())

        assert face(both) == [None, None]
    assert face(partial(second.find, 2)) == [(b"2",)]
    face.close()


FULL = ("P\t2\tdb\tu\tPRIMARY\ta\n2\t=\t1\t7\n", "2\t1\tstmtnum\n")
FIRST = ("P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t1\n", "0\t1\n0\t1\tx\n")
SECOND = "P\t1\tdb\tu\tPRIMARY\ta\n1\t=\t1\t7\n"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_full_connection_that_ends_before_its_second_reply(kind):
    full = script(FIRST, FULL, {"close": True})
    played = [{"read": [full, script((SECOND, "0\t1\n0\t1\ty\n"))]}]
    with Played(kind, servers=played) as run:
        first, second = (run.client.index("db", table, ["a"]) for table in "tu")
        assert run(partial(first.find, 1)) == [(b"x",)]
        assert run(partial(second.find, 7)) == [(b"y",)]


def test_a_call_that_a_full_connection_has_refused_was_sent():
    """Also if it ends before it has got to another one."""
    call = Call(Ask(Operation("find", None, opened, modifies=False), b""), 0.0)
    assert fate_of(call) == {"sent": False, "maybe_executed": False}
    assert leaves_full(call)
    assert fate_of(call) == {"sent": True, "maybe_executed": False}
    assert not leaves_full(call)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_iteration_goes_on_once(server, kind):
    """On a new connection. It says no more of one that could open none."""
    face = Face(kind, [(server.address, None)])
    for number, table in enumerate("tuv"):
        found = []

        async def all_of(table=table, found=found):
            async for row in face.client.index("d", table, ["a"]).iterate(1):
                found.append(row)

        if kind is Client:
            found += face.client.index("d", table, ["a"]).iterate(1)
        else:
            face(all_of)
        assert found == [(b"1",)]
        assert len(server.connections) == number + 1
    server.most_open = 0
    with pytest.raises(ReplyError) as refused:
        if kind is Client:
            list(face.client.index("d", "w", ["a"]).iterate(1))
        else:
            face(partial(all_of, "w"))
    assert refused.value.text == "stmtnum"
    face.close()
