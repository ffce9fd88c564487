"""The scenarios that clients in every language play, with the client of asyncio."""

import asyncio
import time

import pytest
import uvloop
from scenario_server import PATIENCE, Play
from scenarios import (
    COLUMNS,
    call_of,
    check_undone,
    compare,
    fill,
    options_of,
    played,
    question_of,
    times_of,
)

from handlersocket2 import AsyncClient


class Application:
    def __init__(self, play, client):
        self._play = play
        self._client = client
        self._indexes = {
            name: client.index("db", name, columns) for name, columns in COLUMNS.items()
        }
        self._begun = {}
        self._calls = {}
        self._seconds = {}

    async def run(self, steps):
        for step in steps:
            await self._step(step)

    async def _step(self, step):
        if "call" in step:
            self._begun[step["call"]] = asyncio.ensure_future(self._call(step))
            await asyncio.sleep(0)
        elif "result" in step:
            compare(*await self._begun[step["result"]], step["gives"], *self._ended(step))
        elif "cancel" in step:
            self._calls[step["cancel"]].cancel()
        elif "pipeline" in step:
            await self._pipeline(step)
        elif "iterate" in step:
            await self._iterate(step)
        elif "close" in step:
            await self._client.close()
        elif "pause_ms" in step:
            await asyncio.sleep(step["pause_ms"] / 1000)
        elif "signal" in step:
            self._play.signal(step["signal"]).set()
        elif "await" in step:
            assert await asyncio.to_thread(self._play.signal(step["await"]).wait, PATIENCE)
        else:
            name = object()
            result, error = await self._call({**step, "call": name})
            compare(result, error, step["gives"], *self._ended({"result": name}))

    async def _call(self, step):
        began = time.monotonic()
        try:
            if "group" in step:
                return await self._group(step), None
            if question := question_of(self._client, step):
                method, arguments = question
                return await method(*arguments), None
            index, method, arguments, keywords = call_of(step)
            call = getattr(self._indexes[index], method)(*arguments, **keywords)
            self._calls[step["call"]] = call
            return await call, None
        except (Exception, asyncio.CancelledError) as error:
            return None, error
        finally:
            self._seconds[step["call"]] = time.monotonic() - began

    def _ended(self, step):
        name = step["result"]
        return self._seconds[name], self._calls.get(name)

    async def _group(self, step):
        group = self._client.group(**times_of(step))
        pending = fill(group, self._indexes, step["group"])
        try:
            await group.run()
        except Exception as error:
            check_undone(pending, error)
            raise
        return group.results()

    async def _pipeline(self, step):
        async with self._client.pipeline() as pipeline:
            pending = []
            for each in step["pipeline"]:
                index, method, arguments, keywords = call_of(each)
                on = pipeline.on(self._indexes[index])
                pending.append(getattr(on, method)(*arguments, **keywords))
        for each, gives in zip(pending, step["gives"], strict=True):
            error = each.error()
            compare(None if error else each.result(), error, gives)

    async def _iterate(self, step):
        index, _, arguments, keywords = call_of(step)
        rows, error = [], None
        stream = self._indexes[index].iterate(*arguments, **keywords)
        try:
            async for row in stream:
                rows.append(row)
                if len(rows) == 1 and "signal_after_first" in step:
                    self._play.signal(step["signal_after_first"]).set()
                if len(rows) == step.get("take"):
                    break
        except Exception as caught:
            error = caught
        finally:
            await stream.aclose()
        compare(rows, error, step["gives"])


LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(("scenario", "cut"), played())
def test_a_scenario(scenario, cut, loop):
    async def main():
        client = AsyncClient(play.addresses, **options_of(scenario))
        try:
            async with asyncio.timeout(60):
                await Application(play, client).run(scenario["steps"])
                await asyncio.to_thread(play.wait_for_the_end)
        finally:
            await client.close()

    with Play(scenario, cut) as play:
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            runner.run(main())
        play.check()
