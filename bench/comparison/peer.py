"""What every server under test has in common."""

from __future__ import annotations

from typing import Protocol


class Peer(Protocol):
    """A running server under test."""

    name: str

    @property
    def pid(self) -> int: ...
    def read_options(self) -> list[str]:
        """How hs-bench reaches it to read."""
        ...

    def write_options(self) -> list[str]: ...
    def stop(self) -> None: ...
