"""The arithmetic of `make bench-clients`: a wrong ratio is a defect, however it was measured."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from clients.aims import AIMS, Aim
from clients.measure import Result, run_program
from clients.programs import FOLDER, GO, LANGUAGES, pinned_versions
from clients.results import Results, cell
from comparison.places import BenchError
from server_instance import REPOSITORY

AIM = Aim(GO, 16, "ours", ("rueidis", "sql"), 1.1, "the best other")


def at(rate: float) -> Result:
    return Result(rate, p50=1.0, p99=20.0, server_cpu=1.5, client_cpu=12.5)


def rounds(*rates: float) -> list[Result]:
    return [at(rate) for rate in rates]


def test_a_ratio_is_that_of_one_round_to_the_best_other_of_this_round() -> None:
    measured = {
        ("ours", 16): rounds(120, 300, 90),
        ("rueidis", 16): rounds(100, 100, 30),
        ("sql", 16): rounds(10, 200, 60),
    }
    assert AIM.ratios(measured) == [1.2, 1.5, 1.5]
    line = AIM.line(measured)
    assert line is not None and line[3:] == ["1.1", "1.50", "1.20–1.50", "met"]


def test_an_aim_is_missed_below_it_and_absent_without_rounds() -> None:
    measured = {("ours", 16): rounds(109), ("rueidis", 16): rounds(100)}
    line = AIM.line(measured)
    assert line is not None and line[-1] == "**missed**"
    assert AIM.line({("ours", 16): rounds(109)}) is None
    assert AIM.line({}) is None


def test_every_aim_names_libraries_of_its_language() -> None:
    for aim in AIMS:
        names = {library.name for library in aim.language.libraries}
        assert {aim.ours, *aim.others} <= names and aim.others


def test_a_cell_has_medians() -> None:
    assert cell(rounds(1000, 123_456, 900_000)) == "123 · 1/20 · 1.5/12"
    assert cell(rounds(1_234_567)) == "1235 · 1/20 · 1.5/12"
    assert cell(None) == "–"


def test_results_survive_their_file(tmp_path: Path) -> None:
    results = Results({"a": 1}, {"go": {("ours", 16): rounds(5, 6)}}, {"go": "today"})
    results.write(tmp_path / "file")
    assert Results.read(tmp_path / "file") == results
    assert "| ours | 0.0055 · 1/20 · 1.5/12 |" in results.table_of("go")


def program(*lines: str) -> list[str]:
    return [sys.executable, "-c", "\n".join(["import time", *lines])]


def test_a_program_is_read_behind_its_begin() -> None:
    command = program(
        "print('warming up')",
        "print('begin', flush=True)",
        "end = time.process_time() + 0.1",
        "while time.process_time() < end: pass",
        'print(\'{"requests": 1000, "seconds": 0.5, "p50": 3, "p99": 4}\')',
    )
    result = run_program(command, seconds=1, server_pid=os.getpid(), environment=dict(os.environ))
    assert (result.rate, result.p50, result.p99) == (2000, 3, 4)
    assert 80 <= result.client_cpu <= 200


@pytest.mark.parametrize("last", ["raise ValueError('a wrong row')", "pass"])
def test_a_program_that_fails_is_an_error(last: str) -> None:
    command = program("print('begin', flush=True)", last)
    with pytest.raises(BenchError):
        run_program(command, seconds=1, server_pid=os.getpid(), environment=dict(os.environ))


def test_the_programs_know_every_library() -> None:
    sources = {
        "go": "go/clients.go",
        "java": "java/Clients.java",
        "node": "node/bench.mjs",
        "python": "python/bench.py",
    }
    for name, file in sources.items():
        text = (FOLDER / file).read_text()
        for library in LANGUAGES[name].libraries:
            quoted = rf"[\"'{{ ]{re.escape(library.name)}[\"'(:]"
            assert re.search(quoted, text), f"{file} has no {library.name}"


def test_every_library_is_pinned() -> None:
    versions = pinned_versions()
    assert len(versions) == 18, versions
    assert {name.partition(" ")[0] for name in versions} == set(LANGUAGES) - {"limits"}


def test_the_document_has_a_place_for_the_tables() -> None:
    text = (REPOSITORY / "docs" / "clients.md").read_text()
    assert "<!-- clients -->\n" in text and "<!-- /clients -->" in text
