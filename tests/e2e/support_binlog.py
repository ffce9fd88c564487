"""The row events of a server's binary log, as mariadb-binlog shows them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from server_instance import ServerInstance
from support.database import Sql

_HEAD = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) `([^`]+)`\.`([^`]+)`$")
_VALUE = re.compile(r"###   @(\d+)=(.*)$")

#: Column number, from 1, to the value as mariadb-binlog writes it.
Image = dict[int, str]


@dataclass
class RowEvent:
    """One changed row. What its images hold follows binlog_row_image."""

    kind: str
    database: str
    table: str
    before: Image = field(default_factory=dict)
    after: Image = field(default_factory=dict)


def begin_log(sql: Sql) -> None:
    """Forgets every event so far."""
    sql.run("RESET MASTER")


def row_events(server: ServerInstance, sql: Sql) -> list[RowEvent]:
    """Every row event since begin_log()."""
    sql.run("FLUSH BINARY LOGS")  # closes the file that was written to
    names = [(name or b"").decode() for name, *_ in sql.rows("SHOW BINARY LOGS")][:-1]
    tool = str(server.tree / "bin" / server.kind.binlog)
    files = [str(server.data_dir / name) for name in names]
    command = [tool, "--no-defaults", "--verbose", "--base64-output=decode-rows", *files]
    shown = subprocess.run(command, capture_output=True, check=True).stdout
    return list(_parse(shown.decode("utf-8", "backslashreplace")))


def _parse(shown: str) -> Iterator[RowEvent]:
    event: RowEvent | None = None
    image: Image = {}
    # Not splitlines(): a value may hold a character that Unicode takes for a line's end.
    for line in shown.split("\n"):
        if not line.startswith("### "):
            continue
        if head := _HEAD.match(line):
            if event is not None:
                yield event
            event = RowEvent(head[1].split()[0], head[2], head[3])
        elif event is not None and line == "### WHERE":
            image = event.before
        elif event is not None and line == "### SET":
            image = event.after
        elif value := _VALUE.match(line):
            image[int(value[1])] = value[2]
        else:
            raise ValueError(f"mariadb-binlog wrote {line!r}")
    if event is not None:
        yield event
