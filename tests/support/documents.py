"""The code blocks of the documents, in their order: in fences, or indented."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from server_instance import REPOSITORY

PAGES = (
    "README.md",
    *sorted(f"docs/{page.name}" for page in REPOSITORY.glob("docs/*.md")),
    "clients/python/README.md",
)


@dataclass(frozen=True)
class Block:
    page: str
    line: int  # of its first line, from 1
    language: str  # as the fence names it; empty if it is indented
    text: str  # ends with LF

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def first_line(self) -> str:
        return self.text.partition("\n")[0]


FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# Four blanks begin a block only behind an empty line: elsewhere they continue an item of a list.
INDENTED = re.compile(r"(?<=\n\n)((?:    .*\n)+(?:\n+(?:    .*\n)+)*)")


def blocks_of(page: str, root: Path = REPOSITORY) -> list[Block]:
    text = (root / page).read_text()
    found = []
    for match in FENCED.finditer(text):
        line = text.count("\n", 0, match.start(3)) + 1
        found.append(Block(page, line, match[2] or "text", dedent(match[3])))
    # What is in a fence is no indented block.
    rest = FENCED.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in INDENTED.finditer(rest):
        line = rest.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, "", re.sub(r"^    ", "", match[1], flags=re.MULTILINE)))
    return sorted(found, key=lambda block: block.line)
