"""A range of an index, which stands in the place of a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .codec import VALUE_TYPES, Value, encode_value


class Unset:
    """The type of what the caller did not give, where None means something."""


UNSET: Final = Unset()


@dataclass(frozen=True, kw_only=True)
class Range:
    """The rows that have the values of `key`, and whose next part lies between two ends.

    `gt` and `ge` are its lower end, `lt` and `le` its upper one; None is NULL. `prefix` is what the
    texts of that part begin with, in the place of ends. Without a key, ends and prefix it is the
    whole index. It goes up, or `down`.
    """

    key: Sequence[Value] | Value | Unset = UNSET
    gt: Value | Unset = UNSET
    ge: Value | Unset = UNSET
    lt: Value | Unset = UNSET
    le: Value | Unset = UNSET
    prefix: Value | Unset = UNSET
    down: bool = False

    @property
    def values(self) -> Sequence[Value]:
        """The values in front of the ends."""
        if isinstance(self.key, Unset):
            return ()
        return [self.key] if isinstance(self.key, VALUE_TYPES) else self.key

    @property
    def way(self) -> bytes:
        return b"down" if self.down else b"up"

    def ends(self) -> list[bytes]:
        """What is written behind the values."""
        some = any(end is not UNSET for end in (self.gt, self.ge, self.lt, self.le))
        if some and self.prefix is not UNSET:
            raise ValueError("a range has a prefix or ends, and not both")
        return [
            *_one_of(("gt", b">", self.gt), ("ge", b">=", self.ge)),
            *_one_of(("lt", b"<", self.lt), ("le", b"<=", self.le)),
            *([] if isinstance(self.prefix, Unset) else [b"^", encode_value(self.prefix)]),
        ]


def _one_of(*ends: tuple[str, bytes, Value | Unset]) -> list[bytes]:
    given = [(op, value) for _, op, value in ends if not isinstance(value, Unset)]
    if len(given) > 1:
        raise ValueError(f"a range has {' or '.join(name for name, _, _ in ends)}, and not both")
    return [token for op, value in given for token in (op, encode_value(value))]
