"""The Python client's part of the clients' soak: soak.py URL SEED CALLERS.

Half of the callers are tasks of an AsyncClient, half are threads that share a Client.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Sequence

from caller import Caller
from handlersocket2 import AsyncClient, Client


def say(*words: object) -> None:
    print(*words, flush=True)


class Soak:
    def __init__(self) -> None:
        self._over = threading.Event()
        self._is_wrong = False
        self._lost_by_tasks = 0

    def run(self, url: str, seed: int, count: int) -> int:
        threading.Thread(target=self._watch_input, daemon=True).start()
        with Client(url) as client:
            callers = [Caller(client, number, seed) for number in range(1, count, 2)]
            threads = [
                threading.Thread(target=self._work, args=[caller], daemon=True)
                for caller in callers
            ]
            for thread in threads:
                thread.start()
            asyncio.run(self._tasks(url, seed, range(0, count, 2), callers))
            for thread in threads:
                thread.join()
            lost = client.counters().lost + self._lost_by_tasks
        if self._is_wrong:
            return 1
        say("report", json.dumps(report(callers, lost)))
        return 0

    async def _tasks(
        self, url: str, seed: int, numbers: Sequence[int], callers: list[Caller]
    ) -> None:
        """The callers that are tasks come to `callers`."""
        async with AsyncClient(url) as client:
            own = [Caller(client, number, seed) for number in numbers]
            callers += own
            tasks = [asyncio.create_task(self._guarded(caller)) for caller in own]
            while not self._over.is_set():
                say("alive", sum(caller.calls for caller in callers))
                await asyncio.sleep(1)
            await asyncio.gather(*tasks)
            self._lost_by_tasks = client.counters().lost

    def _work(self, caller: Caller) -> None:
        # Its coroutine waits for nothing but its own pauses: a Client has done what it is told.
        asyncio.run(self._guarded(caller))

    async def _guarded(self, caller: Caller) -> None:
        try:
            await caller.work(self._over.is_set)
        except Exception as error:
            traceback.print_exc()
            say("wrong", str(error) or repr(error))
            self._is_wrong = True
            self._over.set()

    def _watch_input(self) -> None:
        sys.stdin.read()
        self._over.set()


def report(callers: Sequence[Caller], lost: int) -> dict[str, object]:
    return {
        "calls": sum(caller.calls for caller in callers),
        "errors": sum((caller.errors for caller in callers), Counter[str]()),
        "unsure": sum(caller.unsure for caller in callers),
        "connections_lost": lost,
        "rows": [row for caller in callers for row in caller.book.rows()],
        "log": [caller.book.log() for caller in callers],
        "joint": [group for caller in callers for group in caller.book.joint()],
    }


if __name__ == "__main__":
    sys.exit(Soak().run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
