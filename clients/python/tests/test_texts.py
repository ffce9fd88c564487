"""The option `texts`: what the server tells of an error, and what becomes of it."""

import asyncio
import copy
import io
import logging
import pickle
import traceback

import pytest
from faces import Played, script

from handlersocket2 import (
    AsyncClient,
    Client,
    ConnectionLost,
    DuplicateKeyError,
    OpenIndex,
    ProtocolError,
    ReplyError,
    SchemaError,
)
from handlersocket2.asks import Specs
from handlersocket2.channel import Channel
from handlersocket2.codec import decode_line
from handlersocket2.operations import Operations
from handlersocket2.options import Options
from handlersocket2.results import error_of
from handlersocket2.rows import reader_for
from handlersocket2.url import parse_url

TEXTS = {"texts": True}
HELLO = "H\ttexts\n"
HELD = "0\t2\tplugin\t2.0.0\ttexts\t1\n"
OPEN = "P\t1\tdb\tt\tPRIMARY\ta\n"
DUPLICATE = "1\t4\t121\t1062\t23000\tDuplicate entry 's3cret' for key 'PRIMARY'\n"


@pytest.fixture(params=[Client, AsyncClient], ids=["threads", "asyncio"])
def kind(request):
    return request.param


def error_from(line):
    return error_of(decode_line(line))


def test_an_error_with_a_text():
    error = error_from(DUPLICATE.encode()[:-1])
    assert type(error) is DuplicateKeyError and error.category == "duplicate"
    told = (error.code, error.text, error.number, error.sqlstate, error.message)
    assert told == (1, "121", 1062, "23000", "Duplicate entry 's3cret' for key 'PRIMARY'")
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (again.number, again.sqlstate, again.message, again.sent) == (*told[2:], True)


def test_an_error_without_a_text():
    error = error_from(b"1\t1\t121")
    assert (error.number, error.sqlstate, error.message) == (121, "23000", None)
    assert error_from(b"2\t1\tstmtnum").number is None


@pytest.mark.parametrize(
    "line", [b"1\t4\t121\tx\t23000\twords", b"1\t3\t121\t1062\t23000", b"1\t4\t121\t\0\t\0\t\0"]
)
def test_what_is_no_text_of_an_error(line):
    """The error itself is one all the same."""
    error = error_from(line)
    assert (error.text, error.number, error.message) == ("121", 121, None)


def test_what_is_escaped_or_null_in_a_text():
    told = error_from(b"1\t4\tword\t1105\t\0\ta\x01Ib\xff")
    assert (told.number, told.sqlstate, told.message) == (1105, "", "a\tb\ufffd")
    assert error_from(b"1\t1\t\0").text == ""
    assert error_from(b"1\t0").text == ""


def test_the_message_goes_into_no_log(kind):
    """It may show values of rows."""
    written = io.StringIO()
    logger = logging.Logger("app")
    logger.addHandler(logging.StreamHandler(written))
    seen = []
    steps = script((HELLO + OPEN + "1\t+\t1\t1\n", HELD + "0\t1\n" + DUPLICATE))
    options = {**TEXTS, "logger": logger, "on_request": seen.append}
    with Played(kind, options=options, write=[steps]) as run:
        index = run.client.index("db", "t", ["a"])
        with pytest.raises(DuplicateKeyError) as raised:
            run(lambda: index.insert([1]))
        try:
            raise raised.value
        except DuplicateKeyError:
            logger.exception("it has failed")
    shown = [written.getvalue(), repr(raised.value), *traceback.format_exception(raised.value)]
    shown.append(repr(seen[0].attributes()))
    assert "it has failed" in shown[0] and "s3cret" in raised.value.message
    assert "s3cret" not in "".join(shown)


def test_each_connection_says_hello(kind):
    """That for iterating, too, and one that takes the place of another."""
    find = (HELLO + OPEN + "1\t=\t1\t1\n", HELD + "0\t1\n0\t1\tx\n")
    again = ("1\t=\t1\t2\n", "2\t4\tfld\t1054\t42S22\tUnknown column\n")
    most = "18446744073709551615"
    rows = (HELLO + OPEN + f"1\t=\t1\t1\t{most}\n", HELD + "0\t1\n0\t1\tx\ty\n")
    later = (f"1\t=\t1\t2\t{most}\n", "2\t4\tfld\t1054\t42S22\tUnknown column\n")
    read = [
        script(find, {"close": True}, {"signal": "closed"}),
        script(find, again),
        script(rows, later),
    ]
    with Played(kind, options=TEXTS, read=read) as run:
        index = run.client.index("db", "t", ["a"])
        assert run(lambda: index.find_one(1)) == (b"x",)
        assert run.play.signal("closed").wait(10)
        run(lambda: pause(kind))
        assert run(lambda: index.find_one(1)) == (b"x",)
        assert run(lambda: iterated(kind, index, 1)) == [(b"x",), (b"y",)]
        for fails in (lambda: index.find_one(2), lambda: iterated(kind, index, 2)):
            with pytest.raises(SchemaError) as raised:
                run(fails)
            assert (raised.value.number, raised.value.message) == (1054, "Unknown column")


def pause(kind):
    """The end of a connection arrives."""
    return asyncio.sleep(0.1) if kind is AsyncClient else asyncio.run(asyncio.sleep(0.1))


def iterated(kind, index, key):
    async def rows():
        return [row async for row in index.iterate(key)]

    return rows() if kind is AsyncClient else list(index.iterate(key))


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_an_iteration_whose_replies_come_in_pieces(kind, pieces):
    most = "18446744073709551615"
    steps = [
        {"expect": HELLO + OPEN + f"1\t=\t1\t1\t{most}\n"},
        {"send": "2\t1\tcmd\n0\t1\n0\t1\tx\ty\n", "pieces": pieces},
    ]
    with Played(kind, options=TEXTS, read=[steps]) as run:
        index = run.client.index("db", "t", ["a"])
        assert run(lambda: iterated(kind, index, 1)) == [(b"x",), (b"y",)]


def test_a_ping_and_a_list_behind_a_hello(kind):
    """Hello goes out together with the first request, and not again."""
    ping = (HELLO + "echo\tping\n", HELD + "0\t1\tping\n")
    told = "1\t4\t1049\t1049\t42000\tUnknown database 'no'\n"
    with Played(kind, options=TEXTS, read=[script(ping, ("L\tno\n", told))]) as run:
        run(run.client.ping)
        with pytest.raises(ReplyError) as raised:
            run(lambda: run.client.tables("no"))
        assert (raised.value.sqlstate, raised.value.message) == ("42000", "Unknown database 'no'")


@pytest.mark.parametrize("told", ["2\t1\tcmd\n", "3\t1\tunauth\n", "0\t2\n"])
def test_a_server_without_texts(kind, told):
    """That is no error of anybody's."""
    lines = (HELLO + OPEN + "1\t=\t1\t1\n", told + "0\t1\n0\t1\tx\n")
    with Played(kind, options=TEXTS, read=[script(lines)]) as run:
        index = run.client.index("db", "t", ["a"])
        assert run(lambda: index.find_one(1)) == (b"x",)
        assert run.client.counters().errors == 0


@pytest.mark.parametrize("told", ["0\t3\ta\tb\tc\n", "0\t2\ta\n", "0\t2\ta\t\0\n", "hello\n"])
def test_what_is_no_hello(kind, told):
    """The request for which it went out has the error."""
    lines = (HELLO + OPEN + "1\t=\t1\t1\n", told)
    with Played(kind, options=TEXTS, read=[script(lines, {"expect_end": True})]) as run:
        index = run.client.index("db", "t", ["a"])
        with pytest.raises(ProtocolError):
            run(lambda: index.find_one(1))


@pytest.mark.parametrize("wrong", [0, 1])
def test_who_waits_for_an_index_gets_the_error_of_a_wrong_reply(wrong):
    """Also if requests stand behind it."""
    told = (HELD if wrong else "") + "hello\n"

    async def main(run):
        opening = run.client.index("db", "t", ["a"]).open()
        behind = run.client.index("db", "t", ["a"]).find_one(1)
        with pytest.raises(ProtocolError):
            await asyncio.wait_for(opening, 5)
        with pytest.raises(ConnectionLost):
            await asyncio.wait_for(behind, 5)

    lines = (HELLO + OPEN + "1\t=\t1\t1\n", told)
    with Played(AsyncClient, options=TEXTS, read=[script(lines, {"expect_end": True})]) as run:
        run(lambda: main(run))


def test_the_error_of_an_opening(kind):
    """Each request behind it has all of it; so has a group."""
    nowhere = "1\t4\topen_table\t1146\t42S02\tTable 'db.t' doesn't exist\n"
    not_open = "2\t4\tstmtnum\t1105\tHY000\tThis index is not open\n"
    read = (HELLO + OPEN + "1\t=\t1\t1\n1\t=\t1\t2\n", HELD + nowhere + not_open * 2)
    failed = "1\t5\tundone\t1105\tHY000\tUndone\t1\n"
    write = (HELLO + OPEN + "G\t1\n1\t=\t1\t1\n", HELD + nowhere + failed + not_open)
    with Played(kind, options=TEXTS, read=[script(read)], write=[script(write)]) as run:
        index = run.client.index("db", "t", ["a"])
        pipeline = run.client.pipeline()
        pipeline.on(index).find_one(1)
        pipeline.on(index).find_one(2)
        run(pipeline.run)
        group = run.client.group()
        group.on(index).find_one(1)
        with pytest.raises(SchemaError):
            run(group.run)
        for error in (*pipeline.results(), *group.results()):
            assert (error.text, error.number) == ("open_table", 1146)
            assert error.message == "Table 'db.t' doesn't exist"


def test_a_group_that_fails_as_a_whole(kind):
    over = "1\t4\tmax_request_time\t3024\tHY000\tIt took too long\n"
    lines = (HELLO + OPEN + "G\t1\n1\t=\t1\t1\n", HELD + "0\t1\n" + over * 2)
    with Played(kind, options=TEXTS, write=[script(lines)]) as run:
        group = run.client.group()
        group.on(run.client.index("db", "t", ["a"])).find_one(1)
        with pytest.raises(ReplyError) as raised:
            run(group.run)
    assert (raised.value.line, raised.value.number) == (0, 3024)


@pytest.mark.parametrize("place", ["", "\t0", "\t2", "\tx", "\t1\t1", "\t" + "1" * 5000])
def test_a_group_whose_line_cannot_be_told(kind, place):
    first = f"1\t5\tundone\t1105\tHY000\tUndone{place}\n"
    lines = (HELLO + OPEN + "G\t1\n1\t=\t1\t1\n", HELD + "0\t1\n" + first + DUPLICATE)
    steps = script(lines, {"expect_end": True})
    with Played(kind, options=TEXTS, write=[steps]) as run:
        group = run.client.group()
        group.on(run.client.index("db", "t", ["a"])).find_one(1)
        with pytest.raises(ProtocolError):
            run(group.run)


class Caller:
    """A call without a face."""

    opening = None
    sent = False
    deadline = float("inf")

    def __init__(self, ask):
        self.operation, self.line = ask.operation, ask.line
        self.result = None

    def done(self):
        return self.result is not None

    def set_result(self, result):
        self.result = result

    set_exception = set_result


def test_replies_cut_at_every_byte():
    specs = Specs()
    spec = specs.get(OpenIndex(0, "db", "t", "PRIMARY", ["a"]))
    operations = Operations(specs, spec, reader_for(["a"])[1])
    replies = (HELD + "0\t1\n0\t1\tx\n" + DUPLICATE).encode()
    for size in range(1, len(replies)):
        channel = Channel(Options(texts=True), 0.0)
        calls = [Caller(operations.find_one(1, {})), Caller(operations.insert([1], {}))]
        for call in calls:
            assert channel.add(call, 0.0)
        assert channel.take_output() == (HELLO + OPEN + "1\t=\t1\t1\n1\t+\t1\t1\n").encode()
        for start in range(0, len(replies), size):
            channel.received(replies[start : start + size], 0.0)
        assert channel.broken is None and not channel.slots
        assert calls[0].result == (b"x",)
        assert calls[1].result.message == "Duplicate entry 's3cret' for key 'PRIMARY'"


def test_the_option():
    host = "handlersocket://h?texts="
    assert [parse_url(host + text)[2]["texts"] for text in ("on", "off")] == [True, False]
    for wrong in ("true", "1", ""):
        with pytest.raises(ValueError, match="texts is on or off"):
            parse_url(host + wrong)
    for wrong in ("on", 1, None):
        with pytest.raises(TypeError, match="texts is True or False"):
            Options(texts=wrong)
