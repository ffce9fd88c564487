"""The same commands to two servers, and what they answer differently.

One is the subject: the plugin, which gets a packet as it is. The other is a real Redis. It gets one
command at a time, and is made to see what a row is: a hash with a field that nobody can delete.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from support.resp import QUEUED, Error, Reply, Resp, packed, pairs
from support_redis_differences import comparable, difference_of
from support_redis_sequences import KEY_COLUMN, KEYS, PREFIX, Case, Packet, Words

#: Every hash that is there has its key's column.
COMPLETE = (
    "for _, key in ipairs(KEYS) do if redis.call('EXISTS', key) == 1 then redis.call('HSETNX', key,"
    f" '{KEY_COLUMN.decode()}', string.sub(key, {len(PREFIX) + 1})) end end"
)
_WRITES = ("HSET", "HMSET", "HSETNX", "HINCRBY", "HINCRBYFLOAT")


class Model:
    """One connection to a real Redis, on which hashes are rows."""

    def __init__(self, port: int, protocol: int, are_rows: bool) -> None:
        self.wire = Resp(port, protocol=protocol)
        #: For what no client has asked for.
        self._own = Resp(port)
        self._are_rows = are_rows
        self._queued: list[Words | None] | None = None
        #: What the last EXEC has done, by command; None where it is the model's own.
        self.executed: list[Words] = []

    @property
    def is_in_unit(self) -> bool:
        return self._queued is not None

    def ask(self, words: Words) -> Reply:
        name = words[0].upper().decode("utf-8", "replace")
        if self._queued is not None and name == "EXEC":
            return self._execute()
        reply = self.wire.ask(*words)
        if self._queued is None:
            if name == "MULTI" and not isinstance(reply, Error):
                self._queued = []
            elif name in _WRITES and not isinstance(reply, Error):
                self._complete(self.wire.ask)
        elif reply == QUEUED:
            self._queued.append(words)
            if name in _WRITES:
                self._complete(self.wire.ask)
                self._queued.append(None)
        elif name in ("DISCARD", "RESET") and not isinstance(reply, Error):
            self._queued = None
        return reply

    def _complete(self, ask: Callable[..., Reply]) -> None:
        if self._are_rows:
            done = ask("EVAL", COMPLETE, len(KEYS), *KEYS)
            assert not isinstance(done, Error), done
        elif self._queued is not None:
            assert ask("PING") == QUEUED

    def _execute(self) -> Reply:
        """If one of its commands fails, as if it had not been. The reply is then the list."""
        assert self._queued is not None
        before = {key: self._own.ask("HGETALL", key) for key in KEYS}
        reply = self.wire.ask("EXEC")
        queued, self._queued = self._queued, None
        if not isinstance(reply, list):
            return reply
        told = [(words, one) for words, one in zip(queued, reply, strict=True) if words]
        self.executed = [words for words, _ in told]
        answers = [one for _, one in told]
        if self._are_rows and any(isinstance(one, Error) for one in answers):
            for key, row in before.items():
                self.put(key, pairs(row))
        return answers

    def put(self, key: bytes, row: dict[bytes, bytes]) -> None:
        if pairs(self._own.ask("HGETALL", key)) != row:
            self._own.ask("DEL", key)
            if row:
                self._own.ask("HSET", key, *(word for pair in row.items() for word in pair))

    def close(self) -> None:
        self.wire.close()
        self._own.close()


class Beside:
    """Executes cases on both servers. Each begins with nothing."""

    def __init__(self, subject: int, peer: int, empty: Callable[[], None]) -> None:
        self._subject = subject
        self._peer = peer
        #: Removes all rows of the subject.
        self._empty = empty
        #: What was met.
        self.counts: Counter[str] = Counter()
        #: Whether the subject is the plugin, so that differences are expected of it.
        self.has_differences = True
        #: Whether errors are compared to their last byte, or by their first words alone.
        self.compares_texts = True

    def run(self, case: Case) -> str | None:
        """The first difference that is not expected, as a story."""
        self._empty()
        with Resp(self._peer) as peer:
            peer.ask("FLUSHALL")
        wires = [Resp(self._subject, protocol=protocol) for protocol in case.protocols]
        models = [Model(self._peer, one, self.has_differences) for one in case.protocols]
        story: list[str] = []
        try:
            for packet in case.packets:
                wrong = self._send(
                    packet, wires[packet.connection], models[packet.connection], story
                )
                if wrong:
                    return "\n".join([*story[-12:], wrong])
            return self._compare_rows(wires[0], models[0], story)
        except AssertionError as error:
            return "\n".join([*story[-12:], f"{packet}: {error}"])
        finally:
            for one in (*wires, *models):
                one.close()

    def _send(self, packet: Packet, wire: Resp, model: Model, story: list[str]) -> str | None:
        commands = packet.commands
        whole = not any(map(difference_of, commands)) or not self.has_differences
        if whole:
            wire.send(b"".join(packed(*words) for words in commands))
        for words in commands:
            different = None if whole else difference_of(words)
            if different and model.is_in_unit:
                continue
            got = wire.reply() if whole else wire.ask(*words)
            told = f"  {packet.connection} {_shown(words)}: {_shown(got)}"
            story.append(told)
            if different:
                self.counts[different.name] += 1
                if not different.expected(got):
                    return f"is not as in '{different.name}'"
                if not isinstance(got, Error):
                    self._follow(wire, model, words)
                continue
            wanted = model.ask(words)
            if not self._agree(words, got, wanted, model):
                return f"{'':4}but Redis: {_shown(wanted)}"
            self._count(words, got)
        return None

    def _follow(self, wire: Resp, model: Model, words: Words) -> None:
        """The model gets the row as the subject has it now."""
        row = pairs(wire.ask("HGETALL", words[1]))
        model.put(words[1], row)

    def _agree(self, words: Words, got: Reply, wanted: Reply, model: Model) -> bool:
        if words[0].upper() == b"EXEC" and isinstance(wanted, list):
            if any(isinstance(one, Error) for one in wanted) and self.has_differences:
                self.counts["units that failed"] += 1
                return isinstance(got, Error)
            if not isinstance(got, list) or len(got) != len(wanted):
                return False
            return all(
                self._equal(of, one, other)
                for of, one, other in zip(model.executed, got, wanted, strict=True)
            )
        return self._equal(words, got, wanted)

    def _equal(self, words: Words, got: Reply, wanted: Reply) -> bool:
        if isinstance(got, Error) and isinstance(wanted, Error) and not self.compares_texts:
            return got.code == wanted.code
        return comparable(words, got) == comparable(words, wanted)

    def _compare_rows(self, wire: Resp, model: Model, story: list[str]) -> str | None:
        wire.ask("RESET")
        for key in KEYS:
            mine, other = pairs(wire.ask("HGETALL", key)), pairs(model._own.ask("HGETALL", key))
            if mine != other:
                return "\n".join([*story[-30:], f"{key!r} is {mine}", f"with Redis {other}"])
        return None

    def _count(self, words: Words, reply: Reply) -> None:
        self.counts["commands"] += 1
        self.counts["errors"] += isinstance(reply, Error)
        if words[0].upper() == b"EXEC" and not isinstance(reply, Error):
            self.counts["units that were not executed" if reply is None else "units"] += 1


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(repr(one)[1:] for one in value)
    text = repr(value)
    return text if len(text) < 400 else f"{text[:400]}…"


def shrink(
    case: Case, run: Callable[[Case], str | None], seconds: float
) -> tuple[Case, str | None]:
    """A smaller case that differs, too, as far as it is found in the time."""
    ends = time.monotonic() + seconds
    difference = run(case)
    size = max(1, len(case.packets) // 2)
    while size and time.monotonic() < ends:
        for start in range(0, len(case.packets), size):
            fewer = case.packets[:start] + case.packets[start + size :]
            smaller = Case(case.protocols, fewer)
            if fewer and (found := run(smaller)) is not None:
                case, difference = smaller, found
                break
        else:
            size //= 2
    return case, difference


def told(case: Case, difference: str | None) -> str:
    lines = [f"connections speak RESP{case.protocols[0]} and RESP{case.protocols[1]}"]
    for packet in case.packets:
        lines += [f"{packet.connection}: {' | '.join(map(_shown, packet.commands))}"]
    return "\n".join([*lines, "and so:", str(difference)])
