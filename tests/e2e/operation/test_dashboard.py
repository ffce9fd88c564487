"""The Grafana dashboard: what it asks for, real Prometheus and mysqld_exporter find on a server.

No Grafana takes part. What its own form of a dashboard demands is checked on the file. How it looks
is for `make draw-dashboard` (tests/grafana/).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from handlersocket2 import Client
from server_instance import REPOSITORY, ServerInstance
from support.database import Database
from support.monitors import exporter_of, get, prometheus_of
from support_servers import wait_until

FILE = REPOSITORY / "tools/grafana/handlersocket.json"
DASHBOARD: dict[str, Any] = json.loads(FILE.read_text())
EXPRESSIONS = [
    (panel["title"], target["expr"])
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", ())
]
METRIC = re.compile(r"\bmysql_global_\w+")
COLUMNS = 24  # of a dashboard


@pytest.fixture(scope="module")
def exporter(server: ServerInstance) -> Iterator[int]:
    """The port of a mysqld_exporter that reads the shared server."""
    with exporter_of(server) as port:
        yield port


@pytest.fixture(scope="module")
def prometheus(exporter: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Prometheus that asks this exporter twice a second."""
    folder = tmp_path_factory.mktemp("prometheus")
    with prometheus_of({"server": exporter}, folder, "500ms") as port:
        yield port


def test_it_uses_only_metrics_of_the_exporter(exporter: int) -> None:
    there = set(METRIC.findall(get(exporter, "/metrics")))
    assert "mysql_global_status_handlersocket_requests_find" in there
    assert len(EXPRESSIONS) > 20
    used = {name for _, expression in EXPRESSIONS for name in METRIC.findall(expression)}
    (variable,) = [one for one in DASHBOARD["templating"]["list"] if one["type"] == "query"]
    used.update(METRIC.findall(variable["query"]["query"]))
    assert sorted(used - there) == []


def test_prometheus_answers_each_of_its_questions(prometheus: int, database: Database) -> None:
    """Under load, because a rate of nothing by nothing is nothing."""
    database.sql.run("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)")
    stop = threading.Event()

    def work() -> None:
        with database.writer() as writer, database.reader() as reader:
            write, read = (one.index(database.name, "t", ["v"]) for one in (writer, reader))
            number = 0
            while not stop.wait(0.01):
                number += 1
                read.find_one(1)
                write.find_one(1)
                write.update(1, [number])
                insert(writer, number)
                write.delete(number + 1)

    def insert(writer: Client, number: int) -> None:
        writer.index(database.name, "t", ["id", "v"]).insert([number + 1, 0])

    def ask(expression: str) -> list[Any]:
        asked = expression.replace("$__rate_interval", "5s").replace("$instance", ".+")
        answer = json.loads(get(prometheus, "/api/v1/query", query=asked))
        assert answer["status"] == "success", answer
        found: list[Any] = answer["data"]["result"]
        return found

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        finds = next(expr for title, expr in EXPRESSIONS if title == "Requests")

        def counts() -> bool:
            found = ask(finds)
            return bool(found) and float(found[0]["value"][1]) > 0

        wait_until(counts, "Prometheus knows a rate", 30)

        def silent() -> list[tuple[str, str]]:
            return [(title, expr) for title, expr in EXPRESSIONS if len(ask(expr)) != 1]

        # For a moment, one is silent if Prometheus was not answered in time.
        with suppress(AssertionError):
            wait_until(lambda: silent() == [], "each panel has a value")
        assert silent() == []
        percentiles = [expr for _, expr in EXPRESSIONS if "histogram_quantile" in expr]
        assert len(percentiles) == 5

        def times() -> list[float]:
            return [float(ask(expr)[0]["value"][1]) for expr in percentiles]

        with suppress(AssertionError):
            wait_until(lambda: all(0 < us <= 2097152 for us in times()), "each has a time", 10)
        assert all(0 < us <= 2097152 for us in times()), times()
    finally:
        stop.set()
        worker.join(20)
    assert not worker.is_alive()


def test_the_file_is_a_dashboard() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= COLUMNS
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
        if panel["type"] == "row":
            continue
        assert panel["type"] == "timeseries"
        assert panel["description"]
        # The strict reader of Grafana's own SDK demands it.
        assert "calcs" in panel["options"]["legend"]
        letters = [target["refId"] for target in panel["targets"]]
        assert len(set(letters)) == len(letters) > 0
        for one in [panel, *panel["targets"]]:
            assert one["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert [one["name"] for one in DASHBOARD["templating"]["list"]] == ["datasource", "instance"]
    assert all('{instance=~"$instance"}' in expression for _, expression in EXPRESSIONS)
