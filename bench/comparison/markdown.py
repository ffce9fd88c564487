"""Tables as Markdown, and their places in a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from .places import BenchError


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [list(head), *(list(line) for line in lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    text = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def fill_document(document: Path, name: str, text: str) -> None:
    """Puts text between the lines `<!-- NAME -->` and `<!-- /NAME -->` of a document."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    content = document.read_text()
    head, found, rest = content.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise BenchError(f"{document} has no place for {name}")
    document.write_text(f"{head}{begin}{text.rstrip()}\n{end}{tail}")
