"""A batch that is sent through a connection, and how it is reported if it went wrong."""

from __future__ import annotations

import collections
import time
from collections.abc import Sequence
from dataclasses import dataclass

from soak.channel import Address, Channel
from soak.cutting import Plan
from soak.requests import Request, Spec, shown, told
from soak.tables import Row

#: So many requests before and after the failed one are shown with it.
AROUND = 4


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
    lines = [
        f"{complaint}",
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
