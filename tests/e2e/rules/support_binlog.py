"""The row events of a server's binary log, as mariadb-binlog shows them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from server_instance import ServerInstance
from support.database import Sql

_HEAD = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) `([^`]+)`\.`([^`]+)`$")
_PARTITION = "### Extra row info for partitioning:"
_VALUE = re.compile(r"###   @(\d+)=(.*)$")

#: From the column number, counted from 1, to the value as mariadb-binlog prints it.
Image = dict[int, str]


@dataclass
class RowEvent:
    """One changed row. binlog_row_image decides what its images contain."""

    kind: str
    database: str
    table: str
    before: Image = field(default_factory=dict)
    after: Image = field(default_factory=dict)

    @property
    def is_cut_short(self) -> bool:
        """Whether the tool cannot show one of the values (MySQL's of type GEOMETRY)."""
        return any(
            "know how to handle" in value for value in (*self.before.values(), *self.after.values())
        )


def begin_log(sql: Sql) -> None:
    """Deletes every event so far."""
    sql.run("RESET MASTER")


def row_events(server: ServerInstance, sql: Sql, *, torn: bool = False) -> list[RowEvent]:
    """Every committed row event since begin_log().

    `torn`: the server was killed meanwhile. A file may then end in the middle of a transaction that
    recovery has rolled back, or even of an event.
    """
    sql.run("FLUSH BINARY LOGS")  # closes the present file
    names = [(name or b"").decode() for name, *_ in sql.rows("SHOW BINARY LOGS")][:-1]
    tool = str(server.tree / "bin" / server.kind.binlog)
    events: list[RowEvent] = []
    for name in names:
        command = [tool, "--no-defaults", "--verbose", "--base64-output=decode-rows"]
        command.append(str(server.data_dir / name))
        done = subprocess.run(command, capture_output=True, check=False)
        complaint = done.stderr.decode("utf-8", "backslashreplace")
        if done.returncode != 0 and not (torn and "Could not read entry" in complaint):
            raise ValueError(f"{tool} on {name}: {complaint}")
        shown = done.stdout.decode("utf-8", "backslashreplace")
        for transaction, committed in _transactions(shown):
            if not committed and not torn:
                raise ValueError(f"{name} ends in the middle of a transaction")
            if committed:
                events += _parse(transaction)
    return events


def _transactions(shown: str) -> Iterator[tuple[list[str], bool]]:
    """For each transaction, the lines about rows, and whether it was committed."""
    lines: list[str] = []
    # Not splitlines(): a value may contain a character that is a line's end in Unicode.
    for line in shown.split("\n"):
        if line.startswith("### "):
            lines.append(line)
        elif line.startswith("COMMIT"):
            yield lines, True
            lines = []
    if lines:
        yield lines, False


def _parse(lines: list[str]) -> Iterator[RowEvent]:
    event: RowEvent | None = None
    image: Image = {}
    for line in lines:
        if head := _HEAD.match(line):
            if event is not None:
                yield event
            event = RowEvent(head[1].split()[0], head[2], head[3])
        elif event is not None and line == "### WHERE":
            image = event.before
        elif event is not None and line == "### SET":
            image = event.after
        elif line.startswith(_PARTITION):
            continue  # of MySQL; what a row event says about its partition is not compared
        elif value := _VALUE.match(line):
            image[int(value[1])] = value[2]
        else:
            raise ValueError(f"no line of a row event: {line!r}")
    if event is not None:
        yield event
