"""Dialogues of tests/vectors and tests/golden, and how to hold them with a server.

A server is anything with the two ports of a ServerInstance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from server_instance import ServerInstance

from support.wire import Wire

TESTS = Path(__file__).resolve().parents[1]
VECTORS = TESTS / "vectors"
GOLDEN = TESTS / "golden"


class Ports(Protocol):
    @property
    def hs_port(self) -> int: ...
    @property
    def hs_port_wr(self) -> int: ...


@dataclass(frozen=True)
class Step:
    """Bytes to send on one of the ports, and all bytes that are answered."""

    send: bytes
    recv: bytes
    port: str = "write"


@dataclass(frozen=True)
class Dialogue:
    """One connection for each port that its steps name."""

    name: str
    steps: tuple[Step, ...]

    def of_each_port(self) -> Iterator[tuple[str, list[Step]]]:
        for port in ("read", "write"):
            if steps := [step for step in self.steps if step.port == port]:
                yield port, steps

    def with_replies(self, replies: Mapping[tuple[str, bytes], bytes]) -> Dialogue:
        """The same, but some requests of some dialogues are answered otherwise."""
        steps = [
            Step(step.send, replies.get((self.name, step.send), step.recv), step.port)
            for step in self.steps
        ]
        return Dialogue(self.name, tuple(steps))


def vector_dialogues() -> list[Dialogue]:
    """Those of dialogues.json, and one of everything in malformed.json."""
    dialogues = [
        Dialogue(entry["name"], tuple(_step(step) for step in entry["steps"]))
        for entry in json.loads((VECTORS / "dialogues.json").read_text())
    ]
    opens = Step(b"P\t1\thst\tk3\tabc\ta,b,c\ta,b,c\n", b"0\t1\n")
    malformed = [
        Step(line.encode("latin-1"), f"{error['code']}\t1\t{error['text']}\n".encode())
        for entry in json.loads((VECTORS / "malformed.json").read_text())
        for error in [entry["error"]]
        for line in entry["lines"]
    ]
    return [*dialogues, Dialogue("malformed", (opens, *malformed))]


def golden_dialogue(name: str, replies: str = "recv") -> Dialogue:
    """A recording, with the replies that are ours or, as `recv_original`, the original's."""
    ports = {"rd": "read", "wr": "write"}
    return Dialogue(
        name,
        tuple(
            Step(
                entry["send"].encode("latin-1"),
                "".join(f"{line}\n" for line in entry.get(replies, entry["recv"])).encode(
                    "latin-1"
                ),
                ports[entry["port"]],
            )
            for entry in json.loads((GOLDEN / f"{name}.json").read_text())
        ),
    )


def _step(step: dict[str, str]) -> Step:
    send, recv = (step[key].encode("latin-1") for key in ("send", "recv"))
    return Step(send, recv, step.get("port", "write"))


def wire_to(server: Ports, port: str) -> Wire:
    return Wire(server.hs_port if port == "read" else server.hs_port_wr)


def differences(server: Ports, dialogue: Dialogue) -> list[tuple[bytes, bytes, bytes]]:
    """Sends one step after the other: what was sent, expected and received where that differs."""
    different = []
    with ExitStack() as stack:
        wires = {
            port: stack.enter_context(wire_to(server, port)) for port, _ in dialogue.of_each_port()
        }
        for step in dialogue.steps:
            wires[step.port].send(step.send)
            received = received_lines(wires[step.port], step.recv.count(b"\n"))
            if received != step.recv:
                different.append((step.send, step.recv, received))
    return different


def load_tables(server: ServerInstance) -> None:
    """The tables of all dialogues, as they are in the beginning. The memory server has them."""
    server.client((VECTORS / "tables.sql").read_text())


def received_lines(wire: Wire, count: int) -> bytes:
    return b"".join(line + b"\n" for line in wire.lines(count))
