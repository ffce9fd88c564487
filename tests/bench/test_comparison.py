"""The bench's arithmetic: a wrong ratio is a defect, even if it was measured well."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from comparison import machine
from comparison.cases import READS, READS_WITHOUT_HASH, WRITES
from comparison.elf_functions import Functions
from comparison.load import Result, parse_result
from comparison.markdown import fill_document, hundredths, median_and_ends, precise, table
from comparison.new_requests import COUNTS, new_requests_table
from comparison.new_requests import WRITES as NEW_WRITES
from comparison.places import POLITE, BenchError, before_others
from comparison.ports import OURS, WORKS, as_json, from_json, ports_table
from comparison.profile import Sample, by_function, parse_samples
from comparison.report import Report, against_sql, span
from comparison.rounds import Measured
from comparison.table import ROWS, Figures, Row
from support.servers import SERVER_TREE

CASES = (*READS, *READS_WITHOUT_HASH, *WRITES)
EXTRAS = {
    **dict.fromkeys(["engine hot", "engine random", "engine hot, no hash"], [0.3, 0.3]),
    "engine random, no hash": [0.3, 0.3],
    "idle connection": [1.5],
    "find growth": [4.0],
    "find first byte": [2.0, 6.0],
    "find longest wait": [0.5, 0.5],
    "longest wait without a find": [0.2, 0.2],
    "find seconds": [0.3, 0.3],
}


def result(*, rate: float = 1.0, cpu: float = 1.0, latency: float = 1.0) -> Result:
    """Three quarters of the CPU time are user time."""
    return Result(
        rate=rate,
        row_rate=rate,
        p50=latency,
        p99=2 * latency,
        p999=3 * latency,
        user_cpu=0.75 * cpu,
        system_cpu=0.25 * cpu,
        client_cpu=1.0,
        requests=4 * rate,
        rows=4 * rate,
        server_seconds=4 * rate * cpu / 1e6,
    )


def report_of(cases: Mapping[str, list[Result]], **others: Any) -> Report:
    values: dict[str, Any] = {
        "server": "mariadb-10.11",
        "machine": {
            "cores": 2,
            "cpu": "C",
            "memory_gib": 1,
            "kernel": "K",
            "load_average": 0.1,
            "congestion_control": "cubic",
        },
        "versions": dict.fromkeys(
            [
                "server",
                "package",
                "plugin",
                "build",
                "compiler",
                "memcached",
                "redis",
                "valkey",
                "libmariadb",
            ],
            "V",
        ),
        "when": "now",
        "minutes": 1.0,
        "pace": {"duration": 4.0},
        "absent": {},
        "extras": EXTRAS,
    }
    measured = {name: Measured(tuple(rounds)) for name, rounds in cases.items()}
    return Report(**{**values, **others}, measured=measured)


def all_cases(
    ours: Result, theirs: Result, *more: tuple[Result, Result]
) -> dict[str, list[Result]]:
    pairs = [(ours, theirs), *more]
    return {
        case.name: [pair[0] if case.name.startswith("ours") else pair[1] for pair in pairs]
        for case in CASES
    }


def row_of(beginning: str) -> Row:
    return next(row for row in ROWS if row.title.startswith(beginning))


# Compared with itself, or with a lower limit.
INNER = ("Unix socket", "`IN`", "…", "memory", "a find")


@pytest.mark.parametrize("row", [row for row in ROWS if not row.title.startswith(INNER)])
def test_twice_as_good_is_two(row: Row) -> None:
    better, worse = (
        result(rate=2.0, cpu=1.0, latency=1.0),
        result(rate=1.0, cpu=2.0, latency=2.0),
    )
    values = report_of(all_cases(better, worse)).values()
    assert values[row].value == pytest.approx(2.0)
    values = report_of(all_cases(worse, better)).values()
    assert values[row].value == pytest.approx(0.5)


@pytest.mark.parametrize("cache", ["redis", "redis rows", "valkey", "valkey rows", "memcached"])
@pytest.mark.parametrize("rows", ["hot", "random"])
def test_each_cache_is_compared_by_its_cpu_time(cache: str, rows: str) -> None:
    cases = all_cases(result(cpu=1.0), result(cpu=1.0))
    cases[f"{cache} {rows}"] = [result(cpu=3.0)]
    values = report_of(cases).values()
    (changed,) = [row for row, value in values.items() if value.value == pytest.approx(3.0)]
    assert ("hot rows" in changed.title) == (rows == "hot")
    assert ("HMGET" in changed.title) == ("rows" in cache)


def test_comparisons_with_oneself() -> None:
    cases = all_cases(result(), result())
    cases["ours unix"] = [result(rate=1.6)]
    # A request of 100 rows, for 50 times the CPU of a request of one.
    hundred = result(rate=1.0, cpu=50.0)
    cases["ours in"] = [Result(**{**vars(hundred), "rows": 100 * hundred.rows})]
    values = report_of(cases).values()
    assert values[row_of("Unix socket")].value == pytest.approx(1.6)
    assert values[row_of("`IN`")].value == pytest.approx(2.0)


def test_floors_and_the_echo() -> None:
    cases = all_cases(result(cpu=0.8, latency=30.0), result(cpu=0.1, latency=28.5))
    values = report_of(cases).values()
    floors = [value for row, value in values.items() if "floor + network" in row.title]
    assert [each.value for each in floors] == [pytest.approx(2.0)] * 4
    assert values[row_of("… above the echo")].value == pytest.approx(1.5)


def test_every_row_can_be_measured_by_the_cases_there_are() -> None:
    class Names(Mapping[str, Any]):
        def __init__(self, value: Any) -> None:
            self.value = value
            self.asked: set[str] = set()

        def __getitem__(self, name: str) -> Any:
            self.asked.add(name)
            return self.value

        def __iter__(self) -> Iterator[str]:
            return iter(())

        def __len__(self) -> int:
            return 0

    cases, extras = Names(result()), Names(1.0)
    for row in ROWS:
        row.measure(Figures(cases, extras))
    assert cases.asked <= {case.name for case in CASES}
    assert extras.asked <= set(EXTRAS)
    assert len({case.name for case in CASES}) == len(CASES)


def test_a_ratio_is_the_middle_one_of_the_rounds_ratios() -> None:
    cases = all_cases(
        result(rate=2.0),
        result(rate=1.0),
        (result(rate=9.0), result(rate=2.0)),
        (result(rate=3.0), result(rate=3.0)),
    )
    value = report_of(cases).values()[row_of("memcached, 100 × 1")]
    assert value.rounds == (2.0, 4.5, 1.0)
    assert value.value == 2.0  # and not 3 over 2, the ratio of the medians


def test_what_was_measured_once_has_no_span() -> None:
    cases = all_cases(result(), result(), (result(), result()))
    values = report_of(cases).values()
    assert values[row_of("memory")].rounds == (1.5,)
    assert values[row_of("… first byte")].rounds == (2.0, 6.0)
    assert values[row_of("… first byte")].value == 4.0


@pytest.mark.parametrize(
    ("bar", "aim", "unit", "value", "verdict"),
    [
        (2.0, 3.0, "", 1.99, "**missed**"),
        (2.0, 3.0, "", 2.0, "met"),
        (2.0, 3.0, "", 3.0, "target met"),
        (2.0, None, "", 9.0, "met"),
        (2.0, 1.0, "ms", 2.01, "**missed**"),
        (2.0, 1.0, "ms", 2.0, "met"),
        (2.0, 1.0, "ms", 1.0, "target met"),
        (None, 1.15, "×", 1.16, "target missed"),
        (None, 1.15, "×", 1.15, "target met"),
        (None, None, "", 5.0, ""),
    ],
)
def test_verdicts(
    bar: float | None, aim: float | None, unit: str, value: float, verdict: str
) -> None:
    assert Row("", lambda _: value, bar, aim, unit).verdict(value) == verdict


def test_the_table_says_what_is_left_out_and_why() -> None:
    cases = all_cases(result(), result())
    for name in [name for name in cases if name.startswith(("original", "redis"))]:
        del cases[name]
    text = report_of(cases, absent={"original": "no original here"}).goals()
    shown, _, left_out = text.partition("Left out:")
    assert "the original's over ours" not in shown
    assert (
        "100 × 1, 1,000,000 rows: server CPU a request, the original's over ours: no original"
        in left_out
    )
    assert "Redis, 16 × 100, 1,000 hot rows: the same: not run" in left_out
    assert "memcached, 100 × 1" in shown


def test_the_count_of_bars() -> None:
    # All ratios are 1. Of the rows with a required value, those up to 1 are met.
    text = report_of(all_cases(result(), result())).goals()
    with_bar = [row for row in ROWS if row.bar is not None]
    ones = [row for row in with_bar if not row.unit and row.bar is not None and row.bar <= 1]
    # Also these four: the idle connection's memory, and the find's growth, first byte and longest
    # wait.
    assert f"{len(ones) + 4} of {len(with_bar)} required values are met" in text


def test_servers_side_by_side() -> None:
    first = report_of(all_cases(result(rate=4.0), result()))
    cases = all_cases(result(rate=6.0), result())
    del cases["x unix"]
    second = report_of(cases, server="mysql-9.7")
    lines = against_sql([first, second]).splitlines()
    assert "mariadb-10.11" in lines[0] and "mysql-9.7" in lines[0]
    prepared = next(line for line in lines if "SQL prepared, 100 × 1" in line)
    assert [cell.strip() for cell in prepared.split("|")[2:5]] == ["3.5", "4.00", "6.00"]
    x = next(line for line in lines if "X plugin" in line)
    assert [cell.strip() for cell in x.split("|")[2:5]] == ["", "4.00", ""]


@pytest.mark.parametrize("best", ["plugin, 1 part", "plugin, 1 part, large pages"])
def test_the_ports_of_caches_clients_are_a_table(best: str) -> None:
    """A run has one of the two servers with the best settings, and the table one column for it."""
    ports = {
        work.title: {
            name: [result(rate=1000.0, cpu=2.0), result(rate=3000.0, cpu=1.0), result(rate=2000.0)]
            for name in ("plugin", best, *work.beside)
        }
        for work in WORKS
    }
    assert best in OURS
    assert len(ports) == len(WORKS), "each has a title of its own"
    lines = ports_table(from_json(json.loads(json.dumps(as_json(ports))))).splitlines()
    assert len(lines) == len(WORKS) + 2
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0][1:] == ["plugin", best, "Redis", "Valkey", "memcached"]
    assert cells[2] == ["`GET`, hot rows", *["1.00 (1.00–2.00)"] * 4, ""]
    assert cells[-1][1:] == [*["1.00 (1.00–2.00)"] * 2, "", "", "1.00 (1.00–2.00)"]
    for work, line in zip(WORKS, cells[2:], strict=True):
        assert bool(line[3]) == bool(line[4]) == work.protocol.startswith("redis")
        assert bool(line[5]) == work.protocol.startswith("memcached")
    assert ports_table({}) == "Not measured."


def test_a_report_comes_back_from_its_file(tmp_path: Path) -> None:
    report = report_of(all_cases(result(rate=2.0), result(), (result(rate=3.0), result())))
    data = {name: value for name, value in vars(report).items() if name != "measured"}
    data["cases"] = {name: each.as_json() for name, each in report.measured.items()}
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps(data))
    assert Report.read(path).appendix() == report.appendix()


def test_hs_bench_output() -> None:
    data = {
        "requests": 1000,
        "requests_per_second": 500.0,
        "rows": 900,
        "rows_per_second": 450.0,
        "client_cpu": {"us_per_request": 2.0},
        "server_cpu": {
            "user_seconds": 0.3,
            "system_seconds": 0.2,
            "user_us_per_request": 300.0,
            "system_us_per_request": 200.0,
        },
        "latency_us": {"p50": 1.0, "p99": 2.0, "p99.9": 3.0},
    }
    read = parse_result(data)
    assert (read.cpu, read.p999, read.rows_per_cpu_second) == (500.0, 3.0, 1800.0)
    assert read.busy == pytest.approx(0.25)
    del data["server_cpu"]
    with pytest.raises(BenchError):
        parse_result(data)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1234, "0.12"), (1.004, "1.00"), (12.34, "12.3"), (123.4, "123"), (-1.5, "-1.50")],
)
def test_digits(value: float, text: str) -> None:
    assert precise(value) == text


def test_spans() -> None:
    assert span([3.0, 1.0, 2.0]) == "1.00–3.00"
    assert span([1.0]) == ""


def test_a_median_and_its_ends() -> None:
    assert median_and_ends([3.0, 1.0, 1234.5]) == "3.00 (1.00–1,234)"
    assert median_and_ends([123.456], hundredths) == "123.46"


def test_new_requests_are_a_table(tmp_path: Path) -> None:
    """A ratio is that of two that ran side by side, not that of the medians."""
    measured = {
        case.title: {"ours": [10.0, 1.0, 6.0], "sql": [1.0, 1.0, 6.0]} for case in NEW_WRITES
    }
    measured |= {case.title: {"ours": [0.05], "sql": [0.1]} for case in COUNTS}
    path = tmp_path / "requests.json"
    path.write_text(json.dumps(measured))
    lines = new_requests_table(path).splitlines()[2:]
    assert len(lines) == len(NEW_WRITES) + len(COUNTS)
    assert lines[0].endswith("| 6 a second | 1 a second | 1.00 (1.00–10.00) | ≥ 10 |")
    assert lines[-1].endswith("| 50 ms | 100 ms | 0.50 | ≤ 1.2 |")


def test_a_polite_benchmark_runs_nothing_before_others(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "import os; print(os.nice(0))"]
    monkeypatch.delenv(POLITE, raising=False)
    assert before_others(command)[0] == "nice"
    # Without the privilege for it, the program runs all the same.
    assert subprocess.run(before_others(command), check=True, capture_output=True).stdout
    monkeypatch.setenv(POLITE, "1")
    assert before_others(command) == command


def test_documents(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("before\n<!-- a -->\nold\n<!-- /a -->\nafter\n")
    fill_document(document, "a", table(["x", "yy"], [["1", "2"]]))
    assert document.read_text() == (
        "before\n<!-- a -->\n| x | yy |\n|---|---|\n| 1 | 2 |\n<!-- /a -->\nafter\n"
    )
    with pytest.raises(BenchError):
        fill_document(document, "b", "text")


def test_samples_of_perf() -> None:
    text = (
        "    30.50%\t/x/handlersocket2.so    \t[.] hs::store()\n"
        "    20.00%\t[kernel.kallsyms]\t[k] tcp_sendmsg\n"
        "     5.00%\tmariadbd\t[.] 0x00000000007e0a2c\n"
        "no sample\n"
    )
    samples = parse_samples(text)
    assert [(each.share, each.group, each.symbol) for each in samples] == [
        (30.5, "plugin", "hs::store()"),
        (20.0, "kernel", "tcp_sendmsg"),
        (5.0, "server", "0x00000000007e0a2c"),
    ]


class Tens(Functions):
    """One function at each multiple of ten."""

    def __init__(self) -> None:
        pass

    def start_of(self, place: int) -> int | None:
        return place // 10 * 10 or None


def test_places_of_the_server_are_joined_by_function() -> None:
    samples = [
        Sample(3.0, "server", hex(21)),
        Sample(4.0, "server", hex(29)),
        Sample(2.0, "server", hex(30)),
        Sample(1.0, "server", hex(5)),
        Sample(0.5, "kernel", hex(22)),
        Sample(6.0, "server", "handler::read"),
    ]
    joined = {(each.group, each.symbol): each.share for each in by_function(samples, Tens())}
    assert joined == {
        ("server", "function at 0x14"): 7.0,
        ("server", "function at 0x1e"): 2.0,
        ("server", "0x5"): 1.0,
        ("kernel", "0x16"): 0.5,
        ("server", "handler::read"): 6.0,
    }


def test_functions_of_a_program() -> None:
    functions = Functions(SERVER_TREE / "root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
    starts = [functions.start_of(place) for place in range(0, 200_000, 500)]
    assert len({start for start in starts if start is not None}) > 50
    assert all(start is None or start <= 500 * i for i, start in enumerate(starts))


def test_a_file_that_is_no_program_has_no_functions(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("no program")
    assert Functions(path).start_of(1000) is None


def test_huge_pages_that_somebody_has_asked_for_are_not_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = tmp_path / "meminfo"
    memory.write_text(
        "MemTotal:       24737152 kB\nHugePages_Total:    1500\nHugePages_Free:     1200\n"
        "HugePages_Rsvd:      500\nHugePages_Surp:        0\nHugepagesize:       2048 kB\n"
    )
    monkeypatch.setattr(machine, "MEMORY", memory)
    assert machine.free_huge_pages() == 700 * 2048 * 1024
    assert machine.has_large_pages()
    memory.write_text(memory.read_text().replace("1200", "1199"))
    assert not machine.has_large_pages()
