"""The synchronous client among threads: what travels together, closing, interrupts, iterating."""

import contextlib
import os
import signal
import socket
import threading
import time

import pytest
from faces import Played, script
from played_server import PlayedServer
from test_connection import Peer

from handlersocket2 import (
    BusyError,
    Client,
    ClosedError,
    ConnectError,
    RequestTimeout,
)
from handlersocket2.thread_wires import Call, ThreadWire

OPENED = b"P\t1\td\tt\tPRIMARY\ta\n"


@pytest.fixture
def server():
    with PlayedServer() as played:
        played.held = threading.Event()
        yield played
        played.held.set()


class Caller(threading.Thread):
    """Calls something in a thread, and keeps what came of it."""

    def __init__(self, call):
        super().__init__(daemon=True)
        self._call = call
        self.result = self.error = None
        self.start()

    def run(self):
        try:
            self.result = self._call()
        except BaseException as error:
            self.error = error

    def ended(self):
        self.join(30)
        assert not self.is_alive()
        return self


def wait_until(true):
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def refuses(index):
    """Its client is closed, or is being shut down. This sends nothing."""
    try:
        index.iterate(1)
    except ClosedError:
        return True
    return False


def test_requests_of_threads_travel_together():
    """While the server works at the first one, the others are not kept from sending theirs."""
    threads = 50
    received = []

    def serve(peer):
        received.append(peer.recv(100))
        peer.sendall(b"0\t1\n")
        data = b""
        while data.count(b"\n") < threads:
            data += peer.recv(1 << 20)
        received.append(data)
        keys = [line.rpartition(b"\t")[2] for line in data.split(b"\n")[:-1]]
        peer.sendall(b"".join(b"0\t1\t%b\n" % key for key in keys))
        peer.recv(1)

    peer = Peer(serve)
    with Client(peer.address, timeout=10) as client:
        index = client.index("d", "t", ["a"])
        callers = [Caller(lambda key=key: index.find_one(key)) for key in range(threads)]
        for key, caller in enumerate(callers):
            assert caller.ended().result == (b"%d" % key,), caller.error
    peer.join()


@pytest.mark.parametrize("way", ["close", "shutdown", "with"])
def test_closing_frees_every_thread(server, way):
    client = Client(server.address, max_in_flight=3, timeout=60)
    index = client.index("d", "t", ["a"])
    callers = [Caller(lambda: index.find("hold")) for _ in range(6)]
    wait_until(lambda: len(server.connections[0]) >= 2)
    time.sleep(0.05)
    began = time.monotonic()
    if way == "close":
        client.close()
    elif way == "shutdown":
        client.shutdown(0.1)
    else:
        with client:
            pass
    for caller in callers:
        assert isinstance(caller.ended().error, ClosedError)
        assert not caller.error.maybe_executed
    assert time.monotonic() - began < 5
    for call in (lambda: index.find(1), lambda: index.insert([1]), client.ping, client.__enter__):
        with pytest.raises(ClosedError):
            call()
    with pytest.raises(ClosedError):
        index.iterate(1)
    client.close()
    client.shutdown()


def test_a_shutdown_waits_for_what_is_owed(server):
    client = Client(server.address, timeout=60)
    index = client.index("d", "t", ["a"])
    caller = Caller(lambda: index.find("hold"))
    wait_until(lambda: len(server.connections[0]) == 2)
    ending = Caller(lambda: client.shutdown(10))
    wait_until(lambda: refuses(index))
    with pytest.raises(ClosedError):
        index.find(1)
    server.held.set()
    assert caller.ended().result == [(b"hold",)]
    ending.ended()


def test_closing_while_it_connects():
    """To a server whose backlog is full, so that connecting takes for ever."""
    with socket.socket() as listener, contextlib.ExitStack() as others:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            other = others.enter_context(socket.socket())
            other.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                other.connect(listener.getsockname())
        client = Client(listener.getsockname(), secret="s", timeout=60, connect_timeout=60)
        callers = [Caller(client.ping) for _ in range(3)]
        time.sleep(0.2)
        began = time.monotonic()
        client.close()
        for caller in callers:
            assert isinstance(caller.ended().error, ClosedError)
        assert time.monotonic() - began < 5


def test_closing_while_it_waits_for_the_next_attempt():
    client = Client(("127.0.0.1", 1), backoff_min=30, backoff_max=30, connect_attempts=99)
    callers = [Caller(client.ping) for _ in range(3)]
    time.sleep(0.2)
    client.close()
    for caller in callers:
        assert isinstance(caller.ended().error, ClosedError)


def test_each_caller_has_its_own_deadline(server):
    with Client(server.address, timeout=60) as client:
        index = client.index("d", "t", ["a"])
        patient = [Caller(lambda: index.find("hold")) for _ in range(3)]
        wait_until(lambda: len(server.connections[0]) >= 2)
        for seconds in (0.5, 0.7):
            began = time.monotonic()
            with pytest.raises(RequestTimeout) as late:
                index.find("hold", timeout=seconds)
            assert seconds <= time.monotonic() - began < seconds + 10
            assert late.value.sent
        server.held.set()
        for caller in patient:
            assert caller.ended().result == [(b"hold",)]
        assert index.find(1) == [(b"1",)], "the late replies are nobody's"
    assert len(server.connections) == 1


def test_who_is_short_of_time_does_not_end_the_attempt_for_others():
    """The thread that connects gives up; another one takes over."""
    accepted = threading.Event()

    def serve(peer):
        accepted.set()
        peer.recv(100)
        time.sleep(0.4)
        peer.sendall(b"0\t1\n")
        with contextlib.suppress(OSError):
            while data := peer.recv(1000):
                peer.sendall(b"0\t1\n" * data.count(b"\n"))

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = listener.accept()
                    threading.Thread(target=serve, args=(peer,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        address = listener.getsockname()
        with Client(address, write=address, secret="s", timeout=20) as client:
            index = client.index("d", "t", ["a"])
            hurried = Caller(lambda: index.find(1, timeout=0.1))
            accepted.wait(10)
            patient = Caller(lambda: index.find(2))
            assert isinstance(hurried.ended().error, RequestTimeout)
            assert not hurried.error.sent
            assert patient.ended().result == [], patient.error
        listener.shutdown(socket.SHUT_RDWR)


def test_beyond_the_bound_callers_wait_or_fail(server):
    for when_full in ("wait", "fail"):
        server.held.clear()
        with Client(server.address, max_in_flight=1, when_full=when_full) as client:
            index = client.index("d", "t", ["a"])
            first = Caller(lambda index=index: index.find("hold"))
            wait_until(lambda: len(server.connections[-1]) == 2)
            if when_full == "fail":
                with pytest.raises(BusyError) as busy:
                    index.insert([1])
                assert busy.value.safe_to_retry and not busy.value.sent
                server.held.set()
            else:
                others = [Caller(lambda key=key, index=index: index.find(key)) for key in range(5)]
                time.sleep(0.05)
                assert len(server.connections[-1]) == 2
                server.held.set()
                for key, caller in enumerate(others):
                    assert caller.ended().result == [(b"%d" % key,)]
            assert first.ended().result == [(b"hold",)]


def test_an_interrupt_gives_up_one_call_only(server):
    class Interrupt(Exception):
        pass

    def interrupt(*_):
        raise Interrupt

    def interrupt_soon():
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with Client(server.address, timeout=60) as client:
            index = client.index("d", "t", ["a"])
            for _ in range(3):
                threading.Timer(0.1, interrupt_soon).start()
                with pytest.raises(Interrupt):
                    index.find("hold")
            other = Caller(lambda: index.find("hold"))
            wait_until(lambda: len(server.connections[-1]) >= 2)
            server.held.set()
            assert other.ended().result == [(b"hold",)]
            assert index.find(1) == [(b"1",)]
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(server.connections) == 1


def test_iterating_keeps_a_connection_and_bounds_their_number(server):
    address = server.address
    with Client(address, write=address, max_streams=1, timeout=1) as client:
        index = client.index("d", "t", ["a"])
        for key in range(3):
            assert list(index.iterate(key)) == [(b"%d" % key,)]
        assert len(server.connections) == 1
        assert server.connections[0] == [
            OPENED,
            *(b"1\t=\t1\t%d\t18446744073709551615\n" % key for key in range(3)),
        ]
        server.hang_up()
        assert list(index.iterate(4)) == [(b"4",)]
        first = index.iterate("hold", timeout=10)
        reading = Caller(lambda: next(first))
        wait_until(lambda: len(server.connections[-1]) == 3)
        with pytest.raises(RequestTimeout, match="as many iterate"):
            next(index.iterate(5))
        server.held.set()
        assert reading.ended().result == (b"hold",)


def test_closing_ends_an_iteration():
    def serve(peer):
        peer.recv(100)
        peer.sendall(b"0\t1\n0\t1\tx\ty")
        peer.recv(1)

    peer = Peer(serve)
    client = Client(peer.address, write=peer.address, timeout=60)
    rows = client.index("d", "t", ["a"]).iterate(1)
    assert next(rows) == (b"x",)
    reading = Caller(lambda: next(rows))
    time.sleep(0.1)
    client.close()
    assert isinstance(reading.ended().error, ClosedError)


def test_nobody_listens():
    with Client(("127.0.0.1", 1), connect_attempts=2, backoff_min=0.001) as client:
        with pytest.raises(ConnectError, match=r"cannot connect to 127\.0\.0\.1:1") as refused:
            client.ping()
        assert refused.value.nothing_sent and refused.value.safe_to_retry
        callers = [Caller(client.ping) for _ in range(10)]
        for caller in callers:
            assert isinstance(caller.ended().error, ConnectError)


@pytest.fixture
def slow_send(monkeypatch):
    """The first one that sends has sent, and does not come back before it is told to go on."""
    sent, go_on = threading.Event(), threading.Event()
    send = ThreadWire.send

    def send_slowly(wire, data):
        left = send(wire, data)
        if not sent.is_set():
            sent.set()
            assert go_on.wait(30)
        return left

    monkeypatch.setattr(ThreadWire, "send", send_slowly)
    return sent, go_on


def test_who_reads_has_its_own_request_sent(slow_send):
    """It began to read while another thread was writing. That one's reply came meanwhile, so it
    leaves, and nobody sleeps who could write."""
    sent, go_on = slow_send
    asked = "P\t1\tdb\tt\tPRIMARY\ta\n1\t=\t1\t1\n"
    steps = script((asked, "0\t1\n0\t1\tx\n"), ("1\t=\t1\t2\n", "0\t1\ty\n"))
    with Played(Client, options={"timeout": 30}, read=[steps]) as run:
        index = run.client.index("db", "t", ["a"])
        writer = Caller(lambda: index.find_one(1))
        assert sent.wait(30)
        (wire,) = run.client._core.links[0].wires()
        reader = Caller(lambda: index.find_one(2))
        wait_until(lambda: (len(wire.channel.slots), wire.reading) == (1, True))
        go_on.set()
        assert writer.ended().result == (b"x",)
        assert reader.ended().result == (b"y",)


def test_who_reads_has_all_of_a_large_request_sent(slow_send):
    """Who leaves sends as much of it as there is room for, and the server waits for the rest."""
    sent, go_on = slow_send

    def serve(peer):
        peer.settimeout(30)
        peer.recv(100)
        peer.sendall(b"2\t1\tcmd\n")
        last = peer.recv(1 << 20)
        while not last.endswith(b"\n"):
            last = peer.recv(1 << 20)
        peer.sendall(b"0\t1\ty\n")
        peer.recv(1)

    peer = Peer(serve)
    with Client(peer.address, timeout=30) as client:
        writer = Caller(client.ping)
        assert sent.wait(30)
        (wire,) = client._core.links[0].wires()
        reader = Caller(lambda: client.tables("d" * (12 << 20)))
        wait_until(lambda: (len(wire.channel.slots), wire.reading) == (1, True))
        go_on.set()
        assert writer.ended().error is None
        assert reader.ended().result == ["y"], reader.error


def test_who_is_interrupted_while_it_gives_out_replies(monkeypatch):
    """What it has not given out is nobody else's reply."""
    set_result = Call.set_result

    def interrupted(call, result):
        monkeypatch.undo()
        set_result(call, result)
        raise KeyboardInterrupt

    opening = "P\t1\tdb\tt\tPRIMARY\ta\n"
    finds = "".join(f"1\t=\t1\t{key}\n" for key in range(3))
    first = script((opening + finds, "0\t1\n0\t1\ta\n0\t1\tb\n0\t1\tc\n"))
    second = script((opening + "1\t=\t1\t9\n", "0\t1\n0\t1\tx\n"))
    with Played(Client, options={"timeout": 3}, read=[first, second]) as run:
        index = run.client.index("db", "t", ["a"])
        monkeypatch.setattr(Call, "set_result", interrupted)
        pipeline = run.client.pipeline()
        for key in range(3):
            pipeline.on(index).find_one(key)
        with pytest.raises(KeyboardInterrupt):
            pipeline.run()
        assert index.find_one(9) == (b"x",)


def test_who_is_interrupted_while_it_waits_for_its_turn(server):
    """Others have the lock meanwhile. It is not given back by who does not have it."""
    with Client(server.address, timeout=5) as client:
        index = client.index("d", "t", ["a"])
        sleeper = Caller(lambda: index.find("hold"))
        wait_until(lambda: len(server.connections[0]) == 2)
        lock, ident = client._core.lock, threading.get_ident()

        def interrupt(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGUSR1, interrupt)
        try:

            def hold():
                wait_until(lambda: index_call.parked)
                with lock:
                    index_call.wake()
                    time.sleep(0.1)
                    signal.pthread_kill(ident, signal.SIGUSR1)
                    time.sleep(0.1)

            index_call = Call(index.operations.find(1, {}), time.monotonic() + 5)
            with lock:
                client._core._submit(client._core.links[0], index_call, time.monotonic())
            holder = Caller(hold)
            with pytest.raises(KeyboardInterrupt):
                client._core._drive(index_call)
            client._core._interrupted((index_call,))
            holder.ended()
            assert holder.error is None
        finally:
            signal.signal(signal.SIGUSR1, before)
        server.held.set()
        assert sleeper.ended().result == [(b"hold",)]
