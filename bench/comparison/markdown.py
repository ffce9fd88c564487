"""Tables as Markdown, and their places in a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from .places import BenchError


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Cells are not padded: one long cell would make every line of the document as long."""
    rows = [
        "".join(f"| {cell} " if cell else "| " for cell in line) + "|" for line in (head, *lines)
    ]
    rows.insert(1, "|" + "---|" * len(head))
    return "\n".join(rows)


def fill_document(document: Path, name: str, text: str) -> None:
    """Puts text between the lines `<!-- NAME -->` and `<!-- /NAME -->` of a document."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    content = document.read_text()
    head, found, rest = content.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise BenchError(f"{document} has no place for {name}")
    document.write_text(f"{head}{begin}{text.rstrip()}\n{end}{tail}")
