"""Where the server's time goes: perf's samples of the server alone, as tables of symbols.

To compare two profiles, each symbol's share is also given in nanoseconds for each request. So they
can be compared even if one of them answers more requests.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .cases import HOT, PIPELINED, SINGLE, UPDATE, Case, Reach
from .compare import say, settle
from .database import DURABLE, HASH_INDEX, Database
from .elf_functions import Functions
from .load import Pace, Result
from .markdown import precise, table
from .places import RESULTS, BenchError, need_two_cores
from .rounds import run_case

from server_kind import kind_of  # isort: skip  (setup/, put on the path by places)

WARM_UP = 2.0
# Samples a second. The number does not divide the timer's ticks.
FREQUENCY = 1999
SYMBOLS = 15

CASES = (
    Case("hot", "", PIPELINED + HOT),
    Case("single", "", SINGLE),
    Case("update", "-durable", SINGLE + UPDATE, Reach.WRITE),
)
TITLES = {
    "hot": "16 × 100 lookups of 1,000 hot rows",
    "single": "100 × 1 lookups of 1,000,000 rows",
    "update": "100 × 1 durable updates of 1,000,000 rows",
}
# By the beginning of the name of the file that contains the code.
GROUPS = {
    "handlersocket": "plugin",
    "[kernel": "kernel",
    "[vdso": "kernel",
    "mariadbd": "server",
    "mysqld": "server",
    "libc.": "C library",
    "libc-": "C library",
}
REST = "other"


@dataclass(frozen=True)
class Sample:
    share: float  # of all samples, in percent
    group: str
    symbol: str


def group_of(name: str) -> str:
    return next((group for start, group in GROUPS.items() if name.startswith(start)), REST)


def parse_samples(text: str) -> list[Sample]:
    """Reads what `perf report` writes: share, file and symbol, with TABs between them."""
    samples = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) < 3 or not fields[0].endswith("%"):
            continue
        # [k] or [.] in front says whether it is the kernel. The file's name says that already.
        symbol = fields[2].partition("] ")[2] or fields[2]
        samples.append(Sample(float(fields[0][:-1]), group_of(Path(fields[1]).name), symbol))
    return samples


def by_function(samples: Iterable[Sample], server: Functions) -> list[Sample]:
    """The server's program has few symbols. Places without one are grouped by function."""
    shares: dict[tuple[str, str], float] = {}
    for sample in samples:
        symbol = sample.symbol
        if sample.group == "server" and symbol.startswith("0x"):
            start = server.start_of(int(symbol, 16))
            symbol = symbol if start is None else f"function at {start:#x}"
        key = sample.group, symbol
        shares[key] = shares.get(key, 0.0) + sample.share
    return [Sample(share, group, symbol) for (group, symbol), share in shares.items()]


def describe(title: str, result: Result, samples: Sequence[Sample]) -> str:
    """Where the time goes by part, and then the symbols of each part that cost most."""

    def cost(share: float) -> str:
        return f"{share * result.cpu * 10:,.1f}"  # a percentage of microseconds, in nanoseconds

    shares: dict[str, float] = {}
    for sample in samples:
        shares[sample.group] = shares.get(sample.group, 0.0) + sample.share
    parts = sorted(shares.items(), key=lambda item: -item[1])
    lines = [[f"{share:.1f}", cost(share), group, "(all)"] for group, share in parts]
    for group, _ in parts:
        lines += [
            [f"{sample.share:.1f}", cost(sample.share), group, f"`{sample.symbol}`"]
            for sample in _dearest(samples, group)
        ]
    head = (
        f"### {title}\n\n{precise(result.rate)} requests a second, {precise(result.cpu)} µs of "
        f"server CPU a request (user {precise(result.user_cpu)}, system "
        f"{precise(result.system_cpu)}), p50 {precise(result.p50)} µs, p99 {precise(result.p99)} µs"
    )
    return f"{head}\n\n{table(['%', 'ns a request', 'part', 'symbol'], lines)}"


def _dearest(samples: Iterable[Sample], group: str) -> list[Sample]:
    of_group = [each for each in samples if each.group == group and each.share >= 0.2]
    return sorted(of_group, key=lambda each: -each.share)[:SYMBOLS]


def record(perf: str, database: Database, case: Case, seconds: float) -> tuple[Result, str]:
    """Makes one load, and returns perf's report on its middle."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=1) as background:
        data = str(Path(folder) / "perf.data")
        pace = Pace(warm_up=WARM_UP, duration=seconds + 1, rounds=1)
        load = background.submit(run_case, case, database, pace)
        # perf starts to sample when the load has passed its warm-up.
        delay = WARM_UP + 0.3
        sampling = [perf, "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-o", data]
        sampling += ["-D", str(int(delay * 1000)), "-p", str(database.pid)]
        _run([*sampling, "--", "sleep", str(delay + seconds)])
        result = load.result()
        reading = [perf, "report", "-q", "--stdio", "-i", data, "--percent-limit", "0.02"]
        reading += ["--sort", "dso,symbol", "-F", "overhead,dso,symbol", "-t", "\t"]
        text = _run(reading)
    return result, text


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


def profile(tree: Path, names: Sequence[str], *, original: bool, seconds: float) -> Path:
    """Prints the tables, and returns the path where they are kept."""
    need_two_cores()
    perf = shutil.which("perf")
    if perf is None:
        raise BenchError("perf is not installed: it is in Debian's package linux-perf")
    server = Functions(tree / "root/usr/sbin" / kind_of(tree).server)
    texts = []
    for case in (case for case in CASES if not names or case.name in names):
        settings = {HASH_INDEX: "ON"} if case.reach is Reach.READ else DURABLE
        name = f"{'original' if original else 'ours'}{case.peer}"
        database = Database(name, tree, original=original, settings=settings)
        try:
            say(f"{TITLES[case.name]}, {database.name}")
            if case.reach is Reach.READ:
                settle(database)
            result, text = record(perf, database, case, seconds)
        finally:
            database.stop()
        texts.append(describe(TITLES[case.name], result, by_function(parse_samples(text), server)))
        print(f"\n{texts[-1]}\n", flush=True)
    path = RESULTS / f"profile-{tree.name}-{'original' if original else 'ours'}.md"
    path.write_text("\n\n".join(texts) + "\n")
    return path
