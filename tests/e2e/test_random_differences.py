"""Random tables, random requests: every answer is what SQL says, and all tables end equal.

HS_DIFF_SECONDS is how long the hunt takes. HS_SEED is the seed of the first case. With it a failed
case can be run again, because it is then the first one.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from random_hunt import Hunt
from random_shrinking import shrink, told
from server_instance import ServerInstance
from support.servers import KIND
from support_servers import running_server

SECONDS = float(os.environ.get("HS_DIFF_SECONDS") or 30)
SEED = os.environ.get("HS_SEED")
#: The time to reduce a case that failed.
SHRINKING = 40.0
#: What a hunt must have met, or it has shown nothing. On a busy machine it gets more time.
FEWEST = {"requests": 1000, "found": 20, "found nothing": 20, "modified": 5, "failed": 1}
EXTRA = 120.0


@pytest.fixture
def hunting_server(data_root: Path, watch: Any) -> Iterator[ServerInstance]:
    """Two workers for each port, so that connections share passes, and passes run side by side."""
    settings = {"handlersocket_threads": 2, "handlersocket_threads_wr": 2}
    with running_server(data_root, watch, **KIND.volatile, **settings) as server:
        yield server


@pytest.mark.timeout(SECONDS + EXTRA + SHRINKING + 240)
def test_sql_agrees(hunting_server: ServerInstance) -> None:
    first = int(SEED) if SEED else random.SystemRandom().randrange(1 << 32)
    hunt = Hunt(hunting_server)
    begun = time.monotonic()
    seed = first
    while (spent := time.monotonic() - begun) < SECONDS + EXTRA:
        if spent >= SECONDS and _has_shown_something(hunt):
            break
        print(f"HS_SEED={seed}")  # for a case that makes the test itself fail
        case = hunt.make(seed)
        difference = hunt.run(case)
        if difference is not None:
            small, difference = shrink(case, difference, hunt.run, SHRINKING)
            pytest.fail(f"HS_SEED={seed} shows it again\n{told(small, difference)}", pytrace=False)
        seed += 1
    hunt.close()
    print(f"{seed - first} cases from HS_SEED={first} on: {dict(hunt.counts)}")
    assert _has_shown_something(hunt), f"in {spent:.0f} s only {dict(hunt.counts)}"


def _has_shown_something(hunt: Hunt) -> bool:
    return all(hunt.counts[what] >= fewest for what, fewest in FEWEST.items())
