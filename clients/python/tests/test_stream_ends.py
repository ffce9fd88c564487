"""The end of a connection for iterating is told, counted and logged as that of any other one."""

import asyncio
import contextlib
import logging
import time

import pytest
from faces import Played, script

from handlersocket2 import AsyncClient, Client, ClosedError, ConnectionLost, ProtocolError

ASKED = "P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t1\t9\n"
FIRST, SECOND = (b"first",), (b"second",)
BEHIND = {"expect_end": True}


@pytest.fixture(params=[Client, AsyncClient], ids=["threads", "asyncio"])
def kind(request):
    return request.param


def rest(run, kind):
    """Time for what comes to come. A loop sees nothing while it does not run."""
    run((lambda: asyncio.sleep(0.1)) if kind is AsyncClient else (lambda: time.sleep(0.1)))


class Ends:
    """A client of a server that answers an iteration so, and what it tells of its connections."""

    def __init__(self, kind, reply, *then, more=()):
        self.seen = []
        logger = logging.getLogger("application")
        read = [script((ASKED, "0\t1\n" + reply), *then), *more]
        options = {"on_connection": self.seen.append, "logger": logger, "max_streams": 2}
        self.run = Played(kind, options=options, read=read)
        self.client = self.run.client
        self.is_async = kind is AsyncClient

    def take(self, most=9, then=None):
        """Rows of an iteration that is left after so many."""
        rows = []

        def took(row):
            rows.append(row)
            return len(rows) == most

        async def take_async():
            async with contextlib.aclosing(self._iterate()) as found:
                async for row in found:
                    if took(row):
                        break
                    if then:
                        await then()

        def take():
            with contextlib.closing(self._iterate()) as found:
                for row in found:
                    if took(row):
                        break
                    if then:
                        then()

        self.run(take_async if self.is_async else take)
        return rows

    def _iterate(self):
        return self.client.index("db", "t", ["a"]).iterate(1, limit=9)

    def told(self, caplog, what, reason, lost):
        """What is told in the end, and counted."""
        connected, *ends = self.seen
        assert (connected.what, connected.route) == ("connected", "stream")
        assert [(each.what, each.route, each.address) for each in ends] == [
            (what, "stream", connected.address)
        ]
        assert reason in ends[0].reason
        counters = self.client.counters()
        assert (counters.connected, counters.lost) == (1, lost)
        last = caplog.records[-1]
        assert (last.levelname, len(caplog.records)) == ("WARNING" if lost else "INFO", 2)
        assert f"{what} stream {connected.address}: {ends[0].reason}" in last.getMessage()
        assert "first" not in caplog.text


@pytest.fixture(autouse=True)
def logged(caplog):
    caplog.set_level(logging.INFO, "application")


def test_lost_in_the_middle(kind, caplog):
    ends = Ends(kind, "0\t1\tfirst\tsecond\tthi", {"close": True})
    with ends.run:
        with pytest.raises(ConnectionLost):
            ends.take()
        ends.told(caplog, "lost", "the server closed the connection", 1)


def test_what_comes_is_no_reply(kind, caplog):
    ends = Ends(kind, "0\t1\t\x01\x01\t", BEHIND)
    with ends.run:
        with pytest.raises(ProtocolError):
            ends.take()
        ends.told(caplog, "lost", "the connection was given up: ", 1)


def test_bytes_that_nobody_has_asked_for(kind, caplog):
    ends = Ends(kind, "0\t1\tfirst\n0\t1\n", BEHIND)
    with ends.run:
        with pytest.raises(ProtocolError):
            ends.take()
        ends.told(caplog, "lost", "nobody has asked for", 1)


def test_left(kind, caplog):
    ends = Ends(kind, "0\t1\tfirst\tsecond\t", BEHIND)
    with ends.run:
        assert ends.take(1) == [FIRST]
        ends.told(caplog, "closed", "the iteration ended before its reply", 0)


def test_closed_with_the_client(kind, caplog):
    ends = Ends(kind, "0\t1\tfirst\tsecond\t", BEHIND)
    with ends.run:
        with pytest.raises(ClosedError):
            ends.take(then=ends.client.close)
        ends.told(caplog, "closed", "the client is closed", 0)


def test_closed_with_the_client_while_idle(kind, caplog):
    ends = Ends(kind, "0\t1\tfirst\n", BEHIND)
    with ends.run:
        assert ends.take() == [FIRST]
        ends.run(ends.client.close)
        ends.told(caplog, "closed", "the client is closed", 0)


def test_idle(kind):
    """With threads nobody reads on it, so its end is seen when the next iteration wants it."""
    again = script((ASKED, "0\t1\n0\t1\tsecond\n"))
    end = ({"close": True}, {"signal": "closed"})
    ends = Ends(kind, "0\t1\tfirst\n", *end, more=[again])
    with ends.run:
        assert ends.take() == [FIRST]
        assert ends.run.play.signal("closed").wait(10)
        rest(ends.run, kind)
        assert ends.take() == [SECOND]
        shown = [(each.what, each.route) for each in ends.seen]
        assert shown == [("connected", "stream"), ("closed", "stream"), ("connected", "stream")]
        assert ends.seen[1].reason == "the server closed the connection"
        assert (ends.client.counters().connected, ends.client.counters().lost) == (2, 0)


def test_what_comes_while_idle(kind):
    again = script((ASKED, "0\t1\n0\t1\tsecond\n"))
    steps = [{"await": "read"}, {"send": "0\t1\n"}, {"signal": "sent"}, BEHIND]
    ends = Ends(kind, "0\t1\tfirst\n", *steps, more=[again])
    with ends.run:
        assert ends.take() == [FIRST]
        ends.run.play.signal("read").set()
        assert ends.run.play.signal("sent").wait(10)
        rest(ends.run, kind)
        assert ends.take() == [SECOND]
        assert [each.what for each in ends.seen] == ["connected", "lost", "connected"]
        assert "nobody has asked for" in ends.seen[1].reason
        assert ends.client.counters().lost == 1


def test_another_one_is_kept(kind):
    """Two iterate at the same time, and one connection is kept."""
    reply = (ASKED, "0\t1\n0\t1\tfirst\tsecond\n")
    ends = Ends(kind, "0\t1\tfirst\tsecond\n", more=[script(reply)])

    async def both():
        one, other = ends._iterate(), ends._iterate()
        assert await anext(one) == await anext(other) == FIRST
        assert [row async for row in one] == [row async for row in other] == [SECOND]

    def both_in_turn():
        one, other = ends._iterate(), ends._iterate()
        assert next(one) == next(other) == FIRST
        assert list(one) == list(other) == [SECOND]

    with ends.run:
        ends.run(both if ends.is_async else both_in_turn)
        shown = [(each.what, each.reason) for each in ends.seen[2:]]
        assert shown == [("closed", "another connection is kept")]


def test_other_routes(kind):
    """A connection that was idle when it ended was not lost."""
    asked = "P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t1\n"
    pair = (asked, "0\t1\n0\t1\tx\n")
    scripts = [script(pair, {"close": True}, {"signal": "closed"}), script(pair)]
    seen = []
    with Played(kind, options={"on_connection": seen.append}, read=scripts) as run:
        index = run.client.index("db", "t", ["a"])
        for _ in range(2):
            assert run(lambda: index.find_one(1)) == (b"x",)
            assert run.play.signal("closed").wait(10)
            rest(run, kind)
        run(run.client.close)
        assert [(each.what, each.reason) for each in seen] == [
            ("connected", None),
            ("closed", "the server closed the connection"),
            ("connected", None),
            ("closed", "the client is closed"),
        ]
        assert run.client.counters().lost == 0
