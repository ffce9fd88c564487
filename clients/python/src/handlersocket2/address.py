"""Where a server is: what the caller wrote, as a host and a port or as the path of a socket."""

from __future__ import annotations

import re
from os import PathLike, fspath
from typing import TypeAlias

#: (host, port), the text "host:port", or a Unix socket's path: a Path, or a text with a / in it.
Address: TypeAlias = tuple[str, int] | str | PathLike[str]
#: The same without a choice: a host and a port, or a path.
Place: TypeAlias = tuple[str, int] | str

_LAST_PORT = 65535
_WHAT_A_PORT_IS = f"a port is a number from 1 to {_LAST_PORT}, not {{!r}}"


def parse_address(address: Address) -> Place:
    """The place that is meant; raises ValueError or TypeError if it is none."""
    if isinstance(address, tuple):
        if len(address) != 2:
            raise ValueError(f"an address is a host and a port, not {address!r}")
        return _host(address[0], address), _port(address[1])
    if isinstance(address, str):
        if re.match(r"[a-z0-9+.-]*://", address, re.IGNORECASE):
            raise ValueError(f"an address is no URL of {address.partition(':')[0]!r}")
        if "@" in address and "/" not in address:
            raise ValueError("an address has no user: give it as user=…, or write a URL")
        return _path(address) if "/" in address else _host_and_port(address)
    if isinstance(address, PathLike):
        return _path(fspath(address))
    found = "None" if address is None else type(address).__name__
    raise TypeError(
        f"an address is (host, port), 'host:port' or the path of a Unix socket, not {found}"
    )


def _host_and_port(text: str) -> tuple[str, int]:
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket:
            raise ValueError(f"an IPv6 address stands in brackets, as in [::1]:9998: {text!r}")
        _, colon, port = rest.rpartition(":")
        if rest and not rest.startswith(":"):
            raise ValueError(f"behind the brackets stands a port, as in [::1]:9998: {text!r}")
    else:
        host, colon, port = text.rpartition(":")
        if ":" in host:
            raise ValueError(f"an IPv6 address stands in brackets, as in [::1]:9998: {text!r}")
    if not colon:
        raise ValueError(
            f"{text!r} has no port, as in 127.0.0.1:9998. If it is the path of a Unix socket, write"
            f" it with a / in it: {'./' + text!r}"
        )
    if not re.fullmatch("[0-9]{1,9}", port):
        raise ValueError(_WHAT_A_PORT_IS.format(port))
    return _host(host, text), _port(int(port))


def _host(host: object, address: object) -> str:
    if not isinstance(host, str):
        raise TypeError(f"a host is a str, not {type(host).__name__}: {address!r}")
    if not host:
        raise ValueError(f"there is no host in {address!r}")
    if found := re.search(r"[^\w.:%-]", host):
        raise ValueError(f"a host cannot hold {found[0]!r}: {address!r}")
    return host


def _port(port: object) -> int:
    if isinstance(port, bool) or not isinstance(port, int):
        raise TypeError(f"a port is a whole number, not {type(port).__name__}")
    if not 1 <= port <= _LAST_PORT:
        raise ValueError(_WHAT_A_PORT_IS.format(port))
    return port


def _path(path: str) -> str:
    if not isinstance(path, str):
        raise TypeError(f"a path is a str, not {type(path).__name__}")
    if "\0" in path:
        raise ValueError(f"a path cannot hold NUL: {path!r}")
    if path in {".", ".."} or path.endswith("/"):
        raise ValueError(f"{path!r} is a folder, and no Unix socket")
    return path
