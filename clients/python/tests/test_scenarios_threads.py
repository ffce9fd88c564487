"""The scenarios that clients in every language play, with the synchronous client.

It has no way to give up a call but its time-out, so scenarios with `cancel` are left out here; the
client of asyncio plays them.
"""

import itertools
import threading
import time

import pytest
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

from handlersocket2 import Client


class Application:
    def __init__(self, play, client):
        self._play = play
        self._client = client
        self._indexes = {
            name: client.index("db", name, columns) for name, columns in COLUMNS.items()
        }
        self._begun = {}
        self._ended = {}

    def run(self, steps):
        for step in steps:
            self._step(step)

    def _step(self, step):
        if "call" in step:
            thread = threading.Thread(target=self._call, args=(step, step["call"]), daemon=True)
            self._begun[step["call"]] = thread
            thread.start()
        elif "result" in step:
            self._begun[step["result"]].join(60)
            self._compare(step["result"], step["gives"])
        elif "pipeline" in step:
            self._pipeline(step)
        elif "iterate" in step:
            self._iterate(step)
        elif "close" in step:
            self._client.close()
        elif "pause_ms" in step:
            time.sleep(step["pause_ms"] / 1000)
        elif "signal" in step:
            self._play.signal(step["signal"]).set()
        elif "await" in step:
            assert self._play.signal(step["await"]).wait(PATIENCE)
        else:
            name = object()
            self._call(step, name)
            self._compare(name, step["gives"])

    def _call(self, step, name):
        began = time.monotonic()
        result = error = None
        try:
            if "group" in step:
                result = self._group(step)
            elif question := question_of(self._client, step):
                method, arguments = question
                result = method(*arguments)
            else:
                index, method, arguments, keywords = call_of(step)
                result = getattr(self._indexes[index], method)(*arguments, **keywords)
        except Exception as caught:
            error = caught
        self._ended[name] = result, error, time.monotonic() - began

    def _compare(self, name, gives):
        result, error, seconds = self._ended[name]
        compare(result, error, gives, seconds)

    def _group(self, step):
        group = self._client.group(**times_of(step))
        pending = fill(group, self._indexes, step["group"])
        try:
            group.run()
        except Exception as error:
            check_undone(pending, error)
            raise
        return group.results()

    def _pipeline(self, step):
        with self._client.pipeline() as pipeline:
            pending = []
            for each in step["pipeline"]:
                index, method, arguments, keywords = call_of(each)
                on = pipeline.on(self._indexes[index])
                pending.append(getattr(on, method)(*arguments, **keywords))
        for each, gives in zip(pending, step["gives"], strict=True):
            error = each.error()
            compare(None if error else each.result(), error, gives)

    def _iterate(self, step):
        index, _, arguments, keywords = call_of(step)
        rows, error = [], None
        stream = self._indexes[index].iterate(*arguments, **keywords)
        try:
            for row in itertools.islice(stream, step.get("take")):
                rows.append(row)
                if len(rows) == 1 and "signal_after_first" in step:
                    self._play.signal(step["signal_after_first"]).set()
        except Exception as caught:
            error = caught
        finally:
            stream.close()
        compare(rows, error, step["gives"])


@pytest.mark.parametrize(("scenario", "cut"), played(without=("cancel",)))
def test_a_scenario(scenario, cut):
    with Play(scenario, cut) as play:
        with Client(play.addresses, **options_of(scenario)) as client:
            Application(play, client).run(scenario["steps"])
            play.wait_for_the_end()
        play.check()
