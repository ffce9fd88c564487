"""Requests in flight to a server that names another one, which are answered one after the other."""

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest
from faces import Played, script

from handlersocket2 import AsyncClient, Client
from handlersocket2.thread_wires import Call, ThreadWire

OPEN = "P\t1\tdb\tt\tPRIMARY\ta\n"
FIND = "1\t=\t1\t1\n"
OFF_LINE = "1\t1\t3032\n"
FOUND = "0\t1\tx\n"


def servers(calls):
    """The first one answers when the second one has nothing to do any more."""
    first = script((OPEN + FIND * calls, "0\t1\n" + OFF_LINE))
    second = script((OPEN + FIND, "0\t1\n" + FOUND))
    for number in range(1, calls):
        second += [{"signal": f"{number}"}, *script((FIND, FOUND))]
        first += [{"await": f"{number}"}, {"quiet_ms": 20}, {"send": OFF_LINE}]
    return [{"read": [first]}, {"read": [second]}]


@pytest.mark.parametrize("kind", [Client, AsyncClient], ids=["threads", "asyncio"])
def test_a_pipeline(kind):
    with Played(kind, servers=servers(3)) as run:
        index = run.client.index("db", "t", ["a"])
        pipeline = run.client.pipeline()
        for _ in range(3):
            pipeline.on(index).find_one(1)
        run(pipeline.run)
        assert pipeline.results() == [(b"x",)] * 3


@pytest.mark.parametrize("kind", [Client, AsyncClient], ids=["threads", "asyncio"])
def test_a_find_that_is_lost_with_the_server_before(kind):
    """It is sent again to the one that is there already."""
    first = script((OPEN + FIND * 2, "0\t1\n" + OFF_LINE), {"await": "1"}, {"close": True})
    second = script((OPEN + FIND, "0\t1\n" + FOUND), {"signal": "1"}, (FIND, FOUND))
    played = [{"read": [first]}, {"read": [second]}]
    with Played(kind, options={"retry_reads": 1}, servers=played) as run:
        index = run.client.index("db", "t", ["a"])
        pipeline = run.client.pipeline()
        pipeline.on(index).find_one(1)
        pipeline.on(index).find_one(1)
        run(pipeline.run)
        assert pipeline.results() == [(b"x",)] * 2


def test_tasks():
    async def main(client):
        index = client.index("db", "t", ["a"])
        return await asyncio.gather(*(index.find_one(1) for _ in range(5)))

    with Played(AsyncClient, servers=servers(5)) as run:
        assert run(lambda: main(run.client)) == [(b"x",)] * 5


def test_threads():
    found = []
    with Played(Client, servers=servers(5)) as run:
        index = run.client.index("db", "t", ["a"])
        threads = [
            threading.Thread(target=lambda: found.append(index.find_one(1))) for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert found == [(b"x",)] * 5


def test_a_thread_that_sleeps_while_another_one_reads_for_it():
    """Who reads has the last of the replies, so the others have to send by themselves."""
    played = servers(3)
    played[0]["read"][0][:0] = script(("echo\tping\n", "0\t1\tping\n"))
    with Played(Client, servers=played) as run:
        run.client.ping()
        core, index = run.client._core, run.client.index("db", "t", ["a"])
        ask = index.operations.find_one(1, {})
        first = [Call(ask, time.monotonic() + 10) for _ in range(2)]
        with core.lock:
            for call in first:
                core._submit(core.link_for((ask,)), call, time.monotonic())
        threads = [threading.Thread(target=index.find_one, args=(1,))]
        threads += [threading.Thread(target=core._drive, args=(call,)) for call in first]
        threads[0].start()
        threads[1].start()
        threads[2].start()
        for thread in threads:
            thread.join(20)
        assert [call.outcome() for call in first] == [(b"x",)] * 2


def test_a_thread_that_is_sent_elsewhere_leaves_others_behind():
    """It has read for all. What the first server says afterwards is for another thread."""
    first = script((OPEN + FIND * 2, "0\t1\n" + OFF_LINE), {"await": "moved"})
    first += [{"send": FOUND}]
    second = script((OPEN + FIND, "0\t1\n"), {"signal": "moved"}, {"await": "found"})
    second += [{"send": FOUND}]
    played = [{"read": [first]}, {"read": [second]}]
    with Played(Client, options={"timeout": 5}, servers=played) as run:
        index, found = run.client.index("db", "t", ["a"]), []
        threads = [
            threading.Thread(target=lambda: found.append(index.find_one(1))) for _ in range(2)
        ]
        threads[0].start()
        link = run.client._core.links[0]
        while not (link.wire and link.wire.reading):
            time.sleep(0.001)
        threads[1].start()
        threads[1].join(4)
        run.play.signal("found").set()
        assert found == [(b"x",)]
        threads[0].join(5)
        assert found == [(b"x",)] * 2


class WireOf:
    """A connection on which one call is under way."""

    callers, wake_one = ThreadWire.callers, ThreadWire.wake_one
    reading = False

    def __init__(self, call):
        self.channel = SimpleNamespace(slots=[call])


def test_who_leaves_wakes_one_of_each_connection():
    """One that answers only what was sent has its own threads."""
    with Client([(("127.0.0.1", 1), ("127.0.0.1", 1))]) as client:
        core = client._core
        link, asleep = core.links[0], []
        for _ in range(2):
            call = Call(core.hello(None), time.monotonic() + 10)
            call.gate, call.parked = threading.Lock(), True
            call.gate.acquire()
            asleep.append(call)
        wires = [WireOf(call) for call in asleep]
        link.retiring, link.wire = {wires[0]: "left"}, wires[1]
        core._pass_on(link, asleep[0])
        link.retiring, link.wire = {}, None
        assert [call.parked for call in asleep] == [False, False]
