"""scenarios.json is written as README.md says. The clients' own tests play it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
SCENARIOS = json.loads((HERE / "scenarios.json").read_text())
SCRIPT_STEPS = {
    "expect": str,
    "send": str,
    "quiet_ms": int,
    "close": bool,
    "reset": bool,
    "expect_end": bool,
    "stop_reading": bool,
    "signal": str,
    "await": str,
}
WITH_SEND = {"pieces", "every_ms", "cut"}
LAST = ("reset", "stop_reading")
LISTS = {"databases", "tables", "indexes"}
REQUESTS = {"find", "insert", "insert_rows", "describe", "hello", "ping"} | LISTS
STEPS = {
    "call",
    "result",
    "cancel",
    "pipeline",
    "group",
    "iterate",
    "close",
    "pause_ms",
    "signal",
    "await",
}
BESIDE = {"gives", "timeout_ms", "server_ms", "take", "signal_after_first"}
RESULTS = {"rows", "modified", "id", "count", "exists", "outcomes", "described", "pairs", "error"}
RESULTS |= {"names", "listed", "pong"}
BESIDE_ERROR = {
    "line",
    "sent",
    "maybe_executed",
    "code",
    "text",
    "kind",
    "number",
    "sqlstate",
    "message",
    "after_ms",
    "within_ms",
}

every_scenario = pytest.mark.parametrize(
    "scenario", [pytest.param(scenario, id=scenario["name"]) for scenario in SCENARIOS]
)


def scripts(scenario: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return [
        script
        for server in scenario["servers"]
        for port in ("read", "write")
        for script in server.get(port) or []
    ]


def page(name: str) -> str:
    return (HERE.parent.parent / name).read_text()


@every_scenario
def test_its_scripts(scenario: dict[str, Any]) -> None:
    assert set(scenario) <= {"name", "why", "needs", "options", "cuts", "servers", "steps"}
    assert scenario["why"]
    for script in scripts(scenario):
        for step in script:
            (kind,) = set(step) & set(SCRIPT_STEPS)
            assert isinstance(step[kind], SCRIPT_STEPS[kind])
            assert set(step) - {kind} <= (WITH_SEND if kind == "send" else set())
            for text in (step[kind],) if kind in ("expect", "send") else ():
                text.encode("latin-1")
            assert not (kind in LAST and step is not script[-1])
    sends_cut = [step for script in scripts(scenario) for step in script if step.get("cut")]
    assert len(sends_cut) == (1 if "cuts" in scenario else 0)


@every_scenario
def test_its_steps(scenario: dict[str, Any]) -> None:
    begun: set[str] = set()
    for step in scenario["steps"]:
        assert set(step) <= STEPS | REQUESTS | BESIDE
        assert len(set(step) & (STEPS - {"call"} | REQUESTS)) == 1
        if "call" in step:
            begun.add(step["call"])
        for name in {step.get("result"), step.get("cancel")} - {None}:
            assert name in begun
        gives = step.get("gives", [])
        for result in gives if isinstance(gives, list) else [gives]:
            assert set(result) & RESULTS and set(result) <= RESULTS | BESIDE_ERROR
    given = [step["signal"] for script in scripts(scenario) for step in script if "signal" in step]
    for step in scenario["steps"]:
        given += [step[key] for key in ("signal", "signal_after_first") if key in step]
    awaited = {
        step["await"]
        for steps in (*scripts(scenario), scenario["steps"])
        for step in steps
        if "await" in step
    }
    assert awaited <= set(given) and len(given) == len(set(given))


def test_its_words_are_those_of_the_specification() -> None:
    specification = page("clients/README.md")
    options = {option for scenario in SCENARIOS for option in scenario.get("options", {})}
    named = {option.removesuffix("_ms") for option in options}
    assert {option for option in named if f"`{option}`" not in specification} == set()
    kinds = set(re.findall(r"`(\w+)`", specification))
    for scenario in SCENARIOS:
        for step in scenario["steps"]:
            gives = step.get("gives", [])
            for result in gives if isinstance(gives, list) else [gives]:
                error = result.get("error", [])
                assert {error} if isinstance(error, str) else set(error) <= kinds


def test_names_are_different_and_the_format_is_explained() -> None:
    names = [scenario["name"] for scenario in SCENARIOS]
    assert len(names) == len(set(names))
    explained = page("tests/vectors/README.md")
    words = set(SCRIPT_STEPS) | WITH_SEND | STEPS | REQUESTS | BESIDE | RESULTS | BESIDE_ERROR
    assert {word for word in words if not re.search(rf'[`"]{word}[`"]', explained)} == set()
