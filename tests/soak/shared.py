"""How the processes of a run exchange information: words in shared memory, and files.

The parent owns it and makes it before it forks. No process ever waits for a lock here.
"""

from __future__ import annotations

import ctypes
import enum
import multiprocessing
import os
import signal
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
FOREVER = 1e18
AFTERMATH = 2.0  # seconds
RIGHTS = 64  # of an account: two for each table


class Phase(enum.IntEnum):
    RUN = 0
    DRAIN = 1  # finish the present work, then wait
    KILLED = 2  # the server was ended: connections may end at any place
    CHECK = 3  # compare every table with its model
    STOP = 4


class State(enum.IntEnum):
    BUSY = 0
    WAITING = 1
    CHECKED = 2


class Disturbance(enum.IntEnum):
    """What may make a request fail that would succeed otherwise."""

    TABLE_LOCK = 0  # DDL, LOCK TABLES, FLUSH TABLES
    ROW_LOCK = 1
    KILL = 2
    RIGHTS = 3  # an account loses rights and gets them back


class Shared:
    def __init__(self, folder: Path, clients: int, patience: float) -> None:
        self.folder = folder
        self.patience = patience  # so many seconds without progress are a hang
        self._phase = multiprocessing.RawValue("i", Phase.DRAIN)
        self._generation = multiprocessing.RawValue("i", 0)
        self._states = multiprocessing.RawArray("i", [State.WAITING] * clients)
        self._progress = multiprocessing.RawArray("d", [time.monotonic()] * clients)
        self._until = multiprocessing.RawArray("d", len(Disturbance))
        self._server_pid = multiprocessing.RawValue("i", 0)
        self._restarted = multiprocessing.RawValue("b", 0)
        self._missing_since = multiprocessing.RawArray("d", [FOREVER] * (clients * RIGHTS))
        self._closed_at = multiprocessing.RawArray("d", 1 << 16)  # by the client's port

    @property
    def phase(self) -> Phase:
        return Phase(self._phase.value)

    @phase.setter
    def phase(self, phase: Phase) -> None:
        if phase in (Phase.CHECK, Phase.RUN):
            for client in range(len(self._states)):
                self._states[client] = State.BUSY
                self._progress[client] = time.monotonic()
        self._phase.value = phase

    @property
    def server_pid(self) -> int:
        return int(self._server_pid.value)

    @server_pid.setter
    def server_pid(self, pid: int) -> None:
        self._server_pid.value = pid

    @property
    def server_restarted(self) -> bool:
        """Whether the server was killed in this round and another process has been started."""
        return bool(self._restarted.value)

    @server_restarted.setter
    def server_restarted(self, restarted: bool) -> None:
        self._restarted.value = int(restarted)

    def report(self, client: int, state: State) -> None:
        self._states[client] = state
        self._progress[client] = time.monotonic()

    def all_are(self, state: State) -> bool:
        return all(value == state for value in self._states)

    def stalled(self) -> list[int]:
        """The clients without progress for so long that they should have reported it."""
        limit = time.monotonic() - 3 * self.patience
        return [
            client
            for client, state in enumerate(self._states)
            if state == State.BUSY and self._progress[client] < limit
        ]

    def begin(self, kind: Disturbance) -> None:
        self._until[kind] = FOREVER

    def end(self, kind: Disturbance) -> None:
        """A request that waited meanwhile may get its reply a little later."""
        self._until[kind] = time.monotonic() + AFTERMATH

    def disturbed(self, kind: Disturbance, since: float) -> bool:
        """Whether there was such a disturbance at `since` or later."""
        return bool(self._until[kind] >= since)

    def note_missing(self, client: int, right: int) -> None:
        """The client's account has just lost this right."""
        self._missing_since[client * RIGHTS + right] = time.monotonic()

    def note_given_back(self, client: int, right: int) -> None:
        """The client's account is about to get this right back."""
        self._missing_since[client * RIGHTS + right] = FOREVER

    def is_missing(self, client: int, right: int, since: float) -> bool:
        """Whether the account has not had this right at any time from `since` until now."""
        return bool(self._missing_since[client * RIGHTS + right] <= since)

    def note_closed(self, port: int) -> None:
        """The connection from this port is about to be closed by SQL."""
        self._closed_at[port] = time.monotonic()

    def was_closed(self, port: int, since: float) -> bool:
        return bool(self._closed_at[port] >= since)

    def fail(self, who: str, text: str) -> None:
        """Keeps the first failure of each process. The parent looks for them."""
        path = self.folder / f"failure-{who}.txt"
        if not path.exists():
            partial = path.with_suffix(".partial")
            partial.write_text(text, errors="backslashreplace")
            partial.rename(path)

    def failures(self) -> list[Path]:
        return sorted(self.folder.glob("failure-*.txt"), key=lambda path: path.stat().st_mtime)


def die_with_parent(parent: int) -> None:
    """A child calls this first: it ends when its parent ends, for whatever reason."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
