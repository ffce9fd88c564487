"""The program: one loop that reads, waits and shows."""

from __future__ import annotations

import curses
import json
import locale
import os
import shutil
import signal
import sys
import time
from types import FrameType

from hs_top.arguments import LONGEST_INTERVAL, SHORTEST_INTERVAL, Way, Wish, parse
from hs_top.difference import Difference
from hs_top.reading import Reading, Server, ServerError
from hs_top.screen import Line, Style, as_text, screen
from hs_top.terminal import Terminal

INTERRUPTED = 130  # the exit code of a program that Ctrl-C has ended


class Ended(Exception):
    """Somebody has asked the program to end."""


def main() -> int:
    locale.setlocale(locale.LC_ALL, "")
    way, wish = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGHUP, _end)
    server = Server(way)
    try:
        if wish.once or wish.batch:
            _write(server, way, wish)
        elif sys.stdout.isatty() and sys.stdin.isatty():
            # The terminal is left alone if the server cannot be reached at all.
            first = server.read(wish.interval)
            curses.wrapper(lambda window: _show(Terminal(window), server, way, wish, first))
        else:
            raise ServerError("this is no terminal: use --once or --batch")
    except ServerError as error:
        print(f"hs-top: {way.name}: {error}", file=sys.stderr)
        return 1
    except curses.error as error:
        print(f"hs-top: the terminal {os.environ.get('TERM', '')}: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, Ended):
        return INTERRUPTED if wish.once or wish.batch else 0
    except BrokenPipeError:
        # The reader of the pipe has enough. What is still to be written goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        server.close()
    return 0


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise Ended


def _write(server: Server, way: Way, wish: Wish) -> None:
    """For scripts. A failure ends the program: a script does not wait for a server to come back."""
    before = server.read(wish.interval)
    intervals = 0
    while True:
        time.sleep(wish.interval)
        now = server.read(wish.interval)
        diff = Difference(before, now)
        if wish.once:
            width = shutil.get_terminal_size((120, 24)).columns
            sys.stdout.write(as_text(screen(diff, way.name, width, wish.rows)))
            return
        print(json.dumps(diff.as_json(wish.rows), default=str), flush=True)
        before = now
        intervals += 1
        if intervals == wish.count:
            return


def _show(terminal: Terminal, server: Server, way: Way, wish: Wish, first: Reading) -> None:
    """On a terminal, until somebody presses q. If the server goes, it waits for its return."""
    interval = wish.interval
    shown = Difference(None, first)
    last: Reading | None = first
    trouble = ""
    intervals = 0
    due = time.monotonic() + interval
    while True:
        terminal.draw(_lines(shown, way, terminal.size, trouble))
        key = terminal.key(due - time.monotonic())
        if key in {"q", "Q", "\x1b"}:
            return
        if key in {"+", "-"}:
            interval *= 2 if key == "+" else 0.5
            interval = min(max(interval, SHORTEST_INTERVAL), LONGEST_INTERVAL)
            due = min(due, time.monotonic() + interval)
        if time.monotonic() < due:
            continue
        try:
            now = server.read(interval)
            shown, last, trouble = Difference(last, now), now, ""
        except ServerError as error:
            last, trouble = None, f"no answer from the server, trying again: {error}"
        # An interval that took longer than it should is not caught up with.
        due = time.monotonic() + interval
        intervals += 1
        if intervals == wish.count:
            return


def _lines(shown: Difference, way: Way, size: tuple[int, int], trouble: str) -> list[Line]:
    columns, height = size
    lines = screen(shown, way.name, columns, height=height - bool(trouble))
    if trouble:
        lines[1:1] = [[(trouble[:columns], Style.ALARM)]]
    return lines
