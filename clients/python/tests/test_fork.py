"""A child process gets a client of its own, and the parent keeps its connection."""

import os
import signal
import threading
import traceback

import pytest
from played_server import PlayedServer

from handlersocket2 import Client, ClosedError, Connection, ConnectionLost, Find, OpenIndex

OPENED = b"P\t1\td\tt\tPRIMARY\ta\n"


@pytest.fixture
def server():
    with PlayedServer() as played:
        yield played


def in_a_child(work):
    """Runs work() in a forked process, which has to succeed within 20 seconds."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(20)  # a child that waits for a lock nobody holds
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_client_of_a_child_has_a_connection_of_its_own(server):
    with Client(server.address, timeout=10) as client:
        index = client.index("d", "t", ["a"])

        def work():
            for number in range(100, 200):
                assert index.find(number) == [(b"%d" % number,)]
            client.close()

        in_a_child(work)
        for number in range(100):
            assert index.find(number) == [(b"%d" % number,)]
    parents, childs = server.connections
    assert parents == [OPENED, *(b"1\t=\t1\t%d\n" % number for number in range(100))]
    assert childs == [OPENED, *(b"1\t=\t1\t%d\n" % number for number in range(100, 200))]


def test_a_client_in_use_by_another_thread_is_free_in_the_child(server):
    server.held = threading.Event()
    with Client(server.address, timeout=10) as client:
        index = client.index("d", "t", ["a"])
        found = []
        asking = threading.Thread(target=lambda: found.append(index.find("hold")))
        asking.start()
        while len(server.connections[0]) < 2:
            asking.join(0.01)
        in_a_child(lambda: index.find(1))
        server.held.set()
        asking.join(10)
        assert found == [[(b"hold",)]]
        assert index.find(2) == [(b"2",)]
    assert [len(lines) for lines in server.connections] == [3, 2]


def test_a_closed_client_stays_closed_in_a_child(server):
    client = Client(server.address, timeout=10)
    client.ping()
    client.close()

    def work():
        with pytest.raises(ClosedError):
            client.ping()

    in_a_child(work)


def test_a_connection_belongs_to_the_process_that_made_it(server):
    with Connection(server.address, timeout=10) as connection:
        connection.request(OpenIndex(0, "d", "t", "PRIMARY", ["a"]))

        def work():
            assert connection.closed
            with pytest.raises(ConnectionLost, match="another process") as lost:
                connection.request(Find(0, [3]))
            assert lost.value.nothing_sent

        in_a_child(work)
        assert connection.request(Find(0, [4])) == [(b"4",)]
