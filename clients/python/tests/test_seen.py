"""Hooks and counters: what a client lets others see, and what it never shows."""

import logging
import socket
import threading

import pytest
from faces import Face
from played_server import PlayedServer

from handlersocket2 import (
    AsyncClient,
    Client,
    ConnectError,
    ConnectionLost,
    DecodeError,
    RequestTimeout,
    SchemaError,
)

SECRET = "s3cr3t-value"


@pytest.fixture
def server():
    with PlayedServer() as played:
        played.held = threading.Event()
        yield played
        played.held.set()


@pytest.fixture(params=[Client, AsyncClient], ids=["threads", "asyncio"])
def make(request):
    made = []

    def make(*arguments, **options):
        made.append(Face(request.param, *arguments, **options))
        return made[-1]

    yield make
    for face in made:
        face.close()


def test_requests(server, make):
    seen = []
    address = server.address
    face = make(address, write=address, on_request=seen.append, secret=SECRET)
    index = face.client.index("d", "t", ["a", "b"], index="i")
    face(lambda: index.find(SECRET))
    face(lambda: index.find_one(SECRET))
    face(lambda: index.insert([SECRET]))
    face(lambda: index.update(SECRET, [SECRET]))
    face(lambda: index.find(1, limit=5000))
    server.refused = ("u",)
    with pytest.raises(SchemaError):
        face(lambda: face.client.index("d", "u", ["a"]).find(1))
    with pytest.raises(DecodeError):
        face(lambda: face.client.index("d", "t", {"a": int}).find_one(SECRET))
    with pytest.raises(RequestTimeout):
        face(lambda: index.find("hold", timeout=0.5))
    server.held.set()
    shown = [(each.operation, each.table, each.route, each.rows) for each in seen]
    assert shown == [
        ("find", "t", "read", 1),
        ("find", "t", "read", 1),
        ("insert", "t", "write", 1),
        ("update", "t", "write", 1),
        ("find", "t", "long", 1),
        ("find", "u", "read", None),
        ("find", "t", "read", None),
        ("find", "t", "read", None),
    ]
    assert all(each.address == address and each.index in ("i", "PRIMARY") for each in seen)
    assert all(0 <= each.seconds < 10 and each.bytes_out > 0 for each in seen)
    assert seen[0].attributes() == {
        "db.system.name": "handlersocket",
        "db.namespace": "d",
        "db.collection.name": "t",
        "db.operation.name": "find",
        "server.address": address[0],
        "server.port": address[1],
    }
    kinds = [each.attributes().get("error.type") for each in seen[5:]]
    assert kinds == ["open_table", "decode", "timeout"]
    assert seen[5].attributes()["db.response.status_code"] == "open_table"
    assert SECRET not in repr(seen)


def test_a_pipeline_is_seen_request_by_request(server, make):
    seen = []
    face = make(server.address, on_request=seen.append)
    index = face.client.index("d", "t", ["a"])

    def run():
        pipeline = face.client.pipeline()
        pipeline.on(index).find(1)
        pipeline.on(index).insert([1])
        return pipeline.run()

    face(run)
    shown = [each.operation for each in seen if each.operation != "open_index"]
    assert shown == ["find", "insert"]


def test_connections(server, make, caplog):
    seen = []
    logger = logging.getLogger("application")
    caplog.set_level(logging.INFO, "application")
    address = server.address
    face = make(address, write=address, on_connection=seen.append, logger=logger, secret=SECRET)
    index = face.client.index("d", "t", ["a"])
    face(lambda: index.find(1))
    server.silent = True
    with pytest.raises(ConnectionLost):
        face(lambda: index.find(2))
    server.go()
    with pytest.raises(ConnectError):
        face(lambda: index.find(3))
    shown = [(each.what, each.route, each.address) for each in seen]
    assert shown[:2] == [("connected", "read", address), ("lost", "read", address)]
    assert shown[2:] == [("failed", "read", None)] * 3
    assert "closed" in seen[1].reason and "cannot connect" in seen[2].reason
    assert all(each.delay >= 0 for each in seen[2:])
    assert [record.levelname for record in caplog.records] == ["INFO"] + ["WARNING"] * 4
    assert SECRET not in repr(seen) + caplog.text


def test_a_server_that_takes_the_place_of_another(server, make):
    seen = []
    pairs = [(("127.0.0.1", 1), ("127.0.0.1", 1)), (server.address, server.address)]
    face = make(pairs, on_connection=seen.append)
    index = face.client.index("d", "t", ["a"])
    assert face(lambda: index.find_one(1)) == (b"1",)
    assert [each.what for each in seen] == ["connected", "moved"]


def test_counters(server, make):
    face = make(server.address)
    index = face.client.index("d", "t", ["a"])
    for key in range(3):
        face(lambda key=key: index.find(key))
    with pytest.raises(RequestTimeout):
        face(lambda: index.find("hold", timeout=0.5))
    counters = face.client.counters()
    assert (counters.requests, counters.replies, counters.in_flight) == (5, 4, 1)
    assert (counters.given_up, counters.dropped, counters.errors) == (1, 0, 0)
    assert (counters.connected, counters.lost) == (1, 0)
    sent, received = counters.bytes_out, counters.bytes_in
    assert sent == sum(len(line) for line in server.connections[0])
    assert received == len(b"0\t1\n") + 3 * len(b"0\t1\t1\n")
    assert 3 <= counters.writes <= 5 and 3 <= counters.reads <= 5
    server.held.set()
    server.refused = ("u",)
    with pytest.raises(SchemaError):
        face(face.client.index("d", "u", ["a"]).open)
    counters = face.client.counters()
    assert (counters.given_up, counters.dropped, counters.errors, counters.in_flight) == (
        1,
        1,
        1,
        0,
    )


def test_a_hook_that_fails_fails_alone(server, make, caplog):
    def fails(_):
        raise RuntimeError("of the hook")

    face = make(server.address, on_request=fails, on_connection=fails)
    index = face.client.index("d", "t", ["a"])
    assert face(lambda: index.find_one(1)) == (b"1",)
    assert "a hook has failed" in caplog.text


def test_a_connection_that_ends_with_the_log_ins_reply_was_none(make):
    """Nothing is sent on it, so a write is executed once, and no caller waits for ever."""
    received = []

    def serve(listener):
        for number in range(3):
            peer, _ = listener.accept()
            with peer:
                peer.recv(100)
                # The reply and the end leave together: of an end that comes later, no client
                # can know when it sends.
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, number < 2)
                peer.sendall(b"0\t1\n")
                if number < 2:
                    continue
                received.append(peer.recv(100))
                peer.sendall(b"0\t1\n0\t1\t7\n")
                peer.recv(100)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        address = listener.getsockname()
        face = make(address, write=address, secret="s", backoff_min=0.05, timeout=20)
        index = face.client.index("d", "t", ["a"])
        assert face(lambda: index.insert([1])) == 7
        face(face.client.close)
        thread.join(20)
    assert received == [b"P\t1\td\tt\tPRIMARY\ta\n1\t+\t1\t1\n"]
