"""The result for people: the table of goals and the figures behind it, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .load import Result
from .rounds import Measured
from .table import ROWS


@dataclass(frozen=True)
class Report:
    machine: dict[str, Any]
    when: str
    pace: dict[str, Any]
    measured: dict[str, Measured]
    extras: dict[str, float]

    @staticmethod
    def read(path: Path) -> Report:
        data = json.loads(path.read_text())
        measured = {
            name: Measured(tuple(Result(**each) for each in rounds))
            for name, rounds in data["cases"].items()
        }
        return Report(data["machine"], data["when"], data["pace"], measured, data["extras"])

    def goals(self) -> str:
        """Each row with what was measured, its bar and its aim; without those that were not run."""
        medians = {name: each.median for name, each in self.measured.items()}
        lines = []
        for row in ROWS:
            try:
                value = row.measure(medians, self.extras)
                note = row.note(medians, self.extras) if row.note else ""
            except KeyError:
                continue
            unit = f" {row.unit}" if row.unit else ""
            lines.append(
                [
                    row.title,
                    f"{value:.2f}{unit}",
                    "" if row.bar is None else f"{row.bar:g}{unit}",
                    "" if row.aim is None else f"{row.aim:g}{unit}",
                    row.verdict(value),
                    note,
                ]
            )
        return table(["work", "measured", "bar", "aim", "reaches", ""], lines)

    def figures(self) -> str:
        """The medians that the goals are made of."""
        lines = []
        for name, each in self.measured.items():
            median = each.median
            lines.append(
                [
                    name,
                    f"{median.rate:,.0f}",
                    f"{median.cpu:.3f}",
                    f"{median.user_cpu:.3f}",
                    f"{median.system_cpu:.3f}",
                    f"{median.p50:,.0f}",
                    f"{median.p99:,.0f}",
                    f"{median.p999:,.0f}",
                    f"{each.spread:.0%}",
                ]
            )
        head = ["case", "requests/s", "server CPU, µs", "user", "system"]
        head += ["p50, µs", "p99", "p99.9", "spread of CPU"]
        return table(head, lines)

    def floors(self) -> str:
        lines = [[name, f"{value:.3f}"] for name, value in self.extras.items()]
        return table(["beside the rounds (engine: µs a lookup)", "value"], lines)

    def setting(self) -> str:
        machine = self.machine
        return (
            f"Measured {self.when} on {machine['cores']} cores of {machine['cpu']}, "
            f"{machine['memory_gib']} GiB, Linux {machine['kernel']}, load average at the end "
            f"{machine['load_average']:.1f}; {self.pace['rounds']} interleaved rounds of "
            f"{self.pace['duration']:g} s each, medians."
        )

    def text(self) -> str:
        return "\n\n".join([self.setting(), self.goals(), self.figures(), self.floors()]) + "\n"


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
        raise ValueError(f"{document} has no place for {name}")
    document.write_text(f"{head}{begin}{text.rstrip()}\n{end}{tail}")
