"""The bystander's table: which figures are in it, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from comparison.bystanders import (
    ALONE,
    KINDS,
    TITLES,
    Wait,
    Waits,
    as_json,
    bystander_table,
    from_json,
    pace_of,
    parse_waits,
)
from comparison.load import Pace
from comparison.report import Report
from test_comparison import all_cases, report_of, result


def stay(p50: float, fault: str = "") -> dict[str, Any]:
    latency = {"p50": p50, "p99": 2 * p50, "max": 3 * p50}
    return {"requests": 7, "fault": fault, "latency_us": latency}


def waits_of_two() -> Waits:
    alone = ALONE["find"]
    return {
        "all cores": {
            "ours": {
                alone: [Wait(100, 200, 300)],
                "filter": [Wait(1000, 9000, 5000), Wait(3000, 8000, 1e6), Wait(2000, 7000, 4e4)],
            },
            "redis": {alone: [Wait(50, 60, 70)]},
        },
        "one core": {"ours": {alone: [Wait(1.0, 2.0, 3.0)]}},
    }


def cells_of(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]


def test_what_hs_bench_wrote() -> None:
    data = {"alone": stay(10.0), "beside": {"filter": stay(20.0), "in": stay(1.0, "refused")}}
    waits = parse_waits(data, "find")
    # A load that was refused was no load.
    assert waits == {ALONE["find"]: Wait(10, 20, 30), "filter": Wait(20, 40, 60)}


def test_every_kind_has_a_title() -> None:
    assert set(TITLES) == {kind for kinds in KINDS.values() for kind in kinds}


def test_the_table() -> None:
    all_cores, one_core = (cells_of(each) for each in bystander_table(waits_of_two()).split("\n\n"))
    assert all_cores[0] == ["all cores: p50 / p99 / longest wait, ms", "ours", "redis"]
    by_title = {line[0]: line[1:] for line in all_cores[2:]}
    assert by_title["a lookup alone"] == ["0.10 / 0.20 / 0.30", "0.05 / 0.06 / 0.07"]
    # The median of each figure separately. The cell is empty if the peer has no such kind.
    assert by_title[TITLES["filter"]] == ["2.00 / 8.00 / 40.0", ""]
    assert len(by_title) == len(TITLES) + len(ALONE)
    assert one_core[0] == ["one core: p50 / p99 / longest wait, ms", "ours"]
    assert one_core[2] == ["a lookup alone", "0.00 / 0.00 / 0.00"]
    assert bystander_table({}) == "Not measured."


def test_a_report_keeps_them(tmp_path: Path) -> None:
    report = report_of(all_cases(result(), result()), bystanders=waits_of_two())
    data = {name: value for name, value in vars(report).items() if name != "measured"}
    data["cases"] = {name: each.as_json() for name, each in report.measured.items()}
    data["bystanders"] = as_json(report.bystanders)
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps(data))
    assert Report.read(path).bystanders == from_json(data["bystanders"]) == waits_of_two()
    assert "2.00 / 8.00 / 40.0" in Report.read(path).appendix()
    # A result that was written before there were bystanders.
    del data["bystanders"]
    path.write_text(json.dumps(data))
    assert Report.read(path).beside_greedy_clients() == "Not measured.\n"


def test_it_is_kept_short() -> None:
    assert pace_of(Pace(1.0, 4.0, 5)) == Pace(0.5, 2.0, 3)
    assert pace_of(Pace(0.2, 0.5, 2)).rounds == 2
