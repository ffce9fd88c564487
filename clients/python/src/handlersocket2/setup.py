"""What happens on a connection before a request may be sent on it, without the I/O itself."""

from __future__ import annotations

import ipaddress
import ssl

from .address import Place
from .codec import Value, decode_line
from .errors import ConnectError, ProtocolError
from .greeting import sql_greeting
from .options import Options, Password
from .requests import Auth, Hello, LogIn
from .results import error_of


def log_in_line(options: Options, peer: str | None, *, encrypted: bool) -> bytes | None:
    """The first line to send, if there is a log-in. `peer` is the address of a TCP connection.

    A password is not written to a network where others can read it.
    """
    if options.user is not None:
        password = _password(options.password)
        if password not in ("", b"", None) and not encrypted and not _is_near(peer):
            raise final(
                f"a password is not sent to {peer} without TLS, because others could read it: use"
                " tls=True"
            )
        return LogIn(options.user, password).encode()
    if options.secret is not None:
        return Auth(options.secret).encode()
    return None


def _password(given: Password) -> Value:
    if not callable(given):
        return given
    try:
        return given()
    except Exception as error:
        raise final(f"the password could not be had: {type(error).__name__}") from error


def _is_near(peer: str | None) -> bool:
    """A Unix socket, or the loopback."""
    return peer is None or ipaddress.ip_address(peer.partition("%")[0]).is_loopback


def check_log_in(line: bytes) -> None:
    """Raises what the server answers to the log-in, if it is an error."""
    reply = decode_line(line)
    if reply.code != 0:
        raise error_of(reply)


def hello_line(options: Options) -> bytes:
    """A hello that names the options of the client: it turns off what it does not name."""
    return Hello(["texts"] if options.texts else []).encode()


def check_greeting(data: bytes) -> None:
    if words := sql_greeting(data):
        raise ProtocolError(words)


def cannot_connect(place: Place, error: BaseException) -> ConnectError:
    """The error of an attempt. Some would come again at the next one."""
    where = place if isinstance(place, str) else f"{place[0]}:{place[1]}"
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return final(f"cannot connect to {where}: there is no TLS; a port of SQL has none, either")
    text = f"cannot connect to {where}: {error or type(error).__name__}"
    return final(text) if isinstance(error, ssl.SSLError) else ConnectError(text)


def final(text: str) -> ConnectError:
    error = ConnectError(text)
    error.final = True
    return error


def hung_up(place: Place) -> ConnectError:
    return cannot_connect(place, OSError("the server closed the connection before the log-in"))
