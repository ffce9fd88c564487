"""A time-out bounds a whole call, however the peer spreads its bytes over the time."""

import contextlib
import socket
import ssl
import threading
import time

import pytest

from handlersocket2 import Client, ConnectError, Connection, Find, RequestTimeout

TIMEOUT = 0.6
#: What a machine with other work may add. Without a deadline each call here takes far longer.
AT_MOST = 5


class TricklingPeer:
    """Accepts connections and sends to each `begin`, and then one byte in every `pause` seconds,
    whatever comes."""

    def __init__(self, stream, pause=0.1, *, begin=b"", waits_for_a_line=True):
        self._begin = begin
        self._stream = stream
        self._pause = pause
        self._waits_for_a_line = waits_for_a_line
        self._end = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        with peer, contextlib.suppress(OSError):
            if self._waits_for_a_line:
                peer.recv(65536)
            peer.sendall(self._begin)
            for byte in self._stream:
                if self._end.wait(self._pause):
                    return
                peer.sendall(bytes([byte]))
            self._end.wait(20)


@contextlib.contextmanager
def over_in_time(*, sent=True, error=RequestTimeout):
    began = time.monotonic()
    with pytest.raises(error, match="within") as late:
        yield
    assert late.value.sent is sent
    assert TIMEOUT * 0.9 <= time.monotonic() - began < AT_MOST


def test_a_reply_that_trickles():
    with (
        TricklingPeer(b"0\t1\t" + b"x" * 60 + b"\n") as peer,
        Connection(peer.address, timeout=TIMEOUT) as connection,
        over_in_time(),
    ):
        connection.request(Find(0, [1]))


def test_replies_of_a_pipeline_that_trickle():
    with (
        TricklingPeer(b"0\t1\n" * 19, begin=b"0\t1\n") as peer,
        Connection(peer.address, timeout=TIMEOUT) as connection,
    ):
        pipeline = connection.pipeline()
        sent = [pipeline.send(Find(0, [1])) for _ in range(20)]
        with over_in_time():
            pipeline.run()
        assert sent[0].result() == []
        with pytest.raises(RequestTimeout):
            sent[-1].result()


def test_a_log_in_an_opening_and_a_find_are_one_call():
    """Each takes a while, and none alone the whole time-out."""
    with (
        TricklingPeer(b"0\t1\n" * 20) as peer,
        Client(peer.address, secret="s", timeout=TIMEOUT) as client,
        over_in_time(sent=False),
    ):
        client.index("d", "t", ["a"])


def test_a_peer_that_shakes_hands_for_ever():
    context = ssl.create_default_context()
    with (
        TricklingPeer(b"\x16\x03\x03\x3f\x00" + b"x" * 200) as peer,
        over_in_time(sent=False, error=ConnectError),
    ):
        Connection(peer.address, timeout=TIMEOUT, tls=context)


def test_a_peer_that_takes_requests_slowly():
    end = threading.Event()

    def serve():
        peer, _ = listener.accept()
        with peer:
            while not end.wait(0.1) and peer.recv(4096):
                pass

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with Connection(listener.getsockname(), timeout=TIMEOUT) as connection:
            pipeline = connection.pipeline()
            for _ in range(100):
                pipeline.send(Find(0, ["x" * 100_000]))
            with over_in_time():
                pipeline.run()
        end.set()
        thread.join(10)


def test_without_a_time_out_a_call_waits():
    with (
        TricklingPeer(b"0\t1\tx\n", pause=0.01) as peer,
        Connection(peer.address, timeout=None) as connection,
    ):
        assert connection.request(Find(0, [1])) == [(b"x",)]
