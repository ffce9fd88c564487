"""The socket layer against a peer that the test plays itself."""

import contextlib
import socket
import threading

import pytest

from handlersocket2 import (
    Connection,
    ConnectionLost,
    Find,
    ProtocolError,
    ReplyError,
    RequestTimeout,
)


class Peer:
    """A listener that serves one connection with `serve(socket)` on a thread."""

    def __init__(self, serve):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        self._thread = threading.Thread(target=self._run, args=(serve,), daemon=True)
        self._thread.start()

    def _run(self, serve):
        with self._listener:
            peer, _ = self._listener.accept()
        with peer:
            peer.settimeout(10)
            serve(peer)

    def join(self):
        self._thread.join(10)
        assert not self._thread.is_alive()


def answering(*chunks):
    """A peer that reads one line, sends the chunks one by one, and waits for the end."""

    def serve(peer):
        peer.recv(65536)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The client may close before it has read what comes behind its last reply.
        with contextlib.suppress(ConnectionError):
            for chunk in chunks:
                peer.sendall(chunk)
            while peer.recv(65536):
                pass

    return Peer(serve)


def test_pipelined_results_come_in_order_and_errors_keep_their_place():
    peer = answering(b"0\t1\ta\n2\t1\tklen\n0", b"\t1\tc\n")
    with Connection(peer.address) as connection:
        with connection.pipeline() as pipeline:
            first, second, third = (pipeline.send(Find(1, [key])) for key in "abc")
            with pytest.raises(RuntimeError):
                first.result()
        assert (first.result(), third.result()) == ([(b"a",)], [(b"c",)])
        with pytest.raises(ReplyError, match="klen"):
            second.result()
        results = pipeline.results()
        assert results[0] == [(b"a",)] and results[2] == [(b"c",)]
        assert isinstance(results[1], ReplyError)
    peer.join()


def test_a_pipeline_whose_block_failed_is_not_sent():
    received = []
    peer = Peer(lambda peer: received.append(peer.recv(100)))
    with (
        Connection(peer.address) as connection,
        pytest.raises(KeyError),
        connection.pipeline() as pipeline,
    ):
        pipeline.send(Find(1, [1]))
        raise KeyError
    peer.join()
    assert received == [b""]


def test_a_pipeline_larger_than_every_buffer_does_not_lock_up():
    count, reply = 3000, b"0\t1\t" + b"y" * 20000 + b"\n"

    def serve(peer):
        unanswered = b""
        answered = 0
        while answered < count:
            unanswered += peer.recv(65536)
            lines = unanswered.count(b"\n")
            unanswered = unanswered[unanswered.rfind(b"\n") + 1 :]
            peer.sendall(reply * lines)  # reads nothing meanwhile
            answered += lines

    peer = Peer(serve)
    with Connection(peer.address, timeout=10) as connection:
        with connection.pipeline() as pipeline:
            for _ in range(count):
                pipeline.send(Find(1, [b"x" * 20000]))
        assert [len(result[0][0]) for result in pipeline.results()] == [20000] * count
    peer.join()


@pytest.mark.parametrize("bytes_", [b"", b"0\t1\tx"])
def test_an_end_of_file_instead_of_a_reply(bytes_):
    def serve(peer):
        peer.recv(100)
        peer.sendall(bytes_)

    peer = Peer(serve)
    with Connection(peer.address) as connection:
        with pytest.raises(ConnectionLost):
            connection.request(Find(1, [1]))
        assert connection.closed
        with pytest.raises(ConnectionLost):
            connection.request(Find(1, [1]))
    peer.join()


def test_a_server_that_keeps_silent_keeps_nobody_waiting():
    peer = answering()
    with Connection(peer.address, timeout=0.5) as connection:
        with pytest.raises(RequestTimeout) as late:
            connection.request(Find(1, [1]))
        assert late.value.sent and late.value.safe_to_retry
        assert not connection.closed
    peer.join()


def test_bytes_that_are_no_reply_close_the_connection():
    peer = answering(b"HTTP/1.0 400\n")
    with Connection(peer.address) as connection:
        with pytest.raises(ProtocolError):
            connection.request(Find(1, [1]))
        assert connection.closed
    peer.join()


def test_nobody_listens(tmp_path):
    with pytest.raises(ConnectionLost):
        Connection(tmp_path / "none.sock")
