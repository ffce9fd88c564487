"""What test files have built or installed once, below var/."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path


def build_once(folder: Path, sources: Sequence[Path], build: Callable[[], None]) -> None:
    """Builds into an empty folder, unless that was done with sources like these.

    Test files run beside each other, each in a process of its own: one of them builds, and the
    others wait for it.
    """
    state = "\n".join(source.read_text() for source in sources)
    stamp = folder / "built"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == state:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        build()
        stamp.write_text(state)
