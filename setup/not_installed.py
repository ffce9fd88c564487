"""Prints the pinned requirements of a file that this Python does not have, in one line.

python not_installed.py FILE
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def is_installed(requirement: str) -> bool:
    name, _, pinned = requirement.partition("==")
    try:
        return version(name) == pinned
    except PackageNotFoundError:
        return False


if __name__ == "__main__":
    lines = (line.partition("#")[0].strip() for line in Path(sys.argv[1]).read_text().splitlines())
    print(*(line for line in lines if line and not is_installed(line)))
