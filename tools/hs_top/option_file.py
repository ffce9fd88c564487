"""Reads the option files of the server's own clients, such as ~/.my.cnf."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path

# What the clients of both servers read, the later ones before the earlier ones.
USUAL_FILES = (Path("/etc/my.cnf"), Path("/etc/mysql/my.cnf"), Path("~/.my.cnf"))
GROUPS = ("client", "client-server", "client-mariadb", "hs-top")
DEEPEST = 10  # files that include one another
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", "\\": "\\", '"': '"', "'": "'"}


class OptionFileError(RuntimeError):
    """A file cannot be read, or a line of it means nothing. The message is one line."""


def options_of(files: list[Path]) -> dict[str, str]:
    """The options of the groups above. A later line overrides an earlier one."""
    found: dict[str, str] = {}
    for file in files:
        for group, name, value in _lines(file.expanduser(), 0):
            if group in GROUPS:
                found[name] = value
    return found


def usual_options() -> dict[str, str]:
    """The options of those usual files that are there and may be read, as for other clients."""
    return options_of([file for file in USUAL_FILES if os.access(file.expanduser(), os.R_OK)])


def _lines(file: Path, depth: int) -> Iterator[tuple[str, str, str]]:
    """Each option with its group. An included file begins outside of all groups."""
    if depth > DEEPEST:
        raise OptionFileError(f"{file}: more than {DEEPEST} files include one another")
    try:
        text = file.read_text(errors="replace")
    except OSError as error:
        raise OptionFileError(f"{file}: {error.strerror}") from None
    group = ""
    for line in map(str.strip, text.splitlines()):
        if match := re.fullmatch(r"!(include|includedir)\s+(.*)", line):
            pattern = "*.cnf" if match[1] == "includedir" else ""
            place = file.parent / match[2]
            inner = sorted(glob.glob(str(place / pattern))) if pattern else [str(place)]
            for name in inner:
                yield from _lines(Path(name), depth + 1)
        elif match := re.fullmatch(r"\[([^\]]+)\].*", line):
            group = match[1].strip()
        elif line and line[0] not in "#;!":
            name, equals, value = line.partition("=")
            name = name.strip().replace("_", "-").removeprefix("loose-")
            yield group, name, _unquoted(value.strip()) if equals else ""


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    else:
        value = re.sub(r"\s#.*", "", value).strip()
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[0]), value)
