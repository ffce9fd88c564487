"""Servers side by side on one machine: `run` measures the table, `curves` how cost grows."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .compare import PARTS, compare
from .curves import NAMES as CURVE_NAMES
from .curves import measure_curves
from .load import Pace
from .markdown import fill_document
from .new_requests import measure_new_requests, new_requests_table
from .places import POLITE, REPOSITORY, RESULTS, BenchError, put_first
from .prefetch import measure_prefetch, prefetch_table
from .profile import CASES, profile
from .report import Report, against_sql

from server_instance import ServerError  # isort: skip  (setup/)

DOCUMENT = REPOSITORY / "docs" / "performance.md"
# The document has the whole table of this server, and of the others what compares them with SQL.
MAIN_SERVER = "mariadb-10.11"
SERVERS = (MAIN_SERVER, "mariadb-11.8", "mysql-9.7")
# Marks a result that does not replace that of a whole run.
QUICK_MARK = "-quick"

QUICK = Pace(warm_up=0.2, duration=0.5, rounds=2)
FULL = Pace(warm_up=1.0, duration=4.0, rounds=5)
# Many rounds, because a ratio is of two that are side by side.
SHORT = Pace(warm_up=0.1, duration=0.5, rounds=7)
QUICK_CURVES = Pace(warm_up=0.1, duration=0.3, rounds=1)
FULL_CURVES = Pace(warm_up=0.3, duration=1.5, rounds=3)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="measure everything, print the table")
    run.add_argument("--rounds", type=int, help="how many (5)")
    run.add_argument("--seconds", type=float, help="that count of each case in a round (4)")
    run.add_argument("--only", choices=PARTS, help="one part of it")
    run.set_defaults(work=do_run)

    curves = commands.add_parser("curves", help="measure how cost grows")
    curves.add_argument("--only", action="append", default=[], choices=CURVE_NAMES)
    curves.set_defaults(work=do_curves)
    prefetch = commands.add_parser("prefetch", help="MySQL's rows fetched ahead, beside Valkey")
    prefetch.set_defaults(work=do_prefetch)
    requests = commands.add_parser("requests", help="upserts, inserts of several rows, counts")
    requests.set_defaults(work=do_requests)
    for measuring in (run, curves, prefetch, requests):
        measuring.add_argument(
            "--quick", action="store_true", help="to try it out: the figures are worth nothing"
        )

    profiling = commands.add_parser("profile", help="where the server's time goes, by symbol")
    profiling.add_argument("--only", action="append", default=[], choices=[c.name for c in CASES])
    profiling.add_argument("--original", action="store_true", help="of the original, not of ours")
    profiling.add_argument("--seconds", type=float, default=5.0, help="of sampling (5)")
    profiling.set_defaults(work=do_profile)
    for command in (run, curves, prefetch, requests, profiling):
        command.add_argument("server", help="one that setup/server.sh got, such as mariadb-10.11")
        command.add_argument(
            "--polite", action="store_true", help="ask for no precedence over other programs"
        )

    report = commands.add_parser("report", help="the tables of the last whole runs again")
    report.add_argument("server", nargs="?", default=MAIN_SERVER)
    report.add_argument("--quick", action="store_true", help="of the last quick run")
    report.add_argument("--write", action="store_true", help="put those of all servers into docs/")
    report.set_defaults(work=do_report)

    plot = commands.add_parser("plot", help="draw the last curves into docs/performance/")
    plot.add_argument("server", nargs="?", default=MAIN_SERVER)
    plot.set_defaults(work=do_plot)
    return parser.parse_args()


def tree_of(arguments: argparse.Namespace) -> Path:
    name: str = arguments.server
    return REPOSITORY / "var" / "servers" / name


def relative(path: Path) -> Path:
    return path.relative_to(REPOSITORY)


def do_run(arguments: argparse.Namespace) -> None:
    pace = QUICK if arguments.quick else FULL
    pace = Pace(pace.warm_up, arguments.seconds or pace.duration, arguments.rounds or pace.rounds)
    mark = QUICK_MARK if arguments.quick else ""
    if arguments.only:
        mark += f"-{arguments.only}"
    parts = frozenset([arguments.only] if arguments.only else PARTS)
    path = compare(tree_of(arguments), pace, parts, mark)
    report = Report.read(path)
    print(f"\n{report.text()}\n{report.further()}")
    print(f"== all rounds are in {relative(path)}")


def do_curves(arguments: argparse.Namespace) -> None:
    put_first(os.getpid())
    pace, mark = (QUICK_CURVES, QUICK_MARK) if arguments.quick else (FULL_CURVES, "")
    path = measure_curves(tree_of(arguments), pace, frozenset(arguments.only), mark)
    print(f"== the curves are in {relative(path)}")


def do_prefetch(arguments: argparse.Namespace) -> None:
    put_first(os.getpid())
    pace, mark = (QUICK, QUICK_MARK) if arguments.quick else (SHORT, "")
    path = measure_prefetch(tree_of(arguments), pace, mark)
    print(f"\n{prefetch_table(path)}\n== all rounds are in {relative(path)}")


def do_requests(arguments: argparse.Namespace) -> None:
    put_first(os.getpid())
    pace, mark = (QUICK, QUICK_MARK) if arguments.quick else (FULL, "")
    path = measure_new_requests(tree_of(arguments), pace, mark)
    print(f"\n{new_requests_table(path)}\n== all rounds are in {relative(path)}")


def do_profile(arguments: argparse.Namespace) -> None:
    put_first(os.getpid())
    path = profile(
        tree_of(arguments), arguments.only, original=arguments.original, seconds=arguments.seconds
    )
    print(f"== this is also in {relative(path)}")


def do_report(arguments: argparse.Namespace) -> None:
    mark = QUICK_MARK if arguments.quick else ""
    print(Report.read(RESULTS / f"comparison-{arguments.server}{mark}.json").appendix())
    if not arguments.write:
        return
    if arguments.quick:
        raise BenchError("a quick run's figures are not for the documents")
    paths = {name: RESULTS / f"comparison-{name}.json" for name in SERVERS}
    reports = {name: Report.read(path) for name, path in paths.items() if path.exists()}
    if report := reports.get(MAIN_SERVER):
        fill_document(DOCUMENT, "comparison", report.text())
        fill_document(DOCUMENT, "cases", report.cases())
        fill_document(DOCUMENT, "bystanders", report.beside_greedy_clients())
        fill_document(DOCUMENT, "defaults", report.as_it_comes())
        fill_document(DOCUMENT, "ports", report.of_caches_clients())
        fill_document(DOCUMENT, "bulk", report.of_whole_table())
    fill_document(DOCUMENT, "servers", against_sql(list(reports.values())))
    print(f"== written: {relative(DOCUMENT)}")


def do_plot(arguments: argparse.Namespace) -> None:
    from .plots import draw_all  # noqa: PLC0415  (only this command needs matplotlib)

    path = RESULTS / f"curves-{arguments.server}.json"
    for name, text in draw_all(path, DOCUMENT.parent / "performance").items():
        fill_document(DOCUMENT, name, text)
    print(f"== written: {relative(DOCUMENT)}, {relative(DOCUMENT.parent / 'performance')}")


def main() -> int:
    arguments = parse_arguments()
    if getattr(arguments, "polite", False):
        os.environ[POLITE] = "1"
    try:
        arguments.work(arguments)
    except (BenchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
