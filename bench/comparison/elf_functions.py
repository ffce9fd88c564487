"""Where the functions of a program without symbols begin.

A stripped program still has a table for exceptions, .eh_frame_hdr, with the sorted beginnings of
all functions. This reads just enough of ELF (64 bits, little-endian) to find it.
"""

from __future__ import annotations

import bisect
import struct
from pathlib import Path

LOAD = 1
EH_FRAME_HEADER = 0x6474E550
# Version 1. The numbers have four bytes; the table's are relative to the header itself.
EXPECTED = (1, 0x1B, 0x03, 0x3B)


class Functions:
    def __init__(self, program: Path) -> None:
        """For any other kind of file it knows no functions."""
        self._starts: list[int] = []
        data = program.read_bytes()
        if data[:6] != b"\x7fELF\x02\x01":
            return
        (table,) = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
        # perf reports places in the file, the table has addresses in memory.
        segments = [
            (offset, address, length)
            for kind, _, offset, address, _, length in headers
            if kind == LOAD
        ]
        for kind, _, offset, address, _, _ in headers:
            if kind != EH_FRAME_HEADER or tuple(data[offset : offset + 4]) != EXPECTED:
                continue
            (functions,) = struct.unpack_from("<I", data, offset + 8)
            pairs = struct.unpack_from(f"<{2 * functions}i", data, offset + 12)
            for start in pairs[::2]:
                self._starts += [
                    address + start - memory + in_file
                    for in_file, memory, length in segments
                    if memory <= address + start < memory + length
                ]
        self._starts.sort()

    def start_of(self, place: int) -> int | None:
        """The beginning of the function that contains this place. Both are places in the file."""
        index = bisect.bisect_right(self._starts, place)
        return self._starts[index - 1] if index else None
