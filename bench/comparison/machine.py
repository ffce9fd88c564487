"""What the figures were measured on: the machine, and the version of every program involved."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from .database import LARGE_PAGES_NEEDED, has_original
from .places import REPOSITORY, build_dir, newest_peer

CONGESTION_CONTROL = Path("/proc/sys/net/ipv4/tcp_congestion_control")
MEMORY = Path("/proc/meminfo")


def describe_machine() -> dict[str, str | int | float | None]:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": platform.release(),
        # It is a part of what a request costs, even over loopback.
        "congestion_control": CONGESTION_CONTROL.read_text().strip(),
        "load_average": round(os.getloadavg()[0], 2),
    }


def free_huge_pages() -> int:
    """The bytes of the huge pages that were set aside and that nobody has asked for."""
    found = re.findall(r"^(\w+): +(\d+)", MEMORY.read_text(), re.MULTILINE)
    info = {name: int(number) for name, number in found}
    return (info["HugePages_Free"] - info["HugePages_Rsvd"]) * info["Hugepagesize"] << 10


def has_large_pages() -> bool:
    """Whether a database server of ours can have its buffer pool on large pages."""
    return free_huge_pages() >= LARGE_PAGES_NEEDED


def describe_versions(tree: Path) -> dict[str, str]:
    server = dict(line.split("=", 1) for line in (tree / "server.env").read_text().splitlines())
    versions = {
        "server": f"{server['name'].partition('-')[0]} {server['version']}",
        "package": server["package_version"],
        "plugin": _first_line(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]),
        "build": _cache_value("CMAKE_BUILD_TYPE"),
        "compiler": _first_line([_cache_value("CMAKE_CXX_COMPILER"), "--version"]),
        "memcached": _number(_first_line([newest_peer("memcached"), "-V"])),
        "valkey": _number(_first_line([newest_peer("valkey-server"), "--version"])),
        "redis": _number(_first_line([newest_peer("redis-server"), "--version"])),
        "libmariadb": _first_line(["pkg-config", "--modversion", "libmariadb"]),
    }
    if has_original(tree):
        versions["original"] = "the one in the server's package"
    return versions


def _cache_value(name: str) -> str:
    cache = (build_dir() / "CMakeCache.txt").read_text()
    found = re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE)
    return found[1] if found else "unknown"


def _number(text: str) -> str:
    found = re.search(r"\d+(\.\d+)+", text)
    return found[0] if found else text


def _first_line(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return "unknown"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else "unknown"
