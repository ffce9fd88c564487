"""`python -m hs_top` in tools/, or `python tools/hs_top`."""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # Python was given the folder, and looks for modules in it alone
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from hs_top.start import run  # noqa: E402  # it is found only now

if __name__ == "__main__":
    run()
