"""A request for a description, and the opening behind which it was sent. No I/O."""

from __future__ import annotations

from typing import Protocol

from .asks import DESCRIBE, Operation, Spec
from .decoders import description_decoder
from .descriptions import Description
from .errors import HandlerSocketError, ReplyError, same_error


class _Opening(Protocol):
    error: HandlerSocketError | None


class DescribeOperation(Operation[Description]):
    """`D`. What all columns are is settled when the index is opened, so that is done each time.

    If it cannot be opened again, the server describes what it was. Then the error is that of `P`.
    """

    __slots__ = ("_read_line", "opening")

    def __init__(self, spec: Spec) -> None:
        super().__init__("describe", spec, self._read, modifies=False)
        self.before = DESCRIBE
        #: That of this time, if it is one of all columns.
        self.opening: _Opening | None = None
        columns = None if spec.all_columns else spec.columns
        self._read_line = description_decoder(columns, spec.filter_columns)

    def _read(self, line: bytes, plain: bool) -> Description:
        described = self._read_line(line, plain)
        if self.opening is not None and isinstance(self.opening.error, ReplyError):
            raise same_error(self.opening.error)
        return described
