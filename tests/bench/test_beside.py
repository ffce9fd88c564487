"""hs-bench as the bystander, on the server itself: each greedy kind does what it is meant to do."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from comparison.bystanders import KINDS, REDIS_KINDS
from server_instance import REPOSITORY, ServerInstance, free_port
from support.database import Database
from support.servers import SERVER_TREE

HS_BENCH = REPOSITORY / "build" / SERVER_TREE.name / "bench" / "hs-bench"
NAME = "test_beside"
ROWS = 20_000


@pytest.fixture(autouse=True)
def _rows(database: Database) -> None:
    assert database.name == NAME
    database.sql.run(
        f"CREATE TABLE {NAME}.user (user_id INT UNSIGNED PRIMARY KEY,"
        " user_name VARCHAR(50), user_email VARCHAR(255), created DATETIME)",
        f"INSERT INTO {NAME}.user SELECT seq, CONCAT('user_', LPAD(seq, 7, '0')), 'an@address',"
        f" '2020-01-01' FROM seq_1_to_{ROWS}",
    )


def run(port: int, kinds: str, seconds: float, *more: str) -> subprocess.CompletedProcess[str]:
    command = [HS_BENCH, f"--port={port}", f"--database={NAME}", f"--keys={ROWS}", "--quiet"]
    command += ["--warm-up=0", f"--duration={seconds}", f"--beside={kinds}", *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)


def never_answered(port: int, kinds: str, *more: str) -> str:
    """The kinds beside which the light client had no answer, or the greedy ones that read replies.

    On a busy machine half a second may be too short for that. Then they get more time.
    """
    for seconds in (0.5, 5, 25):
        done = run(port, kinds, seconds, "--json=-", *more)
        assert done.returncode == 0, done.stdout + done.stderr
        seen: dict[str, Any] = json.loads(done.stdout)
        assert list(seen["beside"]) == kinds.split(",")
        missing = []
        for stay in (seen["alone"], *seen["beside"].values()):
            waits = stay["latency_us"]
            assert 0 < waits["p50"] <= waits["p99"] <= waits["max"]
            assert stay["errors"] == stay["lost_connections"] == 0
        for kind, stay in seen["beside"].items():
            greedy = stay["greedy"]
            assert greedy["errors"] == 0, seen
            if stay["requests"] == 0 or (greedy["requests"] == 0 and kind != "half"):
                missing.append(kind)
        kinds = ",".join(missing)
        if not kinds:
            break
    return kinds


def test_reads(server: ServerInstance) -> None:
    kinds = ",".join(KINDS["find"])
    assert never_answered(server.hs_port, kinds, "--check=user_{key:07}") == ""


def test_writes(server: ServerInstance) -> None:
    kinds = ",".join(KINDS["update"])
    assert never_answered(server.hs_port_wr, kinds, "--work=update") == ""


def test_writes_where_there_are_none(server: ServerInstance) -> None:
    done = run(server.hs_port, "updates", 0.2)
    assert done.returncode == 1
    assert "readonly" in done.stdout


def test_what_redis_can_do() -> None:
    """There is no server: a kind that is not refused gets as far as connecting."""
    for kind in (*KINDS["find"], *KINDS["update"]):
        done = run(free_port(), kind, 0.1, "--protocol=redis")
        assert done.returncode == 2
        assert ("cannot connect" in done.stderr) == (kind in REDIS_KINDS), done.stderr
