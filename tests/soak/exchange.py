"""A batch that is sent through a connection, and how it is reported if it went wrong."""

from __future__ import annotations

import collections
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from soak.channel import Address, Channel
from soak.cutting import Plan
from soak.requests import Find, Insert, Request, Spec, shown, told
from soak.tables import Row

#: So many requests before and after the failed one are shown with it.
AROUND = 4
#: So many batches are told of, and so many writes are looked through for the rows in question.
KEPT_BATCHES, KEPT_WRITES = 6, 50_000


class Mismatch(Exception):
    """A reply is not the expected one."""


@dataclass
class Side:
    """One port's half of a client."""

    writable: bool
    addresses: Sequence[Address]
    channel: Channel | None = None
    ids: dict[int, Spec] | None = None
    logged_in: bool = False  # or it acts as the anonymous account, which may do everything


@dataclass
class Sent:
    """A batch that has been sent."""

    side: Side
    channel: Channel
    requests: list[Request]
    plan: Plan
    inode: str | None = None


def ends_of(requests: Sequence[Request]) -> list[int]:
    ends, at = [], 0
    for request in requests:
        at += len(request.line)
        ends.append(at)
    return ends


def whole_lines(sent: Sent) -> list[Request]:
    """The requests of which every byte had to be sent."""
    return [
        request
        for request, end in zip(sent.requests, ends_of(sent.requests), strict=True)
        if end <= sent.plan.sent
    ]


def tell(sent: Sent, number: str) -> str:
    """A batch in one line, for the report of a failure."""
    channel = sent.channel
    port = "write" if sent.side.writable else "read"
    kinds = collections.Counter(request.kind for request in sent.requests)
    return (
        f"batch {number} at {channel.began:.3f}, {port} port"
        f" ({'Unix socket' if isinstance(channel.address, str) else 'TCP'}):"
        f" {len(sent.requests)} requests {dict(kinds)}, {sent.plan.sent} bytes in"
        f" {sent.plan.describe()}; {len(channel.replies)} replies"
    )


def mismatch(sent: Sent, place: int, reply: bytes, complaint: str) -> Mismatch:
    """The request at `place`, with the requests around it."""
    request = sent.requests[place] if place < len(sent.requests) else None
    spec = (sent.side.ids or {}).get(request.number) if isinstance(request, Find | Insert) else None
    lines = [
        f"{spec.table.name}: {complaint}" if spec is not None else complaint,
        f"  request {place} of {len(sent.requests)} on the"
        f" {'write' if sent.side.writable else 'read'} port,"
        f" {time.monotonic() - sent.channel.began:.1f} s after the first was sent",
    ]
    at = 0
    for number, request in enumerate(sent.requests):
        begin, at = at, at + len(request.line)
        if abs(number - place) > AROUND:
            continue
        mark = ">" if number == place else " "
        answers = sent.channel.replies
        answer = shown(answers[number]) if number < len(answers) else "(none)"
        lines.append(f" {mark} {number} (bytes {begin} to {at}): {shown(request.line)}")
        lines.append(f" {mark}     came {answer}")
    cuts = [b for _, _, b in sent.plan.pieces][:40]
    lines.append(f"  cut at {cuts}")
    if sent.channel.surplus:
        lines.append(f"  half a reply at the end: {shown(sent.channel.surplus)}")
    return Mismatch("\n".join(lines))


class Story:
    """What a client has done of late, for the report of a failure."""

    def __init__(self) -> None:
        self._batches: collections.deque[str] = collections.deque(maxlen=KEPT_BATCHES)
        self._writes: collections.deque[tuple[str, Spec, Request, bytes]] = collections.deque(
            maxlen=KEPT_WRITES
        )

    def add(self, sent: Sent, number: str) -> None:
        self._batches.append(tell(sent, number))

    def note(self, number: str, spec: Spec, request: Request, reply: bytes) -> None:
        """A write of batch `number` by an index id that is open for `spec`, and its reply."""
        self._writes.append((number, spec, request, reply))

    def told(self, failure: str = "") -> str:
        """The latest batches, and the writes that may have met the rows in its first line.

        They are those of the table that the line names, by one of its keys or by another index.
        """
        words = {word.encode() for word in re.findall(r"\w+", failure.partition("\n")[0])}
        writes = [
            f"  batch {number}: {shown(request.line, 120)} came {shown(reply, 60)}"
            for number, spec, request, reply in self._writes
            if spec.table.name.encode() in words
            and (spec.index != "PRIMARY" or words & _keys_in(request.line))
        ]
        return "\n".join(
            [
                "the last batches of this client:",
                *(f"  {batch}" for batch in self._batches),
                "its writes that may have met the rows of the complaint:",
                *writes[-100:],
            ]
        )


def _keys_in(line: bytes) -> set[bytes]:
    """The ids of rows that a request names, and whatever else is as long as one."""
    return {token for token in line.rstrip(b"\n").split(b"\t") if len(token) >= 4}


def differences(before: dict[str, dict[bytes, Row]], actual: dict[str, dict[bytes, Row]]) -> str:
    """How the tables differ from what was known of them, a line a row."""
    lines = []
    for name, rows in actual.items():
        for key in sorted(set(rows) | set(before[name])):
            was, now = before[name].get(key), rows.get(key)
            if was != now:
                lines.append(
                    f"  {name} {shown(key)}: known {told(was or ())}, found {told(now or ())}"
                )
    return "\n".join(lines[:60])
