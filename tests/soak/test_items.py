"""The checks of memcached's clients can fail: honest replies pass, and each mistake is found."""

from __future__ import annotations

import copy
import random
import socket
from collections.abc import Callable

import pytest

from soak.items import READS, Batch, Found, Item, Model, Reply, Request

SEEDS = 300
Tamper = Callable[[Request, Reply], Reply]


def with_cas(item: Item) -> Item:
    return item if item.cas is not None else Item(item.value, item.flags, 1000)


def written(request: Request, reply: Reply) -> bytes:
    if isinstance(reply, bytes):
        return reply + b"\r\n"
    if request.name == b"mg":
        if not reply:
            return b"EN\r\n"
        item = reply[0][1]
        return b"VA %d f%d c%d\r\n%s\r\n" % (len(item.value), item.flags, item.cas or 0, item.value)
    text = b""
    for key, item in reply:
        cas = b" %d" % (item.cas or 0) if request.name in (b"gets", b"gats") else b""
        head = b"VALUE @@items.%s %d %d" % (key, item.flags, len(item.value))
        text += head + cas + b"\r\n" + item.value + b"\r\n"
    return text + b"END\r\n"


def judged(seed: int, tamper: Tamper) -> bool:
    """Lets a batch read what a server would answer, and says whether the server was honest."""
    rng = random.Random(seed)
    ours, theirs = socket.socketpair()
    model = Model("m1")
    first = Item(b"5", 1, 1000)
    model.state[model.keys[0]] = first
    model.learn(((model.keys[0], first),))
    twin = copy.deepcopy(model)
    with theirs:
        batch = Batch(ours, model, rng)
        honest = True
        for request in batch.requests:
            for key, item in twin.state.items():
                twin.state[key] = None if item is None else with_cas(item)
            reply = twin.apply(request)
            told = tamper(request, reply)
            honest = honest and told == reply
            theirs.sendall(written(request, told))
        batch._leaves = False
        batch.read()
        batch.end()
    return honest


def other_line(_request: Request, reply: Reply) -> Reply:
    return {b"STORED": b"NOT_STORED", b"NOT_FOUND": b"DELETED", b"EXISTS": b"STORED"}.get(
        reply, reply
    ) if isinstance(reply, bytes) else reply  # fmt: skip


def missing_item(_request: Request, reply: Reply) -> Reply:
    return reply if isinstance(reply, bytes) else reply[1:]


def of_items(change: Callable[[Item], Item]) -> Tamper:
    def tamper(_request: Request, reply: Reply) -> Reply:
        if isinstance(reply, bytes):
            return reply
        changed: Found = tuple((key, change(item)) for key, item in reply)
        return changed

    return tamper


def next_sum(_request: Request, reply: Reply) -> Reply:
    return b"%d" % (int(reply) + 1) if isinstance(reply, bytes) and reply.isdigit() else reply


MISTAKES: list[Tamper] = [
    other_line,
    missing_item,
    of_items(lambda item: Item(item.value + b"x", item.flags, item.cas)),
    of_items(lambda item: Item(item.value, item.flags ^ 1, item.cas)),
    next_sum,
]


def test_an_honest_server_passes() -> None:
    for seed in range(SEEDS):
        assert judged(seed, lambda _request, reply: reply)


@pytest.mark.parametrize("tamper", MISTAKES)
def test_a_mistake_is_found(tamper: Tamper) -> None:
    found = 0
    for seed in range(SEEDS):
        try:
            assert judged(seed, tamper), f"seed {seed}: the mistake was not found"
        except AssertionError as error:
            if "was not found" in str(error):
                raise
            found += 1
    assert found > SEEDS / 20


def test_a_cas_that_goes_back_is_found() -> None:
    """An item whose cas was seen has that one, or one that is as many greater as it was changed."""

    def tamper(request: Request, reply: Reply) -> Reply:
        shows = request.name in (b"gets", b"gats", b"mg")
        back = of_items(lambda item: Item(item.value, item.flags, 999))
        known = not isinstance(reply, bytes) and any(key == b"m1:0" for key, _ in reply)
        return back(request, reply) if shows and known and request.name in READS else reply

    with pytest.raises(AssertionError):
        for seed in range(SEEDS):
            judged(seed, tamper)
