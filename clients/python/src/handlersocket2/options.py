"""How a client behaves: the options that clients in every language have, and their checks."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from .codec import Value
from .deadline import check_seconds
from .seen import ConnectionHook, RequestHook

#: A password, or what is asked for one at each log-in.
Password: TypeAlias = Value | Callable[[], Value]
Tls: TypeAlias = ssl.SSLContext | bool | Literal["off", "verify", "unverified"]
_ReadAfterWrite: TypeAlias = Literal["awaited", "sent"]
_WhenFull: TypeAlias = Literal["wait", "fail"]
_ReadFrom: TypeAlias = Literal["writer", "any", "replicas"]


class ClientOptions(TypedDict, total=False):
    """The keywords of a client, beside its address."""

    user: Value | None
    password: Password
    secret: Value | None
    timeout: float | None
    connect_timeout: float
    dead_after: float | None
    tls: Tls
    tls_ca: str | None
    tls_name: str | None
    tls_cert: str | None
    tls_key: str | None
    read_connections: int
    write_connections: int
    long_connections: int
    max_streams: int
    long_limit: int
    read_after_write: _ReadAfterWrite
    max_in_flight: int
    max_in_flight_bytes: int
    when_full: _WhenFull
    stay_awake: bool
    texts: bool
    max_reply_bytes: int
    retry_reads: int
    connect_attempts: int
    backoff_min: float
    backoff_max: float
    read_from: _ReadFrom
    on_request: RequestHook | None
    on_connection: ConnectionHook | None
    logger: logging.Logger | None


@dataclass(frozen=True)
class Options:
    """The options of one client, with their defaults. Shows neither a password nor a secret."""

    user: Value | None = None
    password: Password = field(default="", repr=False)
    secret: Value | None = field(default=None, repr=False)
    #: None and 0 are no limit.
    timeout: float | None = 30.0
    connect_timeout: float = 10.0
    dead_after: float | None = 60.0
    tls: Tls = False
    tls_ca: str | None = None
    tls_name: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    read_connections: int = 1
    write_connections: int = 1
    long_connections: int = 1
    max_streams: int = 8
    long_limit: int = 1000
    read_after_write: _ReadAfterWrite = "awaited"
    max_in_flight: int = 10_000
    max_in_flight_bytes: int = 16 * 1024 * 1024
    when_full: _WhenFull = "wait"
    #: Whether the reply to a caller that is alone is looked for before one sleeps.
    stay_awake: bool = True
    #: Whether the server tells the number, the state and a message of each error.
    texts: bool = False
    max_reply_bytes: int = 256 * 1024 * 1024
    retry_reads: int = 0
    connect_attempts: int = 3
    backoff_min: float = 0.05
    backoff_max: float = 5.0
    read_from: _ReadFrom = "writer"
    #: Is told of each request that ends, and of what happens to connections. It must not call the
    #: client.
    on_request: RequestHook | None = None
    on_connection: ConnectionHook | None = None
    logger: logging.Logger | None = None

    def __post_init__(self) -> None:
        if self.secret is not None and self.user is not None:
            raise ValueError("a secret and a user: one of them")
        for name in ("timeout", "dead_after", "connect_timeout", "backoff_min", "backoff_max"):
            check_seconds(name, getattr(self, name), may_be_none=name in ("timeout", "dead_after"))
        if self.timeout == 0:
            object.__setattr__(self, "timeout", None)
        self._check_tls()
        for name in _COUNTS_FROM_1:
            _check_count(name, getattr(self, name), 1)
        _check_count("retry_reads", self.retry_reads, 0)
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                among = " ".join(map(str, allowed))
                raise ValueError(f"{name} is one of {among}, not {getattr(self, name)!r}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} is True or False, not {getattr(self, name)!r}")
        if self.read_after_write == "sent" and self.write_connections != 1:
            raise ValueError("read_after_write='sent' needs write_connections=1")

    def with_others(self, others: dict[str, Any]) -> Options:
        """The same, but for these. Refuses names that are no option."""
        unknown = set(others) - OPTION_NAMES
        if unknown:
            raise TypeError(f"a client has no option {min(unknown)!r}")
        return Options(**{**self._as_dict(), **others})

    def _check_tls(self) -> None:
        """An option without effect would leave somebody believing in it."""
        for name in ("tls_ca", "tls_name", "tls_cert", "tls_key"):
            if getattr(self, name) is None:
                continue
            if self.tls in (False, "off"):
                raise ValueError(f"{name} is an option of TLS, and tls is off")
            if isinstance(self.tls, ssl.SSLContext) and name != "tls_name":
                raise ValueError(f"{name} belongs into the context that is given as tls")
        if self.tls_key is not None and self.tls_cert is None:
            raise ValueError("tls_key needs tls_cert")

    def tls_context(self) -> ssl.SSLContext | None:
        """The context for TLS, or None for plain TCP."""
        if isinstance(self.tls, ssl.SSLContext):
            return self.tls
        if self.tls in (False, "off"):
            return None
        with _reading(tls_ca=self.tls_ca):
            context = ssl.create_default_context(cafile=self.tls_ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.tls == "unverified":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.tls_cert is not None:
            with _reading(tls_cert=self.tls_cert, tls_key=self.tls_key):
                # A key with a password of its own is refused. Nobody is asked on a terminal.
                context.load_cert_chain(self.tls_cert, self.tls_key, password=lambda: "")
        return context

    def _as_dict(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


@contextmanager
def _reading(**files: str | None) -> Iterator[None]:
    """What goes wrong with a file is told with its name, and the option that has named it."""
    try:
        yield
    except OSError as error:  # those of TLS are such, too
        named = " and ".join(f"{name} {path}" for name, path in files.items() if path is not None)
        raise ValueError(f"{named}: {error.strerror or error}") from error


OPTION_NAMES = frozenset(each.name for each in fields(Options))
_COUNTS_FROM_1 = (
    "read_connections",
    "write_connections",
    "long_connections",
    "max_streams",
    "long_limit",
    "max_in_flight",
    "max_in_flight_bytes",
    "max_reply_bytes",
    "connect_attempts",
)
_SWITCHES = ("stay_awake", "texts")
_CHOICES: dict[str, tuple[object, ...]] = {
    "read_after_write": get_args(_ReadAfterWrite),
    "when_full": get_args(_WhenFull),
    "read_from": get_args(_ReadFrom),
}


def _check_count(name: str, count: object, least: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"{name} is a whole number, not {type(count).__name__}")
    if count < least:
        raise ValueError(f"{name} is a number from {least} on, not {count}")


def read_option(name: str, text: str) -> Any:
    """The value of an option as it stands in a URL. Raises ValueError if it is none."""
    kind = ClientOptions.__annotations__.get(name)
    if kind is None or name in _NOT_IN_A_URL or name not in OPTION_NAMES:
        raise ValueError(f"a URL has no option {name!r}")
    default = getattr(_DEFAULTS, name)
    if name in ("timeout", "dead_after") or isinstance(default, float):
        return _seconds(name, text)
    if isinstance(default, int) and not isinstance(default, bool):
        if not text.isascii() or not text.isdigit():
            raise ValueError(f"{name} is a whole number, not {text!r}")
        return int(text)
    if name in _SWITCHES:
        if text not in ("on", "off"):
            raise ValueError(f"{name} is on or off, not {text!r}")
        return text == "on"
    if name == "tls" and text not in ("off", "verify", "unverified"):
        raise ValueError(f"tls is one of off verify unverified, not {text!r}")
    if not text:
        raise ValueError(f"{name} is empty")
    return text


_DEFAULTS = Options()
_NOT_IN_A_URL = {"password", "user", "on_request", "on_connection", "logger"}
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


def _seconds(name: str, text: str) -> float:
    for unit, factor in _UNITS.items():
        digits = text.removesuffix(unit)
        if digits != text and digits.isdigit() and digits.isascii():
            return int(digits) * factor
    raise ValueError(f"{name} is a whole number with ms, s or m, such as 5s, not {text!r}")
