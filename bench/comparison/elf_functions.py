"""Where the functions of a program without symbols begin.

A stripped program still has a table for exceptions, .eh_frame_hdr, with the sorted beginnings of
all functions.
"""

from __future__ import annotations

import bisect
import struct
from pathlib import Path

from elftools.common.exceptions import ELFError  # type: ignore[import-not-found,unused-ignore]
from elftools.elf.elffile import ELFFile  # type: ignore[import-not-found,unused-ignore]

# Version 1. The numbers have four bytes; the table's are relative to the header itself.
EXPECTED = (1, 0x1B, 0x03, 0x3B)


class Functions:
    def __init__(self, program: Path) -> None:
        """For any other kind of file it knows no functions."""
        self._starts: list[int] = []
        with program.open("rb") as file:
            try:
                self._read(ELFFile(file))
            except ELFError:
                return

    def _read(self, elf: ELFFile) -> None:
        # perf reports places in the file, the table has addresses in memory.
        loaded = [
            (segment["p_vaddr"], segment["p_filesz"], segment["p_offset"])
            for segment in elf.iter_segments("PT_LOAD")
        ]
        for segment in elf.iter_segments("PT_GNU_EH_FRAME"):
            data = segment.data()
            if tuple(data[:4]) != EXPECTED:
                continue
            (functions,) = struct.unpack_from("<I", data, 8)
            pairs = struct.unpack_from(f"<{2 * functions}i", data, 12)
            table = segment["p_vaddr"]
            self._starts += [
                table + start - memory + in_file
                for start in pairs[::2]
                for memory, length, in_file in loaded
                if memory <= table + start < memory + length
            ]
        self._starts.sort()

    def start_of(self, place: int) -> int | None:
        """The beginning of the function that contains this place. Both are places in the file."""
        index = bisect.bisect_right(self._starts, place)
        return self._starts[index - 1] if index else None
