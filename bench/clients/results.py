"""All that was measured on one server: its file, and its tables."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from comparison.markdown import table
from comparison.places import RESULTS

from .aims import AIMS
from .measure import Result
from .programs import CALLERS, LANGUAGES

Rounds = dict[tuple[str, int], list[Result]]


def file_of(server: str, *, quick: bool) -> Path:
    return RESULTS / f"clients-{server}{'-quick' if quick else ''}.json"


def median(rounds: list[Result]) -> Result:
    """The median of each figure separately."""
    return Result(
        **{
            field.name: statistics.median(getattr(each, field.name) for each in rounds)
            for field in fields(Result)
        }
    )


def thousands(rate: float) -> str:
    """Thousand requests a second, with three digits."""
    return f"{rate / 1000:.3g}" if rate < 1e6 else f"{rate / 1000:.0f}"


def cell(rounds: list[Result] | None) -> str:
    if not rounds:
        return "–"
    middle = median(rounds)
    latency = f"{middle.p50:.0f}/{middle.p99:.0f}"
    both = f"{cpu(middle.server_cpu)}/{cpu(middle.client_cpu)}"
    return f"{thousands(middle.rate)} · {latency} · {both}"


def cpu(micros: float) -> str:
    return f"{micros:.1f}" if micros < 10 else f"{micros:.0f}"  # noqa: PLR2004


@dataclass
class Results:
    # Of the last run.
    about: dict[str, Any]
    languages: dict[str, Rounds]
    # When a language was measured, and for how long each of its cells.
    paces: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Results:
        data = json.loads(path.read_text())
        languages = {
            language: {
                (library, int(callers)): [Result(**each) for each in rounds]
                for library, by_callers in libraries.items()
                for callers, rounds in by_callers.items()
            }
            for language, libraries in data["languages"].items()
        }
        return cls(data["about"], languages, data["paces"])

    def write(self, path: Path) -> None:
        languages: dict[str, dict[str, dict[str, Any]]] = {}
        for language, measured in self.languages.items():
            for (library, callers), rounds in measured.items():
                by_callers = languages.setdefault(language, {}).setdefault(library, {})
                by_callers[str(callers)] = [vars(each) for each in rounds]
        path.parent.mkdir(parents=True, exist_ok=True)
        data = {"about": self.about, "paces": self.paces, "languages": languages}
        path.write_text(json.dumps(data, indent=1) + "\n")

    def heading(self) -> str:
        machine, versions = self.about["machine"], self.about["versions"]
        lines = [
            f"{machine['cores']} cores of {machine['cpu']}, {machine['memory_gib']} GiB,"
            f" Linux {machine['kernel']}",
            f"{versions['server']}; plugin {versions['plugin']}; Redis {versions['redis']}",
            *(
                f"{name}, {self.paces[name]}, {self.rounds_of(name)}{self.versions_of(name)}"
                for name in LANGUAGES
                if name in self.languages
            ),
        ]
        return "\n".join(f"- {line}" for line in lines)

    def rounds_of(self, language: str) -> str:
        counts = {len(rounds) for rounds in self.languages[language].values()}
        return "–".join(map(str, sorted({min(counts), max(counts)}))) + " rounds"

    def versions_of(self, language: str) -> str:
        versions: dict[str, str] = self.about["libraries"]
        found = [
            f"{name.removeprefix(language + ' ').removeprefix('github.com/')} {version}"
            for name, version in versions.items()
            if name.startswith(f"{language} ")
        ]
        return f": {', '.join(found)}" if found else ""

    def table_of(self, language: str) -> str:
        measured = self.languages[language]
        callers = [each for each in CALLERS if any(n == each for _, n in measured)]
        head = [language, *(f"{n:,} caller{'s' if n > 1 else ''}" for n in callers)]
        return table(
            head,
            [
                [library.title, *(cell(measured.get((library.name, n))) for n in callers)]
                for library in LANGUAGES[language].libraries
            ],
        )

    def aims(self) -> str:
        head = ["client", "callers", "requests a second over those of", "at least", "measured"]
        lines = [
            line
            for aim in AIMS
            if (line := aim.line(self.languages.get(aim.language.name, {}))) is not None
        ]
        return table([*head, "rounds", "result"], lines)

    def text(self) -> str:
        tables = [self.table_of(name) for name in LANGUAGES if name in self.languages]
        return "\n\n".join([self.heading(), *tables, self.aims()])
