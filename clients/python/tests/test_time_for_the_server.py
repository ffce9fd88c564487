"""A time for the server: what stands in front of each request that has one, and what is refused."""

import asyncio

import pytest
from scenario_server import Play

from handlersocket2 import (
    AsyncClient,
    Client,
    Connection,
    Find,
    FindModify,
    ModifyOp,
    ReplyError,
    Within,
)

TIMED_OUT = "1\t1\tmax_request_time\n"


def play(*, read=(), write=()):
    """A server whose one connection to each port plays these steps, and what a client takes."""
    scripts = {"read": [_script(read)], "write": [_script(write)]}
    return Play({"servers": [{name: each if each[0] else [] for name, each in scripts.items()}]})


def _script(steps):
    return [step for pair in steps for step in ({"expect": pair[0]}, {"send": pair[1]})]


def opened(steps, columns="a,b"):
    """The first of them opens the index."""
    first, *others = steps
    opening = f"P\t1\tdb\tt\tPRIMARY\t{columns}\n"
    return [(opening + first[0], "0\t1\n" + first[1]), *others]


READS = [
    (lambda index: index.find_one(1, within=0.5), "within\t500\t1\t=\t1\t1\n", "0\t2\tx\ty\n"),
    (lambda index: index.find(1, limit=2, within=2), "within\t2000\t1\t=\t1\t1\t2\n", "0\t2\n"),
    (
        lambda index: index.find_in([1], within=1),
        "within\t1000\t1\t=\t1\t\t1\t0\t@\t0\t1\t1\n",
        "0\t2\n",
    ),
    (lambda index: index.exists(1, within=0.0001), "within\t1\t1\t=\t1\t1\tE\n", "0\t1\t0\n"),
    (
        lambda index: index.count(1, long=False, within=1),
        "within\t1000\t1\t=\t1\t1\tC\n",
        "0\t1\t0\n",
    ),
]
WRITES = [
    (lambda index: index.insert([7], within=1), "within\t1000\t1\t+\t1\t7\n", "0\t1\n"),
    (
        lambda index: index.insert_many([[7]], within=1, timeout=9),
        "within\t1000\t1\tinsert\t1\t1\t7\n",
        "0\t2\tinserted\t\0\n",
    ),
    (
        lambda index: index.upsert({"a": 7, "b": 1}, {"b": 8}, within=1),
        "within\t1000\t1\tinsert\t1\t2\t7\t1\telse\tupdate\t1\t1\t=\t8\n",
        "0\t2\tinserted\t\0\n",
    ),
    (
        lambda index: index.update(1, [2], within=1),
        "within\t1000\t1\t=\t1\t1\t1\t0\tU\t2\n",
        "0\t1\t1\n",
    ),
    (
        lambda index: index.fetch_and(ModifyOp.DELETE, 1, within=1),
        "within\t1000\t1\t=\t1\t1\t1\t0\tD?\n",
        "0\t2\n",
    ),
]


def both():
    read = opened([steps[1:] for steps in READS])
    return play(read=read, write=opened([steps[1:] for steps in WRITES]))


def test_calls():
    with both() as server:
        with Client(server.addresses) as client:
            index = client.index("db", "t", ["a", "b"])
            for call, _, _ in READS + WRITES:
                call(index)
        server.wait_for_the_end()
        server.check()


def test_calls_of_asyncio():
    async def run(addresses):
        async with AsyncClient(addresses) as client:
            index = client.index("db", "t", ["a", "b"])
            for call, _, _ in READS + WRITES:
                await call(index)

    with both() as server:
        asyncio.run(run(server.addresses))
        server.wait_for_the_end()
        server.check()


def test_a_call_without_a_time_behind_one_with_a_time():
    steps = opened([("within\t500\t1\t=\t1\t1\n", TIMED_OUT), ("1\t=\t1\t1\n", "0\t2\n")])
    with play(read=steps) as server:
        with Client(server.addresses) as client:
            index = client.index("db", "t", ["a", "b"])
            with pytest.raises(ReplyError) as raised:
                index.find_one(1, within=0.5)
            assert raised.value.text == "max_request_time"
            assert index.find_one(1) is None
        server.wait_for_the_end()
        server.check()


def test_nothing_is_done():
    """Unlike a time-out of the client's."""
    steps = opened([("within\t500\t1\t+\t1\t7\n", TIMED_OUT)])
    with play(write=steps) as server, Client(server.addresses) as client:
        with pytest.raises(ReplyError) as raised:
            client.index("db", "t", ["a", "b"]).insert([7], within=0.5)
        assert not raised.value.maybe_executed
        server.wait_for_the_end()
        server.check()


def test_a_group():
    steps = opened([("within\t500\tG\t2\n1\t=\t1\t1\n1\t+\t1\t7\n", TIMED_OUT * 3)])
    with play(write=steps) as server, Client(server.addresses) as client:
        index = client.index("db", "t", ["a", "b"])
        group = client.group(within=0.5)
        group.on(index).find(1)
        group.on(index).insert([7])
        with pytest.raises(ReplyError) as raised:
            group.run()
        assert raised.value.text == "max_request_time"
        with pytest.raises(ValueError, match="one time for the server"):
            group.on(index).find(1, within=1)
        server.wait_for_the_end()
        server.check()


def test_iterating():
    line = "within\t500\t1\t=\t1\t1\t18446744073709551615\n"
    with play(read=opened([(line, "0\t2\tx\ty\n")])) as server:
        with Client(server.addresses) as client:
            rows = client.index("db", "t", ["a", "b"]).iterate(1, within=0.5)
            assert [tuple(row) for row in rows] == [(b"x", b"y")]
        server.wait_for_the_end()
        server.check()


def test_requests_as_objects():
    steps = [
        ("within\t100\t3\t=\t1\t1\n", "0\t1\tx\n"),
        ("within\t100\t3\t=\t1\t1\t1\t0\tD\n", TIMED_OUT),
    ]
    with play(write=steps) as server:
        _, address = server.addresses[0]
        with Connection(address) as connection:
            assert connection.request(Within(0.1, Find(3, [1]))) == [(b"x",)]
            with pytest.raises(ReplyError):
                connection.request(Within(0.1, FindModify(Find(3, [1]), ModifyOp.DELETE)))
        server.wait_for_the_end()
        server.check()


def test_the_longest_time():
    """More than that is no number of milliseconds that the protocol has."""
    assert Within(2**31 / 1000, Find(1, [1])).encode() == b"within\t2147483648\t1\t=\t1\t1\n"
    assert Within(0.0016, Find(1, [1])).encode() == b"within\t2\t1\t=\t1\t1\n"
    with pytest.raises(ValueError, match="within"):
        Within(2**31 / 1000 + 0.001, Find(1, [1])).encode()


@pytest.mark.parametrize("seconds", [0, -1, 2**31, float("nan"), float("inf")])
def test_times_that_the_protocol_cannot_say(seconds):
    with Client(("192.0.2.1", 1), write=("192.0.2.1", 2)) as client:
        with pytest.raises(ValueError, match="within"):
            client.index("d", "t", ["a"]).find_one(1, within=seconds)
        with pytest.raises(ValueError, match="within"):
            client.group(within=seconds)


@pytest.mark.parametrize("seconds", ["1", True, b"1"])
def test_what_is_no_time(seconds):
    with pytest.raises(TypeError, match="within"):
        Within(seconds, Find(1, [1])).encode()
