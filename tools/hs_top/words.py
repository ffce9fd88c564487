"""Numbers and names as a person reads them, and safe to write to a terminal."""

from __future__ import annotations

import unicodedata

NOT_KNOWN = "-"
_MARKS = ("", "K", "M", "G", "T", "P")


def rate(value: float | None) -> str:
    """1,234 or 0.3: with a decimal only where it says something."""
    if value is None:
        return NOT_KNOWN
    return f"{value:.1f}" if 0 < value < 9.95 else f"{value:,.0f}"


def size(value: float | None) -> str:
    """12.3 M: with 1024 for a step."""
    if value is None:
        return NOT_KNOWN
    step = 0
    while value >= 1000 and step + 1 < len(_MARKS):
        value /= 1024
        step += 1
    digits = 1 if step and value < 99.95 else 0
    return f"{value:.{digits}f}{f' {_MARKS[step]}' if step else ''}"


def duration(ms: float) -> str:
    """250 ms, 12 s, 34 min, 5 h, 6 d: one unit."""
    if ms < 1000:
        return f"{ms:.0f} ms"
    for limit, unit, length in ((100, "s", 1e3), (100, "min", 6e4), (48, "h", 3.6e6)):
        if ms / length < limit:
            return f"{ms / length:.0f} {unit}"
    return f"{ms / 8.64e7:.0f} d"


def latency(us: float | None) -> str:
    """85 µs, 1.2 ms, 3.0 s."""
    if us is None:
        return NOT_KNOWN
    for limit, unit, length in ((1e3, "µs", 1.0), (1e6, "ms", 1e3)):
        if us < limit:
            return f"{us / length:.{0 if length == 1.0 or us >= 1e5 else 1}f} {unit}"
    return f"{us / 1e6:.1f} s"


def printable(text: object) -> str:
    """Without what a terminal would obey: names come from clients."""
    return "".join(sign if sign.isprintable() else "?" for sign in str(text))


def width(text: str) -> int:
    """How many columns of a terminal it takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def fit(text: str, columns: int, right: bool = False) -> str:
    """Exactly so many columns: filled with blanks, or cut, with a sign that it was."""
    if width(text) > columns:
        while text and width(text) > columns - 1:
            text = text[:-1]
        text += "…" if columns > 0 else ""
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks
