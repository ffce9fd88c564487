"""The programs that measure: one for each language, and the clients that it knows."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comparison.places import REPOSITORY

FOLDER = REPOSITORY / "bench" / "clients"
VAR = REPOSITORY / "var"
# setup/bench_clients.sh builds into it.
BUILT = VAR / "clients" / "bench"
CALLERS = (1, 16, 256, 1000)
# Of Python. They share one interpreter's lock, and each may wait long for its turn.
MOST_THREADS = 256


@dataclass(frozen=True)
class Library:
    """A client as a program knows it."""

    name: str
    title: str
    # The process that answers it: hs and sql are the database server, redis is Redis.
    server: str
    # With more callers it is not measured, for it would show nothing but the cost of threads.
    most_callers: int = 1000


@dataclass(frozen=True)
class Language:
    name: str
    libraries: Sequence[Library]
    # A just-in-time compiler needs longer.
    warm_up: float = 1.0


GO = Language(
    "go",
    (
        Library("ours", "ours", "hs"),
        Library("go-redis", "go-redis", "redis"),
        Library("go-redis-auto-pipeline", "go-redis, AutoPipeline", "redis"),
        Library("rueidis", "rueidis", "redis"),
        Library("rueidis-20us", "rueidis, delay 20 µs", "redis"),
        Library("sql", "go-sql-driver/mysql", "sql"),
    ),
)
JAVA = Language(
    "java",
    (
        Library("ours-futures", "ours, futures", "hs"),
        Library("ours", "ours, blocking", "hs"),
        Library("lettuce-async", "Lettuce, futures", "redis"),
        Library("lettuce", "Lettuce, blocking", "redis"),
        Library("jedis", "Jedis, blocking", "redis"),
        Library("jdbc", "Connector/J, blocking", "sql"),
    ),
    warm_up=2.0,
)
NODE = Language(
    "node",
    (
        Library("ours", "ours", "hs"),
        Library("node-redis-5", "node-redis 5", "redis"),
        Library("node-redis", "node-redis 6", "redis"),
        Library("ioredis", "ioredis, autopipelining", "redis"),
        Library("valkey-glide", "valkey-glide", "redis"),
        Library("mysql2", "mysql2", "sql"),
        Library("mariadb", "mariadb", "sql"),
    ),
)
PYTHON = Language(
    "python",
    (
        Library("ours-uvloop", "ours, uvloop", "hs"),
        Library("ours-asyncio", "ours, asyncio", "hs"),
        Library("ours-threads", "ours, threads", "hs", MOST_THREADS),
        Library("redis-py", "redis-py, uvloop", "redis"),
        Library("redis-py-threads", "redis-py, threads", "redis", MOST_THREADS),
        Library("valkey-glide", "valkey-glide, uvloop", "redis"),
        Library("asyncmy", "asyncmy, uvloop", "sql"),
        Library("pymysql", "PyMySQL, threads", "sql", MOST_THREADS),
    ),
)
# No client, but what the servers can give to one: hs-bench has as many requests in flight on one
# connection, and does nothing with the answers.
LIMITS = Language(
    "limits",
    (
        Library("handlersocket", "hs-bench, the plugin", "hs"),
        Library("redis", "hs-bench, Redis", "redis"),
    ),
)
LANGUAGES = {language.name: language for language in (GO, JAVA, NODE, PYTHON, LIMITS)}


def newest_java() -> str:
    """The newest that this machine has: from 21 on, there are virtual threads."""
    found = {}
    for release in Path("/usr/lib/jvm").glob("*/release"):
        version = re.search(r'^JAVA_VERSION="(\d+)', release.read_text(), re.MULTILINE)
        program = release.parent / "bin" / "java"
        if version and program.exists():
            found[int(version[1])] = str(program)
    return found[max(found)] if found else "java"


def command_of(language: Language) -> list[str]:
    """How a language's program is started; its arguments follow."""
    if language is GO:
        return [str(BUILT / "go" / "bench")]
    if language is JAVA:
        java = BUILT / "java"
        path = (java / "program", java / "client" / "classes", java / "lib" / "*")
        return [newest_java(), "-cp", os.pathsep.join(map(str, path)), "Bench"]
    if language is NODE:
        return [str(VAR / "clients" / "node-own" / "bin" / "node"), str(BUILT / "node/bench.mjs")]
    return [str(VAR / "venv" / "bin" / "python"), str(FOLDER / "python" / "bench.py")]


def environment() -> dict[str, str]:
    """Without what would say where a HandlerSocket server is."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("HANDLERSOCKET_")}
    return own | {"PYTHONPATH": str(REPOSITORY / "clients" / "python" / "src")}


def pinned_versions() -> dict[str, str]:
    """The other libraries, as the files say that pin them."""
    pins = {
        "go/go.mod": r"^\t(\S+/(?:v9|rueidis|mysql)) v(\S+)$",
        "java/pom.xml": r"<artifactId>([^<]*)</artifactId>\s*<version>([^<]*)</version>",
        "node/package.json": r'^    "([^"]+)": "(?:npm:redis@)?([\d.]+)"',
        "python/requirements.txt": r"^(redis|hiredis|valkey-glide|uvloop|asyncmy|PyMySQL)==(\S+)$",
    }
    left_out = ("bench-clients", "maven-dependency-plugin", "slf4j-nop")
    return {
        f"{file.partition('/')[0]} {name}": version
        for file, pattern in pins.items()
        for name, version in re.findall(pattern, (FOLDER / file).read_text(), re.MULTILINE)
        if name not in left_out
    }
