"""errors.json agrees with the server's table of errors and with the documents."""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
ERRORS = json.loads((HERE / "errors.json").read_text())
MEMBERS = {"code", "text", "name", "kind", "retry", "words", "sqlstate"}
# SQL's numbers that no document names: the server may raise them all the same.
ONLY_HERE = {"1062", "1698", "1836"}


def table_of_the_server() -> dict[str, int]:
    header = (REPOSITORY / "src/handlersocket/protocol/errors.h").read_text()
    found = re.findall(r'ErrorInfo\{\w+::\w+, (\d), "(\w+)"\}', header)
    return {text: int(code) for code, text in found}


def section(page: str, *headings: str) -> str:
    text = (REPOSITORY / "docs" / page).read_text()
    parts = re.split(r"^##+ (.*)$", text, flags=re.MULTILINE)
    named = dict(zip(parts[1::2], parts[2::2], strict=True))
    return "\n".join(named[heading] for heading in headings)


def test_each_error_is_complete_and_stands_there_once() -> None:
    for error in ERRORS:
        assert set(error) - {"maybe_executed"} == MEMBERS, error
        assert error["retry"] in {"no", "later", "elsewhere"}, error
        assert error["sqlstate"] is None or re.fullmatch(r"[0-9A-Z]{5}", error["sqlstate"]), error
        assert error["words"] and error["name"].isidentifier(), error
    for member in ("text", "name"):
        values = [error[member] for error in ERRORS]
        assert len(values) == len(set(values))


def test_each_kind_is_one_that_clients_know() -> None:
    page = (REPOSITORY / "clients/README.md").read_text()
    sentence = r"`errors\.json` gives a server's error its `kind`, (.*?)\.\s"
    (kinds,) = re.findall(sentence, page, re.DOTALL)
    assert {error["kind"] for error in ERRORS} == set(re.findall(r"`(\w+)`", kinds))


def test_the_words_are_those_of_the_server() -> None:
    words = {e["text"]: e["code"] for e in ERRORS if not e["text"].isdigit()}
    # protocol.md has the codes of the words, too.
    rows = re.findall(r"^\| (\d) \| (`.*?`) \|", section("protocol.md", "Errors"), re.MULTILINE)
    documented = {text: int(code) for code, texts in rows for text in re.findall(r"`(\w+)`", texts)}
    assert words == table_of_the_server() == documented


def test_the_numbers_are_those_of_the_documents() -> None:
    numbers = {error["text"] for error in ERRORS if error["text"].isdigit()}
    assert all(error["code"] == 1 for error in ERRORS if error["text"] in numbers)
    tables, errors = (
        section("protocol.md", "Which tables are served"),
        section("protocol.md", "Errors", "Log in", "Locked rows and long modifications"),
    )
    engine = re.findall(r"\b(\d{3})\b", section("protocol.md", "Errors").split("Numbers of SQL")[0])
    assert {number for number in numbers if int(number) < 1000} == set(engine)
    documented = {
        number
        for number in re.findall(r"\b([134]\d{3})\b", tables + errors)
        if number not in {"1000"}  # where SQL's numbers begin
    }
    assert documented - numbers == set()
    everywhere = "".join(page.read_text() for page in sorted((REPOSITORY / "docs").glob("*.md")))
    unknown = {n for n in numbers if int(n) >= 1000 and not re.search(rf"\b{n}\b", everywhere)}
    assert unknown == ONLY_HERE
