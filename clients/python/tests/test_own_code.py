"""What the caller's own code throws while a row is made ends its own call, and no other."""

import asyncio
from dataclasses import dataclass

import pytest
from played_server import PlayedServer

from handlersocket2 import AsyncClient, Client, DecodeError


class Mine(Exception):
    pass


def picky(raw):
    if raw == b"1":
        raise Mine("not this one")
    return int(raw)


@dataclass
class Picky:
    a: int

    def __post_init__(self):
        if self.a == 1:
            raise Mine("not this one")


@dataclass
class Doubtful:
    a: int

    def __post_init__(self):
        if self.a == 1:
            raise ValueError("not this one")


KINDS = pytest.mark.parametrize("columns", [{"a": picky}, Picky, Doubtful])


@pytest.fixture
def server():
    with PlayedServer() as played:
        yield played


def value_of(row):
    return row.a


def check(error):
    assert isinstance(error, DecodeError), repr(error)
    assert error.sent
    assert not error.maybe_executed
    assert isinstance(error.__cause__, Mine) or "row's class" in str(error)


@KINDS
def test_neighbours_in_a_pipeline(server, columns):
    with Client(server.address, write=server.address) as client:
        index = client.index("d", "t", columns)
        with client.pipeline() as pipeline:
            calls = [pipeline.on(index).find(key) for key in (2, 1, 3)]
            one = pipeline.on(index).find_one(1)
        assert [value_of(calls[0].result()[0]), value_of(calls[2].result()[0])] == [2, 3]
        check(calls[1].error())
        check(one.error())
        assert value_of(index.find_one(4)) == 4
    assert len(server.connections) == 1


@KINDS
def test_tasks(server, columns):
    async def main():
        async with AsyncClient(server.address, write=server.address) as client:
            index = client.index("d", "t", columns)
            calls = [index.find_one(key) for key in (2, 1, 3)]
            two, error, three = await asyncio.gather(*calls, return_exceptions=True)
            assert (value_of(two), value_of(three)) == (2, 3)
            check(error)
            assert value_of((await index.find(4))[0]) == 4

    asyncio.run(asyncio.wait_for(main(), 20))
    assert len(server.connections) == 1


@KINDS
def test_rows_one_by_one(server, columns):
    with Client(server.address, write=server.address) as client:
        index = client.index("d", "t", columns)
        with pytest.raises(DecodeError) as caught:
            list(index.iterate(1))
        check(caught.value)
        assert [value_of(row) for row in index.iterate(2)] == [2]


@KINDS
def test_rows_one_by_one_among_tasks(server, columns):
    async def main():
        async with AsyncClient(server.address, write=server.address) as client:
            index = client.index("d", "t", columns)
            with pytest.raises(DecodeError) as caught:
                async for _ in index.iterate(1):
                    pass
            check(caught.value)
            assert [value_of(row) async for row in index.iterate(2)] == [2]

    asyncio.run(asyncio.wait_for(main(), 20))
