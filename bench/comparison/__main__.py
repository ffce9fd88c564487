"""python3 -m comparison run|curves|report|plot: see --help."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from .compare import PARTS, compare
from .curves import measure_curves
from .load import Pace
from .places import REPOSITORY, RESULTS, BenchError, put_first
from .report import Report, fill_document
from .servers import Database

from server_instance import ServerError, Setting, default_plugin_dir  # isort: skip  (setup/)

DOCUMENT = REPOSITORY / "docs" / "performance.md"
QUICK = Pace(warm_up=0.5, duration=1.5, rounds=3)
FULL = Pace(warm_up=1.0, duration=4.0, rounds=5)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure everything, print the table")
    run.add_argument("server", help="a server that setup/server.sh got, such as mariadb-10.11")
    run.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    run.add_argument("--rounds", type=int, help="how many")
    run.add_argument("--only", choices=PARTS, help="one part of it")
    curves = commands.add_parser("curves", help="measure how cost grows")
    curves.add_argument("server")
    curves.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    curves.add_argument("--only", action="append", default=[], help="one curve, by name")
    report = commands.add_parser("report", help="print the table of the last run again")
    report.add_argument("--write", action="store_true", help="and put it into docs/performance.md")
    commands.add_parser("plot", help="draw the last run's curves into docs/performance/")
    return parser.parse_args()


def places_of(arguments: argparse.Namespace) -> tuple[Path, Path]:
    """The server's tree, and the folder of the plugin that was built for it."""
    tree = REPOSITORY / "var" / "servers" / arguments.server
    build = os.environ.get("HS_BENCH_BUILD")
    return tree, Path(build) / "src" / "mysqld" if build else default_plugin_dir(tree)


def run(arguments: argparse.Namespace) -> None:
    pace = QUICK if arguments.quick else FULL
    if arguments.rounds:
        pace = Pace(pace.warm_up, pace.duration, arguments.rounds)
    tree, plugin_dir = places_of(arguments)
    parts = frozenset([arguments.only] if arguments.only else PARTS)
    path = compare(tree, plugin_dir, pace, parts)
    print(f"\n{Report.read(path).text()}\n== all rounds are in {path.relative_to(REPOSITORY)}")


def curves(arguments: argparse.Namespace) -> None:
    tree, plugin_dir = places_of(arguments)

    def make(name: str, settings: Mapping[str, Setting]) -> Database:
        return Database(name, tree, plugin_dir, original=name == "original", settings=settings)

    put_first(os.getpid())
    pace = Pace(0.3, 1.0, 1) if arguments.quick else Pace(0.5, 2.0, 3)
    path = measure_curves(make, pace, frozenset(arguments.only))
    print(f"== the curves are in {path.relative_to(REPOSITORY)}")


def plot(_: argparse.Namespace) -> None:
    from .plots import draw_all  # noqa: PLC0415  (only this command needs matplotlib)

    images = draw_all(RESULTS / "curves.json", DOCUMENT.parent / "performance")
    links = [f"![{image.stem}](performance/{image.name})" for image in images]
    fill_document(DOCUMENT, "curves", "\n\n".join(links))


def report(arguments: argparse.Namespace) -> None:
    result = Report.read(RESULTS / "comparison.json")
    print(result.text())
    if arguments.write:
        fill_document(DOCUMENT, "comparison", result.text())


def main() -> int:
    arguments = parse_arguments()
    try:
        {"run": run, "curves": curves, "report": report, "plot": plot}[arguments.command](arguments)
    except (BenchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
