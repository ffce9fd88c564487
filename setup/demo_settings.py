"""What the demo's user asks for: the file of settings, MYCNF, and what follows from it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from server_instance import ACCOUNT
from server_kind import kind_of

# The groups of an option file that a server reads, besides those with its version.
GROUPS = {"mariadb": ("server", "mysqld", "mariadb", "mariadbd"), "mysql": ("server", "mysqld")}


class DemoError(RuntimeError):
    """An error for a person to read, in one line."""


def settings_in(tree: Path, file: Path) -> dict[str, str]:
    """What an option file says about the plugin, by names without `handlersocket_`."""
    kind = kind_of(tree).name
    series = tree.name.partition("-")[2]
    groups = [*GROUPS[kind], *(f"{group}-{series}" for group in GROUPS[kind])]
    command = [str(tree / "bin/my_print_defaults"), f"--defaults-file={file.resolve()}", *groups]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip() or "it cannot be read").splitlines()[-1]
        raise DemoError(f"MYCNF={file}: {reason}")
    found = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition("=")
        name = name.lstrip("-").replace("-", "_").removeprefix("loose_")
        if name.startswith("handlersocket_"):
            found[name.removeprefix("handlersocket_")] = value
    return found


class Door:
    """A port of the plugin, and what it asks of its clients."""

    def __init__(self, settings: Mapping[str, str], name: str, secret: str, port: int) -> None:
        """By the names of its options."""
        text = settings.get(name, str(port))
        if not text.isdecimal():
            raise DemoError(f"handlersocket_{name} is '{text}': the demo needs a port")
        self.port = int(text)
        self.secret = settings.get(secret, "")


def anonymous_account(settings: Mapping[str, str], doors: tuple[Door, Door]) -> str:
    """As whom clients act that have given no secret. Who sets a secret wants that it is needed."""
    usual = "" if any(door.secret for door in doors) else ACCOUNT
    return settings.get("anonymous_account", usual)


def require_account(file: Path, settings: Mapping[str, str], doors: tuple[Door, Door]) -> None:
    """The demo is a client itself, and has to be able to do something at both ports."""
    if anonymous_account(settings, doors):
        return
    secrets = [bool(door.secret) for door in doors]
    if not any(secrets):
        raise DemoError(
            f"MYCNF={file}: handlersocket_anonymous_account is empty and no secret is set, so the"
            f" demo's requests would be answered 'unauth': name an account there, such as {ACCOUNT}"
        )
    if not all(secrets):
        raise DemoError(
            f"MYCNF={file} sets one of handlersocket_plain_secret and"
            " handlersocket_plain_secret_wr, so nobody could use the other port: set both"
        )
    if not settings.get("secret_account", ACCOUNT):
        raise DemoError(
            f"MYCNF={file}: handlersocket_secret_account is empty, so the demo's requests would be"
            f" answered 'unauth': name an account there, such as {ACCOUNT}"
        )


def meaning(reply: str) -> str:
    """Why the demo may get this reply, in words."""
    kind, _, rest = reply.partition("\t")
    meanings = {
        ("3", "unauth"): "clients have to log in: see handlersocket_anonymous_account",
        ("1", "1449"): "the account as which clients act does not exist",
        ("1", "1142"): "the account as which clients act may not do that",
    }
    why = meanings.get((kind, rest.partition("\t")[2]))
    return f" ({why})" if why else ""
