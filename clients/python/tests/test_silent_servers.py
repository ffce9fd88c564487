"""Servers that take connections and answer nothing, of which another address is better."""

from functools import partial

import pytest
from faces import Played, script
from played_server import PlayedServer

from handlersocket2 import AsyncClient, Client, ConnectionLost, RequestTimeout
from handlersocket2.thread_wires import ThreadWire

KINDS = pytest.mark.parametrize("kind", [Client, AsyncClient])
OPENED = ("P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t1\n", "0\t1\n")


@KINDS
def test_a_reply_that_nobody_waits_for_counts_as_an_answer(kind):
    """The server is slow, and not frozen. So it is asked again."""
    slow = script(OPENED, {"await": "given up"}, {"send": "0\t1\tone\n"}, {"signal": "answered"})
    slow += script(("1\t=\t1\t2\n", None), {"close": True})
    again = script(("P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t3\n", "0\t1\n0\t1\tthree\n"))
    with Played(kind, servers=[{"read": [slow, again]}, {"read": []}]) as run:
        index = run.client.index("db", "t", ["a"])
        with pytest.raises(RequestTimeout):
            run(lambda: index.find(1, timeout=0.3))
        run.play.signal("given up").set()
        assert run.play.signal("answered").wait(20)
        with pytest.raises(ConnectionLost):
            run(partial(index.find, 2))
        assert run(partial(index.find, 3)) == [(b"three",)]


def test_an_interrupt_says_nothing_about_the_server(monkeypatch):
    with PlayedServer() as first, PlayedServer() as second:
        with Client([(first.address, None), (second.address, None)]) as client:
            index = client.index("d", "t", ["a"])
            send = ThreadWire.send

            def interrupted(wire, data):
                monkeypatch.setattr(ThreadWire, "send", send)
                raise KeyboardInterrupt

            monkeypatch.setattr(ThreadWire, "send", interrupted)
            with pytest.raises(KeyboardInterrupt):
                index.find(1)
            assert index.find(1) == [(b"1",)]
        assert len(first.connections) == 2
        assert not second.connections


def test_a_password_function_that_ends_its_thread():
    """Such as pytest's own failures, or sys.exit(): nobody waits for ever because of it."""
    asked = []

    def password():
        asked.append(len(asked))
        raise SystemExit(3)

    options = {"user": "u", "password": password, "timeout": 10}
    with PlayedServer() as server, Client([(server.address, None)], **options) as client:
        index = client.index("d", "t", ["a"])
        for _ in range(2):
            with pytest.raises(ConnectionLost, match="SystemExit"):
                index.find(1)
    assert asked == [0, 1]


async def _all(rows):
    return [row async for row in rows]


def iterated(run, index, key):
    rows = index.iterate(key, limit=1)
    return run(partial(_all, rows)) if hasattr(rows, "__aiter__") else list(rows)


@KINDS
def test_an_iteration_passes_over_a_server_that_is_dead(kind):
    silent = script((OPENED[0], None), {"expect_end": True})
    good = script(("P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t2\n", "0\t1\n0\t1\ttwo\n"))
    options = {"dead_after": 0.3, "timeout": None}
    played = [{"read": [silent]}, {"read": [good]}]
    with Played(kind, servers=played, options=options) as run:
        index = run.client.index("db", "t", ["a"])
        with pytest.raises(ConnectionLost, match=r"silent for 0\.3 seconds"):
            iterated(run, index, 1)
        assert iterated(run, index, 2) == [(b"two",)]


@KINDS
def test_an_iteration_whose_time_is_over_before_its_server_is_dead(kind):
    silent = script((OPENED[0], None), {"expect_end": True})
    options = {"dead_after": 30, "timeout": 0.3}
    with Played(kind, servers=[{"read": [silent]}], options=options) as run:
        index = run.client.index("db", "t", ["a"])
        with pytest.raises(RequestTimeout):
            iterated(run, index, 1)


@KINDS
def test_an_iteration_that_is_lost_where_another_one_was_answered(kind):
    """That says nothing about the server, which is asked again."""
    once = script((OPENED[0], "0\t1\n0\t1\tone\n"), ("1\t=\t1\t2\n", None), {"close": True})
    again = script(("P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t3\n", "0\t1\n0\t1\tthree\n"))
    with Played(kind, servers=[{"read": [once, again]}, {"read": []}]) as run:
        index = run.client.index("db", "t", ["a"])
        assert iterated(run, index, 1) == [(b"one",)]
        with pytest.raises(ConnectionLost):
            iterated(run, index, 2)
        assert iterated(run, index, 3) == [(b"three",)]
