"""The exceptions as values: their words, and their way through a process pool."""

import copy
import pickle
import re
from pathlib import Path

import pytest
from vectors import vectors

from handlersocket2 import (
    AuthenticationError,
    BusyError,
    ClosedError,
    ConnectError,
    ConnectionLost,
    DecodeError,
    HandlerSocketError,
    ProtocolError,
    ReplyError,
    RequestCancelled,
    RequestTimeout,
)
from handlersocket2.error_table import MEANINGS
from handlersocket2.errors import reply_error

PROTOCOL = Path(__file__).resolve().parents[3] / "docs" / "protocol.md"


ERRORS = vectors("errors")


def documented_texts():
    """Every text of the protocol's errors: the words of its table, and its numbers."""
    page = PROTOCOL.read_text()
    errors = page[page.index("\n## Errors\n") : page.index("\n### Locked rows")]
    words = [word for row in re.findall(r"^\| [123] \|([^|]*)\|", errors, re.M) for word in row]
    words = re.findall(r"`(\w+)`", "".join(words))
    numbers = re.findall(r"\b\d{3,4}\b", errors[errors.index("- **Numbers of the storage") :])
    log_in = page[page.index("\n## Log in\n") : page.index("\n## Errors\n")]
    numbers += re.findall(r"\b1[0-9]{3}\b|\b3118\b|\b4151\b", log_in)
    assert {"open_table", "tls", "authtype"} <= set(words)
    assert {"121", "1205", "4025", "1045", "1142"} <= set(numbers)
    return sorted({*words, *numbers} - {"1000"})


@pytest.mark.parametrize("text", documented_texts())
def test_each_documented_error_has_words(text):
    message = str(reply_error(1, text))
    assert message.startswith(f"1 {text}: "), message


@pytest.mark.parametrize("vector", ERRORS, ids=lambda vector: vector["text"])
def test_the_vectors_of_errors(vector):
    error = reply_error(vector["code"], vector["text"], modifies=True)
    assert (error.code, error.text) == (vector["code"], vector["text"])
    assert error.category == vector["kind"]
    assert error.retry == vector["retry"]
    assert error.sqlstate == vector["sqlstate"]
    assert error.maybe_executed is vector.get("maybe_executed", False)
    assert not reply_error(vector["code"], vector["text"]).maybe_executed
    assert str(error).endswith(vector["words"])


def test_no_other_error_has_a_meaning():
    assert set(MEANINGS) == {vector["text"] for vector in ERRORS}


@pytest.mark.parametrize(
    ("code", "text", "category"),
    [(1, "7777", "server"), (9, "new", "server"), (2, "new", "request"), (3, "new", "log_in")],
)
def test_an_error_that_is_not_known(code, text, category):
    error = reply_error(code, text)
    assert (error.category, error.retry, str(error)) == (category, "no", f"{code} {text}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1045", "access denied"),
        ("1142", "command denied"),
        ("1364", "doesn't have a default value"),
        ("1366", "incorrect value"),
        ("1406", "data too long"),
        ("4151", "account is locked"),
    ],
)
def test_a_number_of_sql_has_the_words_of_sql(text, words):
    assert words in str(reply_error(1, text))


@pytest.mark.parametrize(
    "error",
    [
        reply_error(1, "121"),
        reply_error(1, "1213"),
        reply_error(1, "1406"),
        reply_error(1, "7777"),
        reply_error(2, "readonly"),
        reply_error(3, "unauth"),
        ConnectionLost("gone", sent=True, maybe_executed=True),
        ConnectError("nobody"),
        ProtocolError("no reply"),
        HandlerSocketError("root"),
    ],
)
def test_an_error_survives_pickling_and_copying(error):
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)
        if isinstance(error, ReplyError):
            assert (again.code, again.text, again.number) == (error.code, error.text, error.number)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (HandlerSocketError("root"), "usage"),
        (reply_error(1, "121"), "reply"),
        (reply_error(3, "unauth"), "reply"),
        (AuthenticationError(3, "unauth", sent=False), "log_in"),
        (ConnectionLost("gone", sent=True), "lost"),
        (ConnectError("nobody"), "connect"),
        (RequestTimeout("over"), "timeout"),
        (RequestCancelled("left"), "cancelled"),
        (BusyError("full"), "busy"),
        (ProtocolError("no reply"), "protocol"),
        (ClosedError("closed"), "closed"),
        (DecodeError("no number"), "decode"),
    ],
)
def test_each_error_has_the_word_of_all_clients(error, kind):
    assert error.kind == kind
