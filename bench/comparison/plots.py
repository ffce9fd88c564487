"""The curves from their JSON: a small picture with matplotlib, and a table of their numbers."""

from __future__ import annotations

import io
import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure  # type: ignore[import-not-found,unused-ignore]
from PIL import Image  # type: ignore[import-not-found,unused-ignore]

from .load import Result
from .markdown import precise, table
from .rounds import Measured

# Few dots and few colours: a picture has about 15 kB.
DOTS_PER_INCH = 84
COLOURS = 32
SIZE = (9.0, 3.4)
LABELS = {"ours": "this plugin", "original": "the original"}

# By point: the results of all rounds.
Points = Mapping[str, list[dict[str, Any]]]


def medians(points: Points) -> dict[int, Result]:
    return {
        int(x): Measured(tuple(Result(**each) for each in rounds)).median
        for x, rounds in points.items()
    }


def draw(name: str, curve: Mapping[str, Any], folder: Path) -> Path:
    """Requests a second beside server CPU for each request. Bars show the range of the rounds."""
    figure = Figure(figsize=SIZE, layout="constrained")
    figure.suptitle(curve["title"])
    left, right = figure.subplots(1, 2)
    for who, points in curve["series"].items():
        rounds = {int(x): [Result(**each) for each in results] for x, results in points.items()}
        for axes, figure_of in ((left, "rate"), (right, "cpu")):
            x, middles, below, above = [], [], [], []
            for point, results in rounds.items():
                values = [getattr(each, figure_of) for each in results]
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
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
    path = folder / f"{name}.png"
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    return path


def numbers(name: str, curve: Mapping[str, Any]) -> str:
    """Server CPU for each request at each point, and its growth from the first to the last."""
    lines, points = [], []

    def add(title: str, values: list[float]) -> None:
        growth = f"× {precise(values[-1] / values[0])}"
        lines.append([title, *(precise(value) for value in values), growth])

    for who, rounds in curve["series"].items():
        of_point = medians(rounds)
        points = sorted(of_point)
        label = LABELS.get(who, who)
        add(label, [of_point[x].cpu for x in points])
        if name.startswith("workers"):
            # More of them are there to answer more requests.
            add(f"{label}, requests a second", [of_point[x].rate for x in points])
    head = [f"µs a request, by {curve['unit']}", *(f"{x:,}" for x in points), "first to last"]
    return table(head, lines)


def draw_all(path: Path, folder: Path) -> dict[str, str]:
    """The name of each curve and its part of the document: a picture and the numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    places = {}
    for name, curve in json.loads(path.read_text())["curves"].items():
        image = draw(name, curve, folder)
        places[name] = f"![{curve['title']}]({folder.name}/{image.name})\n\n{numbers(name, curve)}"
    return places
