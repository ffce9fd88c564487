"""The reply of a long find that was parked while its client did not read."""

from __future__ import annotations

from dataclasses import replace

from soak.model import Rows
from soak.requests import NO_LIMIT, Find, Request, Spec, split_rows
from soak.tables import ID, OWNER

#: A find whose client does not read is parked when it has collected so many bytes of rows.
LEAST_BYTES = 64 << 10
#: A row's columns as the index has opened them.
_Shown = tuple[bytes, ...]


def may_be_parked(request: Request, reply: bytes, spec: Spec) -> bool:
    """Whether the reply may be in pieces: only if it is large, or if the find looks at many rows.
    Then it gives its streamer to others now and then, whatever it has collected."""
    if not isinstance(request, Find) or request.modification or not spec.table.transactional:
        return False
    if request.count:
        return False  # own rows that are counted are few, and nobody's rows never change
    looks_at_many = spec.table.static_rows > 0 and request.search.op not in ("=", "up", "down")
    return looks_at_many or len(reply) >= LEAST_BYTES


class Parked:
    """One reply, compared with one state of the client's rows after another.

    A parked find gives its table back between two rows. It continues behind the last row, among the
    rows as they are then. So the reply consists of runs. Each run is in one state without a gap;
    the first begins where the find begins, and the last ends where the find ends.
    """

    def __init__(self, request: Find, reply: bytes, spec: Spec, owner: int) -> None:
        self._search = replace(request.search, index=spec.index, limit=NO_LIMIT, offset=0)
        self._offset = request.search.offset
        self._spec = spec
        found = split_rows(reply, spec)
        rows = found if isinstance(found, list) else []
        self._full = len(rows) == request.search.limit
        if request.others:
            rows = [row for row in rows if row[OWNER] == b"%d" % owner]
        self._rows = [tuple(row[column] for column in spec.columns) for row in rows]
        self._explained = 0
        self._last: list[_Shown] | None = None
        # In another index a row may move forward while the find is parked, and be found again
        # there.
        self._by_id = spec.index == "PRIMARY" and ID in spec.columns
        ids = [row[ID] for row in rows]
        self._twice = self._by_id and len(set(ids)) < len(ids)

    def fits(self, rows: Rows) -> bool:
        """Whether the reply may have ended in this state. Called for each state, in their order."""
        wanted = [
            tuple(row[column] for column in self._spec.columns) for row in rows.find(self._search)
        ]
        if wanted != self._last:
            self._last = wanted
            self._explained += self._longest_run(wanted)
        if self._explained < len(self._rows) or not self._rows or self._twice:
            return False
        end = len(wanted)
        return self._full or end in (self._places_after(self._rows[-1], wanted) or [end])

    def _places_after(self, row: _Shown, wanted: list[_Shown]) -> list[int]:
        """Where the find may continue in this state after a row; empty if nobody can know."""
        if self._by_id:
            at = self._spec.columns.index(ID)
            return [place + 1 for place, other in enumerate(wanted) if other[at] == row[at]]
        return [place + 1 for place, other in enumerate(wanted) if other == row]

    def _longest_run(self, wanted: list[_Shown]) -> int:
        """How many consecutive rows of the rest of the reply are consecutive in this state."""
        left = self._rows[self._explained :]
        if not left:
            return 0
        if self._explained == 0:
            begins = [self._offset]
        else:
            begins = self._places_after(self._rows[self._explained - 1], wanted)
            # Then only the row behind the gap can show it.
            begins = begins or [place for place, row in enumerate(wanted) if row == left[0]]
        longest = 0
        for begin in begins:
            run = 0
            while run < len(left) and wanted[begin + run : begin + run + 1] == [left[run]]:
                run += 1
            longest = max(longest, run)
        return longest
