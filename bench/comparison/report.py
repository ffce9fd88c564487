"""The result for people: the table of goals and the figures behind it, as Markdown."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import bystanders, defaults, ports, whole_table
from .bystanders import Waits, bystander_table
from .defaults import Defaults, defaults_table
from .load import Result
from .markdown import precise, table
from .ports import Ports, ports_table
from .rounds import Measured
from .table import MET, ROWS, TARGET_MET, Figures, Row
from .whole_table import Readings, whole_table_table


def span(values: Sequence[float]) -> str:
    return f"{precise(min(values))}–{precise(max(values))}" if len(values) > 1 else ""


@dataclass(frozen=True)
class Value:
    """The value of a row of the table in each round.

    The median counts. The sides of a ratio were measured within a minute of each other, in the same
    state of the machine. Medians over all rounds would lose that.
    """

    row: Row
    rounds: tuple[float, ...]

    @property
    def value(self) -> float:
        return statistics.median(self.rounds)

    @property
    def text(self) -> str:
        return f"{precise(self.value)}{self._unit}"

    def goal(self, goal: float | None) -> str:
        if goal is None:
            return ""
        return f"{'≤ ' if self.row.unit else ''}{goal:g}{self._unit}"

    @property
    def _unit(self) -> str:
        return f" {self.row.unit}" if self.row.unit else ""


@dataclass(frozen=True)
class Report:
    server: str
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    when: str
    minutes: float
    pace: Mapping[str, Any]
    absent: Mapping[str, str]
    measured: Mapping[str, Measured]
    extras: Mapping[str, Sequence[float]]
    bystanders: Waits = field(default_factory=dict)
    defaults: Defaults = field(default_factory=dict)
    ports: Ports = field(default_factory=dict)
    whole_table: Readings = field(default_factory=dict)

    @staticmethod
    def read(path: Path) -> Report:
        data = json.loads(path.read_text())
        cases = data.pop("cases")
        measured = {
            name: Measured(tuple(Result(**each) for each in rounds))
            for name, rounds in cases.items()
        }
        waits = bystanders.from_json(data.pop("bystanders", {}))
        lookups = defaults.from_json(data.pop("defaults", {}))
        of_ports = ports.from_json(data.pop("ports", {}))
        readings = whole_table.from_json(data.pop("whole_table", {}))
        return Report(
            **data,
            measured=measured,
            bystanders=waits,
            defaults=lookups,
            ports=of_ports,
            whole_table=readings,
        )

    def round(self, number: int) -> Figures:
        """All figures of one round. What was measured only once is the same in each round."""
        return Figures(
            {name: each.rounds[number] for name, each in self.measured.items()},
            {
                name: each[number] if number < len(each) else statistics.median(each)
                for name, each in self.extras.items()
            },
        )

    def values(self) -> dict[Row, Value]:
        """The values of the rows whose cases were run."""
        rounds = [self.round(i) for i in range(self._rounds())]
        values = {}
        for row in ROWS:
            try:
                each = [row.measure(figures) for figures in rounds]
            except KeyError:
                continue
            # What was measured only once has no spread.
            values[row] = Value(row, tuple(each if len(set(each)) > 1 else each[:1]))
        return values

    def _rounds(self) -> int:
        return min((len(each.rounds) for each in self.measured.values()), default=1)

    def goals(self) -> str:
        """Each row with what was measured, the required value and the target."""
        values = self.values()
        lines = [
            [
                row.title,
                value.goal(row.bar),
                value.goal(row.aim),
                value.text,
                span(value.rounds),
                row.verdict(value.value),
            ]
            for row, value in values.items()
        ]
        text = table(["work", "required", "target", "measured", "rounds", "result"], lines)
        return "\n\n".join([text, self._count(values.values()), *self._left_out(values)])

    def _count(self, values: Iterable[Value]) -> str:
        with_bar = [each for each in values if each.row.bar is not None]
        verdicts = [each.row.verdict(each.value) for each in with_bar]
        targets = sum(verdict == TARGET_MET for verdict in verdicts)
        met = sum(verdict in (MET, TARGET_MET) for verdict in verdicts)
        return (
            f"{met} of {len(with_bar)} required values are met, {targets} of them with the target."
        )

    def _left_out(self, values: Mapping[Row, Value]) -> list[str]:
        """Why rows are missing, and how many."""
        first = self.round(0)
        lines = []
        for row in ROWS:
            if row in values:
                continue
            try:
                row.measure(first)
            except KeyError as error:
                name = str(error.args[0])
                why = next(
                    (why for start, why in self.absent.items() if name.startswith(start)),
                    "not run",
                )
                lines.append(f"- {row.title}: {why}")
        return ["Left out:", "\n".join(lines)] if lines else []

    def figures(self) -> str:
        """What was measured for each case: medians of all rounds."""
        head = ["case", "requests/s", "rounds", "server CPU, µs", "rounds", "user", "system"]
        head += ["p50, µs", "p99", "p99.9", "server busy"]
        lines = []
        for name, each in self.measured.items():
            median = each.median

            def rounds_of(figure: Callable[[Result], float], of: Measured = each) -> str:
                return span([figure(result) for result in of.rounds])

            lines.append(
                [
                    name,
                    precise(median.rate),
                    rounds_of(lambda result: result.rate),
                    precise(median.cpu),
                    rounds_of(lambda result: result.cpu),
                    precise(median.user_cpu),
                    precise(median.system_cpu),
                    precise(median.p50),
                    precise(median.p99),
                    precise(median.p999),
                    f"{median.busy:.0%}",
                ]
            )
        return table(head, lines)

    def cases(self) -> str:
        """The same in short, for the document."""
        lines = [
            [name, *(precise(each) for each in (of.rate, of.cpu, of.p50, of.p99))]
            for name, of in ((name, each.median) for name, each in self.measured.items())
        ]
        return table(["case", "requests/s", "server CPU, µs", "p50, µs", "p99, µs"], lines) + "\n"

    def beside(self) -> str:
        lines = [
            [name, precise(statistics.median(each)), span(each)]
            for name, each in self.extras.items()
        ]
        return table(["other measurement", "median", "rounds"], lines)

    def setting(self) -> str:
        machine, versions = self.machine, self.versions
        lines = [
            f"{machine['cores']} cores of {machine['cpu']}, {machine['memory_gib']} GiB, "
            f"Linux {machine['kernel']}, TCP congestion control {machine['congestion_control']}, "
            f"load average at the end {machine['load_average']}",
            f"{versions['server']} (Debian's package {versions['package']}); plugin "
            f"{versions['plugin']}, {versions['build']} by {versions['compiler']}",
            f"memcached {versions['memcached']}, Redis {versions['redis']}, Valkey "
            f"{versions.get('valkey', 'not measured')}, libmariadb {versions['libmariadb']}",
            f"{self.when}: {self._rounds()} rounds of {self.pace['duration']:g} s for each case, "
            f"{self.minutes:.0f} minutes in all",
        ]
        return "\n".join(f"- {line}" for line in lines)

    def text(self) -> str:
        return "\n\n".join([self.setting(), self.goals()]) + "\n"

    def details(self) -> str:
        return "\n\n".join([self.figures(), self.beside()]) + "\n"

    def beside_greedy_clients(self) -> str:
        return bystander_table(self.bystanders) + "\n"

    def as_it_comes(self) -> str:
        return defaults_table(self.defaults) + "\n"

    def of_caches_clients(self) -> str:
        return ports_table(self.ports) + "\n"

    def of_whole_table(self) -> str:
        return whole_table_table(self.whole_table) + "\n"

    def further(self) -> str:
        """What is measured besides the cases."""
        parts = (
            self.beside_greedy_clients(),
            self.as_it_comes(),
            self.of_caches_clients(),
            self.of_whole_table(),
        )
        return "\n\n".join(each.rstrip("\n") for each in parts)

    def appendix(self) -> str:
        return "\n\n".join([self.text().rstrip("\n"), self.further(), self.details()])


def against_sql(reports: Sequence[Report]) -> str:
    """The rows that every server has, side by side."""
    values = {report.server: report.values() for report in reports}
    lines = []
    for row in (row for row in ROWS if row.sql):
        cells = [of[row].text if row in of else "" for of in values.values()]
        lines.append([row.title, "" if row.bar is None else f"{row.bar:g}", *cells])
    return table(["work", "required", *values], lines)
