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
ONLY_HERE = {"1698", "1836"}


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
    sentence = r"its \*\*category\*\*, from which clients make classes or values: (.*?)\.\s"
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
    # 62/116 is a measured time, and no error, whatever its figures are.
    everywhere = re.sub(r"\b\d+/\d+\b", "", everywhere)
    unknown = {n for n in numbers if int(n) >= 1000 and not re.search(rf"\b{n}\b", everywhere)}
    assert unknown == ONLY_HERE


def rows_of(table: str) -> list[list[str]]:
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_pages_tell_of_no_error_that_clients_do_not_know() -> None:
    pages = {page.name: page.read_text() for page in sorted((REPOSITORY / "docs").glob("*.md"))}
    # In front of an example's arrow is a request, whose numbers may look like an error's beginning.
    replies = re.sub(r"^ {4}.*?(→|$)", "", "\n".join(pages.values()), flags=re.MULTILINE)
    named = set(re.findall(r"(?<!␉)[123]␉1␉(\w+)", replies)) - {"0", "1"}
    named |= set(re.findall(r"\banswered (\d{3,4})\b", "".join(pages.values())))
    clusters = section("scaling.md", "Galera", "Group Replication")
    for cell in [row[1] for row in rows_of(clusters)]:
        named |= set(re.findall(r"\b([134]\d{3})\b", cell))
    for cell in [row[0] for row in rows_of(section("operations.md", "Trouble by symptom"))]:
        if "UNINSTALL" not in cell:  # an error of SQL
            named |= set(re.findall(r"^(?:\d{3,4}(?:, )?)+", cell) and re.findall(r"\d{3,4}", cell))
    assert len(named) > 20
    assert named - {error["text"] for error in ERRORS} == set()


def test_the_page_for_users_of_caches_says_what_may_be_tried_again() -> None:
    known = {error["text"]: error["retry"] for error in ERRORS}
    advice = {
        text: words
        for reply, _, words in rows_of(section("from-a-cache.md", "Time-outs and errors"))
        for text in re.findall(r"␉1␉(\w+)", reply)
    }
    assert len(advice) > 8
    assert {text for text, words in advice.items() if "try again" in words} == {
        text for text in advice if known[text] == "later"
    }
