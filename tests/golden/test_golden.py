"""The recorded dialogues, byte for byte: request by request, all at once, and in single bytes.

The recordings were made with the original HandlerSocket. If this project answers differently on
purpose, an entry has the original's answer as `recv_original`, and the `reason`. This file lists
all such entries, so that none is added unnoticed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from typing import Any, Callable

import pytest
from server_instance import ServerInstance
from support.dialogues import (
    GOLDEN,
    Dialogue,
    differences,
    golden_dialogue,
    load_tables,
    received_lines,
    wire_to,
)
from support.servers import GOLDEN_REPLIES, needs_original

Entry = dict[str, Any]

# SHA-256 of the recordings as they were made.
ORIGINALS = {
    "open-and-syntax": "455772e408ff664e9c853abdba4d2a354949fd1e346efead33b2d322b8f3589a",
    "find": "1a94449081cba8d469b378280d86d648c46c55ef2a29025ede69a233d800528b",
}

# Every deliberate deviation: its reason and the requests that it changes.
DEVIATIONS = {
    "a token that is not a decimal number is an error": [
        ("open-and-syntax", "P\tx\thst\tt\tPRIMARY\tid\n"),
        ("open-and-syntax", "1x\t=\t1\t1\n"),
        ("find", "1\t>=\t1\t1\t-1\t0\n"),
    ],
    "missing values are an error": [
        ("open-and-syntax", "1\t=\t1\n"),
        ("find", "1\t=\t1\t\t10\t0\t@\t0\t2\t1\n"),
        ("find", "1\t>=\t1\t1\t10\t0\tF\t=\t0\n"),
    ],
    "a wrong icol is an error": [
        ("find", "1\t=\t1\t\t10\t0\t@\t5\t2\t1\t2\n"),
    ],
    "an unknown filter operator is an error": [
        ("find", "1\t>=\t1\t1\t10\t0\tF\t~\t0\t3\n"),
        ("find", "1\t>=\t1\t1\t10\t0\tF\tLIKE\t0\t3\n"),
        ("find", "1\t>=\t1\t1\t10\t0\tF\t<>\t0\t3\n"),
    ],
    "IN gives every row of each value, and NULL in it is NULL": [
        ("find", "2\t=\t1\t\t10\t0\t@\t0\t2\t5\t1\n"),
        ("find", "1\t>\t1\t\t10\t0\t@\t0\t2\t5\t1\n"),
        ("find", "2\t=\t1\t\t10\t0\t@\t0\t2\t5\t\0\n"),
        ("find", "3\t=\t1\t\t10\t0\t@\t0\t2\t\0\ttwo\n"),
    ],
    "a key that the column cannot hold matches nothing": [
        ("find", "1\t=\t1\t1abc\n"),
        ("find", "1\t=\t1\t1.6\n"),
    ],
    "limit + offset may exceed 32 bits": [
        ("find", "1\t>=\t1\t1\t4294967295\t1\n"),
    ],
    "A 2 logs in as an account of the server": [
        ("open-and-syntax", "A\t2\tfoo\n"),
    ],
    "U with fewer values than columns changes only those": [
        ("find", "1\t=\t1\t1\n"),
        ("find", "1\t=\t1\t0\n"),
    ],
}


def entries_of(name: str) -> list[Entry]:
    return list(json.loads((GOLDEN / f"{name}.json").read_text()))


def expected_here(name: str) -> Dialogue:
    """The dialogue with the replies that this kind of server gives."""
    return golden_dialogue(name).with_replies(GOLDEN_REPLIES)


every_dialogue = pytest.mark.parametrize("name", ORIGINALS)


@every_dialogue
def test_the_recordings_are_as_they_were_made(name: str) -> None:
    entries = entries_of(name)
    for entry in entries:
        entry["recv"] = entry.pop("recv_original", entry["recv"])
        entry.pop("reason", None)
    text = json.dumps(entries, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest() == ORIGINALS[name]


def test_the_deviations_are_exactly_the_documented_ones() -> None:
    found = defaultdict(list)
    for name in ORIGINALS:
        for entry in entries_of(name):
            assert ("reason" in entry) == ("recv_original" in entry), entry
            if "reason" in entry:
                assert entry["recv"] != entry["recv_original"], entry
                found[entry["reason"]].append((name, entry["send"]))
    assert found == DEVIATIONS


@needs_original
@every_dialogue
def test_the_recording_holds_on_the_original(name: str, make_original: Callable) -> None:
    """The original that ships with the server still answers so. This checks the replay itself."""
    server = make_original()
    load_tables(server)
    assert differences(server, golden_dialogue(name, "recv_original")) == []


@every_dialogue
def test_one_request_at_a_time(name: str, server: ServerInstance) -> None:
    load_tables(server)
    assert differences(server, expected_here(name)) == []


@every_dialogue
def test_all_requests_at_once(name: str, server: ServerInstance) -> None:
    load_tables(server)
    for port, steps in expected_here(name).of_each_port():
        expected = b"".join(step.recv for step in steps)
        with wire_to(server, port) as wire:
            wire.send(b"".join(step.send for step in steps))
            assert received_lines(wire, expected.count(b"\n")) == expected


@every_dialogue
def test_all_requests_at_once_then_half_closed(name: str, server: ServerInstance) -> None:
    load_tables(server)
    for port, steps in expected_here(name).of_each_port():
        with wire_to(server, port) as wire:
            wire.send(b"".join(step.send for step in steps))
            wire.half_close()
            assert wire.rest() == b"".join(step.recv for step in steps)


def test_byte_by_byte(server: ServerInstance) -> None:
    """With whole requests cut at every byte, test_cut_everywhere.py goes on."""
    load_tables(server)
    ((port, steps),) = expected_here("open-and-syntax").of_each_port()
    expected = b"".join(step.recv for step in steps)
    with wire_to(server, port) as wire:
        for byte in b"".join(step.send for step in steps):
            wire.send(bytes([byte]))
        assert received_lines(wire, expected.count(b"\n")) == expected
