"""What a Debian package carries. `make test-deb` installs, upgrades and removes one."""

from __future__ import annotations

import subprocess
from pathlib import Path

from server_instance import REPOSITORY
from support.servers import SERVER_TREE


def test_a_package_carries_all_sources_of_the_plugin(tmp_path: Path) -> None:
    """Configuring checks that each source is there. It compiles nothing but CMake's own probes."""
    sources = tmp_path / "sources"
    subprocess.run([REPOSITORY / "setup/package/copy_sources.sh", sources], check=True)
    # As handlersocket2-build does.
    command = ["cmake", "-S", sources, "-B", tmp_path / "build", "-G", "Ninja", "-DHS_TESTS=OFF"]
    subprocess.run([*command, f"-DHS_SERVER={SERVER_TREE}"], check=True)
    assert "build src/mysqld/handlersocket2.so:" in (tmp_path / "build/build.ninja").read_text()
