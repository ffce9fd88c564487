"""The client of asyncio: what is sent together, giving up, closing, loops, and a fork."""

import asyncio
import contextlib
import threading
import time

import pytest
from played_server import PlayedServer
from test_connection import Peer
from test_fork import in_a_child

from handlersocket2 import (
    AsyncClient,
    ClosedError,
    ConnectError,
    ConnectionLost,
    Filter,
    ProtocolError,
    RequestTimeout,
    SchemaError,
    was_sent,
)

OPENED = b"P\t1\td\tt\tPRIMARY\ta\n"


@pytest.fixture
def server():
    with PlayedServer() as played:
        yield played


def run(work):
    async def bounded():
        async with asyncio.timeout(20):
            return await work

    return asyncio.run(bounded())


def test_tasks_get_their_own_rows_over_one_connection(server):
    async def main():
        async with AsyncClient(server.address, write=server.address) as client:
            index = client.index("d", "t", ["a"])

            async def ask(task):
                for number in range(100):
                    key = task * 1000 + number
                    assert await index.find_one(key) == (b"%d" % key,)

            await asyncio.gather(*(ask(task) for task in range(20)))

    run(main())
    assert len(server.connections) == 1


def test_the_memory_for_reads_is_one_piece(server):
    """TLS fills one part of it after the other."""

    async def main():
        async with AsyncClient(server.address) as client:
            await client.ping()
            (wire,) = client._core.links[0].wires()
            room = wire.get_buffer(-1)
            room[3:][:2] = b"xy"
            assert bytes(room[3:5]) == b"xy"

    run(main())


def test_what_tasks_ask_in_one_turn_of_the_loop_is_sent_at_once():
    received = []

    def serve(peer):
        received.append(peer.recv(1 << 20))
        peer.sendall(b"0\t1\n" + b"0\t1\tx\n" * 100)
        peer.recv(1)

    async def main():
        async with AsyncClient(peer.address, write=peer.address) as client:
            index = client.index("d", "t", ["a"])
            return await asyncio.gather(*(index.find_one(key) for key in range(100)))

    peer = Peer(serve)
    assert run(main()) == [(b"x",)] * 100
    lines = b"".join(b"1\t=\t1\t%d\n" % key for key in range(100))
    assert received == [OPENED + lines]


def test_routes(server):
    async def main():
        async with AsyncClient(server.address, write=server.address) as client:
            index = client.index("d", "t", ["a"], filter_columns=["f"])
            await index.find(1)
            await index.update(1, ["x"])
            await index.find(2, limit=1000)
            await index.find(3, long=True)
            await index.find(4, limit=5000, long=False)
            await index.find(5, filters=[Filter("=", "f", 1)])
            async with client.pipeline() as pipeline:
                first = pipeline.on(index).find_one(6)
                second = pipeline.on(index).insert(["y"])
            assert (first.result(), second.result()) == ((b"6",), 7)
            assert pipeline.results() == [(b"6",), 7]

    run(main())
    opened = b"P\t1\td\tt\tPRIMARY\ta\tf\n"
    assert sorted(server.connections) == sorted(
        [
            [opened, b"1\t=\t1\t1\n", b"1\t=\t1\t4\t5000\n", b"1\t=\t1\t5\t1\t0\tF\t=\t0\t1\n"],
            [opened, b"1\t=\t1\t1\t1\t0\tU\tx\n", b"1\t=\t1\t6\n", b"1\t+\t1\ty\n"],
            [opened, b"1\t=\t1\t2\t1000\n", b"1\t=\t1\t3\n"],
        ]
    )


def test_one_address_is_one_connection(server):
    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            await asyncio.gather(index.insert([1]), index.find(2), index.find(3, limit=5000))

    run(main())
    assert server.connections == [[OPENED, b"1\t+\t1\t1\n", b"1\t=\t1\t2\n", b"1\t=\t1\t3\t5000\n"]]


def test_columns_by_name_are_an_index_of_their_own(server):
    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            await index.update(1, {"z": 1, "b": 2})
            await index.increment(1, {"b": 1})
            await index.insert({"b": 3, "z": 4})

    run(main())
    assert server.connections == [
        [
            b"P\t1\td\tt\tPRIMARY\tb,z\n",
            b"1\t=\t1\t1\t1\t0\tU\t2\t1\n",
            b"P\t2\td\tt\tPRIMARY\tb\n",
            b"2\t=\t1\t1\t1\t0\t+\t1\n",
            b"1\t+\t2\t3\t4\n",
        ]
    ]


def test_a_task_that_gives_up_leaves_the_others_their_rows(server):
    server.held = threading.Event()

    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            await index.open()
            late = index.find("hold")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await late
            assert late.cancelled() and was_sent(late)
            behind = [index.find(key) for key in range(5)]
            write = index.insert([1])
            await asyncio.sleep(0.05)
            write.cancel()
            server.held.set()
            assert await asyncio.gather(*behind) == [[(b"%d" % key,)] for key in range(5)]
            assert was_sent(write)
            assert await index.find(9) == [(b"9",)]

    run(main())
    assert len(server.connections) == 1


def test_a_call_has_a_time_out_of_its_own(server):
    server.held = threading.Event()

    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            began = time.monotonic()
            with pytest.raises(RequestTimeout) as late:
                await index.find("hold", timeout=0.1)
            assert 0.1 <= time.monotonic() - began < 10
            assert late.value.sent and isinstance(late.value, TimeoutError)
            server.held.set()
            assert await index.find(1, timeout=None) == [(b"1",)]

    run(main())


@pytest.mark.parametrize("way", ["close", "shutdown", "cancel"])
def test_closing_in_the_middle(server, way):
    server.held = threading.Event()

    async def main():
        client = AsyncClient(server.address, max_in_flight=2)
        index = client.index("d", "t", ["a"])
        await index.open()
        calls = [asyncio.ensure_future(index.find("hold")) for _ in range(4)]
        await asyncio.sleep(0.05)
        if way == "close":
            await client.close()
        elif way == "shutdown":
            await client.shutdown(0.05)
        else:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.05), client:
                    await asyncio.sleep(10)
        for call in calls:
            with pytest.raises(ClosedError):
                await call
        for ask in (lambda: index.find(1), lambda: index.insert([1]), lambda: index.open()):
            with pytest.raises(ClosedError):
                await ask()
        with pytest.raises(ClosedError):
            await client.ping()
        with pytest.raises(ClosedError):
            async for _ in index.iterate(1):
                pass
        await client.close()
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []

    run(main())
    server.held.set()


def test_a_shutdown_waits_for_what_is_owed(server):
    server.held = threading.Event()

    async def main():
        client = AsyncClient(server.address)
        index = client.index("d", "t", ["a"])
        call = index.find("hold")
        asyncio.get_running_loop().call_later(0.1, server.held.set)
        await client.shutdown(10)
        assert await call == [(b"hold",)]

    run(main())


def test_closing_while_it_connects():
    async def main():
        client = AsyncClient(("127.0.0.1", 1), backoff_min=5, backoff_max=5, connect_attempts=99)
        call = asyncio.ensure_future(client.index("d", "t", ["a"]).find(1))
        await asyncio.sleep(0.05)
        await client.close()
        with pytest.raises(ClosedError) as closed:
            await call
        assert not closed.value.sent

    run(main())


def test_another_loop(server):
    client = AsyncClient(server.address)
    index = client.index("d", "t", ["a"])

    async def ask():
        return await index.find_one(1)

    assert asyncio.run(ask()) == (b"1",)
    assert asyncio.run(ask()) == (b"1",), "the loop before this one is closed"

    async def in_both():
        await ask()
        with pytest.raises(RuntimeError, match="another event loop"):
            await asyncio.to_thread(lambda: asyncio.run(ask()))
        await client.close()

    asyncio.run(in_both())


def test_a_client_in_a_child_is_a_new_one(server):
    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])

            async def ask(keys):
                for key in keys:
                    assert await index.find_one(key) == (b"%d" % key,)

            await ask(range(10))
            await asyncio.to_thread(in_a_child, lambda: asyncio.run(ask(range(100, 150))))
            await ask(range(10, 20))

    run(main())
    parents, childs = server.connections
    assert len(parents) == 21 and len(childs) == 51


def test_an_index_that_is_not_there(server):
    server.refused = ("u",)

    async def main():
        async with AsyncClient(server.address) as client:
            missing = client.index("d", "u", ["a"])
            for ask in (missing.open, lambda: missing.find(1), lambda: missing.insert([1])):
                with pytest.raises(SchemaError, match="open_table"):
                    await ask()
            server.refused = ()
            await missing.open()
            assert await missing.find(1) == [(b"1",)]

    run(main())


def test_a_server_that_refuses_to_open_an_index_sends_the_call_elsewhere(server):
    """What stands behind the opening was not executed, so it may be a write."""

    def serve(peer):
        peer.recv(1000)
        peer.sendall(b"1\t1\t1047\n2\t1\tstmtnum\n")
        peer.recv(1000)

    async def main():
        elsewhere = Peer(serve)
        pairs = [(elsewhere.address, elsewhere.address), (server.address, server.address)]
        async with AsyncClient(pairs) as client:
            index = client.index("d", "t", ["a"])
            assert await index.insert([1]) == 7
            assert await index.find(2) == [(b"2",)]

    run(main())
    assert [lines for lines in server.connections] == [
        [OPENED, b"1\t+\t1\t1\n"],
        [OPENED, b"1\t=\t1\t2\n"],
    ]


def test_errors_of_connecting():
    async def main():
        async with AsyncClient(("127.0.0.1", 1), connect_attempts=2, backoff_min=0.001) as client:
            with pytest.raises(ConnectError, match=r"cannot connect to 127\.0\.0\.1:1") as refused:
                await client.ping()
            assert refused.value.nothing_sent and refused.value.safe_to_retry

        def fails():
            raise RuntimeError("no vault")

        async with AsyncClient(peer.address, user="ann", password=fails) as client:
            with pytest.raises(ConnectError, match="password could not be had"):
                await client.ping()

    peer = Peer(lambda peer: peer.recv(1))
    run(main())


def test_a_password_is_not_sent_in_plain_text_to_another_machine(monkeypatch):
    from handlersocket2 import setup

    monkeypatch.setattr(setup, "_is_near", lambda peer: False)
    received = []
    peer = Peer(lambda peer: received.append(peer.recv(100)))

    async def main():
        async with AsyncClient(peer.address, user="ann", password="pw") as client:
            with pytest.raises(ConnectError, match="without TLS") as refused:
                await client.ping()
            assert "pw" not in str(refused.value)

    run(main())
    peer.join()
    assert received == [b""]


def test_a_port_of_sql():
    from test_sql_port import MARIADB, greeting

    async def main(log_in, tls):
        peer = greeting(MARIADB)
        async with AsyncClient(peer.address, tls=tls, **log_in) as client:
            with pytest.raises((ProtocolError, ConnectError), match="port of SQL"):
                await client.index("d", "t", ["a"]).find(1)
        peer.join()

    for log_in in ({}, {"secret": "s"}):
        for tls in (False, True):
            run(main(log_in, tls))


def test_what_is_in_flight_is_bounded_by_bytes(server):
    server.held = threading.Event()

    async def main():
        async with AsyncClient(server.address, max_in_flight_bytes=1000) as client:
            index = client.index("d", "t", ["a"])
            await index.open()
            calls = [index.find("hold"), *(index.find(b"x" * 400) for _ in range(5))]
            await asyncio.sleep(0.1)
            assert len(server.connections[0]) == 2, "the server works at the first"
            channel = client._core.links[0].wire.channel
            assert channel.bytes_in_flight <= 1000 and len(channel.slots) == 3
            server.held.set()
            await asyncio.gather(*calls)
            assert channel.bytes_in_flight == 0
            assert await index.find(b"y" * 5000) == [(b"y" * 5000,)]

    run(main())


def test_a_pipeline_that_is_lost(server):
    async def main():
        async with AsyncClient(server.address) as client:
            index = client.index("d", "t", ["a"])
            await index.open()
            server.silent = True
            pipeline = client.pipeline()
            pending = pipeline.on(index).insert([1])
            with pytest.raises(RuntimeError, match="not run"):
                pending.result()
            with pytest.raises(ConnectionLost) as lost:
                await pipeline.run()
            assert lost.value.maybe_executed
            with pytest.raises(ConnectionLost):
                pending.result()
            with pytest.raises(ValueError, match="another client"):
                AsyncClient(server.address).pipeline().on(index)

    run(main())


def test_iterations_are_bounded():
    async def main():
        async with AsyncClient(peer.address, max_streams=1, timeout=1) as client:
            index = client.index("d", "t", ["a"])
            first = index.iterate(1)
            assert await anext(first) == (b"x",)
            with pytest.raises(RequestTimeout, match="as many iterate"):
                await anext(index.iterate(1))
            with pytest.raises(RequestTimeout, match="no bytes"):
                await anext(first)

    def serve(peer):
        peer.recv(100)
        peer.sendall(b"0\t1\n0\t1\tx\ty")
        peer.recv(1)

    peer = Peer(serve)
    run(main())
