"""The Grafana dashboard, drawn with Grafana's own published components from a server under load.

`make draw-dashboard` runs it. `make test` does not, because it needs Chromium and the components;
hence the file's name. It leaves the picture in var/grafana/dashboard.png.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeServer
from server_instance import REPOSITORY
from support.monitors import exporter_of, get, prometheus_of
from support_load import Load

DASHBOARD: dict[str, Any] = json.loads(
    (REPOSITORY / "tools/grafana/handlersocket.json").read_text()
)
GRAPHS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
FOLDER = REPOSITORY / "var/grafana"
FONTS = Path("/usr/share/fonts/opentype/inter")
SERVER = "db1:9104"
SECONDS = int(os.environ.get("HS_DRAW_SECONDS", "60"))
# Seconds: how often Prometheus reads the exporter, how far the points of a graph are apart, and
# what a Grafana puts in place of $__rate_interval.
SCRAPE = 5
STEP = 5
RATE = max(STEP + SCRAPE, 4 * SCRAPE)
WIDTH = 1600
# Of Grafana's grid: a row with its gap, and what is above the first one.
ROW = 38
TOP = 60
PAGE = """<!doctype html>
<meta charset="utf-8">
<link rel="stylesheet" href="page.css">
<style>
  body {{ margin: 0; }}
  @font-face {{ font-family: Drawing; font-weight: 400; src: url({fonts}/Inter-Regular.otf); }}
  @font-face {{ font-family: Drawing; font-weight: 500; src: url({fonts}/Inter-Medium.otf); }}
</style>
<div id="root"></div>
<pre id="report" hidden></pre>
<script>window.GIVEN = {given};</script>
<script src="page.js"></script>
"""


@pytest.fixture
def prometheus(make_server: MakeServer, tmp_path: Path) -> Iterator[int]:
    """The port of a Prometheus that has watched a server under load for SECONDS."""
    server = make_server(handlersocket_max_waiting_bytes=16 << 20)
    with ExitStack() as stack:
        exporter = stack.enter_context(exporter_of(server))
        port = stack.enter_context(prometheus_of({SERVER: exporter}, tmp_path, f"{SCRAPE}s"))
        load = stack.enter_context(Load(server))
        time.sleep(SECONDS + RATE)
        assert load.failures == []
        yield port


def series(port: int, target: dict[str, Any], first: int, last: int) -> list[dict[str, Any]]:
    """What a Grafana makes of Prometheus's answer to one question of a panel."""
    query = target["expr"].replace("$__rate_interval", f"{RATE}s").replace("$instance", SERVER)
    asked = {"query": query, "start": str(first), "end": str(last), "step": str(STEP)}
    answer = json.loads(get(port, "/api/v1/query_range", **asked))
    assert answer["status"] == "success", answer
    return [
        {
            "name": legend(target, one["metric"]),
            "labels": one["metric"],
            "times": [int(at * 1000) for at, _ in one["values"]],
            "values": [float(value) for _, value in one["values"]],
        }
        for one in answer["data"]["result"]
    ]


def legend(target: dict[str, Any], labels: dict[str, str]) -> str:
    name: str = re.sub(r"{{(\w+)}}", lambda label: labels[label[1]], target["legendFormat"])
    return name


def chromium(profile: Path, page: Path, *options: str) -> str:
    height = TOP + ROW * max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in DASHBOARD["panels"])
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--window-size={WIDTH},{height}", f"--user-data-dir={profile}"]
    command += ["--virtual-time-budget=20000", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.timeout(SECONDS + 300)
def test_every_panel_is_drawn(prometheus: int, tmp_path: Path) -> None:
    last = int(time.time()) // STEP * STEP
    first = last - SECONDS
    answers = {
        f"{panel['id']} {target['refId']}": series(prometheus, target, first, last)
        for panel in GRAPHS
        for target in panel["targets"]
    }
    assert [question for question, found in answers.items() if len(found) != 1] == []

    heading = f"Server: {SERVER}, the last {SECONDS / 60:g} min"
    given: dict[str, Any] = {"dashboard": DASHBOARD, "answers": answers, "heading": heading}
    given |= {"from": first * 1000, "to": last * 1000, "step": STEP * 1000}
    page = FOLDER / "page.html"
    page.write_text(PAGE.format(fonts=FONTS.as_uri(), given=json.dumps(given)))
    shown = chromium(tmp_path / "profile", page, "--dump-dom")
    (text,) = re.findall(r'<pre id="report"[^>]*>(.*?)</pre>', shown)
    report = json.loads(html.unescape(text))
    assert report["problems"] == []
    for panel in GRAPHS:
        drawn = report["panels"][panel["title"]]
        assert drawn["pixels"] > 1000, panel["title"]
        names = [legend(target, {"instance": SERVER}) for target in panel["targets"]]
        assert drawn["legend"] == names
    picture = FOLDER / "dashboard.png"
    picture.unlink(missing_ok=True)
    chromium(tmp_path / "profile", page, f"--screenshot={picture}")
    assert picture.exists()
