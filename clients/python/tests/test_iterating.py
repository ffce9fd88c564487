"""What an iteration tells and counts, how it connects, and what becomes of its connection."""

import asyncio
import contextlib
import threading
import time

import pytest
from faces import Played, script

from handlersocket2 import (
    AsyncClient,
    AuthenticationError,
    BusyError,
    Client,
    ClosedError,
    ConnectError,
    ConnectionLost,
    HandlerSocketError,
    In,
    ProtocolError,
    ReplyError,
    RequestTimeout,
)
from handlersocket2.seen import kind_of

OPEN, FIND = "P\t1\tdb\tt\tPRIMARY\ta\n", "1\t=\t1\t1\t9\n"
ASKED = OPEN + FIND
OPENED = "0\t1\n"
FIRST, SECOND = (b"first",), (b"second",)
BEHIND = {"expect_end": True}


@pytest.fixture(params=[Client, AsyncClient], ids=["threads", "asyncio"])
def kind(request):
    return request.param


class Iterating:
    """A client of these connections, and what it tells."""

    def __init__(self, kind, *read, servers=None, **options):
        self.requests = []
        self.connections = []
        self.is_async = kind is AsyncClient
        hooks = {"on_request": self.requests.append, "on_connection": self.connections.append}
        fast = {"backoff_min": 0.001, "backoff_max": 0.002}
        ports = {"servers": servers} if servers else {"read": list(read)}
        self.run = Played(kind, options={**hooks, **fast, **options}, **ports)
        self.client = self.run.client

    def __enter__(self):
        self.run.__enter__()
        return self

    def __exit__(self, *how):
        self.run.__exit__(*how)

    def rows(self, **options):
        return self.client.index("db", "t", ["a"]).iterate(1, **{"limit": 9, **options})

    def take(self, most=9, rows=None, **options):
        """As many rows, and the iteration is left."""
        rows = [] if rows is None else rows

        async def take_async():
            async with contextlib.aclosing(self.rows(**options)) as found:
                async for row in found:
                    rows.append(row)
                    if len(rows) == most:
                        break

        def take():
            with contextlib.closing(self.rows(**options)) as found:
                for row in found:
                    rows.append(row)
                    if len(rows) == most:
                        break

        self.run(take_async if self.is_async else take)
        return rows

    def while_one_goes_on(self, work):
        """Does this after the first row of an iteration, which is left then."""

        async def both():
            async with contextlib.aclosing(self.rows()) as found:
                assert await anext(found) == FIRST
                await work()

        def both_in_turn():
            with contextlib.closing(self.rows()) as found:
                assert next(found) == FIRST
                work()

        self.run(both if self.is_async else both_in_turn)

    def another(self, **options):
        """Reads a second iteration to its end."""

        async def take_async():
            return [row async for row in self.rows(**options)]

        return take_async() if self.is_async else list(self.rows(**options))

    def told(self):
        (seen,) = self.requests
        named = (seen.operation, seen.database, seen.table, seen.index, seen.route)
        assert named == ("find", "db", "t", "PRIMARY", "stream")
        assert 0 <= seen.seconds < 10
        return seen

    def ends(self):
        return [(each.what, each.reason) for each in self.connections if each.what != "connected"]

    def close(self):
        self.run(self.client.close)


def test_told_when_all_rows_were_read(kind):
    reply = "0\t1\tfirst\tsecond\n"
    with Iterating(kind, script((ASKED, OPENED + reply))) as it:
        assert it.take() == [FIRST, SECOND]
        seen = it.told()
        assert (seen.rows, seen.error) == (2, None)
        assert (seen.bytes_out, seen.bytes_in) == (len(ASKED), len(OPENED + reply))
        assert seen.address == it.connections[0].address
        assert "first" not in repr(seen)


def test_told_when_it_was_left(kind):
    with Iterating(kind, script((ASKED, OPENED + "0\t1\tfirst\tsecond\tth"), BEHIND)) as it:
        assert it.take(1) == [FIRST]
        seen = it.told()
        assert (seen.rows, seen.error) == (1, None)
        assert it.client.counters().given_up == 0


def test_told_when_it_is_lost(kind):
    end = {"close": True}
    with Iterating(kind, script((ASKED, OPENED + "0\t1\tfirst\tsec"), end)) as it:
        with pytest.raises(ConnectionLost) as lost:
            it.take()
        seen = it.told()
        assert (seen.rows, seen.error) == (1, lost.value)


def test_rows_in_front_of_what_is_wrong(kind):
    """They are given, though all has come at once."""
    wrong = script((ASKED, OPENED + "0\t1\tfirst\tsecond\t\x01\x01\tthird"), BEHIND)
    with Iterating(kind, wrong) as it:
        rows = []
        with pytest.raises(ProtocolError) as failed:
            it.take(rows=rows)
        assert rows == [FIRST, SECOND]
        assert (it.told().rows, it.told().error) == (2, failed.value)
        assert it.client.counters().lost == 1


def test_told_when_it_is_refused(kind):
    with Iterating(kind, script((ASKED, OPENED + "1\t1\tlock_wait\n"))) as it:
        with pytest.raises(ReplyError) as refused:
            it.take()
        seen = it.told()
        assert (seen.rows, seen.error) == (None, refused.value)
        assert seen.bytes_in == len(OPENED + "1\t1\tlock_wait\n")


def test_told_when_its_time_is_over(kind):
    steps = (ASKED, OPENED + "0\t1\tfirst\n"), (FIND, None), BEHIND
    with Iterating(kind, script(*steps)) as it:
        assert it.take() == [FIRST]  # the connection is there
        it.requests.clear()
        with pytest.raises(RequestTimeout):
            it.take(timeout=0.5)
        assert isinstance(it.told().error, RequestTimeout)
        assert it.client.counters().given_up == 1


def test_told_when_its_task_is_cancelled():
    with Iterating(AsyncClient, script((ASKED, OPENED), BEHIND)) as it:

        async def cancelled():
            task = asyncio.ensure_future(it.another())
            await asyncio.sleep(0.1)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

        it.run(cancelled)
        assert isinstance(it.told().error, asyncio.CancelledError)
        assert it.client.counters().given_up == 1


def test_told_when_its_thread_is_interrupted():
    with Iterating(Client, script((ASKED, OPENED + "0\t1\tfirst\t"), BEHIND)) as it:
        rows = it.rows()
        assert next(rows) == FIRST
        with pytest.raises(KeyboardInterrupt):
            rows.throw(KeyboardInterrupt())
        assert kind_of(it.told().error) == "cancelled"


def test_nothing_is_told_of_what_was_not_sent(kind):
    with Iterating(kind) as it:
        assert it.take(in_=In([])) == []
        assert it.requests == []


def test_other_requests_tell_the_bytes_of_their_reply(kind):
    reply = "0\t1\tx\n"
    with Iterating(kind, script((OPEN + "1\t=\t1\t1\n", OPENED + reply))) as it:
        assert it.run(lambda: it.client.index("db", "t", ["a"]).find_one(1)) == (b"x",)
        assert [each.bytes_in for each in it.requests] == [len(reply)]


def test_counters(kind):
    reply, again = "0\t1\tfirst\tsecond\n", "1\t1\tlock_wait\n"
    with Iterating(kind, script((ASKED, OPENED + reply), (FIND, again))) as it:
        it.take()
        counters = it.client.counters()
        assert (counters.requests, counters.replies, counters.errors) == (2, 2, 0)
        assert (counters.bytes_out, counters.bytes_in) == (len(ASKED), len(OPENED + reply))
        assert counters.writes == 1
        assert 1 <= counters.reads <= 3
        with pytest.raises(ReplyError):
            it.take()
        counters = it.client.counters()
        assert (counters.requests, counters.replies, counters.errors) == (3, 3, 1)
        assert counters.bytes_out == len(ASKED + FIND)
        assert counters.bytes_in == len(OPENED + reply + again)
        assert (counters.connected, counters.given_up, counters.in_flight) == (1, 0, 0)


def test_counters_while_it_goes_on(kind):
    sent = OPENED + "0\t1\tfirst\tsec"
    with Iterating(kind, script((ASKED, sent), BEHIND)) as it:
        seen = []

        async def look():
            seen.append(it.client.counters())

        it.while_one_goes_on(look if it.is_async else lambda: seen.append(it.client.counters()))
        assert (seen[0].requests, seen[0].bytes_out) == (2, len(ASKED))
        assert it.client.counters().bytes_in == seen[0].bytes_in == len(sent)


def test_an_error_keeps_the_connection(kind):
    steps = (ASKED, OPENED + "1\t1\tlock_wait\n"), (FIND, "0\t1\tfirst\n")
    with Iterating(kind, script(*steps)) as it:
        with pytest.raises(ReplyError, match="lock_wait"):
            it.take()
        assert it.take() == [FIRST]
        assert it.ends() == []


def test_who_leaves_at_the_last_row_keeps_the_connection(kind):
    steps = (ASKED, OPENED + "0\t1\tfirst\n"), (FIND, "0\t1\tsecond\n")
    with Iterating(kind, script(*steps)) as it:
        assert it.take(1) == [FIRST]
        assert it.take(1) == [SECOND]
        assert it.ends() == []


def test_bytes_behind_an_error(kind):
    with Iterating(kind, script((ASKED, OPENED + "1\t1\tlock_wait\n0"), BEHIND)) as it:
        with pytest.raises(ReplyError, match="lock_wait"):
            it.take()
        ((what, reason),) = it.ends()
        assert (what, "nobody has asked for" in reason) == ("lost", True)


def test_an_index_that_cannot_be_opened(kind):
    refused = (ASKED, "1\t1\topen_table\n2\t1\tstmtnum\n")
    again = script((ASKED, OPENED + "0\t1\tfirst\n"))
    with Iterating(kind, script(refused, BEHIND), again) as it:
        with pytest.raises(ReplyError, match="open_table"):
            it.take()
        assert it.ends() == [("closed", "an index could not be opened")]
        assert it.client.counters().errors == 1
        assert it.take() == [FIRST]


def test_attempts_that_fail(kind):
    with Iterating(kind, servers=[{"read": None}], backoff_min=0.01, backoff_max=0.015) as it:
        with pytest.raises(ConnectError) as failed:
            it.take()
        assert not failed.value.sent
        shown = [(each.what, each.route, each.address) for each in it.connections]
        assert shown == [("failed", "stream", None)] * 3
        delays = [each.delay for each in it.connections]
        assert all(0 <= delay <= 0.015 for delay in delays)
        assert all("cannot connect" in each.reason for each in it.connections)
        seen = it.told()
        assert (seen.error, seen.address, seen.bytes_out) == (failed.value, None, 0)
        assert (it.client.counters().requests, it.client.counters().connected) == (0, 0)


def test_an_attempt_after_one_that_failed(kind):
    log_in = "A\t1\tsecret\n"
    cut = script((log_in, None), {"close": True})
    good = script((log_in, "0\t1\n"), (ASKED, OPENED + "0\t1\tfirst\n"))
    with Iterating(kind, cut, good, secret="secret") as it:
        assert it.take() == [FIRST]
        assert [each.what for each in it.connections] == ["failed", "connected"]


def test_a_log_in_that_is_refused(kind):
    """A second attempt would give the same."""
    refused = script(("A\t1\tsecret\n", "3\t1\tunauth\n"), BEHIND)
    with Iterating(kind, refused, secret="secret") as it:
        with pytest.raises(AuthenticationError) as failed:
            it.take()
        assert kind_of(failed.value) == "log_in"
        assert [each.what for each in it.connections] == ["failed"]


def test_no_attempt_after_its_time(kind):
    options = {"backoff_min": 60, "backoff_max": 60, "connect_attempts": 100}
    with Iterating(kind, servers=[{"read": None}], **options) as it:
        began = time.monotonic()
        with pytest.raises(RequestTimeout) as late:
            it.take(timeout=0.3)
        assert not late.value.sent
        assert 0.3 <= time.monotonic() - began < 5


def closes_meanwhile(it):
    """Closes the client while an iteration waits, and gives the error and the seconds."""

    async def close_async():
        other = asyncio.ensure_future(it.another())
        await asyncio.sleep(0.2)
        began = time.monotonic()
        await it.client.close()
        await asyncio.wait([other], timeout=20)
        return other.exception(), time.monotonic() - began

    def close():
        errors = []

        def iterate():
            try:
                it.another()
            except HandlerSocketError as error:
                errors.append(error)

        thread = threading.Thread(target=iterate, daemon=True)
        thread.start()
        time.sleep(0.2)
        began = time.monotonic()
        it.client.close()
        thread.join(20)
        return errors[0], time.monotonic() - began

    return it.run(close_async if it.is_async else close)


def test_closed_while_it_waits_for_an_attempt(kind):
    options = {"backoff_min": 1e9, "backoff_max": 1e9}
    with Iterating(kind, servers=[{"read": None}], timeout=None, **options) as it:
        error, seconds = closes_meanwhile(it)
        assert isinstance(error, ClosedError)
        assert not error.sent
        assert seconds < 10


def test_closed_while_it_logs_in(kind):
    log_in = script(("A\t1\tsecret\n", None), BEHIND)
    with Iterating(kind, log_in, secret="secret", timeout=None) as it:
        error, seconds = closes_meanwhile(it)
        assert isinstance(error, ClosedError)
        assert seconds < 10


def test_busy_at_once(kind):
    options = {"when_full": "fail", "max_streams": 1}
    with Iterating(kind, script((ASKED, OPENED + "0\t1\tfirst\tsec"), BEHIND), **options) as it:
        began = time.monotonic()
        with pytest.raises(BusyError) as busy:
            it.while_one_goes_on(it.another)
        assert time.monotonic() - began < 8
        assert (busy.value.sent, it.requests[0].error) == (False, busy.value)
        assert it.requests[0].address is None


def test_the_wait_for_another_one_has_the_time_of_the_call(kind):
    options = {"timeout": 60, "max_streams": 1}
    with Iterating(kind, script((ASKED, OPENED + "0\t1\tfirst\tsec"), BEHIND), **options) as it:
        began = time.monotonic()
        with pytest.raises(RequestTimeout) as late:
            it.while_one_goes_on(lambda: it.another(timeout=0.1))
        assert 0.1 <= time.monotonic() - began < 5
        assert not late.value.sent
        assert it.client.counters().given_up == 1


def test_another_server_is_asked(kind):
    """And stays current: the next iteration asks there, too."""
    first = script((ASKED, OPENED + "1\t1\t1047\n"), BEHIND)
    second = script((ASKED, OPENED + "0\t1\tfirst\n"), (FIND, "0\t1\tsecond\n"))
    servers = [{"read": [first], "write": []}, {"read": [second], "write": []}]
    with Iterating(kind, servers=servers) as it:
        assert it.take() == [FIRST]
        assert it.take() == [SECOND]
        shown = [each.what for each in it.connections]
        assert shown == ["connected", "moved", "closed", "connected"]
        assert [each.error for each in it.requests] == [None, None]


def test_all_servers_send_it_elsewhere(kind):
    refused = (ASKED, OPENED + "1\t1\t1047\n")
    servers = [{"read": [script(refused, BEHIND)]}, {"read": [script(refused)]}]
    with Iterating(kind, servers=servers) as it:
        with pytest.raises(ReplyError, match="1047"):
            it.take()
        assert len(it.requests) == 1
        assert it.client.counters().errors == 2


def test_a_server_that_cannot_be_reached(kind):
    """The next one becomes current."""
    good = script((ASKED, OPENED + "0\t1\tfirst\n"))
    with Iterating(kind, servers=[{"read": None}, {"read": [good]}]) as it:
        assert it.take() == [FIRST]
        assert sorted(each.what for each in it.connections) == ["connected", "moved"]
