"""Tables as Markdown, what stands in their cells, and their places in a document."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .places import BenchError


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Cells are not padded: one long cell would make every line of the document as long."""
    rows = [
        "".join(f"| {cell} " if cell else "| " for cell in line) + "|" for line in (head, *lines)
    ]
    rows.insert(1, "|" + "---|" * len(head))
    return "\n".join(rows)


def precise(value: float) -> str:
    """Three significant digits, but never fewer than there are before the point."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def hundredths(value: float) -> str:
    return f"{value:.2f}"


def median_and_ends(values: Sequence[float], show: Callable[[float], str] = precise) -> str:
    """The median of the rounds, and the least and the greatest if there are several."""
    ends = f" ({show(min(values))}–{show(max(values))})" if len(values) > 1 else ""
    return show(statistics.median(values)) + ends


def fill_document(document: Path, name: str, text: str) -> None:
    """Puts text between the lines `<!-- NAME -->` and `<!-- /NAME -->` of a document."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    content = document.read_text()
    head, found, rest = content.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise BenchError(f"{document} has no place for {name}")
    document.write_text(f"{head}{begin}{text.rstrip()}\n{end}{tail}")
