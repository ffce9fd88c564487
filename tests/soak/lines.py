"""Requests as lines: those of finds and modifications, and some that are wrong."""

from __future__ import annotations

from soak.model import Search
from soak.requests import Modification
from soak.tables import OWNER, VER, N

#: Lines with the error that each gets.
MALFORMED = [
    (b"\n", b"2\t1\tcmd"),
    (b"X\t1\n", b"2\t1\tcmd"),
    (b"P\tone\tsoak\tt_int\t\tid\n", b"2\t1\tstmtnum"),
    (b"1\t~\t1\t1\n", b"2\t1\top"),
    (b"1\t=\tx\t1\n", b"2\t1\tklen"),
    (b"1\t=\t0\n", b"2\t1\tklen"),
    (b"1\t=\t3\t1\n", b"2\t1\tkpnum"),
    (b"1\t=\t1\n", b"2\t1\tklen"),
    (b"1\t=\t1\t1\tx\n", b"2\t1\tlimit"),
    (b"1\t=\t1\t1\t1\tx\n", b"2\t1\toffset"),
    (b"1\t=\t1\t1\t1\t0\tF\t=\t77\t1\n", b"2\t1\tfilterfld"),
    (b"1\t=\t1\t\x01z\n", b"2\t1\tescape"),
    (b"1\tup\t0\t<\t1\t>\t1\n", b"2\t1\top"),
    (b"1\t=\t1\t1\tC\t1\n", b"2\t1\tmodop"),
    (b"1\t=\t1\t1\t1\t0\t@\t5\t1\t1\n", b"2\t1\ticol"),
]


def find_line(
    number: int, search: Search, modification: Modification | None = None, count: str = ""
) -> bytes:
    tokens = [b"%d" % number, search.op.encode(), b"%d" % len(search.values), *search.values]
    if search.begins:
        tokens += [b"^", search.begins]
    if search.low:
        tokens += [b">" if search.low.open else b">=", search.low.token]
    if search.high:
        tokens += [b"<" if search.high.open else b"<=", search.high.token]
    behind = modification or count or search.in_values or search.filters
    if behind or search.limit != 1 or search.offset:
        tokens += [b"%d" % search.limit, b"%d" % search.offset]
    if search.in_values:
        tokens += [b"@", b"%d" % search.in_part, b"%d" % len(search.in_values), *search.in_values]
    for kind, op, column, token in search.filters:
        place = (OWNER, VER, N).index(column)
        tokens += [kind.encode(), op.encode(), b"%d" % place, token]
    if modification:
        tokens.append(f"{modification.letter}{modification.shown}".encode())
        tokens += modification.values
    if count:
        tokens.append(count.encode())
    return b"\t".join(tokens) + b"\n"
