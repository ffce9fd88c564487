"""The recorded dialogues, byte for byte: request by request, all at once, and cut everywhere.

The recordings were made with the original HandlerSocket. Where this project answers
differently on purpose, an entry has the original's answer as `recv_original` and
the `reason`. This file holds the list of all such entries, so that none slips in.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Callable

import pytest
from server_instance import ServerInstance
from support.servers import GOLDEN_REPLIES, needs_original
from support.wire import Wire

HERE = Path(__file__).parent
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
    "U with fewer values than columns changes only those": [
        ("find", "1\t=\t1\t1\n"),
        ("find", "1\t=\t1\t0\n"),
    ],
}


def entries_of(name: str) -> list[Entry]:
    return list(json.loads((HERE / f"{name}.json").read_text()))


def expected_here(name: str) -> list[Entry]:
    """The entries with the replies that this kind of server gives."""
    entries = entries_of(name)
    for entry in entries:
        entry["recv"] = GOLDEN_REPLIES.get((name, entry["send"]), entry["recv"])
    return entries


def load_tables(server: ServerInstance) -> None:
    server.client((HERE / "setup.sql").read_text())


def request_of(entry: Entry) -> bytes:
    return str(entry["send"]).encode("latin-1")


def replies_of(entry: Entry, key: str = "recv") -> list[bytes]:
    lines = entry.get(key, entry["recv"])
    return [str(line).encode("latin-1") for line in lines]


def dialogues(entries: list[Entry]) -> list[list[Entry]]:
    """The entries of each connection, in the order of the recording."""
    by_connection = defaultdict(list)
    for entry in entries:
        by_connection[entry["conn"]].append(entry)
    return list(by_connection.values())


def wire_for(server: ServerInstance, entry: Entry) -> Wire:
    return Wire({"rd": server.hs_port, "wr": server.hs_port_wr}[entry["port"]])


def converse(server: ServerInstance, entries: list[Entry], key: str = "recv") -> None:
    """One request after the other, each reply compared at once."""
    wires: dict[int, Wire] = {}
    differences = []
    try:
        for number, entry in enumerate(entries):
            if entry["conn"] not in wires:
                wires[entry["conn"]] = wire_for(server, entry)
            wire = wires[entry["conn"]]
            wire.send(request_of(entry))
            expected = replies_of(entry, key)
            received = wire.lines(len(expected))
            if received != expected:
                differences.append((number, request_of(entry), expected, received))
    finally:
        for wire in wires.values():
            wire.close()
    assert not differences


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
    """The original that ships with the server still answers so: the replay itself is right."""
    server = make_original()
    load_tables(server)
    converse(server, entries_of(name), "recv_original")


@every_dialogue
def test_one_request_at_a_time(name: str, server: ServerInstance) -> None:
    load_tables(server)
    converse(server, expected_here(name))


@every_dialogue
def test_all_requests_at_once(name: str, server: ServerInstance) -> None:
    load_tables(server)
    for entries in dialogues(expected_here(name)):
        expected = [line for entry in entries for line in replies_of(entry)]
        with wire_for(server, entries[0]) as wire:
            wire.send(b"".join(map(request_of, entries)))
            assert wire.lines(len(expected)) == expected


@every_dialogue
def test_all_requests_at_once_then_half_closed(name: str, server: ServerInstance) -> None:
    load_tables(server)
    for entries in dialogues(expected_here(name)):
        expected = [line + b"\n" for entry in entries for line in replies_of(entry)]
        with wire_for(server, entries[0]) as wire:
            wire.send(b"".join(map(request_of, entries)))
            wire.half_close()
            assert wire.rest() == b"".join(expected)


@every_dialogue
def test_each_request_cut_at_every_byte(name: str, server: ServerInstance) -> None:
    """The reply to a request sent in the same piece proves that the server has seen the cut."""
    load_tables(server)
    ping, pong = b"?\n", b"2\t1\tcmd"
    for entries in dialogues(expected_here(name)):
        with wire_for(server, entries[0]) as wire:
            for entry in entries:
                request, expected = request_of(entry), replies_of(entry)
                for cut in range(1, len(request)):
                    wire.send(ping + request[:cut])
                    assert wire.lines(1) == [pong]
                    wire.send(request[cut:])
                    assert wire.lines(len(expected)) == expected, (request, cut)


@every_dialogue
def test_the_whole_dialogue_cut_at_every_byte(name: str, server: ServerInstance) -> None:
    """Two pieces; the second goes out once every request that is whole in the first is answered."""
    load_tables(server)
    for entries in dialogues(expected_here(name)):
        stream = b"".join(map(request_of, entries))
        expected = [line for entry in entries for line in replies_of(entry)]
        for cut in range(1, len(stream)):
            with wire_for(server, entries[0]) as wire:
                wire.send(stream[:cut])
                before = wire.lines(stream[:cut].count(b"\n"))
                wire.send(stream[cut:])
                assert before + wire.lines(len(expected) - len(before)) == expected, cut


@every_dialogue
def test_byte_by_byte(name: str, server: ServerInstance) -> None:
    load_tables(server)
    for entries in dialogues(expected_here(name)):
        expected = [line for entry in entries for line in replies_of(entry)]
        with wire_for(server, entries[0]) as wire:
            for byte in b"".join(map(request_of, entries)):
                wire.send(bytes([byte]))
            assert wire.lines(len(expected)) == expected
