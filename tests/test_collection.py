"""Every test file is run, and every skipped test says why."""

from __future__ import annotations

import configparser
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.scripts import DEFAULT_SIGNALS
from support.servers import SERVER_TREE, needs_valgrind
from support.short_choice import is_chosen

TESTS = Path(__file__).resolve().parent


def test_every_test_file_is_below_a_folder_that_is_run() -> None:
    settings = configparser.ConfigParser()
    settings.read(TESTS / "pytest.ini")
    run = [(TESTS / path).resolve() for path in settings["pytest"]["testpaths"].split()]
    assert [str(path) for path in run if not path.exists()] == []
    left_out = [
        str(path.relative_to(TESTS))
        for path in sorted(TESTS.rglob("test_*.py"))
        if not any(path == folder or folder in path.parents for folder in run)
    ]
    assert left_out == []


def test_end_to_end_tests_lie_in_folders() -> None:
    """One for each subject. Their helpers have names that tell them from tests."""
    folder = TESTS / "e2e"
    assert [path.name for path in folder.glob("*.py")] == ["support_servers.py"]
    named = [path.name for path in folder.glob("*/*.py")]
    assert [name for name in named if not name.startswith(("test_", "support_"))] == []


def test_every_skip_has_a_reason(request: pytest.FixtureRequest) -> None:
    unexplained = [
        item.nodeid
        for item in request.session.items
        for marker in item.iter_markers()
        if marker.name in ("skip", "skipif", "xfail") and not marker.kwargs.get("reason")
    ]
    assert unexplained == []


def test_what_gets_signals_is_started_with_their_defaults() -> None:
    """Signals may be ignored where the tests were started: by a script's `&`, or by nohup."""
    told = "from signal import *; print(int(getsignal(SIGTERM)), int(getsignal(SIGHUP)))"
    signals = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(each, signal.SIG_IGN) for each in signals]
    try:
        program = [*DEFAULT_SIGNALS, sys.executable, "-c", told]
        seen = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)
    assert seen == [str(int(signal.SIG_DFL))] * 2

    sends = re.compile(r"\.(send_signal|terminate)\(|\bos\.kill(pg)?\([^)]*SIG(INT|TERM|HUP|QUIT)")
    # A database server sets what it does at a signal itself.
    of_servers = {"e2e/operation/test_life_cycle.py"}
    careless = [
        name
        for path in sorted(TESTS.rglob("*.py"))
        if (name := str(path.relative_to(TESTS))) not in of_servers
        and sends.search(text := path.read_text())
        and "DEFAULT_SIGNALS" not in text
    ]
    assert careless == []


@pytest.mark.skipif(
    SERVER_TREE.name != "mariadb-10.11", reason="other servers need not run what that one runs"
)
def test_what_mariadb_skips_is_in_the_short_choice(request: pytest.FixtureRequest) -> None:
    """`make test` runs all tests on MariaDB 10.11 alone, and the short choice on the others."""
    run_nowhere = [
        item.nodeid
        for item in request.session.items
        if not is_chosen(item.nodeid)
        and any(
            marker.args[0] and marker != needs_valgrind.mark
            for marker in item.iter_markers("skipif")
        )
    ]
    assert run_nowhere == []
