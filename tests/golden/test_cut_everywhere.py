"""The recorded dialogues cut at every byte, with the front end over tables in memory.

Where requests are cut, only the front end notices. So this needs no database server.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.dialogues import Dialogue, differences, golden_dialogue, received_lines, wire_to
from support.memory_server import MemoryServer, memory_server

# What the in-memory store answers otherwise: it has no collations, no blanks around numbers, and
# none of a server's own tables.
REPLIES = {
    ("find", b"1\t=\t1\t 1\n"): b"0\t4\n",
    ("find", b"3\t=\t1\tTWO\t10\t0\n"): b"0\t3\n",
    ("find", b"1\t>=\t1\t1\t10\t0\tF\t=\t2\tTWO\n"): b"0\t4\n",
    ("open-and-syntax", b"P\t7\tmysql\tglobal_priv\tPRIMARY\tHost,User,Priv\n"): (
        b"1\t1\topen_table\n"
    ),
}
every_dialogue = pytest.mark.parametrize(
    "dialogue",
    [
        pytest.param(golden_dialogue(name).with_replies(REPLIES), id=name)
        for name in ("open-and-syntax", "find")
    ],
)


@pytest.fixture(scope="module")
def memory() -> Iterator[MemoryServer]:
    with memory_server() as started:
        yield started


@every_dialogue
def test_one_request_at_a_time(dialogue: Dialogue, memory: MemoryServer) -> None:
    assert differences(memory, dialogue) == []


@every_dialogue
def test_each_request_cut_at_every_byte(dialogue: Dialogue, memory: MemoryServer) -> None:
    """The reply to a request in the same piece proves that the server has received that piece."""
    ping, pong = b"?\n", b"2\t1\tcmd\n"
    for port, steps in dialogue.of_each_port():
        with wire_to(memory, port) as wire:
            for step in steps:
                for cut in range(1, len(step.send)):
                    wire.send(ping + step.send[:cut])
                    assert received_lines(wire, 1) == pong
                    wire.send(step.send[cut:])
                    assert received_lines(wire, 1) == step.recv, (step.send, cut)


@every_dialogue
def test_the_whole_dialogue_cut_at_every_byte(dialogue: Dialogue, memory: MemoryServer) -> None:
    """Two pieces. The second is sent when every complete request of the first is answered."""
    for port, steps in dialogue.of_each_port():
        stream = b"".join(step.send for step in steps)
        expected = b"".join(step.recv for step in steps)
        for cut in range(1, len(stream)):
            with wire_to(memory, port) as wire:
                wire.send(stream[:cut])
                before = received_lines(wire, stream[:cut].count(b"\n"))
                wire.send(stream[cut:])
                rest = received_lines(wire, (expected[len(before) :]).count(b"\n"))
                assert before + rest == expected, cut


@every_dialogue
def test_byte_by_byte(dialogue: Dialogue, memory: MemoryServer) -> None:
    for port, steps in dialogue.of_each_port():
        expected = b"".join(step.recv for step in steps)
        with wire_to(memory, port) as wire:
            for byte in b"".join(step.send for step in steps):
                wire.send(bytes([byte]))
            assert received_lines(wire, expected.count(b"\n")) == expected
