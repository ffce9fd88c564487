"""SVG from the curves' JSON, with matplotlib."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl  # type: ignore[import-not-found,unused-ignore]
from matplotlib.figure import Figure  # type: ignore[import-not-found,unused-ignore]

# Text stays text, and the same figures make the same file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "handlersocket"

SIZE = (9.0, 3.6)


def draw(name: str, curve: dict[str, Any], folder: Path) -> Path:
    """Requests a second and server CPU a request, side by side."""
    figure = Figure(figsize=SIZE, layout="constrained")
    figure.suptitle(curve["title"])
    left, right = figure.subplots(1, 2)
    for who, points in curve["series"].items():
        x = [int(point) for point in points]
        left.plot(x, [each["rate"] for each in points.values()], marker="o", label=who)
        costs = [each["user_cpu"] + each["system_cpu"] for each in points.values()]
        right.plot(x, costs, marker="o", label=who)
    for axes, label in ((left, "requests a second"), (right, "server CPU, µs a request")):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(curve["unit"])
        axes.set_ylabel(label)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    path = folder / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    return path


def draw_all(curves: Path, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return [draw(name, curve, folder) for name, curve in json.loads(curves.read_text()).items()]
