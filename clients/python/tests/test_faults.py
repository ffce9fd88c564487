"""Random faults: no row of another, no hang, no write twice, and no acknowledged write lost."""

import asyncio
import contextlib
import random
import threading
import time

import pytest
from faulty_server import FaultyServer

from handlersocket2 import AsyncClient, Client, HandlerSocketError

SECONDS = 3.0
OPTIONS = {"timeout": 0.2, "backoff_min": 0.001, "backoff_max": 0.02, "connect_attempts": 20}


class Ledger:
    """What the clients know of their writes."""

    def __init__(self):
        self.acknowledged, self.in_doubt, self.refused = set(), set(), set()
        self.found = 0
        self.errors = set()

    def failed(self, error, token=None):
        self.errors.add(type(error).__name__)
        if token is not None:
            (self.in_doubt if error.maybe_executed else self.refused).add(token)

    def check(self, executed):
        assert set(executed.values()) <= {1}, "a write was executed twice"
        assert self.acknowledged <= set(executed)
        assert not self.refused & set(executed), "a write was called safe to retry, and was not"
        assert self.found > 100 and len(self.acknowledged) > 100
        assert {"ConnectionLost", "RequestTimeout"} <= self.errors


@pytest.mark.parametrize("one_port", [False, True])
def test_threads(one_port):
    ledger, end = Ledger(), time.monotonic() + SECONDS
    broken = []

    def work(number):
        rng = random.Random(number)
        count = 0
        try:
            while time.monotonic() < end:
                count += 1
                key = b"%d-%d" % (number, count)
                if rng.random() < 0.5:
                    write(key)
                elif rng.random() < 0.8:
                    read(key)
                else:
                    pipeline(key)
        except BaseException as error:
            broken.append(error)
            raise

    def read(key):
        try:
            assert index.find(key) == [(key,)]
            ledger.found += 1
        except HandlerSocketError as error:
            ledger.failed(error)

    def write(key):
        try:
            assert index.insert([key]) == 1
            ledger.acknowledged.add(key)
        except HandlerSocketError as error:
            ledger.failed(error, key)

    def pipeline(key):
        keys = [key + b"-%d" % number for number in range(5)]
        requests = client.pipeline()
        pending = [requests.on(index).insert([each]) for each in keys]
        found = requests.on(index).find(key)
        with contextlib.suppress(HandlerSocketError):
            requests.run()
        for each, one in zip(keys, pending, strict=True):
            if one.error() is None:
                assert one.result() == 1
                ledger.acknowledged.add(each)
            else:
                ledger.failed(one.error(), each)
        assert found.error() is not None or found.result() == [(key,)]

    with FaultyServer(1) as server:
        write_too = {} if one_port else {"write": server.address}
        with Client(server.address, **write_too, **OPTIONS) as client:
            index = None
            while index is None:
                try:
                    index = client.index("d", "t", ["a"])
                except HandlerSocketError as error:
                    ledger.failed(error)
            threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(12)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(SECONDS + 20)
                assert not thread.is_alive()
            assert broken == []
            server.calm = True
            time.sleep(0.5)
            assert [index.find(key, timeout=10) for key in (1, 2)] == [[(b"1",)], [(b"2",)]]
        ledger.check(server.executed)


def test_tasks():
    async def main():
        ledger, end = Ledger(), time.monotonic() + SECONDS
        async with AsyncClient(server.address, write=server.address, **OPTIONS) as client:
            index = client.index("d", "t", ["a"])

            async def work(number):
                rng = random.Random(number)
                count = 0
                while time.monotonic() < end:
                    count += 1
                    key = b"%d-%d" % (number, count)
                    call = index.insert([key]) if rng.random() < 0.5 else index.find(key)
                    writes = call.operation.modifies
                    try:
                        async with asyncio.timeout(rng.choice([0.001, 0.01, 1, 1, 1])):
                            result = await call
                        if writes:
                            ledger.acknowledged.add(key)
                        else:
                            assert result == [(key,)]
                            ledger.found += 1
                    except HandlerSocketError as error:
                        ledger.failed(error, key if writes else None)
                    except TimeoutError:
                        if writes:
                            ledger.in_doubt.add(key)

            await asyncio.gather(*(work(number) for number in range(50)))
            server.calm = True
            await asyncio.sleep(0.5)
            found = [await index.find(key, timeout=10) for key in (1, 2)]
            assert found == [[(b"1",)], [(b"2",)]]
        ledger.check(server.executed)

    with FaultyServer(2) as server:
        asyncio.run(main())
