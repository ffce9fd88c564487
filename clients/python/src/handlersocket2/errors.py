"""What can go wrong, as exceptions. Everything derives from HandlerSocketError."""

from __future__ import annotations

import re

from .error_words import IN_WORDS


class HandlerSocketError(Exception):
    """The root of this package's exceptions."""


class ReplyError(HandlerSocketError):
    """The server answered a request with an error.

    `code` is the reply's first token, `text` its text: a word such as
    ``stmtnum`` or ``readonly``, or an error number of the server in decimal.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)  # from these two it is unpickled
        self.code = code
        self.text = text

    def __str__(self) -> str:
        words = IN_WORDS.get(self.text)
        return f"{self.code} {self.text}: {words}" if words else f"{self.code} {self.text}"

    @property
    def number(self) -> int | None:
        """The error number of the storage engine (below 1000) or of the server, if it is one."""
        return int(self.text) if re.fullmatch("[0-9]+", self.text) else None


class DuplicateKeyError(ReplyError):
    """A row with the same unique key exists already."""


class LockError(ReplyError):
    """A lock was not to be had in time, or the transaction was a deadlock's victim: try again."""


class AuthenticationError(ReplyError):
    """The server wants a log-in, or does not accept this one."""


class ReadOnlyError(ReplyError):
    """A modification was sent to the port that only reads."""


class ProtocolError(HandlerSocketError):
    """The server sent bytes that are no reply. The connection is of no further use."""


class ConnectionLost(HandlerSocketError):
    """The connection could not be made, broke, or timed out.

    Whether the server has executed the requests that were under way is unknown, unless
    `nothing_sent` is true: then it has seen none of them.
    """

    def __init__(self, text: str, *, nothing_sent: bool = False) -> None:
        super().__init__(text)
        self.nothing_sent = nothing_sent


class ClosedError(HandlerSocketError):
    """The client was closed before this call. It stays closed."""


#: Wrong password; no account of this kind; an expired password (two numbers); a locked account (the
#: same).
_LOG_IN_NUMBERS = frozenset({"1045", "1698", "1820", "1862", "3118", "4151"})
_LOCK_NUMBERS = frozenset({"146", "149", "1205", "1213", "3101"})


def reply_error(code: int, text: str) -> ReplyError:
    """The most fitting exception for an error reply."""
    if code == 1 and text in ("121", "1062"):
        return DuplicateKeyError(code, text)
    if code == 1 and (text in _LOCK_NUMBERS or text == "lock_tables"):
        return LockError(code, text)
    if code == 3 or (code == 1 and text in _LOG_IN_NUMBERS):
        return AuthenticationError(code, text)
    if code == 2 and text == "readonly":
        return ReadOnlyError(code, text)
    return ReplyError(code, text)
