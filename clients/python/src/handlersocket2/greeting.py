"""What greets a client that has come to a port of SQL by mistake."""

from __future__ import annotations

import re

#: The fewest bytes that tell a greeting from a reply: a packet's length and number, then its kind.
ENOUGH = 5
_GREETING, _ERROR = 10, 0xFF


def sql_greeting(received: bytes | bytearray) -> str | None:
    """In words that these first bytes of a connection are those of a port of SQL, if they are.

    A packet has the number 0 in its fourth byte. No reply has that: there it has a digit, a TAB or
    an LF.
    """
    if len(received) < ENOUGH or received[3] != 0 or received[4] not in (_GREETING, _ERROR):
        return None
    payload = received[4 : 4 + int.from_bytes(received[:3], "little")]
    if payload[0] == _GREETING:
        version, end, _ = payload[1:].partition(b"\0")
        # MariaDB puts this before its own version, for old replicas.
        text = version.removeprefix(b"5.5.5-") if end else b""
    else:
        text = re.sub(rb"\A#.{5}", b"", payload[3:], flags=re.DOTALL)
    words = re.sub(r"[^ -~]+", " ", text.decode("utf-8", "replace"))
    said = f"a port of SQL ({words})" if words else "a port of SQL"
    return f"this is {said}; the ports of HandlerSocket are others, usually 9998 and 9999"
