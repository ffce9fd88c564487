"""What the callers of the synchronous client leave behind who give up: nothing is sent later."""

import threading
import time

import pytest
from faces import Played, script
from played_server import PlayedServer
from test_threads import Caller, wait_until

from handlersocket2 import (
    AsyncClient,
    Client,
    ClosedError,
    ConnectError,
    HandlerSocketError,
    RequestTimeout,
    links,
)
from handlersocket2.links import Link
from handlersocket2.thread_wires import ThreadWire


@pytest.fixture
def server():
    with PlayedServer() as played:
        played.held = threading.Event()
        yield played
        played.held.set()


def slowly(monkeypatch, seconds):
    """A call has its slot, and its thread is held up before it sends."""
    submit = Link.submit

    def held_up(link, call, now):
        submit(link, call, now)
        time.sleep(seconds)

    monkeypatch.setattr(Link, "submit", held_up)


def wires_of(client):
    return [wire for link in client._core.links for wire in link.wires()]


def test_a_change_whose_time_is_over_is_sent_at_once(monkeypatch, server):
    """A later call would send it otherwise, and it would overwrite what is newer."""
    with Client(server.address) as client:
        index = client.index("d", "t", ["a"])
        index.find(1)
        slowly(monkeypatch, 1.1)
        with pytest.raises(RequestTimeout) as over:
            index.update(7, ["x"], timeout=1)
        assert over.value.maybe_executed
        wait_until(lambda: any(b"U\tx" in line for line in server.connections[0]))
        monkeypatch.undo()
        assert index.find(2) == [(b"2",)]


def test_a_pipeline_whose_time_is_over_is_sent_at_once(monkeypatch, server):
    with Client([(server.address, server.address)], timeout=1) as client:
        index = client.index("d", "t", ["a"])
        index.update(1, ["y"], timeout=10)
        slowly(monkeypatch, 0.4)
        pipeline = client.pipeline()
        changes = [pipeline.on(index).update(key, ["x"]) for key in range(3)]
        with pytest.raises(RequestTimeout):
            pipeline.run()
        assert all(isinstance(each.error(), RequestTimeout) for each in changes)
        wait_until(lambda: sum(b"U\tx" in line for line in server.connections[0]) == 3)


def test_who_waits_for_room_takes_over(server):
    """The reply to a call that was given up makes room, and somebody has to read it."""
    with Client(server.address, max_in_flight=1) as client:
        index = client.index("d", "t", ["a"])
        first = Caller(lambda: index.find("hold", timeout=0.3))
        (wire,) = wires_of(client)
        wait_until(lambda: wire.reading)
        second = Caller(lambda: index.find(2, timeout=30))
        wait_until(lambda: client._core.links[0].waiting)
        assert isinstance(first.ended().error, RequestTimeout)
        began = time.monotonic()
        server.held.set()
        assert second.ended().result == [(b"2",)]
        assert time.monotonic() - began < 10


def test_what_cannot_be_sent_at_once_ends_its_connection(monkeypatch, server):
    with Client(server.address) as client:
        index = client.index("d", "t", ["a"])
        index.find(1)
        (wire,) = wires_of(client)
        slowly(monkeypatch, 1.1)
        send = ThreadWire.send
        monkeypatch.setattr(ThreadWire, "send", lambda _, data: data)
        with pytest.raises(RequestTimeout):
            index.update(7, ["x"], timeout=1)
        assert wire.closed
        monkeypatch.undo()
        assert ThreadWire.send is send
        assert index.find(2) == [(b"2",)]
    assert len(server.connections) == 2
    assert not any(b"U\tx" in line for lines in server.connections for line in lines)


def test_a_call_whose_time_is_over_before_it_begins_is_not_sent(monkeypatch, server):
    with Client(server.address) as client:
        index = client.index("d", "t", ["a"])
        index.find(1)
        with pytest.raises(RequestTimeout) as over:
            index.update(7, ["x"], timeout=1e-9)
        assert not over.value.sent
        assert index.find(2) == [(b"2",)]
    assert not any(b"U\tx" in line for line in server.connections[0])


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_the_time_of_a_call(kind):
    """0 is no limit, as it is for the client; less is none."""
    find = ("P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t1\n", "0\t1\n")
    steps = [*script(find), {"quiet_ms": 100}, {"send": "0\t1\tx\n"}]
    with Played(kind, servers=[{"read": [steps]}], options={"timeout": 0.01}) as run:
        index = run.client.index("db", "t", ["a"])
        for wrong in (-1, float("nan"), "1", True):
            with pytest.raises((ValueError, TypeError)):
                run(lambda: index.find(1, timeout=wrong))  # noqa: B023
        assert run(lambda: index.find_one(1, timeout=0)) == (b"x",)


def test_who_only_wants_an_index_to_be_open_takes_over(server):
    """It sleeps while another thread reads for it, and that one leaves first."""
    with Client(server.address) as client:
        index = client.index("d", "t", ["a"])
        first = Caller(lambda: index.find("hold"))
        wait_until(lambda: wires_of(client)[0].reading)
        second = Caller(lambda: client.index("d", "u", ["a"]))
        wait_until(lambda: len(list(wires_of(client)[0].callers())) == 2)
        server.held.set()
        first.ended()
        began = time.monotonic()
        assert second.ended().error is None
        assert time.monotonic() - began < 10


class Silent(PlayedServer):
    """A host that takes connections and answers no log-in, or not for so long."""

    def __init__(self, seconds=None):
        self._seconds = seconds
        super().__init__()

    def _answer(self, line, opened):
        if not line.startswith(b"A\t"):
            return super()._answer(line, opened)
        if self._seconds is None:
            return b""
        time.sleep(self._seconds)
        return b"0\t1\n"


def tries(index):
    """How many calls of a tenth of a second it took until one was answered."""
    for number in range(1, 100):
        try:
            assert index.find_one(1) == (b"1",)
        except HandlerSocketError:
            continue
        return number
    return pytest.fail("never connected")


def test_a_connection_that_takes_longer_than_a_call():
    with Silent(0.4) as slow, Client([(slow.address, None)], timeout=0.1, secret="s") as client:
        assert 2 <= tries(client.index("db", "t", ["a"])) < 50
    assert len(slow.connections) == 1


def test_a_host_that_is_down_is_passed_over_by_calls_that_are_shorter():
    with Silent() as down, Silent(0) as good:
        pairs = [(each.address, None) for each in (down, good)]
        with Client(pairs, timeout=0.1, connect_timeout=0.5, secret="s") as client:
            assert 2 <= tries(client.index("db", "t", ["a"])) < 50
    assert len(down.connections) == 1


def test_a_server_that_resets_at_once_is_passed_over(monkeypatch, server):
    """It is looked at once more when it is connected."""
    wait = ThreadWire.wait

    def reset(wire, *arguments):
        monkeypatch.setattr(ThreadWire, "wait", wait)
        raise ConnectionResetError("reset by the peer")

    with Silent(0) as first, Client([(first.address, None), (server.address, None)]) as client:
        index = client.index("d", "t", ["a"])
        monkeypatch.setattr(ThreadWire, "wait", reset)
        assert index.find(1) == [(b"1",)]
    assert len(server.connections) == 1


def test_closing_ends_what_is_being_made():
    with Silent() as down, Client([(down.address, None)], timeout=0.1, secret="s") as client:
        index = client.index("db", "t", ["a"])
        with pytest.raises(RequestTimeout):
            index.find(1)
        assert_closing_ends(client)


def test_closing_ends_the_wait_for_the_next_attempt(monkeypatch, server):
    monkeypatch.setattr(links, "delay_after", lambda *_: 20)
    server.go()
    with Client([(server.address, None)], timeout=0.1) as client:
        index = client.index("d", "t", ["a"])
        caller = Caller(lambda: index.find(1, timeout=20))
        wait_until(lambda: client._core.links[0].not_before)
        assert_closing_ends(client)
        assert isinstance(caller.ended().error, ClosedError)


def assert_closing_ends(client):
    def connects():
        return any(each.name == "handlersocket connects" for each in threading.enumerate())

    assert connects()
    began = time.monotonic()
    client.close()
    wait_until(lambda: not connects())
    assert time.monotonic() - began < 5


def test_a_process_that_can_have_no_more_threads(monkeypatch, server):
    def none(_):
        raise RuntimeError("can't start new thread")

    with Client([(server.address, None)]) as client:
        index = client.index("d", "t", ["a"])
        monkeypatch.setattr(threading.Thread, "start", none)
        with pytest.raises(ConnectError, match="can't start new thread"):
            index.find(1)
        monkeypatch.undo()
        assert index.find(1) == [(b"1",)]
