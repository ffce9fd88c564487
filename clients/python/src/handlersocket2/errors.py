"""What can go wrong, as exceptions. Everything derives from HandlerSocketError."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from .error_table import MEANINGS, Category, Meaning, Retry

ErrorKind: TypeAlias = Literal[
    "usage",
    "reply",
    "lost",
    "connect",
    "log_in",
    "timeout",
    "cancelled",
    "busy",
    "protocol",
    "closed",
    "decode",
]


class HandlerSocketError(Exception):
    """The root of this package's exceptions.

    `sent` says that the server can have seen the request. `maybe_executed` says that the request
    modifies, was sent, and that nobody knows whether it was executed, or that it was executed and
    its result cannot be read.
    """

    _kind: ClassVar[ErrorKind] = "usage"

    def __init__(self, *args: Any, sent: bool = False, maybe_executed: bool = False) -> None:
        super().__init__(*args)
        self.sent = sent
        self.maybe_executed = maybe_executed

    @property
    def kind(self) -> ErrorKind:
        """What clients in all languages call this kind of error, and hooks and metrics are told."""
        return self._kind

    @property
    def safe_to_retry(self) -> bool:
        """Whether the same call again cannot do the same thing twice."""
        return not self.maybe_executed


class Told(NamedTuple):
    """What the server tells of an error with the option `texts`."""

    number: int
    sqlstate: str
    message: str


class ReplyError(HandlerSocketError):
    """The server answered a request with an error.

    `code` is the reply's first token, `text` its text: a word such as
    ``stmtnum`` or ``readonly``, or an error number of the server in decimal. `line` is the request
    of a group that has failed, from 1 on; 0 if it is none, or the group as a whole.
    """

    _kind = "reply"
    line = 0
    #: The table and the index that were asked, as an error's text names them.
    where = ""
    #: What the server has told beside that, if it has.
    told: Told | None = None

    def __init__(
        self, code: int, text: str, *, sent: bool = True, maybe_executed: bool = False
    ) -> None:
        # It is unpickled from these two.
        super().__init__(code, text, sent=sent, maybe_executed=maybe_executed)
        self.code = code
        self.text = text

    def __str__(self) -> str:
        words = self._meaning.words
        said = ": ".join(filter(None, (f"{self.code} {self.text}", words, self.where)))
        return f"request {self.line} of the group: {said}" if self.line else said

    @property
    def number(self) -> int | None:
        """With the option `texts` the error number of SQL.

        Otherwise that of the storage engine (below 1000) or of SQL, if the text is one.
        """
        if self.told is not None:
            return self.told.number
        return int(self.text) if re.fullmatch("[0-9]{1,20}", self.text) else None

    @property
    def category(self) -> Category:
        """What the server's error is about, such as ``duplicate`` or ``lock``."""
        return self._meaning.category

    @property
    def retry(self) -> Retry:
        """Whether the same request may succeed: ``no``, ``later``, or ``elsewhere``."""
        return self._meaning.retry

    @property
    def sqlstate(self) -> str | None:
        """SQL's five characters, if this error has them."""
        return self._meaning.sqlstate if self.told is None else self.told.sqlstate

    @property
    def message(self) -> str | None:
        """With the option `texts` what the server says, such as which key is there already.

        It may show values of a row. So it is no part of the error's text, which goes into logs.
        """
        return None if self.told is None else self.told.message

    @property
    def in_doubt(self) -> bool:
        """Whether a modification that is answered so may have been executed all the same."""
        return self._meaning.maybe_executed

    @property
    def _meaning(self) -> Meaning:
        return meaning_of(self.code, self.text)


class DuplicateKeyError(ReplyError):
    """A row with the same unique key exists already."""


class ForeignKeyError(ReplyError):
    """A foreign key has no parent row, or still points to the row."""


class LockError(ReplyError):
    """A lock was not to be had in time, or the transaction was a deadlock's victim: try again."""


class AuthenticationError(ReplyError):
    """The server wants a log-in, or does not accept this one.

    Its `kind` is ``log_in`` if that was while connecting, so that nothing else was sent.
    """

    @property
    def kind(self) -> ErrorKind:
        return "reply" if self.sent else "log_in"


class PrivilegeError(ReplyError):
    """The account may not do this."""


class ReadOnlyError(ReplyError):
    """The port only reads, or the server is read-only."""


class SchemaError(ReplyError):
    """There is no such table, index or column."""


class DataError(ReplyError):
    """The table does not take a value, or not these values."""


class UnmetError(ReplyError):
    """A line of a group has met no row behind some(), or one behind none()."""


class ProtocolError(HandlerSocketError):
    """The server sent bytes that are no reply. The connection is of no further use."""

    _kind = "protocol"


class ConnectionLost(HandlerSocketError):
    """The connection broke, or was silent for too long, before the reply had come."""

    _kind: ClassVar[ErrorKind] = "lost"

    @property
    def nothing_sent(self) -> bool:
        """Whether the server cannot have seen the request."""
        return not self.sent


class ConnectError(ConnectionLost):
    """No connection could be had. Nothing was sent."""

    _kind = "connect"

    #: Whether another attempt would end in the same way, as with a certificate that is refused.
    final = False


class RequestTimeout(HandlerSocketError, TimeoutError):
    """The call's time was over before its reply had come. The connection goes on."""

    _kind = "timeout"


class RequestCancelled(HandlerSocketError):
    """The caller gave up before the reply had come."""

    _kind = "cancelled"


class BusyError(HandlerSocketError):
    """As much was in flight as the client allows, and the client was told not to wait."""

    _kind = "busy"


class ClosedError(HandlerSocketError):
    """The client was closed before the reply had come. It stays closed."""

    _kind = "closed"


class DecodeError(HandlerSocketError, ValueError):
    """The reply is right, but a value does not fit the type into which it is to be read.

    A request that modifies was executed: `maybe_executed` is true, and it is not safe to retry. So
    it is in a group in which something modifies.
    """

    _kind = "decode"


_CLASSES: dict[Category, type[ReplyError]] = {
    "duplicate": DuplicateKeyError,
    "foreign_key": ForeignKeyError,
    "lock": LockError,
    "log_in": AuthenticationError,
    "privilege": PrivilegeError,
    "read_only": ReadOnlyError,
    "schema": SchemaError,
    "value": DataError,
}
_UNKNOWN = Meaning("server", "no", None, "")
_UNKNOWN_OF_CODE = {
    2: _UNKNOWN._replace(category="request"),
    3: _UNKNOWN._replace(category="log_in"),
}


def meaning_of(code: int, text: str) -> Meaning:
    """What an error is, also one that is not in the table."""
    return MEANINGS.get(text) or _UNKNOWN_OF_CODE.get(code, _UNKNOWN)


def reply_error(
    code: int, text: str, told: Told | None = None, *, modifies: bool = False
) -> ReplyError:
    """The most fitting exception for an error reply to a request, perhaps one that modifies."""
    meaning = meaning_of(code, text)
    made = UnmetError if text == "unmet" else _CLASSES.get(meaning.category, ReplyError)
    error = made(code, text, maybe_executed=modifies and meaning.maybe_executed)
    error.told = told
    return error


def same_error(error: ReplyError) -> ReplyError:
    """The same answer of the server for another call that changes nothing."""
    made = reply_error(error.code, error.text, error.told)
    made.line = error.line
    return made
