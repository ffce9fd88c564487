"""handlersocket://user:password@host:9998,9999/db?tls=verify&timeout=5s, and the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import unquote

from .address import Address, Place, parse_address
from .options import Options, read_option

SCHEME = "handlersocket://"
_PORTS = (9998, 9999)
_THIS_MACHINE = "127.0.0.1"


@dataclass(frozen=True)
class Server:
    """The two ports of one server; one of them may be missing."""

    read: Place | None
    write: Place | None


@dataclass(frozen=True)
class Target:
    """Where a client goes, and how."""

    servers: tuple[Server, ...]
    options: Options
    database: str | None = None
    #: There is one port for all, of which nobody has said whether it writes.
    one_port: bool = field(default=False)


#: An address for reading and one for writing; None where there is no such port.
TwoPorts: TypeAlias = tuple[Address | None, Address | None]


def target_of(
    address: Address | Sequence[TwoPorts] | None,
    write: Address | None,
    options: Mapping[str, Any],
    environment: Mapping[str, str] = os.environ,
) -> Target:
    """What the caller has said, with what the environment adds to it."""
    if address is None and write is None:
        address = environment.get("HANDLERSOCKET_URL") or SCHEME + _THIS_MACHINE
    if isinstance(address, str) and address.startswith(SCHEME):
        if write is not None:
            raise ValueError("a URL has both ports, so there is no `write` beside it")
        servers, database, of_url = parse_url(address)
        given = {**of_url, **options}
        one_port = False
    else:
        given, database = dict(options), None
        servers, one_port = _servers_of(address, write)
    if not given.get("secret") and not given.get("password"):
        if given.get("user") is not None and "HANDLERSOCKET_PASSWORD" in environment:
            given["password"] = environment["HANDLERSOCKET_PASSWORD"]
        elif given.get("user") is None and "HANDLERSOCKET_SECRET" in environment:
            given["secret"] = environment["HANDLERSOCKET_SECRET"]
    target = Target(servers, Options().with_others(given), database, one_port)
    tls = target.options.tls not in (False, "off")
    if tls and not all(isinstance(place, tuple) for place in _places(servers)):
        raise ValueError("TLS needs a host and a port: a Unix socket has none")
    return target


def _servers_of(
    address: Address | Sequence[TwoPorts] | None, write: Address | None
) -> tuple[tuple[Server, ...], bool]:
    if isinstance(address, list):
        if write is not None or not address:
            raise ValueError("a list of servers has pairs of addresses, one pair at least")
        return tuple(_server(*pair) for pair in address), False
    if write is not None:
        return (_server(address, write),), False  # type: ignore[arg-type]
    place = parse_address(address)  # type: ignore[arg-type]
    return (Server(place, place),), True


def _server(read: Address | None, write: Address | None) -> Server:
    if read is None and write is None:
        raise ValueError("a server has a port for reading, or one for writing, or both")
    return Server(
        None if read is None else parse_address(read),
        None if write is None else parse_address(write),
    )


def _places(servers: Sequence[Server]) -> list[Place]:
    return [place for each in servers for place in (each.read, each.write) if place is not None]


def parse_url(url: str) -> tuple[tuple[Server, ...], str | None, dict[str, Any]]:
    """The servers, the database and the options of a URL. A ValueError never shows a password."""
    rest, _, query = url.removeprefix(SCHEME).partition("?")
    authority, _, path = rest.partition("/")
    account, at, hosts = authority.rpartition("@")
    options: dict[str, Any] = {}
    if at:
        user, _, password = account.partition(":")
        if not user:
            raise ValueError("the URL has no user in front of its @")
        options["user"] = _decoded(user)
        if password:
            options["password"] = _decoded(password)
    sockets: dict[str, str] = {}
    for part in query.split("&") if query else ():
        name, equals, value = part.partition("=")
        if name in options or name in sockets:
            raise ValueError(f"the URL has {name!r} twice")
        if not equals:
            raise ValueError(f"the URL's option {name!r} has no value")
        if name in ("socket", "socket_wr"):
            if not value:
                raise ValueError(f"the URL's {name} is empty")
            sockets[name] = _decoded(value)
        else:
            options[name] = read_option(name, _decoded(value))
    servers = _servers_of_url(hosts, sockets)
    if "/" in path:
        raise ValueError("the URL's database has a / that is not percent-encoded")
    return servers, _decoded(path) or None, options


def _servers_of_url(hosts: str, sockets: Mapping[str, str]) -> tuple[Server, ...]:
    if sockets:
        if hosts:
            raise ValueError("the URL has a host and a socket: one of them")
        return (_server(sockets.get("socket"), sockets.get("socket_wr")),)
    if not hosts:
        hosts = _THIS_MACHINE
    servers: list[Server] = []
    pieces = hosts.split(",")
    while pieces:
        host, ports = _host_of(pieces.pop(0))
        if pieces and re.fullmatch("[0-9]+", pieces[0]):
            if ports is None:
                raise ValueError(f"a port for writing alone is written {host}:,{pieces[0]}")
            ports = (ports[0], pieces.pop(0))
        servers.append(_server_of_host(host, ports))
    return tuple(servers)


def _host_of(piece: str) -> tuple[str, tuple[str, ...] | None]:
    """A host, and its first port as it stands there; None without a colon."""
    if piece.startswith("["):
        host, bracket, rest = piece[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError("an IPv6 address stands in brackets, as in [::1]:9998")
        return host, (rest[1:],) if rest else None
    host, colon, port = piece.partition(":")
    if ":" in port:
        raise ValueError("an IPv6 address stands in brackets, as in [::1]:9998")
    return host, (port,) if colon else None


def _server_of_host(host: str, ports: tuple[str, ...] | None) -> Server:
    if host.isdigit():
        raise ValueError(f"{host} is no host, and its place is not that of a port, either")
    if ports is None:
        return Server(*(parse_address((host, port)) for port in _PORTS))
    places = [parse_address((host, _number(port))) if port else None for port in ports]
    read, write = places if len(places) == 2 else (places[0], None)
    if read is None and write is None:
        raise ValueError("the URL has a colon without a port")
    return Server(read, write)


def _number(port: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", port):
        raise ValueError(f"a port is a number from 1 to 65535, not {port!r}")
    return int(port)


def _decoded(text: str) -> str:
    if re.search("%(?![0-9A-Fa-f]{2})", text):
        raise ValueError("the URL has a % without two hexadecimal digits")
    return unquote(text, errors="strict")
