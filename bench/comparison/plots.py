"""The curves from their JSON: SVG with matplotlib, and a line that says what each shows."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl  # type: ignore[import-not-found,unused-ignore]
from matplotlib.figure import Figure  # type: ignore[import-not-found,unused-ignore]

from .load import Result
from .report import precise
from .rounds import Measured

# Text stays text, and the same figures make the same file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "handlersocket"

SIZE = (9.0, 3.4)
LABELS = {"ours": "this plugin", "original": "the original"}

# By point: the rounds.
Points = Mapping[str, list[dict[str, Any]]]


def medians(points: Points) -> dict[int, Result]:
    return {
        int(x): Measured(tuple(Result(**each) for each in rounds)).median
        for x, rounds in points.items()
    }


def draw(name: str, curve: Mapping[str, Any], folder: Path) -> Path:
    """Requests a second and server CPU a request, side by side; bars reach over the rounds."""
    figure = Figure(figsize=SIZE, layout="constrained")
    figure.suptitle(curve["title"])
    left, right = figure.subplots(1, 2)
    for who, points in curve["series"].items():
        rounds = {
            int(x): Measured(tuple(Result(**each) for each in results))
            for x, results in points.items()
        }
        for axes, figure_of in ((left, "rate"), (right, "cpu")):
            x, middles, below, above = [], [], [], []
            for point, measured in rounds.items():
                values = [getattr(each, figure_of) for each in measured.rounds]
                middle = statistics.median(values)
                x.append(point)
                middles.append(middle)
                below.append(middle - min(values))
                above.append(max(values) - middle)
            label = LABELS.get(who, who)
            axes.errorbar(x, middles, yerr=(below, above), marker="o", capsize=2, label=label)
    for axes, label in ((left, "requests a second"), (right, "server CPU, µs a request")):
        axes.set_yscale("log")
        if name.startswith("workers"):
            axes.set_xticks([1, 2])
        else:
            axes.set_xscale("log")
        axes.set_xlabel(curve["unit"])
        axes.set_ylabel(label)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    path = folder / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    return path


def describe(curve: Mapping[str, Any]) -> str:
    """How cost and rate change from the first point to the last."""
    sentences = []
    for who, points in curve["series"].items():
        of_point = medians(points)
        first, last = min(of_point), max(of_point)
        begin, end = of_point[first], of_point[last]
        dearest = max(of_point, key=lambda x: of_point[x].cpu)
        text = (
            f"{LABELS.get(who, who)}: from {first:,} to {last:,} {curve['unit']}, "
            f"{precise(begin.cpu)} µs become {precise(end.cpu)} µs of server CPU a request "
            f"(× {precise(end.cpu / begin.cpu)}), {precise(begin.rate)} requests a second become "
            f"{precise(end.rate)}"
        )
        if dearest not in (first, last):
            text += f"; dearest at {dearest:,} ({precise(of_point[dearest].cpu)} µs)"
        sentences.append(f"- {text}.")
    return "\n".join(sentences)


def draw_all(path: Path, folder: Path) -> str:
    """The document's part on the curves: pictures and words."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for name, curve in json.loads(path.read_text())["curves"].items():
        image = draw(name, curve, folder)
        parts.append(
            f"### {curve['unit'].capitalize()}: {curve['title']}\n\n"
            f"![{curve['unit']}]({folder.name}/{image.name})\n\n{describe(curve)}"
        )
    return "\n\n".join(parts)
