"""What the soak expects of a command, a real Redis answers."""

from __future__ import annotations

import random

import pytest
from support.peers import running_peer
from support.resp import Resp

from soak.cache import Model, random_command

COMMANDS = 20_000


@pytest.mark.parametrize("seed", range(3))
def test_the_model_answers_as_redis_does(seed: int) -> None:
    rng = random.Random(seed)
    model = Model("1")
    with running_peer("redis-server") as port, Resp(port) as redis:
        for number in range(COMMANDS):
            words = random_command(rng, model)
            expected = model.apply(words)
            assert redis.ask(*words) == expected, f"command {number}: {words}"


def test_a_number_has_one_spelling_and_64_bits() -> None:
    model = Model("1")
    with running_peer("redis-server") as port, Resp(port) as redis:
        for value in (b"0", b"00", b"01", b"7", b"+7", b" 7", b"7 ", b"", b"9" * 18, b"9" * 19):
            for words in ((b"SET", b"1:0", value), (b"INCR", b"1:0"), (b"GET", b"1:0")):
                assert redis.ask(*words) == model.apply(words), words
