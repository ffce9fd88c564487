"""Values to bytes and back, without a server."""

import pytest

from handlersocket2.codec import (
    RawReply,
    decode_line,
    decode_value,
    encode_line,
    encode_value,
    escape,
    unescape,
)
from handlersocket2.errors import ProtocolError


@pytest.mark.parametrize("byte", range(256))
def test_a_byte_is_escaped_exactly_if_it_is_below_16(byte):
    raw = bytes([byte])
    expected = bytes([0x01, byte + 0x40]) if byte < 0x10 else raw
    assert escape(raw) == expected
    assert unescape(expected) == raw


def test_every_byte_survives_in_one_token():
    raw = bytes(range(256)) * 3
    token = encode_value(raw)
    assert not set(b"\x00\t\n") & set(token)
    assert decode_value(token) == raw


@pytest.mark.parametrize(
    ("value", "token"),
    [
        (None, b"\x00"),
        (b"\x00", b"\x01\x40"),
        (b"", b""),
        ("", b""),
        ("é\t", b"\xc3\xa9\x01\x49"),
        (b"\x01", b"\x01\x41"),
        (-12, b"-12"),
    ],
)
def test_values_as_tokens(value, token):
    assert encode_value(value) == token


@pytest.mark.parametrize("value", [True, 1.5, object(), ["a"]])
def test_a_value_of_another_type_is_refused(value):
    with pytest.raises(TypeError):
        encode_value(value)


@pytest.mark.parametrize("token", [b"\x01", b"a\x01", b"\x01\x3f", b"\x01\x50", b"\x01\x01\x40"])
def test_a_wrong_escape_is_an_error(token):
    with pytest.raises(ProtocolError):
        unescape(token)


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        (b"0\t1", RawReply(0, 1, ())),
        (b"0\t4", RawReply(0, 4, ())),
        (b"0\t1\t", RawReply(0, 1, (b"",))),
        (b"0\t2\t\x00\t", RawReply(0, 2, (None, b""))),
        (b"2\t1\tstmtnum", RawReply(2, 1, (b"stmtnum",))),
        (b"0\t1\ta\x01\x4ab", RawReply(0, 1, (b"a\nb",))),
    ],
)
def test_replies(line, reply):
    assert decode_line(line) == reply


@pytest.mark.parametrize("line", [b"", b"0", b"x\t1", b"0\tx", b"-1\t1", b"\t"])
def test_what_is_no_reply_is_an_error(line):
    with pytest.raises(ProtocolError):
        decode_line(line)


def test_a_line_joins_tokens():
    assert encode_line([b"1", b"=", b"1", b"7"]) == b"1\t=\t1\t7\n"
