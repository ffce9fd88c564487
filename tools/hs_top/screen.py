"""Makes the lines of one screen of what is known. It neither asks nor writes."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from enum import Enum

from hs_top import words
from hs_top.difference import ALARMS, Busy, BusyIndex, Difference


class Style(Enum):
    PLAIN = 0
    FAINT = 1
    STRONG = 2
    TITLE = 3
    ALARM = 4


Line = list[tuple[str, Style]]
# The title of a column, its width, whether numbers stand in it.
Column = tuple[str, int, bool]
LABEL = 11  # columns for what a line is about
CELL = 14  # columns for a number and its name
LINES_OF_A_LIST = 3  # besides its rows


def screen(
    diff: Difference, place: str, width: int, rows: int | None = None, height: int = 0
) -> list[Line]:
    """Lines of at most `width` columns. Lists have `rows` rows, or what `height` leaves them."""
    head = [_heading(diff, place, width)]
    if not diff.now.counters:
        head.append([("the plugin handlersocket is not loaded on this server", Style.ALARM)])
        return [_cut(line, width) for line in head]
    lines = [*head, *_work(diff), *_latencies(diff, width)]
    indexes = diff.busiest_indexes()
    if rows is None:
        room = max(height - len(lines) - LINES_OF_A_LIST * (2 if indexes else 1), 0)
        # Indexes get a third of the room at most, connections the rest.
        shown = min(len(indexes), max(room // 3, 1 if room else 0))
        rows = room - shown
    else:
        shown = rows
    lines += [[], *_connections(diff, width, rows)]
    if shown and indexes:
        lines += [[], *_indexes(diff, indexes[:shown], width)]
    return [_cut(line, width) for line in lines]


def _heading(diff: Difference, place: str, width: int) -> Line:
    up = words.duration(diff.now.uptime * 1000)
    left = f"hs-top  {diff.now.server}, up {up}  {words.printable(place)}"
    clock = datetime.datetime.now().strftime("%H:%M:%S")
    return [(words.fit(left, max(width - len(clock) - 2, 0)) + " " + clock, Style.TITLE)]


def _work(diff: Difference) -> list[Line]:
    """The counters: what is done, and below it what should stand still."""

    def one(name: str, counter: str) -> tuple[str, str]:
        return name, words.rate(diff.rate(counter))

    return [
        _line(
            "requests/s",
            ("all", words.rate(diff.requests())),
            one("find", "requests_find"),
            one("count", "requests_count"),
            one("modify", "requests_find_modify"),
            one("insert", "requests_insert"),
            one("group", "requests_group"),
            one("open", "requests_open_index"),
        ),
        _line(
            "rows/s",
            one("read", "rows_read"),
            one("changed", "rows_changed"),
            one("errors", "errors"),
        ),
        _line(
            "bytes/s",
            ("in", words.size(diff.rate("bytes_received"))),
            ("out", words.size(diff.rate("bytes_sent"))),
        ),
        _line(
            "passes/s",
            one("all", "passes"),
            ("each", words.rate(diff.ratio(diff.requests(), diff.rate("passes")))),
            one("commits", "commits"),
            one("tables", "table_opens"),
        ),
        _line(
            "slow/s",
            one("finds", "long_finds"),
            one("parked", "finds_parked"),
            one("aside", "writes_aside"),
            one("blocked", "requests_blocked"),
        ),
        _memory(diff),
        _line(
            "clients/s",
            ("now", f"{diff.count('connections'):,}"),
            one("new", "connections_opened"),
            one("gone", "connections_closed"),
            one("log-in", "requests_auth"),
            one("TLS", "tls_handshakes"),
            one("other", "requests_other"),
        ),
        _alarms(diff),
    ]


def _line(label: str, *cells: tuple[str, str]) -> Line:
    line: Line = [(words.fit(label, LABEL), Style.STRONG)]
    for name, value in cells:
        line.append((f"{name} ", Style.FAINT))
        line.append((words.fit(value, max(CELL - 1 - len(name), len(value) + 1)), Style.PLAIN))
    return line


def _memory(diff: Difference) -> Line:
    used, most = diff.count("waiting_bytes"), diff.now.most_waiting_bytes
    line = _line("waiting", ("bytes", words.size(used)))
    if most:
        share = used / most
        style = Style.ALARM if share > 0.5 else Style.PLAIN
        line.append((f"of {words.size(most)} ({share:.0%})", style))
    return line


def _alarms(diff: Difference) -> Line:
    """Counters that should be 0: their sum, and in colour those that have just grown."""
    line: Line = [(words.fit("alarms", LABEL), Style.STRONG)]
    shown = [name for name in ALARMS if diff.count(name)]
    if not shown:
        return [*line, ("none since the start", Style.FAINT)]
    for name in sorted(shown, key=lambda one: -diff.moved(one)):
        style = Style.ALARM if diff.moved(name) else Style.PLAIN
        line.append((f"{name} {diff.count(name):,}", style))
        line.append(("  ", Style.PLAIN))
    return line


LATENCIES: Sequence[Column] = (
    ("LATENCY", 12, False),
    ("PORT", 5, False),
    ("REQUESTS/S", 10, True),
    ("MEDIAN", 8, True),
    ("95 %", 8, True),
    ("99 %", 8, True),
    ("LONGEST", 8, True),
)


def _latencies(diff: Difference, width: int) -> list[Line]:
    """A line for each kind of request that there was. Nothing if the plugin has no such table."""
    if "latency" not in diff.now.tables:
        return []
    if remark := diff.now.tables["latency"].remark:
        return [[], [("LATENCY", Style.STRONG), (f"  {words.printable(remark)}", Style.ALARM)]]
    rows = [
        [
            one.kind,
            one.port,
            words.rate(one.count / diff.seconds),
            words.latency(one.p50),
            words.latency(one.p95),
            words.latency(one.p99),
            words.latency(one.longest),
        ]
        for one in diff.latencies()
    ]
    return [[], *_list(LATENCIES, rows, width)]


CONNECTIONS: Sequence[Column] = (
    ("ID", 8, True),
    ("PORT", 5, False),
    ("STATE", 10, False),
    ("IN/S", 8, True),
    ("OUT/S", 8, True),
    ("WAITING", 8, True),
    ("IDLE", 7, True),
    ("AGE", 7, True),
    ("PEER", 21, False),
    ("ACCOUNT", 0, False),
)


def _connections(diff: Difference, width: int, rows: int) -> list[Line]:
    table = diff.now.connections
    states = ", ".join(
        f"{count:,} {words.printable(state)}" for state, count in diff.states().items()
    )
    title: Line = [("busiest connections", Style.STRONG), (f"  {states}", Style.FAINT)]
    if table.remark:
        title = [*title[:1], (f"  {words.printable(table.remark)}", Style.ALARM)]
    if not rows or not table.rows:
        return [title]
    return [title, *_list(CONNECTIONS, [_cells(one) for one in diff.busiest()[:rows]], width)]


def _cells(one: Busy) -> list[str]:
    row = one.row
    return [
        str(row["id"]),
        row["port"],
        row["state"],
        words.size(one.received),
        words.size(one.sent),
        words.size(row["waiting_bytes"]),
        words.duration(row["idle_ms"]),
        words.duration(row["age_ms"]),
        row["peer"] + (f" {row['protocol']}" if row.get("protocol") else ""),
        row["account"],
    ]


INDEXES: Sequence[Column] = (
    ("REQUESTS/S", 10, True),
    ("OPENED", 8, True),
    ("PORT", 5, False),
    ("TABLE AND INDEX", 0, False),
)


def _indexes(diff: Difference, indexes: Sequence[BusyIndex], width: int) -> list[Line]:
    rows = [
        [
            words.rate(one.requests),
            f"{int(one.row['opened']):,}",
            one.row["port"],
            f"{one.row['table_schema']}.{one.row['table_name']} {one.row['index_name']}",
        ]
        for one in indexes
    ]
    title: Line = [("busiest indexes", Style.STRONG)]
    if remark := diff.now.tables["open_indexes"].remark:
        title.append((f"  {words.printable(remark)}", Style.ALARM))
    return [title, *_list(INDEXES, rows, width)]


def _list(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    """A table. If the last column has no width, it gets the room that the others leave."""
    rest = max(width - sum(size + 1 for _, size, _ in columns[:-1]), 0)
    sizes = [size or rest for _, size, _ in columns]

    def line(cells: Sequence[str]) -> str:
        return " ".join(
            words.fit(words.printable(cell), size, right)
            for cell, size, (_, _, right) in zip(cells, sizes, columns, strict=True)
        ).rstrip()

    titles = [title for title, _, _ in columns]
    return [[(line(titles), Style.FAINT)], *([(line(row), Style.PLAIN)] for row in rows)]


def _cut(line: Line, width: int) -> Line:
    """The line without what stands beyond the edge."""
    kept: Line = []
    for text, style in line:
        room = width - sum(words.width(part) for part, _ in kept)
        if words.width(text) > room:
            kept.append((words.fit(text, room), style))
            break
        kept.append((text, style))
    return kept


def as_text(lines: Sequence[Line]) -> str:
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)
