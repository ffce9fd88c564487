"""Random sequences of memcached's requests, and how their replies are compared.

Times of expiry are long and far apart, or over at once, so that it does not matter how quick a
server is. Sums are made of items of their own, because memcached leaves blanks behind a number that
has become shorter, and the plugin does not.
"""

from __future__ import annotations

import random
import re
import struct
import time
from collections.abc import Callable

KEYS = (b"a", b"b", b"c", b"session:abc", b"A", b"db.table:1", "grün".encode(), b"z" * 250)
NUMBER_KEYS = (b"n1", b"n2", b"n3")
ODD_KEYS = (b"k" * 251,)
#: All keys that an item may have behind a sequence.
STORED_KEYS = (*KEYS, *NUMBER_KEYS, b"k" * 250)
TEXTS = (b"", b"x", b"abc", b"with blanks ", b"\x00\xff\r\n", b"END\r\n", b"v" * 1000)
NUMBERS = (
    b"0",
    b"1",
    b"7",
    b"10",
    b"0012",
    b"4294967296",
    b"18446744073709551615",
    b"18446744073709551610",
)
NO_NUMBERS = (b"abc", b"-1", b"1.5", b"", b"5 ab", b"+7", b"7\t8", b"7\x00")
ODD_WORDS = (b"x", b"-1", b"1x", b"18446744073709551616", b"99999999999999999999")
#: Another server's cas stands in its place.
CAS = b"<cas>"
#: No item has it.
NO_CAS = 999_999_999_999

Packet = tuple[bytes, bytes]  # a request, and the key whose cas is in it


class Author:
    """Writes the requests of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._times = 0

    def requests(self) -> list[list[Packet]]:
        one = self.one
        return [
            [one() for _ in range(self.random.choice([1, 1, 2, 5]))]
            for _ in range(self.random.randint(10, 40))
        ]

    def one(self) -> Packet:
        raise NotImplementedError

    def key(self) -> bytes:
        chosen = self.random.random()
        if chosen < 0.02:
            return self.random.choice(ODD_KEYS)
        return self.random.choice(KEYS[:3] if chosen < 0.7 else KEYS)

    def number_key(self) -> bytes:
        return self.random.choice(NUMBER_KEYS)

    def text(self) -> bytes:
        return self.random.choice(TEXTS)

    def exptime(self) -> int:
        self._times += 1
        choice = self.random.random()
        if choice < 0.4:
            return 0
        if choice < 0.55:
            return -self.random.choice([1, 100])
        if choice < 0.65:
            return self.random.choice([2592001, 100_000_000])  # long ago
        then = self.random.choice([100, 100_000, 2_000_000]) + 300 * self._times
        return then if then <= 2592000 and choice < 0.85 else then + int(time.time())


class TextAuthor(Author):
    """The commands in text."""

    def one(self) -> Packet:
        choose = self.random
        request, key = choose.choices(_TEXT, _TEXT_WEIGHTS)[0](self)
        if choose.random() < 0.03:
            line, end, rest = request.partition(b"\r\n")
            words = line.split(b" ")
            words[choose.randrange(len(words))] = choose.choice(ODD_WORDS)
            if not rest:
                request = b" ".join(words) + end
        return request, key

    def flags(self) -> bytes:
        odd = (b"4294967295", b"4294967296", b"-1", b"x", b"+5")
        return (
            self.random.choice(odd)
            if self.random.random() < 0.1
            else self.random.choice((b"0", b"1", b"77"))
        )

    def words_of_time(self) -> bytes:
        return b"x" if self.random.random() < 0.04 else b"%d" % self.exptime()

    def ending(self) -> bytes:
        return b" noreply" if self.random.random() < 0.1 else b""

    def gets(self) -> Packet:
        choose = self.random
        keys = [
            choose.choice([self.key, self.number_key])()
            for _ in range(choose.choice([1, 1, 1, 2, 7]))
        ]
        name = choose.choice([b"get", b"gets"])
        return name + b" " + choose.choice([b" ", b" ", b"  "]).join(keys) + choose.choice(
            [b"", b" "]
        ) + b"\r\n", b""

    def gats(self) -> Packet:
        # With a key that is too long behind another one, memcached touches the first one.
        keys = self.random.choice([self.key(), b" ".join(self.random.choices(KEYS, k=2))])
        name = self.random.choice([b"gat", b"gats"])
        return b"%s %s %s\r\n" % (name, self.words_of_time(), keys), b""

    def store(self) -> Packet:
        name = self.random.choice([b"set", b"set", b"add", b"replace", b"append", b"prepend"])
        value = self.text()
        size = len(value) - (1 if value and self.random.random() < 0.03 else 0)
        line = b"%s %s %s %s %d%s" % (
            name,
            self.key(),
            self.flags(),
            self.words_of_time(),
            size,
            self.ending(),
        )
        return b"%s\r\n%s\r\n" % (line, value), b""

    def store_number(self) -> Packet:
        value = self.random.choice(NUMBERS if self.random.random() < 0.9 else NO_NUMBERS)
        name = self.random.choice([b"set", b"set", b"add", b"replace"])
        return b"%s %s 5 0 %d\r\n%s\r\n" % (name, self.number_key(), len(value), value), b""

    def cas(self) -> Packet:
        key, value = self.key(), self.text()
        unique = self.random.choice([CAS, CAS, CAS, b"%d" % NO_CAS, b"x"])
        line = b"cas %s %s %s %d %s%s" % (
            key,
            self.flags(),
            self.words_of_time(),
            len(value),
            unique,
            self.ending(),
        )
        return b"%s\r\n%s\r\n" % (line, value), key

    def sum(self) -> Packet:
        delta = self.random.choice(ODD_WORDS if self.random.random() < 0.1 else NUMBERS)
        name = self.random.choice([b"incr", b"decr"])
        return b"%s %s %s%s\r\n" % (name, self.number_key(), delta, self.ending()), b""

    def delete(self) -> Packet:
        key = self.random.choice([self.key, self.number_key])()
        return b"delete %s%s%s\r\n" % (
            key,
            self.random.choice([b"", b"", b" 0"]),
            self.ending(),
        ), b""

    def touch(self) -> Packet:
        return b"touch %s %s%s\r\n" % (self.key(), self.words_of_time(), self.ending()), b""

    def other(self) -> Packet:
        return self.random.choice(
            (b"version\r\n", b"verbosity 1\r\n", b"verbosity\r\n", b"nosuch a b\r\n", b"\r\n",
             b"GET a\r\n", b"get\r\n", b" get a\r\n", b"set a 0 0\r\n", b"incr a\r\n",
             b"touch a\r\n", b"gat 5\r\n", b"delete\r\n", b"stats nosuch\r\n", b"stats reset\r\n")
        ), b""  # fmt: skip


_TEXT: list[Callable[[TextAuthor], Packet]] = [
    TextAuthor.gets, TextAuthor.gats, TextAuthor.store, TextAuthor.store_number, TextAuthor.cas,
    TextAuthor.sum, TextAuthor.delete, TextAuthor.touch, TextAuthor.other,
]  # fmt: skip
_TEXT_WEIGHTS = [30, 8, 25, 8, 10, 15, 8, 8, 3]


class MetaAuthor(Author):
    """Meta commands."""

    def one(self) -> Packet:
        return self.random.choices(_META, [10, 10, 4, 6, 1])[0](self)

    def flags(self, choices: str, odd: str = "?") -> bytes:
        choose = self.random
        chosen = [flag for flag in choices if choose.random() < 0.35]
        choose.shuffle(chosen)
        if choose.random() < 0.03:
            chosen.append(choose.choice(["Z", "1", *odd, *chosen]))
        words = b""
        for flag in chosen:
            token = {
                "O": lambda: choose.choice([b"1", b"opaque", b"", b"x" * 31]),
                "T": lambda: choose.choice([b"%d" % max(self.exptime(), 0), b"0", b"x", b""]),
                "N": lambda: choose.choice([b"%d" % max(self.exptime(), 0), b"0", b"x"]),
                "F": lambda: choose.choice([b"5", b"4294967295", b"x", b"-1"]),
                "C": lambda: choose.choice([CAS, CAS, b"%d" % NO_CAS, b"x"]),
                "D": lambda: choose.choice([*NUMBERS, b"x"]),
                "J": lambda: choose.choice([*NUMBERS, b"-1"]),
            }.get(flag, lambda: b"")()
            words += b" " + flag.encode() + token
        return words

    def get(self) -> Packet:
        key = self.random.choice([self.key, self.number_key])()
        # Not C: memcached loses a v that stands in front of it.
        if key in NUMBER_KEYS:
            return b"mg %s%s\r\n" % (key, self.flags("cfkqtvO")), b""
        return b"mg %s%s\r\n" % (key, self.flags("cfkqstvTO")), b""

    def set(self) -> Packet:
        key, value = self.key(), self.text()
        mode = self.random.choice([b"", b"", b" MS", b" ME", b" MA", b" MP", b" MR", b" Mx", b" M"])
        # Behind a flag that is no letter, memcached takes the value for a command.
        flags = self.flags("ckqsCFNOT", odd="")
        return b"ms %s %d%s%s\r\n%s\r\n" % (key, len(value), mode, flags, value), key

    def delete(self) -> Packet:
        key = self.random.choice([self.key, self.number_key])()
        return b"md %s%s\r\n" % (key, self.flags("kqxCO" if key in KEYS else "kqO")), key

    def sum(self) -> Packet:
        key = self.number_key()
        mode = self.random.choice(
            [b"", b"", b" MI", b" MD", b" M+", b" M-", b" Mincr", b" MDECR", b" Mx"]
        )
        # Not T: memcached loses it if the sum has more digits than there were.
        return b"ma %s%s%s\r\n" % (key, mode, self.flags("ckqtvNJDCO")), key

    def other(self) -> Packet:
        return self.random.choice(
            (b"mg\r\n", b"ms a\r\n", b"mx a\r\n", b"ms a x\r\n", b"m\r\n", b"me none\r\n")
        ), b""


_META: list[Callable[[MetaAuthor], Packet]] = [
    MetaAuthor.get, MetaAuthor.set, MetaAuthor.delete, MetaAuthor.sum, MetaAuthor.other,
]  # fmt: skip

_HEADER = struct.Struct(">BBHBBHIIQ")


class BinaryAuthor(Author):
    """Packets. The cas is the last 8 bytes of the header: CAS is written there as 0xfe, 8 times."""

    #: Of a cas that is another server's.
    CAS = 0xFEFEFEFEFEFEFEFE

    def one(self) -> Packet:
        choose = self.random
        opcode = choose.choice(_OPCODES)
        is_sum = opcode in (5, 6, 0x15, 0x16)
        key = self.number_key() if is_sum else self.key()[:250]
        extras = value = b""
        if opcode in (1, 2, 3, 0x11, 0x12, 0x13):
            extras = struct.pack(">II", choose.choice([0, 5]), self.exptime() & 0xFFFFFFFF)
            value = self.text()
        elif is_sum:
            exptime = choose.choice([0, 0, 0xFFFFFFFF, 1000])
            numbers = [int(choose.choice(NUMBERS)) for _ in range(2)]
            extras = struct.pack(">QQI", *numbers, exptime)
        elif opcode in (0xE, 0xF, 0x19, 0x1A):
            value = self.text()
        elif opcode in (0x1C, 0x1D, 0x1E, 0x23, 0x24):
            extras = struct.pack(">I", self.exptime() & 0xFFFFFFFF)
        elif opcode in (0xA, 0xB, 0x77):
            key = b""
        has_cas = opcode in _OPCODES_WITH_CAS and choose.random() < 0.3
        cas = choose.choice([self.CAS, NO_CAS]) if has_cas else 0
        return packet(opcode, key, extras, value, choose.getrandbits(32), cas), key


_OPCODES_WITH_CAS = (
    0, 1, 2, 3, 4, 0xE, 0x11, 0x12, 0x13, 0x14, 0x1C, 0x1D, 0x1E, 0x23, 0x24,
)  # fmt: skip
_OPCODES = (
    0, 0, 0xC, 9, 0xD, 1, 1, 1, 2, 3, 4, 5, 5, 6, 0xA, 0xB, 0xE, 0xF, 0x11, 0x12, 0x13, 0x14, 0x15,
    0x16, 0x19, 0x1A, 0x1C, 0x1D, 0x1E, 0x23, 0x24, 0x77,
)  # fmt: skip


def packet(
    opcode: int,
    key: bytes = b"",
    extras: bytes = b"",
    value: bytes = b"",
    opaque: int = 0,
    cas: int = 0,
) -> bytes:
    body = extras + key + value
    return _HEADER.pack(0x80, opcode, len(key), len(extras), 0, 0, len(body), opaque, cas) + body


class Side:
    """What one of the two servers has said. Its cas values are told by their order."""

    def __init__(self) -> None:
        self.latest: dict[bytes, int] = {}  # of a key, the cas that was shown last
        self._order: dict[bytes, dict[int, int]] = {}

    def filled(self, request: Packet) -> bytes:
        text, key = request
        cas = self.latest.get(key, NO_CAS)
        if text[:1] == b"\x80":
            has_cas = text[16:24] == struct.pack(">Q", BinaryAuthor.CAS)
            return text[:16] + struct.pack(">Q", cas) + text[24:] if has_cas else text
        if text.startswith(b"md ") and b"x" in text.split():  # memcached keeps the cas
            self.latest.pop(key, None)
            self._order.pop(key, None)
        return text.replace(CAS, b"%d" % cas)

    def _cas(self, key: bytes, cas: int) -> int:
        if cas == 0:
            return 0
        self.latest[key] = cas
        order = self._order.setdefault(key, {})
        return order.setdefault(cas, len(order) + 1)

    def text_replies(self, replies: bytes) -> list[object]:
        """The replies to text commands."""
        told: list[object] = []
        while replies:
            line, _, replies = replies.partition(b"\r\n")
            words = line.split(b" ")
            if not line and told[-1:] == [b"CLIENT_ERROR bad command line format"]:
                continue  # memcached 1.6.45 has an empty line behind this error, if it is a get's
            if words[0] != b"VALUE":
                told.append(line)
                continue
            key, flags, size = words[1], words[2], int(words[3])
            value, replies = replies[:size], replies[size + 2 :]
            unique = self._cas(key, int(words[4])) if len(words) > 4 else None
            told.append((key, flags, _without_blanks(key, value), unique))
        return told

    def meta_replies(self, key: bytes, replies: bytes) -> list[object]:
        """The replies to one meta command."""
        told: list[object] = []
        while replies:
            line, _, replies = replies.partition(b"\r\n")
            words = line.split(b" ")
            value = b""
            if words[0] == b"VA":
                size = int(words.pop(1))
                value, replies = _without_blanks(key, replies[:size]), replies[size + 2 :]
            if words[0] in (b"VA", b"HD", b"EX", b"NS", b"NF", b"EN"):
                words = [self._flag(key, word) for word in words]
            told.append((words, value))
        return told

    def _flag(self, key: bytes, word: bytes) -> bytes:
        if re.fullmatch(rb"c\d+", word):
            return b"c%d" % self._cas(key, int(word[1:]))
        if re.fullmatch(rb"t\d+", word):
            if int(word[1:]) >= 1 << 31:
                return b"t0"  # what is over: memcached writes a time below 0 without its sign
            return b"t%d" % ((int(word[1:]) + 60) // 150)
        return word

    def packets(self, keys: dict[int, bytes], replies: bytes) -> list[object]:
        told: list[object] = []
        while replies:
            _, opcode, key_size, extras, _, status, size, opaque, cas = _HEADER.unpack(replies[:24])
            body, replies = replies[24 : 24 + size], replies[24 + size :]
            key, value = body[extras : extras + key_size], body[extras + key_size :]
            of = keys.get(opaque, b"")
            told.append(
                (
                    opcode,
                    status,
                    opaque,
                    body[:extras],
                    key,
                    _without_blanks(of, value),
                    self._cas(of, cas),
                )
            )
        return told


def _without_blanks(key: bytes, value: bytes) -> bytes:
    return value.rstrip(b" ") if key in NUMBER_KEYS else value
