"""The upper layer against a played server: ids are kept, and made anew on a new connection."""

import threading

import pytest
from played_server import PlayedServer

from handlersocket2 import (
    Client,
    ClosedError,
    Connection,
    ConnectionLost,
    Filter,
    Find,
    In,
    ModifyOp,
    OpenIndex,
    ReplyError,
)

OPENED = b"P\t1\td\tt\tPRIMARY\ta\n"


@pytest.fixture
def server():
    with PlayedServer() as played:
        yield played


@pytest.fixture
def client(server):
    with Client(server.address, timeout=10) as client:
        yield client


@pytest.fixture
def index(client):
    return client.index("d", "t", ["a"])


def test_an_index_is_opened_once_and_each_further_one_gets_its_own_id(server, client):
    first = client.index("d", "t", ["a"])
    again = client.index("d", "t", ["a"])
    other = client.index("d", "t", ["a", "b"])
    assert first.find_one(1) == (b"1",)
    again.find([2])
    other.find([3], op=">", limit=5)
    assert server.connections == [
        [
            OPENED,
            b"P\t2\td\tt\tPRIMARY\ta,b\n",
            b"1\t=\t1\t1\n",
            b"1\t=\t1\t2\n",
            b"2\t>\t1\t3\t5\n",
        ]
    ]


def test_every_call_of_an_index(server, index):
    index.find_in([1, None])
    index.find_in([7, 8], ["x", ""], key_part=1, limit=9)
    index.find(1, filters=[Filter("!=", 0, 5)], in_=In([3]))
    index.update(1, ["v"])
    index.delete([1, 2], op=">=", limit=3)
    index.increment(1, [2])
    index.decrement(1, [2])
    index.fetch_and(ModifyOp.UPDATE, 1, [None])
    index.fetch_and(ModifyOp.DELETE, 1, op=">", limit=3)
    assert index.insert(["x"]) == 7
    assert server.connections[0][1:] == [
        b"1\t=\t1\t\t2\t0\t@\t0\t2\t1\t\x00\n",
        b"1\t=\t2\tx\t\t9\t0\t@\t1\t2\t7\t8\n",
        b"1\t=\t1\t1\t1\t0\t@\t0\t1\t3\tF\t!=\t0\t5\n",
        b"1\t=\t1\t1\t1\t0\tU\tv\n",
        b"1\t>=\t2\t1\t2\t3\t0\tD\n",
        b"1\t=\t1\t1\t1\t0\t+\t2\n",
        b"1\t=\t1\t1\t1\t0\t-\t2\n",
        b"1\t=\t1\t1\t1\t0\tU?\t\x00\n",
        b"1\t>\t1\t1\t3\t0\tD?\n",
        b"1\t+\t1\tx\n",
    ]


def test_nothing_is_in_an_empty_list(server, client, index):
    assert index.find_in([]) == []
    with client.pipeline() as pipeline:
        first = pipeline.on(index).find(1)
        nothing = pipeline.on(index).find_in(())
        last = pipeline.on(index).find(2)
    assert (first.result(), nothing.result(), last.result()) == ([(b"1",)], [], [(b"2",)])
    assert pipeline.results() == [[(b"1",)], [], [(b"2",)]]
    assert len(server.connections[0]) == 3
    none = In([])
    assert index.find("", in_=none) == list(index.iterate("", in_=none)) == []
    assert index.find_one("", in_=none) is None
    assert index.update("", ["x"], in_=none) == index.count("", in_=none) == 0
    assert index.fetch_and(ModifyOp.DELETE, "", in_=none) == []
    assert index.exists("", in_=none) is False
    assert len(server.connections[0]) == 3
    with pytest.raises(ValueError, match="values of IN are empty"):
        Find(1, [""], in_=none).encode()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda i: i.update(1, {}), "values of a modification are empty"),
        (lambda i: i.update(1, {"a,b": 1}), "cannot hold ','"),
        (lambda i: i.update(1, {1: 1}), "a name among the columns is a str, not int"),
        (lambda i: i.update(1, "abc"), "values of a modification are a list.*not str"),
        (lambda i: i.update(1, {"x"}), "values of a modification are a list.*not set"),
        (lambda i: i.increment(1, b"5"), "values of a modification are a list.*not bytes"),
        (lambda i: i.increment(1, 5), "values of a modification are a list.*not int"),
        (lambda i: i.fetch_and(ModifyOp.UPDATE, 1, bytearray(b"1")), "not bytearray"),
        (lambda i: i.insert("abc"), "values of an insert are a list.*not str"),
        (lambda i: i.insert({}), "values of an insert are empty"),
        (lambda i: i.fetch_and(ModifyOp.UPDATE, 1, {"x": 1}), "only columns of the rows"),
        (lambda i: i.insert(v for v in "ab"), "values of an insert are a list.*not generator"),
        (lambda i: i.insert([]), "values of an insert are empty"),
        (lambda i: i.insert([["x"]]), "a value is None.*not list"),
        (lambda i: i.find({"id": 1}), "values of a key are a list.*not dict"),
        (lambda i: i.find([]), "values of a key are empty"),
        (lambda i: i.find([[1]]), "a value is None.*not list"),
        (lambda i: i.find_in("abc"), "values of IN are a list.*not str"),
        (lambda i: i.find_in({1, 2}), "values of IN are a list.*not set"),
        (lambda i: i.find(1, op="=\t1\t5\n0\t="), "op of a find is one of"),
        (lambda i: i.find(1, op="!="), "op of a find is one of = > >= < <=, not '!='"),
        (lambda i: i.find(1, op=None), "op of a find is one of"),
        (lambda i: i.find(1, limit="1\tD"), "a limit is a whole number, not str"),
        (lambda i: i.find(1, limit=-1), "a limit is a number from 0"),
        (lambda i: i.find(1, offset=2**64), "an offset is a number from 0"),
        (lambda i: i.find(1, limit=1.0), "a limit is a whole number, not float"),
        (lambda i: i.find(1, filters=[Filter("=\t0\t1\tD", 0, 1)]), "op of a filter is one of"),
        (lambda i: i.find(1, filters=[Filter("=", "0\n", 1)]), "no column of a filter is '0"),
        (lambda i: i.find(1, filters=[Filter("=", 0, 1, b"F\n")]), "is a FilterKind"),
        (lambda i: i.find(1, filters=[("=", 0, 1)]), "a filter is a Filter, not tuple"),
        (lambda i: i.find(1, filters=Filter("=", 0, 1)), "filters are a list.*not Filter"),
        (lambda i: i.find_in([1], key_part="0\n"), "a key part is a whole number"),
        (lambda i: i.fetch_and("U\n", 1, [1]), "a modification is a ModifyOp"),
        (lambda i: i.fetch_and(ModifyOp.DELETE, 1, [1]), "a deletion takes no values"),
        (lambda i: i.find(1, limt=3), "limt"),
        (lambda i: i.insert(["b", "c"]), "2 values for an insert, but the index .* 1 column: a"),
        (lambda i: i.update(1, ["b", "c"]), "2 values for a modification, but .* 1 column: a"),
        (lambda i: i.increment(1, [1, 2]), "2 values for a modification"),
        (lambda i: i.decrement(1, [1, 2]), "2 values for a modification"),
        (lambda i: i.fetch_and(ModifyOp.UPDATE, 1, [1, 2]), "2 values for a modification"),
        (lambda i: i.update(1, []), "values of a modification are empty"),
        (lambda i: i.increment(1, ()), "values of a modification are empty"),
        (lambda i: i.decrement(1, []), "values of a modification are empty"),
        (lambda i: i.fetch_and(ModifyOp.INCREMENT, 1), "values of a modification are empty"),
    ],
)
def test_what_is_no_request_is_refused_in_words_and_not_sent(server, client, index, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(index)
    pipeline = client.pipeline()
    with pytest.raises((TypeError, ValueError), match=message):
        call(pipeline.on(index))  # as it is added, not as the pipeline runs
    pipeline.run()
    assert server.connections == [[OPENED]]
    assert index.find(1) == [(b"1",)]


def test_find_one_has_a_limit_of_its_own(index):
    with pytest.raises(TypeError, match="limit"):
        index.find_one(1, limit=3)


@pytest.mark.parametrize("position", range(5))
@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb", "a\0b", 7])
def test_a_name_that_would_be_another_request_is_refused(server, client, position, name):
    names = ["d", "t", "i", "c", "f"]
    names[position] = name
    database, table, index, column, filter_column = names
    with pytest.raises((TypeError, ValueError), match="name"):
        client.index(database, table, [column], index=index, filter_columns=[filter_column])
    assert server.connections == []


@pytest.mark.parametrize("columns", ["id", {"id"}, ["id,a"], b"id", None])
def test_columns_are_a_list_of_names(client, columns):
    with pytest.raises((TypeError, ValueError), match="columns"):
        client.index("d", "t", columns)
    with pytest.raises((TypeError, ValueError), match="columns"):
        client.index("d", "t", ["id"], filter_columns=columns)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"user": "ann", "password": "p\tw"}, b"A\t2\tann\tp\x01Iw\n"),
        ({"user": "ann"}, b"A\t2\tann\t\n"),
        ({"secret": "s"}, b"A\t1\ts\n"),
    ],
)
def test_each_way_to_log_in(server, options, line):
    with Client(server.address, timeout=10, **options) as client:
        client.ping()
        assert server.connections == [[line, b"echo\tping\n"]]


def test_one_way_to_log_in_at_a_time():
    with pytest.raises(ValueError, match="a secret and a user"):
        Client(secret="s", user="ann")


class TestALostConnection:
    """What was not sent may go over a new connection, and nothing else."""

    @pytest.fixture
    def client(self, server):
        with Client(server.address, secret="s", timeout=10) as client:
            yield client

    begin = (b"A\t1\ts\n", OPENED)

    def test_a_call_after_the_idle_time_out_connects_again(self, server, index):
        server.hang_up()
        assert index.find(1) == [(b"1",)]
        server.hang_up()
        assert index.insert([1]) == 7
        assert server.connections == [
            [*self.begin],
            [*self.begin, b"1\t=\t1\t1\n"],
            [*self.begin, b"1\t+\t1\t1\n"],
        ]

    def test_so_does_a_pipeline_which_opens_each_index_anew(self, server, client, index):
        other = client.index("d", "t", ["b"])
        with client.pipeline() as pipeline:
            pipeline.on(other).insert([1])
            server.hang_up()
            pipeline.on(index).find(1)
        assert pipeline.results() == [7, [(b"1",)]]
        assert server.connections[1] == [
            self.begin[0],
            b"P\t1\td\tt\tPRIMARY\tb\n",
            b"1\t+\t1\t1\n",
            b"P\t2\td\tt\tPRIMARY\ta\n",
            b"2\t=\t1\t1\n",
        ]

    def test_what_was_sent_is_never_sent_again(self, server, client, index):
        server.silent = True
        with pytest.raises(ConnectionLost) as lost:
            index.insert([1])
        assert not lost.value.nothing_sent
        server.silent = False
        assert index.find(2) == [(b"2",)]
        assert server.connections == [
            [*self.begin, b"1\t+\t1\t1\n"],
            [*self.begin, b"1\t=\t1\t2\n"],
        ]

    def test_a_pipeline_under_way_is_lost(self, server, client, index):
        server.silent = True
        pipeline = client.pipeline()
        pending = pipeline.on(index).insert([1])
        with pytest.raises(ConnectionLost):
            pipeline.run()
        with pytest.raises(ConnectionLost):
            pending.result()
        assert [len(lines) for lines in server.connections] == [3]

    def test_an_index_that_is_gone_fails_only_its_own_requests(self, server, client, index):
        other = client.index("d", "u", ["a"])
        server.refused = ("u",)
        server.hang_up()
        with client.pipeline() as pipeline:
            pipeline.on(index).find(1)
            pipeline.on(other).find(2)
            pipeline.on(index).find(3)
        first, refused, last = pipeline.results()
        assert (first, last) == ([(b"1",)], [(b"3",)])
        assert isinstance(refused, ReplyError)
        assert str(refused).startswith("1 open_table: no such table")

    def test_an_index_that_the_caller_has_opened_is_opened_again(self, server, client):
        client.request(OpenIndex(7, "d", "t", "PRIMARY", ["a"]))
        client.request(OpenIndex(8, "d", "t", "PRIMARY", ["b"]))
        server.hang_up()
        assert client.request(Find(7, [1])) == [(b"1",)]
        assert client.request(Find(7, [2])) == [(b"2",)]
        server.hang_up()
        with client.pipeline() as pipeline:
            pipeline.send(Find(8, [3]))
            pipeline.send(Find(7, [4]))
        assert pipeline.results() == [[(b"3",)], [(b"4",)]]
        seven, eight = (b"P\t%d\td\tt\tPRIMARY\t%b\n" % pair for pair in ((7, b"a"), (8, b"b")))
        assert server.connections[1:] == [
            [self.begin[0], seven, b"7\t=\t1\t1\n", b"7\t=\t1\t2\n"],
            [self.begin[0], eight, b"8\t=\t1\t3\n", seven, b"7\t=\t1\t4\n"],
        ]

    def test_an_index_of_the_callers_that_is_gone_is_tried_again(self, server, client):
        client.request(OpenIndex(7, "d", "u", "PRIMARY", ["a"]))
        server.refused = ("u",)
        server.hang_up()
        for _ in range(2):
            with pytest.raises(ReplyError, match="open_table"):
                client.request(Find(7, [1]))
        server.refused = ()
        assert client.request(Find(7, [1])) == [(b"1",)]
        with pytest.raises(ReplyError, match="stmtnum"):
            client.request(Find(9, [1]))

    def test_the_last_opening_that_succeeded_counts(self, server, client):
        client.request(OpenIndex(7, "d", "t", "PRIMARY", ["a"]))
        server.refused = ("u",)
        with pytest.raises(ReplyError, match="open_table"):
            client.request(OpenIndex(7, "d", "u", "PRIMARY", ["a"]))
        server.hang_up()
        assert client.request(Find(7, [1])) == [(b"1",)]

    def test_a_server_that_is_gone_is_said_so(self, server, index):
        server.go()
        with pytest.raises(ConnectionLost, match="cannot connect") as lost:
            index.find(1)
        assert lost.value.nothing_sent


def test_a_closed_client_stays_closed(server, client, index):
    pipeline = client.pipeline()
    pending = pipeline.on(index).insert([1])
    client.close()
    calls = [
        lambda: index.find(1),
        lambda: index.insert([1]),
        lambda: client.index("d", "t", ["a"]),
        lambda: client.request(Find(0, [1])),
        client.ping,
        client.__enter__,
        pipeline.run,
        pending.result,
    ]
    for call in calls:
        with pytest.raises(ClosedError, match="the client is closed"):
            call()
    client.close()
    assert server.connections == [[OPENED]]


def test_a_client_that_was_closed_before_its_first_call_never_connects(server):
    with Client(server.address, timeout=10) as client:
        pass
    with pytest.raises(ClosedError):
        client.index("d", "t", ["a"])
    assert server.connections == []


def run_in_threads(count, work):
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert errors == []


def test_threads_that_share_a_client_get_their_own_rows(server, client):
    def work(thread):
        index = client.index("d", "t", [f"c{thread}"])
        for number in range(200):
            key = thread * 1000 + number
            assert index.find(key) == [(b"%d" % key,)]
            if number % 20 == 0:
                with client.pipeline() as pipeline:
                    for extra in range(5):
                        pipeline.on(index).find(key + extra)
                assert pipeline.results() == [[(b"%d" % (key + extra),)] for extra in range(5)]

    run_in_threads(6, work)
    assert len(server.connections) == 1


def test_threads_that_share_a_connection_get_their_own_rows(server):
    with Connection(server.address, timeout=10) as connection:
        connection.request(OpenIndex(0, "d", "t", "PRIMARY", ["a"]))

        def work(thread):
            for number in range(200):
                key = thread * 1000 + number
                assert connection.request(Find(0, [key])) == [(b"%d" % key,)]

        run_in_threads(6, work)
    assert len(server.connections) == 1


def test_an_index_of_another_client_is_refused(server, index):
    with (
        Client(server.address) as other,
        pytest.raises(ValueError, match="another client"),
    ):
        other.pipeline().on(index)
