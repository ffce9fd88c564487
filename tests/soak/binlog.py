"""Reads binary log files for the Xids, the numbers by which recovery knows transactions."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

MAGIC = b"\xfebin"
HEADER = struct.Struct("<IBIII")  # time, type, server, size, next; two bytes of flags follow
HEADER_SIZE = 19
XID_EVENT = 16


def xids(path: Path) -> Iterator[tuple[int, int]]:
    """Position and Xid of each transaction. In a file that was cut short, reading stops there."""
    data = path.read_bytes()
    if data[:4] != MAGIC:
        return
    at = len(MAGIC)
    while at + HEADER_SIZE <= len(data):
        _, kind, _, size, _ = HEADER.unpack_from(data, at)
        if size < HEADER_SIZE or at + size > len(data):
            return
        if kind == XID_EVENT:
            yield at, struct.unpack_from("<Q", data, at + HEADER_SIZE)[0]
        at += size


def duplicate_xids(files: list[Path]) -> list[str]:
    """One line for each Xid that a file contains twice. A file belongs to one server process."""
    found = []
    for path in files:
        seen: dict[int, int] = {}
        for at, xid in xids(path):
            if xid in seen:
                found.append(f"{path.name}: Xid {xid} at {seen[xid]} and again at {at}")
            seen[xid] = at
    return found


def log_files(data_dir: Path) -> list[Path]:
    return sorted(path for path in data_dir.glob("binlog.[0-9]*"))
