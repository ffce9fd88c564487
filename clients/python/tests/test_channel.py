"""A connection without its socket: what the test vectors say about streams, cut at every byte."""

import pytest
from vectors import raw, vectors

from handlersocket2 import ProtocolError
from handlersocket2.asks import Operation
from handlersocket2.channel import NEVER, Channel
from handlersocket2.codec import decode_line
from handlersocket2.options import Options

ANY = Operation("any", None, lambda line, _: decode_line(line), modifies=False)


class Call:
    opening = None
    sent = False
    deadline = NEVER

    def __init__(self):
        self.operation = ANY
        self.line = b"1\t=\t1\t1\n"
        self.result = self.error = None

    def done(self):
        return self.result is not None or self.error is not None

    def set_result(self, result):
        self.result = result

    def set_exception(self, error):
        self.error = error


def channel_with(count, **options):
    channel = Channel(Options(**options), 0.0)
    calls = [Call() for _ in range(count)]
    for call in calls:
        channel.add(call, 0.0)
    assert channel.take_output() == calls[0].line * count if count else True
    return channel, calls


@pytest.mark.parametrize("vector", vectors("streams"), ids=lambda vector: vector["why"])
def test_replies_cut_at_every_byte(vector):
    stream, lines = raw(vector["stream"]), [raw(line) for line in vector["lines"]]
    for size in (1, 2, 3, 7, len(stream)):
        channel, calls = channel_with(len(lines) + 1)
        for start in range(0, len(stream), size):
            channel.received(stream[start : start + size], 0.0)
        assert channel.broken is None
        assert [call.result for call in calls[:-1]] == [decode_line(line[:-1]) for line in lines]
        assert not calls[-1].done()


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize(
    "data",
    [
        b"0\t1\n" * 3,
        b"0\t1\n" * 2 + b"0",
        b"0\t1\nhello\n",
        b"\n\n",
        b"hello\n0\t1\n",
        b"0\t" + b"9" * 5000 + b"\n",  # more digits than Python reads
        b"9" * 5000 + b"\t1\n",
    ],
)
def test_what_is_no_reply_ends_it(data, size):
    channel, calls = channel_with(2)
    for start in range(0, len(data), size):
        if channel.broken is None:
            channel.received(data[start : start + size], 0.0)
    assert isinstance(channel.broken, ProtocolError)
    for call in calls:
        assert call.result in (None, decode_line(b"0\t1"))


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_line_is_bounded_with_or_without_its_end(size):
    for data, good in (
        (b"0\t1\t" + b"x" * 97 + b"\n", False),
        (b"0\t1\t" + b"x" * 96 + b"\n", True),
    ):
        channel, (call, other) = channel_with(2, max_reply_bytes=100)
        for start in range(0, len(data), size):
            if channel.broken is None:
                channel.received(data[start : start + size], 0.0)
        assert (channel.broken is None) is good
        assert (call.error is None) is good
        assert not other.done()


def test_a_bound_of_a_line_is_none_of_many_lines():
    channel, calls = channel_with(50, max_reply_bytes=10)
    channel.received(b"0\t1\tabc\n" * 50, 0.0)
    assert channel.broken is None
    assert all(call.result for call in calls)
    assert channel.bytes_in_flight == 0
