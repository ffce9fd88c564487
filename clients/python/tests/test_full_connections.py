"""Connections that can open no more indexes, beyond what the scenarios play."""

from functools import partial

import pytest
from faces import Face
from played_server import PlayedServer

from handlersocket2 import AsyncClient, Client, ReplyError, links


@pytest.fixture
def server():
    with PlayedServer() as played:
        played.most_open = 1
        yield played


def opened(server):
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
    assert opened(server) == [["t", "u", "v"], ["u", "v"]]
    face.close()


def test_who_only_wants_an_index_to_be_open_goes_on(server):
    """A client of one address opens an index when it is made."""
    with Client(server.address) as client:
        for table in "tuv":
            assert client.index("d", table, ["a"]).find(1) == [(b"1",)]
    assert opened(server) == [["t", "u"], ["u", "v"], ["v"]]


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
