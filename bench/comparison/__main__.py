"""python3 -m comparison run|report: see --help."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .compare import compare
from .load import Pace
from .places import REPOSITORY, RESULTS, BenchError
from .report import Report, fill_document

from server_instance import ServerError, default_plugin_dir  # isort: skip  (setup/)

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
    run.add_argument("--only", choices=["reads", "writes"], help="one part of it")
    report = commands.add_parser("report", help="print the table of the last run again")
    report.add_argument("--write", action="store_true", help="and put it into docs/performance.md")
    return parser.parse_args()


def run(arguments: argparse.Namespace) -> None:
    pace = QUICK if arguments.quick else FULL
    if arguments.rounds:
        pace = Pace(pace.warm_up, pace.duration, arguments.rounds)
    tree = REPOSITORY / "var" / "servers" / arguments.server
    build = os.environ.get("HS_BENCH_BUILD")
    plugin_dir = Path(build) / "src" / "mysqld" if build else default_plugin_dir(tree)
    parts = frozenset([arguments.only] if arguments.only else ["reads", "writes"])
    path = compare(tree, plugin_dir, pace, parts)
    print(f"\n{Report.read(path).text()}\n== all rounds are in {path.relative_to(REPOSITORY)}")


def report(arguments: argparse.Namespace) -> None:
    result = Report.read(RESULTS / "comparison.json")
    print(result.text())
    if arguments.write:
        fill_document(DOCUMENT, "comparison", result.text())


def main() -> int:
    arguments = parse_arguments()
    try:
        if arguments.command == "run":
            run(arguments)
        else:
            report(arguments)
    except (BenchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
