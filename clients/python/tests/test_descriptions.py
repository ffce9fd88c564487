"""Descriptions, and the indexes that are made from them, at servers that are played."""

import asyncio
import dataclasses
import pickle

import pytest
from faces import Played, script
from scenario_server import Play
from test_fork import in_a_child

from handlersocket2 import (
    AsyncClient,
    Client,
    ColumnDescription,
    Connection,
    ConnectionLost,
    DecodeError,
    Describe,
    Description,
    Find,
    Hello,
    OpenIndex,
    ProtocolError,
    ReplyError,
    RequestTimeout,
    SchemaError,
)

A = "column\ta\tint(11)\t0\t0\t0\t\0"
B = "column\tb\tvarchar(9)\t1\t0\t0\tutf8mb4"
KEY = "key\ta\tint(11)\t0\t0\t0\t\0"
ALL = f"0\t7\t{A}\t{B}\t{KEY}\n"
DESCRIBED = Description(
    (
        ColumnDescription("a", "int(11)", False, False, 0, None),
        ColumnDescription("b", "varchar(9)", True, False, 0, "utf8mb4"),
    ),
    (),
    (ColumnDescription("a", "int(11)", False, False, 0, None),),
)
ASK_ALL = ("P\t1\tdb\tt\tPRIMARY\t*\nD\t1\n", "0\t1\n" + ALL)
OPEN = "P\t2\tdb\tt\tPRIMARY\ta,b\n"
FIND = (OPEN + "2\t=\t1\t1\n", "0\t1\n0\t2\t1\tone\n")


@pytest.fixture(params=[Client, AsyncClient], ids=["threads", "asyncio"])
def kind(request):
    return request.param


def test_an_index_with_types(kind):
    again = ("2\t=\t1\t2\n", "0\t2\t2\t\0\n")
    with Played(kind, read=[script(ASK_ALL, FIND, again)]) as run:
        index = run(lambda: run.client.described_index("db", "t"))
        row = run(lambda: index.find_one(1))
        assert (row.a, row.b) == (1, "one") and row == (1, "one")
        assert run(lambda: index.find(2)) == [(2, None)]


def test_a_reply_that_comes_byte_by_byte(kind):
    pieces = [{"expect": ASK_ALL[0]}, {"send": ASK_ALL[1], "pieces": 1}]
    pieces += [{"expect": FIND[0]}, {"send": FIND[1], "pieces": 1}]
    with Played(kind, read=[pieces]) as run:
        index = run(lambda: run.client.described_index("db", "t"))
        assert run(lambda: index.find_one(1)) == (1, "one")


@pytest.mark.parametrize("cut", range(0, len(ASK_ALL[1]), 7))
def test_a_connection_that_ends_in_the_middle_of_a_reply(kind, cut):
    """It is sent again if that is wanted: it changes nothing."""
    ends = script((ASK_ALL[0], ASK_ALL[1][:cut]), {"close": True})
    with Played(kind, read=[ends]) as run:
        with pytest.raises(ConnectionLost) as lost:
            run(lambda: run.client.describe("db", "t"))
        assert lost.value.sent and lost.value.safe_to_retry
    retries = {"retry_reads": 1, "backoff_max": 0.001, "backoff_min": 0.001}
    with Played(kind, options=retries, read=[ends, script(ASK_ALL)]) as run:
        assert run(lambda: run.client.describe("db", "t")) == DESCRIBED


def test_all_columns_are_those_of_each_time(kind):
    """The index is opened again, with its number. That of some columns stays open."""
    fewer = (ASK_ALL[0], f"0\t1\n0\t7\t{A}\t{KEY}\n")
    some = ("P\t2\tdb\tt\tPRIMARY\ta\nD\t2\n", f"0\t1\n0\t7\t{A}\t{KEY}\n")
    again = ("D\t2\n", some[1].removeprefix("0\t1\n"))
    with Played(kind, read=[script(ASK_ALL, fewer, some, again, ASK_ALL)]) as run:
        for columns, told in ((None, 2), (None, 1), (["a"], 1), (["a"], 1), (None, 2)):
            asked = run(lambda columns=columns: run.client.describe("db", "t", columns))
            assert len(asked.columns) == told


def test_all_columns_of_a_table_that_is_gone(kind):
    """The index that was open before stays in its place, and the server still describes it."""
    gone = (ASK_ALL[0], "1\t1\topen_table\n" + ALL)
    with Played(kind, read=[script(ASK_ALL, gone, ASK_ALL)]) as run:
        assert run(lambda: run.client.describe("db", "t")) == DESCRIBED
        with pytest.raises(SchemaError) as raised:
            run(lambda: run.client.describe("db", "t"))
        assert raised.value.text == "open_table"
        assert run(lambda: run.client.describe("db", "t")) == DESCRIBED


def test_tasks_that_describe_at_once():
    """Each has an opening of its own, and the error of that."""
    gone = "1\t1\topen_table\n" + ALL
    steps = script((ASK_ALL[0] * 3, ASK_ALL[1] + gone + ASK_ALL[1]))

    async def main(client):
        calls = [client.describe("db", "t") for _ in range(3)]
        return await asyncio.gather(*calls, return_exceptions=True)

    with Played(AsyncClient, read=[steps]) as run:
        first, second, third = run(lambda: main(run.client))
        assert first == third == DESCRIBED
        assert isinstance(second, SchemaError)


@pytest.mark.parametrize("columns", [None, ["a", "b"]])
def test_a_server_that_names_another_one(kind, columns):
    """The error of the first one's opening is no error of the second."""
    ask = f"P\t1\tdb\tt\tPRIMARY\t{'a,b' if columns else '*'}\nD\t1\n"
    off_line = script((ask, "1\t1\t3032\n2\t1\tstmtnum\n"))
    servers = [{"read": [off_line]}, {"read": [script((ask, "0\t1\n" + ALL))]}]
    with Played(kind, servers=servers) as run:
        assert run(lambda: run.client.describe("db", "t", columns)) == DESCRIBED


def test_a_server_that_names_another_one_which_has_opened_the_index():
    ask = "P\t1\tdb\tt\tPRIMARY\ta,b\nD\t1\n"
    off_line = script((ask + "D\t1\n", "1\t1\t3032\n2\t1\tstmtnum\n"), {"await": "later"})
    off_line.append({"send": "2\t1\tstmtnum\n"})
    other = script((ask, "0\t1\n" + ALL), {"signal": "later"}, ("D\t1\n", ALL))

    async def main(client):
        calls = [client.describe("db", "t", ["a", "b"]) for _ in range(2)]
        return await asyncio.gather(*calls)

    with Played(AsyncClient, servers=[{"read": [off_line]}, {"read": [other]}]) as run:
        assert run(lambda: main(run.client)) == [DESCRIBED] * 2


def test_some_columns_and_a_filter(kind):
    filtered = f"0\t7\t{B}\tfilter\ta\tint(11)\t0\t0\t0\t\0\t{KEY}\n"
    ask = ("P\t1\tdb\tt\tby_b\tb\ta\nD\t1\n", "0\t1\n" + filtered)
    find = ("1\t=\t1\tx\n", "0\t1\tx\n")  # the index is open
    with Played(kind, read=[script(ask, find)]) as run:
        index = run(
            lambda: run.client.described_index("db", "t", ["b"], index="by_b", filter_columns=["a"])
        )
        assert run(lambda: index.find_one("x")) == ("x",)


def test_a_column_twice(kind):
    ask = ("P\t1\tdb\tt\tPRIMARY\ta,b,a\nD\t1\n", f"0\t1\n0\t7\t{A}\t{B}\t{A}\t{KEY}\n")
    with Played(kind, read=[script(ask, ("1\t=\t1\t1\n", "0\t3\t1\tx\t1\n"))]) as run:
        index = run(lambda: run.client.described_index("db", "t", ["a", "b", "a"]))
        assert run(lambda: index.find_one(1)) == (1, "x", 1)


def test_without_a_port_for_reading_it_goes_with_the_writes(kind):
    """And not over a connection of its own, as finds do."""
    insert = ("P\t2\tdb\tt\tPRIMARY\ta\n2\t+\t1\t1\n", "0\t1\n0\t1\n")
    with Played(kind, write=[script(ASK_ALL, insert, ("H\n", "0\t2\tprotocol\t2\n"))]) as run:
        assert run(lambda: run.client.describe("db", "t")) == DESCRIBED
        index = run.client.index("db", "t", ["a"])
        assert run(lambda: index.insert([1])) is None
        assert run(run.client.hello) == {"protocol": "2"}


def test_a_client_of_one_port():
    steps = script(ASK_ALL, (OPEN, "0\t1\n"), ("2\t=\t1\t1\n", "0\t2\t1\tone\n"), ("H\n", "0\t2\n"))
    with Play({"servers": [{"write": [steps]}]}) as play:
        ((_, address),) = play.addresses
        with Client(address) as client:
            index = client.described_index("db", "t")
            assert index.find_one(1) == (1, "one")
            assert client.hello() == {}
            play.wait_for_the_end()
        play.check()


def test_a_new_connection_opens_the_index_again(kind):
    first = script(ASK_ALL, FIND, {"close": True}, {"signal": "closed"})
    second = script(("P\t1\tdb\tt\tPRIMARY\ta,b\n1\t=\t1\t2\n", "0\t1\n0\t2\t2\ttwo\n"))
    describes = script(("P\t2\tdb\tt\tPRIMARY\t*\nD\t2\n", "0\t1\n" + ALL))
    with Played(kind, read=[first, second + describes]) as run:
        index = run(lambda: run.client.described_index("db", "t"))
        assert run(lambda: index.find_one(1)) == (1, "one")
        assert run.play.signal("closed").wait(10)
        run(lambda: pause(kind))
        assert run(lambda: index.find_one(2)) == (2, "two")
        assert run(lambda: run.client.describe("db", "t")) == DESCRIBED


def pause(kind):
    """The end of a connection arrives."""
    return asyncio.sleep(0.1) if kind is AsyncClient else asyncio.run(asyncio.sleep(0.1))


def test_a_time_out_leaves_the_connection(kind):
    ping, wait = ("echo\tping\n", "0\t1\tping\n"), {"await": "later"}
    steps = script(ping, (ASK_ALL[0], None), wait, {"send": ASK_ALL[1]})
    find = ("P\t2\tdb\tt\tPRIMARY\ta\n2\t=\t1\t1\n", "0\t1\n0\t1\t1\n")
    with Played(kind, read=[steps + script(find)]) as run:
        run(run.client.ping)
        with pytest.raises(RequestTimeout) as raised:
            run(lambda: run.client.describe("db", "t", timeout=0.5))
        assert raised.value.safe_to_retry
        run.play.signal("later").set()
        index = run.client.index("db", "t", ["a"])
        assert run(lambda: index.find_one(1)) == (b"1",)
        assert run.client.counters().dropped == 1


def test_a_task_that_gives_up():
    """The index is open, the reply is dropped, and the next one gets its own."""
    steps = [{"expect": ASK_ALL[0]}, {"await": "later"}, {"send": ASK_ALL[1]}]

    async def main(play):
        async with AsyncClient(play.addresses, timeout=10) as client:
            task = asyncio.create_task(client.described_index("db", "t"))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            later = client.describe("db", "t")
            play.signal("later").set()
            assert await later == DESCRIBED
            await asyncio.to_thread(play.wait_for_the_end)

    with Play({"servers": [{"read": [steps + script(ASK_ALL)]}]}) as play:
        asyncio.run(main(play))
        play.check()


def test_pipelines_and_groups(kind):
    both = (OPEN + "2\t=\t1\t1\n2\t=\t1\t2\n", "0\t1\n0\t2\t1\tone\n0\t2\t2\t\0\n")
    group = (
        "P\t1\tdb\tt\tPRIMARY\ta,b\nG\t2\n1\t=\t1\t1\n1\t+\t2\t2\ttwo\n",
        "0\t1\n0\t1\n0\t2\t1\tone\n0\t1\n",
    )
    with Played(kind, read=[script(ASK_ALL, both)], write=[script(group)]) as run:
        index = run(lambda: run.client.described_index("db", "t"))
        pipeline = run.client.pipeline()
        pipeline.on(index).find_one(1)
        pipeline.on(index).find_one(2)
        run(pipeline.run)
        assert pipeline.results() == [(1, "one"), (2, None)]
        grouped = run.client.group()
        grouped.on(index).find_one(1)
        grouped.on(index).insert([2, "two"])
        run(grouped.run)
        assert grouped.results() == [(1, "one"), None]


def test_a_column_of_which_only_the_name_is_there(kind):
    told = f"0\t7\t{A}\tcolumn\tb" + "\t\0" * 5 + f"\t{KEY}\n"
    steps = script(
        ("P\t1\tdb\tt\tPRIMARY\ta,b\nD\t1\n", "0\t1\n" + told),
        ("1\t=\t1\t1\n", "0\t2\t1\t\u00ff\n"),
        ("1\t=\t1\t2\n", "0\t2\t2\t\0\n"),
    )
    with Played(kind, read=[steps]) as run:
        index = run(lambda: run.client.described_index("db", "t", ["a", "b"]))
        assert run(lambda: index.find_one(1)) == (1, b"\xff")
        assert run(lambda: index.find_one(2)) == (2, None)


def test_a_value_of_another_type_than_was_described(kind):
    again = ("2\t=\t1\t2\n", "0\t2\t2\ttwo\n")
    wrong = (FIND[0], "0\t1\n0\t2\tsecret\tone\n")
    with Played(kind, read=[script(ASK_ALL, wrong, again)]) as run:
        index = run(lambda: run.client.described_index("db", "t"))
        with pytest.raises(DecodeError, match="'a' is no int") as raised:
            run(lambda: index.find_one(1))
        assert "secret" not in str(raised.value)
        assert run(lambda: index.find_one(2)) == (2, "two")


def test_a_name_that_no_request_can_hold(kind):
    odd = f"0\t7\tcolumn\ta\u0001Ib\tint\t0\t0\t0\t\0\t{KEY}\n"
    with (
        Played(kind, read=[script((ASK_ALL[0], "0\t1\n" + odd))]) as run,
        pytest.raises(ValueError, match="cannot hold"),
    ):
        run(lambda: run.client.described_index("db", "t"))


@pytest.mark.parametrize(
    "told",
    [
        f"0\t7\tcolumn\t\u00ff\tint\t0\t0\t0\t\0\t{KEY}",
        f"0\t7\tcolumn\t\0\tint\t0\t0\t0\t\0\t{KEY}",
        "0\t7" + "\t\u0001x" * 7,
        "0\t7\tcolumn",
        "0\t7",
        "0\t3\ta",
        "x",
    ],
)
def test_what_is_no_description(kind, told):
    steps = script((ASK_ALL[0], f"0\t1\n{told}\n"), {"expect_end": True})
    with Played(kind, read=[steps]) as run, pytest.raises(ProtocolError):
        run(lambda: run.client.describe("db", "t"))


def test_what_is_refused_before_anything_is_sent(kind):
    with Played(kind, read=[]) as run:
        for arguments, error in (
            ((None, "t"), ValueError),
            (("db", "t\t"), ValueError),
            (("db", "t", "ab"), TypeError),
            (("db", "t", ""), TypeError),
            (("db", "t", ["a,b"]), ValueError),
            (("db", "t", {"a": int}), TypeError),
        ):
            for method in (run.client.describe, run.client.described_index):
                with pytest.raises(error):
                    run(lambda method=method, arguments=arguments: method(*arguments))


def test_a_star_is_no_column(kind):
    """The server would take it for all of them, and a value for it for one of the first column."""
    with Played(kind, read=[], write=[]) as run:
        index = run.client.index("db", "t", ["a"])
        for call in (
            lambda: run.client.index("db", "t", ["*"]),
            lambda: run.client.index("db", "t", {"*": int}),
            lambda: run.client.describe("db", "t", ["*"]),
            lambda: index.insert({"*": 1}),
            lambda: index.insert_many([{"*": 1}]),
            lambda: index.update(1, {"*": 1}),
            lambda: index.increment(1, {"*": 1}),
        ):
            with pytest.raises(ValueError, match="is no column"):
                run(call)


def test_a_description_is_a_value():
    assert pickle.loads(pickle.dumps(DESCRIBED)) == DESCRIBED
    assert len({DESCRIBED, dataclasses.replace(DESCRIBED)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        DESCRIBED.columns = ()


def test_other_types_than_those_of_the_description(kind):
    with Played(kind, read=[script(ASK_ALL, (FIND[0], "0\t1\n0\t2\t1\tone\n"))]) as run:
        described = run(lambda: run.client.describe("db", "t"))
        index = run.client.index("db", "t", {**described.types, "b": bytes})
        assert run(lambda: index.find_one(1)) == (1, b"one")


def test_who_is_told_of_requests(kind):
    seen = []
    options = {"on_request": seen.append}
    steps = script(ASK_ALL, ("H\n", "0\t2\tprotocol\t2\n"))
    with Played(kind, options=options, read=[steps]) as run:
        run(lambda: run.client.describe("db", "t"))
        run(run.client.hello)
    assert [(each.operation, each.table, each.route, each.rows) for each in seen] == [
        ("describe", "t", "read", None),
        ("hello", None, "read", None),
    ]
    assert seen[0].attributes()["db.operation.name"] == "describe"


def test_a_forked_child_has_a_connection_of_its_own():
    own = script(ASK_ALL)
    with Play({"servers": [{"read": [own + script(FIND), own]}]}) as play:
        with Client(play.addresses, timeout=10) as client:
            index = client.described_index("db", "t")

            def work():
                assert client.describe("db", "t") == DESCRIBED
                client.close()

            in_a_child(work)
            assert index.find_one(1) == (1, "one")
            play.wait_for_the_end()
        play.check()


def test_as_requests_without_an_index():
    opened = ("P\t3\tdb\tt\tPRIMARY\ta,b\n", "0\t1\n")
    told = ("H\n", "0\t2\tprotocol\t2\n"), ("H\ttexts\tnew\n", "2\t1\tcmd\n")
    steps = script(opened, ("D\t3\n", ALL), *told, ("D\t4\n", "2\t1\tstmtnum\n"))
    with Play({"servers": [{"write": [steps]}]}) as play:
        ((_, address),) = play.addresses
        with Connection(address, timeout=10) as connection:
            connection.request(OpenIndex(3, "db", "t", "PRIMARY", ["a", "b"]))
            with connection.pipeline() as pipeline:
                pipeline.send(Describe(3))
            assert pipeline.results() == [DESCRIBED]
            assert connection.request(Hello()) == {"protocol": "2"}
            for request in (Hello(["texts", "new"]), Describe(4)):
                with pytest.raises(ReplyError):
                    connection.request(request)
            play.wait_for_the_end()
        play.check()


def test_an_index_with_a_number_of_ones_own_is_opened_again():
    opening = "P\t3\tdb\tt\tPRIMARY\ta,b\n"
    first = script((opening, "0\t1\n"), {"close": True})
    second = script((opening + "D\t3\n", "0\t1\n" + ALL), ("3\t=\t1\t1\n", "0\t2\t1\tx\n"))
    with Play({"servers": [{"write": [first, second]}]}) as play:
        ((_, address),) = play.addresses
        with Client(address, timeout=10) as client:
            client.request(OpenIndex(3, "db", "t", "PRIMARY", ["a", "b"]))
            pause(Client)
            assert client.request(Describe(3)) == DESCRIBED
            assert client.request(Find(3, [1])) == [(b"1", b"x")]
            play.wait_for_the_end()
        play.check()


@pytest.mark.parametrize("options", ["texts", [1], ["a\tb"]])
def test_options_of_a_hello_that_cannot_be_sent(options):
    with pytest.raises((TypeError, ValueError), match="option"):
        Hello(options).encode()
