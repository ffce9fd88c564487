"""The upper layer over a connection that records: ids are kept, and made anew after a loss."""

from typing import ClassVar

import pytest

from handlersocket2 import Client, ConnectionLost, FetchModify, Find, ModifyOp
from handlersocket2 import client as client_module


class Recorder:
    """Stands in for a Connection."""

    made: ClassVar[list] = []

    def __init__(self, address, timeout):
        self.lines = []
        self.closed = False
        self.lose = False
        Recorder.made.append(self)

    def request(self, request):
        if self.lose:
            self.closed = True
            raise ConnectionLost("lost")
        self.lines.append(request.encode())
        return [(b"row",)] if isinstance(request, (Find, FetchModify)) else 1

    def close(self):
        self.closed = True


@pytest.fixture(autouse=True)
def recorder(monkeypatch):
    monkeypatch.setattr(client_module, "Connection", Recorder)
    monkeypatch.setattr(Recorder, "made", [])


def test_an_index_is_opened_once_and_each_further_one_gets_its_own_id():
    with Client() as client:
        first = client.index("d", "t", ["a"])
        again = client.index("d", "t", ["a"])
        other = client.index("d", "t", ["a", "b"])
        assert first.find_one(1) == (b"row",)
        again.find([2])
        other.find([3], op=">", limit=5)
    assert Recorder.made[0].lines == [
        b"P\t0\td\tt\tPRIMARY\ta\n",
        b"P\t1\td\tt\tPRIMARY\ta,b\n",
        b"0\t=\t1\t1\t1\t0\n",
        b"0\t=\t1\t2\t1\t0\n",
        b"1\t>\t1\t3\t5\t0\n",
    ]


def test_after_a_loss_the_next_call_connects_authenticates_and_opens_again():
    client = Client(secret="s")
    index = client.index("d", "t", ["a"])
    Recorder.made[0].lose = True
    with pytest.raises(ConnectionLost):
        index.find(1)
    assert index.find(1) == [(b"row",)]
    expected = [b"A\t1\ts\n", b"P\t0\td\tt\tPRIMARY\ta\n", b"0\t=\t1\t1\t1\t0\n"]
    assert [made.lines for made in Recorder.made] == [expected[:2], expected]


def test_every_call_of_an_index():
    index = Client().index("d", "t", ["a"])
    index.find_in([1, None])
    index.find_in([7, 8], ["x", ""], key_part=1, limit=9)
    index.update(1, ["v"])
    index.delete([1, 2], op=">=", limit=3)
    index.increment(1, [2])
    index.decrement(1, [2])
    index.fetch_and(ModifyOp.UPDATE, 1, [None])
    index.insert(["x"])
    assert Recorder.made[0].lines[1:] == [
        b"0\t=\t1\t\t2\t0\t@\t0\t2\t1\t\x00\n",
        b"0\t=\t2\tx\t\t9\t0\t@\t1\t2\t7\t8\n",
        b"0\t=\t1\t1\t1\t0\tU\tv\n",
        b"0\t>=\t2\t1\t2\t3\t0\tD\n",
        b"0\t=\t1\t1\t1\t0\t+\t2\n",
        b"0\t=\t1\t1\t1\t0\t-\t2\n",
        b"0\t=\t1\t1\t1\t0\tU?\t\x00\n",
        b"0\t+\t1\tx\n",
    ]


def test_fetch_and_takes_the_options_of_a_find():
    index = Client().index("d", "t", ["a"])
    index.fetch_and(ModifyOp.DELETE, 1, op=">", limit=3)
    assert Recorder.made[0].lines[1:] == [b"0\t>\t1\t1\t3\t0\tD?\n"]
