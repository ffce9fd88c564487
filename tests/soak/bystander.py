"""A process of its own that works beside the clients of a run, and looks now and then at its rows.

It is the only one that uses these rows. What it expects of them holds whatever happens to the
server or to a connection, so it needs no pause.
"""

from __future__ import annotations

import collections
import json
import os
import random
import time
import traceback
from abc import ABC, abstractmethod
from pathlib import Path

import pymysql.err
from support.database import Sql

from soak.shared import Phase, Shared, die_with_parent
from soak.tables import DATABASE

LOOK_AFTER = 0.5  # seconds


class Bystander(ABC):
    name: str

    def __init__(self, server: Path, port: int, shared: Shared, seed: int) -> None:
        self._server = server
        self._port = port
        self._shared = shared
        self._rng = random.Random(f"{seed}/{self.name}")
        self._tally: collections.Counter[str] = collections.Counter()

    @abstractmethod
    def work(self, sql: Sql) -> None:
        """A moment of it."""

    @abstractmethod
    def check(self, sql: Sql) -> None:
        """Compares the tables with what is known."""

    def run(self) -> None:
        while self._shared.phase != Phase.STOP:
            if self._shared.phase != Phase.RUN:
                time.sleep(0.01)
                continue
            try:
                with Sql(self._server, DATABASE) as sql:
                    look_at = 0.0
                    while self._shared.phase == Phase.RUN:
                        if time.monotonic() >= look_at:
                            self.check(sql)
                            look_at = time.monotonic() + LOOK_AFTER
                        self.work(sql)
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError, ConnectionError):
                time.sleep(0.2)  # the server may be killed at this moment, or has closed it
            finally:
                path = self._shared.folder / f"tally-{self.name}.json"
                path.write_text(json.dumps(self._tally))


def run_bystander(parent: int, bystander: Bystander, shared: Shared) -> None:
    """The whole life of the process."""
    die_with_parent(parent)
    try:
        bystander.run()
    except BaseException:  # noqa: BLE001  # whatever it is, the parent reports it
        shared.fail(bystander.name, traceback.format_exc())
        os._exit(1)
    os._exit(0)
