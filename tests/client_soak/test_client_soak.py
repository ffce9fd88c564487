"""The clients' soak, for some seconds, and that it finds what is wrong."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from server_instance import ServerInstance
from support.database import Sql

from client_soak.driver import Failure, Options, Run
from client_soak.faults import DATABASE
from client_soak.languages import LANGUAGES
from client_soak.ledger import Kept, Log, compare

SEED = int(os.environ.get("HS_SEED", "1"))
REPORT: dict[str, Any] = {
    "rows": [[0, 1, [[5, "five"]]], [0, 2, [None, [0, "new"]]], [0, 3, [[1, "a"], None]]],
    "log": [[0, 4, [1], [2]], [1, 1, [], []]],
    "joint": [[[1, 7, [3, "x"], [1, "x"]], [1, 8, [0, "y"], [2, "y"]], [1, 0]]],
}
KEPT: Kept = {(0, 1): (5, "five"), (0, 3): (1, "a"), (1, 7): (3, "x"), (1, 8): (0, "y")}
LOG: Log = Counter({(0, 0): 1, (0, 3): 1})


def test_what_may_be_is_not_found() -> None:
    assert list(compare(REPORT, KEPT, LOG)) == []
    done = {**KEPT, (0, 2): (0, "new"), (1, 7): (1, "x"), (1, 8): (2, "y")}
    del done[0, 3]
    assert list(compare(REPORT, done, LOG + Counter({(0, 2): 1, (1, 0): 1}))) == []


@pytest.mark.parametrize(
    ("kept", "log"),
    [
        ({(0, 1): (4, "five")}, {}),  # a lost write
        ({(0, 1): (6, "five")}, {}),  # one that was done twice
        ({(0, 1): (5, "Five")}, {}),
        ({(0, 2): (1, "new")}, {}),
        ({(0, 4): (0, "new")}, {}),  # nobody knows of it
        ({}, {(0, 0): 1}),  # there twice
        ({}, {(0, 0): -1}),  # lost
        ({}, {(0, 1): 1}),  # it was called safe to retry
        ({}, {(0, 2): 2}),
        ({}, {(0, 4): 1}),
        ({(1, 7): (1, "x")}, {}),  # half of a group
        ({(1, 7): (1, "x"), (1, 8): (2, "y")}, {}),
        ({}, {(1, 0): 1}),
    ],
)
def test_what_may_not_be_is_found(kept: Kept, log: dict[tuple[int, int], int]) -> None:
    changed = Counter(LOG)
    for place, times in log.items():
        changed[place] += times
    assert len(list(compare(REPORT, {**KEPT, **kept}, +changed))) == 1


@pytest.mark.timeout(600)
def test_every_client() -> None:
    run = Run(Options(20, SEED, list(LANGUAGES)))
    try:
        run.run()
        for program in run.programs:
            assert program.report is not None
            assert program.report["calls"] > 1000, run.summary()
            assert sum(program.report["errors"].values()) > 0, run.summary()
    except Failure as failure:
        pytest.fail(f"{failure}\n{run.summary()}")
    finally:
        run.clean_up()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.timeout(300)
def test_a_wrong_row_is_found(language: str) -> None:
    """A stranger writes, as a server that executes a write twice would."""

    def write(server: ServerInstance) -> None:
        with Sql(server.socket, DATABASE) as sql:
            sql.run("UPDATE kept SET n = n + 1")

    run = Run(Options(60, SEED, [language]), write)
    try:
        with pytest.raises(Failure, match="wrong caller"):
            run.run()
    finally:
        run.clean_up()
