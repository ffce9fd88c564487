"""A group as one request: its lines, and what their replies say together. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .asks import Ask, Operation, Spec
from .codec import decode_line, is_number
from .errors import DecodeError, HandlerSocketError, ProtocolError, ReplyError, same_error
from .results import WITH_TEXTS, error_of


class _Opening(Protocol):
    error: HandlerSocketError | None


class Openings:
    """The openings behind which a group was sent: the error of one is that of the group."""

    def __init__(self) -> None:
        #: By the places of the requests that need them.
        self.of_places: dict[int, _Opening] = {}

    @property
    def error(self) -> HandlerSocketError | None:
        for place, opening in self.of_places.items():
            if isinstance(opening.error, ReplyError):
                error = same_error(opening.error)
                error.line = place
                return error
        return None


class GroupOperation(Operation[list[Any]]):
    """A group. Its result is that of each request; a DecodeError stands in the place of one."""

    __slots__ = ("asks", "meets")

    def __init__(self, asks: Mapping[int, Ask[Any]], meets: Mapping[int, bytes]) -> None:
        """`asks` are those that are sent, by their places from 1 on; `meets` their conditions."""
        super().__init__("group", None, self._read, modifies=True)
        self.asks = asks
        self.meets = meets
        self.more = len(asks)

    def encode(self, numbers: Mapping[Spec | None, bytes]) -> bytes:
        """All lines, with the numbers of the indexes."""
        lines = [b"G\t%d\n" % len(self.asks)]
        for place, ask in self.asks.items():
            lines += self.meets.get(place, b""), numbers[ask.operation.spec], ask.line
        return b"".join(lines)

    def _read(self, reply: bytes, _: bool) -> list[Any]:
        first, *lines = reply.split(b"\n")
        if first == b"0\t1":
            return [self._result(ask, line) for ask, line in zip(self._all(), lines, strict=True)]
        head = decode_line(first)
        replies = [decode_line(line) for line in lines]
        # A server that does not know groups does the requests one by one.
        if head.code == 0 or any(each.code == 0 for each in replies):
            raise ProtocolError("the lines contradict each other: this is no group", sent=True)
        if head.values[:1] != (b"undone",):
            raise error_of(head)
        # Behind the text, or behind what the option `texts` adds to it.
        place = head.values[-1] if len(head.values) in (2, WITH_TEXTS + 1) else None
        if place is None or not is_number(place) or not 0 < int(place) <= len(replies):
            raise ProtocolError("the number of the request that has failed is missing", sent=True)
        error = error_of(replies[int(place) - 1])
        error.line = list(self.asks)[int(place) - 1]
        raise error

    def _all(self) -> list[Ask[Any]]:
        return list(self.asks.values())

    def _result(self, ask: Ask[Any], line: bytes) -> Any:
        try:
            return ask.operation.decode(line, b"\x01" not in line and b"\x00" not in line)
        except DecodeError as error:
            error.maybe_executed = any(each.operation.modifies for each in self._all())
            return error
        except ReplyError as error:
            raise ProtocolError("an error in a group that was done", sent=True) from error


def first_unread(results: Sequence[Any]) -> DecodeError | None:
    """The error of a group that was done, if one of its results does not fit the caller's types."""
    return next((each for each in results if isinstance(each, DecodeError)), None)
