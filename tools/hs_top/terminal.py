"""A full-screen terminal, by curses, which also puts it back as it was."""

from __future__ import annotations

import curses
from collections.abc import Sequence

from hs_top.screen import Line, Style


class Terminal:
    """Draws lines and reads keys. It is made by `curses.wrapper`."""

    def __init__(self, window: curses.window) -> None:
        self._window = window
        self._styles = {
            Style.PLAIN: curses.A_NORMAL,
            Style.FAINT: curses.A_DIM,
            Style.STRONG: curses.A_BOLD,
            Style.TITLE: curses.A_REVERSE,
            Style.ALARM: curses.A_BOLD,
        }
        try:
            curses.curs_set(0)
            curses.use_default_colors()
            curses.init_pair(1, curses.COLOR_RED, -1)
            self._styles[Style.ALARM] |= curses.color_pair(1)
        except curses.error:
            pass  # a terminal without colours, or that cannot hide its cursor

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        lines, columns = self._window.getmaxyx()
        return columns, lines

    def draw(self, lines: Sequence[Line]) -> None:
        columns, height = self.size
        self._window.erase()
        for number, line in enumerate(lines[:height]):
            column = 0
            for text, style in line:
                try:
                    self._window.addnstr(
                        number, column, text, columns - column, self._styles[style]
                    )
                except curses.error:
                    break  # curses says so after it has written the last corner
                column = self._window.getyx()[1]
        self._window.refresh()

    def key(self, seconds: float) -> str:
        """The next key that is pressed within this time; empty if there is none."""
        self._window.timeout(max(int(seconds * 1000), 0))
        try:
            code = self._window.getch()
        except curses.error:
            return ""
        return "resize" if code == curses.KEY_RESIZE else chr(code) if 0 < code < 256 else ""
