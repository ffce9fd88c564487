"""Closing ends those that wait for their turn to iterate; a shutdown waits for those that go on."""

import asyncio
import contextlib
import socket
import threading
import time

import pytest
from faces import Played, script
from played_server import PlayedServer
from test_threads import refuses, wait_until

from handlersocket2 import AsyncClient, Client, ClosedError, ConnectError, RequestTimeout
from handlersocket2.thread_wires import ThreadWire

ROW = "0\t1\n0\t1\tx\t"


def served():
    """The first row of a reply that has no end."""
    return script(("", ROW), {"stop_reading": True})


def test_threads():
    ended = []

    def iterate(index):
        try:
            next(index.iterate(2))
        except ClosedError:
            ended.append("closed")

    with Played(Client, options={"max_streams": 1}, read=[served()]) as run:
        index = run.client.index("db", "t", ["a"])
        held = index.iterate(1)
        assert next(held) == (b"x",)
        threads = [threading.Thread(target=iterate, args=(index,), daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        threads[0].join(0.05)
        run.client.close()
        for thread in threads:
            thread.join(5)
        assert ended == ["closed"] * 3


def test_tasks():
    async def iterate(index):
        async for _ in index.iterate(2):
            pass

    async def main(client):
        index = client.index("db", "t", ["a"])
        async with contextlib.aclosing(index.iterate(1)) as held:
            assert await anext(held) == (b"x",)
            tasks = [asyncio.create_task(iterate(index)) for _ in range(3)]
            await asyncio.sleep(0.05)
            await client.close()
            async with asyncio.timeout(5):
                return await asyncio.gather(*tasks, return_exceptions=True)

    with Played(AsyncClient, options={"max_streams": 1}, read=[served()]) as run:
        ended = run(lambda: main(run.client))
        assert [type(error) for error in ended] == [ClosedError] * 3


def whole():
    """The reply ends when the server has heard of it."""
    return script(("P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t1\t9\n", ROW + "y\tz\n"))


def test_a_shutdown_waits_for_an_iteration_of_another_thread():
    with Played(Client, read=[whole()]) as run:
        index = run.client.index("db", "t", ["a"])
        rows = index.iterate(1, limit=9)
        assert next(rows) == (b"x",)
        closing = threading.Thread(target=run.client.shutdown, args=(10,), daemon=True)
        closing.start()
        wait_until(lambda: refuses(index))
        closing.join(0.1)
        assert closing.is_alive()
        assert list(rows) == [(b"y",), (b"z",)]
        closing.join(5)
        assert not closing.is_alive()


def test_a_shutdown_waits_for_an_iteration_of_another_task():
    async def main(client):
        index = client.index("db", "t", ["a"])
        rows = index.iterate(1, limit=9)
        assert await anext(rows) == (b"x",)
        closing = asyncio.create_task(client.shutdown(10))
        await asyncio.sleep(0.1)
        assert not closing.done()
        with pytest.raises(ClosedError):
            await anext(index.iterate(2))
        assert [row async for row in rows] == [(b"y",), (b"z",)]
        async with asyncio.timeout(5):
            await closing

    with Played(AsyncClient, read=[whole()]) as run:
        run(lambda: main(run.client))


def test_a_shutdown_does_not_wait_longer_than_it_may():
    with Played(Client, read=[served()]) as run:
        rows = run.client.index("db", "t", ["a"]).iterate(1)
        assert next(rows) == (b"x",)
        began = time.monotonic()
        run.client.shutdown(0.2)
        assert 0.2 <= time.monotonic() - began < 5
        with pytest.raises(ClosedError):
            next(rows)


def test_a_shutdown_does_not_wait_for_what_was_given_up():
    """Nobody reads its reply."""
    with PlayedServer() as server:
        server.held = threading.Event()
        client = Client(server.address)
        index = client.index("d", "t", ["a"])
        with pytest.raises(RequestTimeout):
            index.find("hold", timeout=0.05)
        server.held.set()
        began = time.monotonic()
        client.shutdown(5)
        assert time.monotonic() - began < 4


def test_a_shutdown_does_not_wait_for_who_has_waited_for_a_connection():
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = nobody.getsockname()
    client = Client(address, timeout=0.1, connect_attempts=9, backoff_min=5, backoff_max=5)
    with pytest.raises((RequestTimeout, ConnectError)):
        client.ping()
    with pytest.raises((RequestTimeout, ConnectError)):
        client.ping()
    began = time.monotonic()
    client.shutdown(5)
    assert time.monotonic() - began < 4


def test_a_shutdown_does_not_wait_for_a_pipeline_that_was_interrupted(monkeypatch):
    def interrupted(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    with PlayedServer() as server:
        server.held = threading.Event()
        client = Client(server.address)
        index = client.index("d", "t", ["a"])
        pipeline = client.pipeline()
        for _ in range(3):
            pipeline.on(index).find("hold")
        monkeypatch.setattr(ThreadWire, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            server.held.set()
            pipeline.run()
        began = time.monotonic()
        client.shutdown(5)
        assert time.monotonic() - began < 4
