"""For whom a client stays awake, and for how long."""

import asyncio
import threading
import time
from functools import partial

import pytest
from faces import Face
from played_server import PlayedServer
from test_threads import Caller, wait_until

from handlersocket2 import (
    AsyncClient,
    Client,
    ClosedError,
    ConnectionLost,
    aio_wires,
    awake,
    thread_wires,
)
from handlersocket2.awake import Awake
from handlersocket2.thread_wires import ThreadWire

#: So many finds are alone before one is looked for; the first reply belongs to two requests.
BEFORE = 10


@pytest.fixture(autouse=True)
def _has_processors(monkeypatch):
    monkeypatch.setattr(awake, "_has_processors", lambda: True)


@pytest.fixture
def server():
    with PlayedServer() as played:
        played.held = threading.Event()
        yield played
        played.held.set()


def until_a_look(one):
    """Asks until it is looked for, and says how many requests were not."""
    for left_out in range(5000):
        if one.begins(1):
            return left_out
        one.came(1, 0)
    return pytest.fail("nothing was looked for")


def answered(one):
    one.found()
    one.came(1, 0)


def test_only_if_the_last_eight_requests_were_alone():
    one = Awake(allowed=True)
    assert until_a_look(one) == 8
    answered(one)
    assert until_a_look(one) == 0
    assert not one.begins(2)
    one.came(2, 0)
    assert until_a_look(one) == 8


def test_a_reply_in_pieces_counts_once():
    one = Awake(allowed=True)
    for _ in range(20):
        one.came(1, 1)
    assert until_a_look(one) == 8


def test_after_looks_in_vain_more_and_more_requests_are_left_out():
    one = Awake(allowed=True)
    until_a_look(one)
    left_out = []
    for _ in range(12):
        one.found_nothing()
        one.came(1, 0)
        left_out.append(until_a_look(one))
    assert left_out == [*(2**times for times in range(1, 11)), 1024, 1024]
    answered(one)
    assert until_a_look(one) == 0
    one.found_nothing()
    one.came(1, 0)
    assert until_a_look(one) == 2


def test_not_with_one_processor_nor_if_it_is_not_wanted(monkeypatch):
    assert not any(each.begins(1) or each.came(1, 0) for each in [Awake(allowed=False)] * 20)
    monkeypatch.setattr(awake, "_has_processors", lambda: False)
    one = Awake(allowed=True)
    assert not any(one.begins(1) or one.came(1, 0) for _ in range(20))


@pytest.fixture
def looks(monkeypatch):
    """What `begins` has answered."""
    answers = []
    begins = Awake.begins

    def noted(one, in_flight):
        answers.append(begins(one, in_flight))
        return answers[-1]

    monkeypatch.setattr(Awake, "begins", noted)
    return answers


class SlowServer(PlayedServer):
    """No look finds its answers at once."""

    def _answer(self, line, opened):
        time.sleep(0.002)
        return super()._answer(line, opened)


class LoneCaller:
    """Asks for one row after the other."""

    def __init__(self, kind, server, **options):
        self._face = Face(kind, server.address, **options)
        self._index = self._face.client.index("d", "t", ["a"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._face.close()

    def asks(self, times):
        for key in range(times):
            assert self._face(partial(self._index.find, key)) == [(b"%d" % key,)]


@pytest.mark.parametrize("stay_awake", [True, False])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_caller_that_is_alone_is_looked_for(looks, server, kind, stay_awake):
    with LoneCaller(kind, server, stay_awake=stay_awake) as caller:
        caller.asks(200)
    assert any(looks) == stay_awake


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_what_looks_have_found_decides_how_many_there_are(monkeypatch, looks, kind):
    def looks_of(times, seconds):
        for module in (aio_wires, thread_wires):
            monkeypatch.setattr(module, "LONGEST_LOOK", seconds)
        looks.clear()
        caller.asks(times)
        return sum(looks)

    with SlowServer() as server, LoneCaller(kind, server) as caller:
        assert 1 < looks_of(150, -1) < 50  # in vain
        looks_of(150, 20)
        assert looks_of(50, 20) == 50
        assert 3 < looks_of(150, -1) < 50  # it begins anew


def test_a_thread_that_looks_ends_that_when_another_one_asks(monkeypatch, server):
    monkeypatch.setattr(thread_wires, "LONGEST_LOOK", 3600)
    began, ended, in_vain = [], [], []
    look = ThreadWire.look

    def noted(wire):
        began.append(wire)
        ended.append(look(wire))
        return ended[-1]

    monkeypatch.setattr(ThreadWire, "look", noted)
    monkeypatch.setattr(Awake, "found_nothing", in_vain.append)
    with Client(server.address) as client:
        index = client.index("d", "t", ["a"])
        for key in range(BEFORE):
            index.find(key)
        before = len(began)
        first = Caller(lambda: index.find("hold"))
        wait_until(lambda: len(began) > before)
        assert len(ended) == before
        other = Caller(lambda: index.find(7))
        wait_until(lambda: len(ended) > before)
        assert not ended[-1]
        server.held.set()
        assert first.ended().result == [(b"hold",)]
        assert other.ended().result == [(b"7",)]
    assert not in_vain


def test_a_thread_sleeps_when_its_look_is_over(monkeypatch, server):
    ended = threading.Event()
    found_nothing = Awake.found_nothing
    monkeypatch.setattr(thread_wires, "LONGEST_LOOK", 3600)
    with Client(server.address) as client:
        index = client.index("d", "t", ["a"])
        for key in range(BEFORE):
            index.find(key)

        def noted(one):
            found_nothing(one)
            ended.set()

        monkeypatch.setattr(Awake, "found_nothing", noted)
        monkeypatch.setattr(thread_wires, "LONGEST_LOOK", awake.LONGEST_LOOK)
        caller = Caller(lambda: index.find("hold"))
        assert ended.wait(20)
        server.held.set()
        assert caller.ended().result == [(b"hold",)]


def turns_of(loop):
    """Notes what asks the loop to go round once more for a look."""
    turns = []
    call_soon = loop.call_soon

    def noted(callback, *arguments, **options):
        if getattr(callback, "__name__", "") == "_stay_awake":
            turns.append(callback)
        return call_soon(callback, *arguments, **options)

    loop.call_soon = noted
    return turns


def run(work):
    async def bounded():
        async with asyncio.timeout(20):
            return await work

    return asyncio.run(bounded())


@pytest.mark.parametrize("ends", ["another request", "a lost connection", "closing", "its time"])
def test_the_loop_that_looks_sleeps_when_that_is_over(monkeypatch, server, ends):
    monkeypatch.setattr(aio_wires, "LONGEST_LOOK", 3600)

    async def main():
        turns = turns_of(asyncio.get_running_loop())
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            for key in range(BEFORE):
                await index.find(key)
            if ends == "its time":
                monkeypatch.setattr(aio_wires, "LONGEST_LOOK", 0.2)
            first = index.find("hold")
            before = len(turns)
            await asyncio.sleep(0.05)  # others have their turns meanwhile
            assert len(turns) > before + 5
            other = None
            if ends == "another request":
                other = index.find(7)
            elif ends == "a lost connection":
                server.hang_up()
            elif ends == "closing":
                await client.close()
            await asyncio.sleep(0.4)
            before = len(turns)
            await asyncio.sleep(0.05)
            assert len(turns) == before
            server.held.set()
            if ends in ("a lost connection", "closing"):
                with pytest.raises((ConnectionLost, ClosedError)):
                    await first
            else:
                assert await first == [(b"hold",)]
            if other is not None:
                assert await other == [(b"7",)]

    run(main())


def test_a_task_that_is_alone_sends_at_once(server):
    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            for key in range(BEFORE):
                await index.find(key)
            (wire,) = client._core.links[0].wires()
            first = index.find(1)
            assert not wire.channel.has_output
            second = index.find(2)  # that one has company
            assert wire.channel.has_output
            assert [await first, await second] == [[(b"1",)], [(b"2",)]]

    run(main())


def test_a_task_that_is_alone_sends_nothing_on_a_connection_that_has_ended(server):
    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            for key in range(BEFORE):
                await index.find(key)
            server.hang_up()
            assert await index.insert([1]) == 7

    run(main())
    assert len(server.connections) == 2


def test_a_caller_that_gives_up_while_the_loop_looks(server):
    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            for key in range(BEFORE):
                await index.find(key)
            call = index.find(1)
            await asyncio.sleep(0)
            call.cancel()
            assert await index.find(2) == [(b"2",)]

    run(main())
