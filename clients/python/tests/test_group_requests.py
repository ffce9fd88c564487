"""Groups that cannot be meant, and values that cannot be read. The scenarios have the rest."""

import pickle

import pytest
from scenario_server import Play

from handlersocket2 import (
    MAX_GROUP,
    Client,
    DecodeError,
    FetchModify,
    Find,
    FindModify,
    In,
    ModifyOp,
    UnmetError,
)
from handlersocket2.errors import reply_error


@pytest.fixture
def client():
    with Client(("192.0.2.1", 1), write=("192.0.2.1", 2)) as made:
        yield made


def test_what_cannot_be_meant_is_refused_when_it_is_added(client):
    index = client.index("d", "t", ["a", "b"])
    group = client.group()
    for add in (
        lambda: group.some(index).find(1),
        lambda: group.none(index).insert([1]),
        lambda: group.some(index).upsert({"a": 1}, {"b": 2}),
        lambda: group.some(index).delete(1, in_=In([])),
        lambda: group.on(index).update(1, [2], timeout=3),
        lambda: group.on(index).update(1, []),
        lambda: group.on(index).fetch_and(ModifyOp.LOCK, 1, [2]),
        lambda: group.on(index).change_and_fetch(ModifyOp.LOCK, 1, []),
    ):
        with pytest.raises(ValueError):
            add()
    foreign = Client(("192.0.2.1", 1), write=("192.0.2.1", 2)).index("d", "t", ["a"])
    with pytest.raises(ValueError, match="another client"):
        group.on(foreign)
    group = client.group()
    for _ in range(MAX_GROUP):
        group.on(index).delete(1)
    with pytest.raises(ValueError, match="at most"):
        group.on(index).delete(1)


def test_a_group_needs_a_port_for_writing():
    with Client("handlersocket://192.0.2.1:1/d") as client:
        group = client.group()
        group.on(client.index("d", "t", ["a"])).find(1)
        with pytest.raises(ValueError, match="no port for writing"):
            group.run()


def test_nothing_is_sent_of_an_empty_group(client):
    client.group().run()
    with client.group() as group:
        found = group.on(client.index("d", "t", ["a"])).find_in([])
    assert found.result() == group.results()[0] == []


def test_a_lock_as_a_request():
    assert FindModify(Find(1, [2]), ModifyOp.LOCK).encode() == b"1\t=\t1\t2\t1\t0\tlock\n"
    assert FetchModify(Find(1, [2]), ModifyOp.LOCK).encode() == b"1\t=\t1\t2\t1\t0\tlock?\n"


def test_the_error_of_a_group_survives_pickling():
    error = reply_error(1, "unmet")
    error.line = 3
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, UnmetError) and copy.line == 3
    assert str(copy).startswith("request 3 of the group: 1 unmet: ")


def test_a_value_that_cannot_be_read_is_the_error_of_its_request_alone():
    reply = "0\t1\n0\t1\n0\t2\tx\ty\n0\t1\t7\n"
    script = [
        {"expect": "P\t1\tdb\tt\tPRIMARY\ta,b\nG\t2\n1\t=\t1\t1\n1\t+\t1\t7\n"},
        {"send": reply},
    ]
    with Play({"servers": [{"write": [script], "read": []}]}, None) as play:
        with Client(play.addresses) as client:
            index = client.index("db", "t", {"a": int, "b": str})
            with client.group() as group:
                found = group.on(index).find(1)
                inserted = group.on(index).insert([7])
            assert isinstance(found.error(), DecodeError)
            assert inserted.result() == 7
            play.wait_for_the_end()
        play.check()
