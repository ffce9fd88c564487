"""Where the program begins: it says what is missing, if something is."""

from __future__ import annotations

import sys


def run() -> None:
    try:
        from hs_top.program import main  # noqa: PLC0415  # it may be what fails
    except ModuleNotFoundError as error:
        package = {"pymysql": "python3-pymysql"}.get(error.name or "", "python3")
        sys.exit(f"hs-top: {error}; on Debian: apt-get install {package}")
    sys.exit(main())
