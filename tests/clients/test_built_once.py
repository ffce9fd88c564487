"""support/built_once.py: several test files that need the same program get it from one build."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.built_once import build_once


def test_one_builds_and_the_others_wait(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "programs" / "program"
    source.write_text("first")
    builds: list[str] = []

    def use(_: int) -> str:
        def build() -> None:
            assert not list(folder.iterdir())
            builds.append(source.read_text())
            (folder / "half").touch()
            time.sleep(0.2)
            (folder / "half").rename(folder / "whole")

        build_once(folder, [source], build)
        return " ".join(sorted(path.name for path in folder.iterdir()))

    for text in ("first", "second"):
        source.write_text(text)
        with ThreadPoolExecutor(4) as users:
            assert list(users.map(use, range(4))) == ["built whole"] * 4
    assert builds == ["first", "second"]


def test_a_build_that_failed_is_done_again(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "program"
    source.write_text("text")

    def fail() -> None:
        (folder / "half").touch()
        raise OSError("no network")

    with pytest.raises(OSError, match="no network"):
        build_once(folder, [source], fail)
    build_once(folder, [source], (folder / "whole").touch)
    assert sorted(path.name for path in folder.iterdir()) == ["built", "whole"]
