"""Random tables, random requests: every answer is what SQL says, and all tables end equal.

The hunt tries HS_DIFF_CASES cases. So it tries the same ones on a fast machine and on a slow one.
With HS_DIFF_SECONDS it goes on for so long instead. HS_SEED is the seed of the first case. With it
a failed case can be run again, because it is then the first one.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_instance import ServerInstance, Setting
from support.servers import KIND, ON_MYSQL
from support_random_hunt import Hunt
from support_random_shrinking import shrink, told
from support_servers import running_server

SECONDS = float(os.environ.get("HS_DIFF_SECONDS") or 0)
CASES = int(os.environ.get("HS_DIFF_CASES") or 120)
SEED = os.environ.get("HS_SEED")
#: The time to reduce a case that failed.
SHRINKING = 40.0
#: What a hunt must have met, or it has shown nothing. If it has not, it goes on.
FEWEST = {
    "requests": 1000, "found": 20, "found nothing": 20, "modified": 5, "failed": 1, "counted": 20,
    "ranges": 20, "prefixes": 5,
}  # fmt: skip
MOST_CASES = 10 * CASES
#: A bound for a machine that is very slow or stands still. It is no verdict about the cases.
LONGEST = 3600.0


@pytest.fixture
def hunting_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """Two workers for each port, so that connections share passes, and passes run side by side."""
    settings: dict[str, Setting] = {"handlersocket_threads": 2, "handlersocket_threads_wr": 2}
    if ON_MYSQL:
        settings |= {"handlersocket_prefetch": "ON", "innodb_adaptive_hash_index": "ON"}
    with running_server(data_root, watch, **KIND.volatile, **settings) as server:
        yield server


@pytest.mark.timeout(SECONDS + LONGEST)
def test_sql_agrees(hunting_server: ServerInstance) -> None:
    first = int(SEED) if SEED else random.SystemRandom().randrange(1 << 32)
    hunt = Hunt(hunting_server)
    seed = first
    for seed in _seeds(first, hunt):
        print(f"HS_SEED={seed}")  # for a case that makes the test itself fail
        case = hunt.make(seed)
        difference = hunt.run(case)
        if difference is not None:
            small, difference = shrink(case, difference, hunt.run, SHRINKING)
            pytest.fail(f"HS_SEED={seed} shows it again\n{told(small, difference)}", pytrace=False)
    hunt.close()
    done = f"{seed - first + 1} cases from HS_SEED={first} on: {dict(hunt.counts)}"
    print(done)
    assert _has_shown_something(hunt), done


def _seeds(first: int, hunt: Hunt) -> Iterator[int]:
    """The seeds to try, by their number or, with HS_DIFF_SECONDS, by the time."""
    end = time.monotonic() + SECONDS
    for number in itertools.count():
        is_enough = time.monotonic() >= end if SECONDS else number >= CASES
        if is_enough and (_has_shown_something(hunt) or number >= MOST_CASES):
            return
        yield first + number


def _has_shown_something(hunt: Hunt) -> bool:
    return all(hunt.counts[what] >= fewest for what, fewest in FEWEST.items())
