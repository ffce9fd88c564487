"""What a caller of the clients' soak knows of its rows, for the report at the end."""

from __future__ import annotations

from typing import Any

# What a row may be: its n and its text, or None if it is not there.
State = tuple[int, str] | None


class Book:
    """The rows of one caller in `kept`, and its numbers in `log`, as README.md reports them."""

    def __init__(self, caller: int) -> None:
        self._caller = caller
        self.live: dict[int, tuple[int, str]] = {}
        # Rows that are known not to be there.
        self.absent: set[int] = set()
        self._unsure: dict[int, list[State]] = {}
        self._joint: list[list[Any]] = []
        self._next = 0
        self._log_tries = 0
        self._log_absent: list[int] = []
        self._log_unsure: list[int] = []

    def new_number(self) -> int:
        self._next += 1
        return self._next - 1

    @property
    def unused_number(self) -> int:
        return self._next + 1000

    def set(self, number: int, state: State) -> None:
        """The row is so, for sure."""
        if state is None:
            self.live.pop(number, None)
            self.absent.add(number)
        else:
            self.live[number] = state

    def doubt(self, number: int, before: State, after: State) -> None:
        """The row may be one or the other, and stays out of use."""
        self.live.pop(number, None)
        self._unsure[number] = [before, after]

    def doubt_all(self, after: dict[int, State], log_number: int) -> None:
        """A group that has been executed as a whole or not at all."""
        rows = [[self._caller, each, self.live.pop(each), state] for each, state in after.items()]
        self._joint.append([*rows, [self._caller, log_number]])

    def new_log_number(self) -> int:
        self._log_tries += 1
        return self._log_tries - 1

    def log_failed(self, number: int, is_undone: bool) -> None:
        (self._log_absent if is_undone else self._log_unsure).append(number)

    def rows(self) -> list[Any]:
        live = [[self._caller, number, [state]] for number, state in self.live.items()]
        return live + [[self._caller, number, states] for number, states in self._unsure.items()]

    def log(self) -> list[Any]:
        return [self._caller, self._log_tries, self._log_absent, self._log_unsure]

    def joint(self) -> list[Any]:
        return self._joint
