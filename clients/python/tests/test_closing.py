"""Closing ends those that wait for their turn to iterate, whatever the others do."""

import asyncio
import contextlib
import threading

from faces import Played, script

from handlersocket2 import AsyncClient, Client, ClosedError

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
