"""One caller of the clients' soak. tests/client_soak/README.md says what it does."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from book import Book, State
from handlersocket2 import (
    AsyncClient,
    Client,
    HandlerSocketError,
    In,
    ModifyOp,
    Range,
    ReplyError,
)

OWNER = "python"
LIVE_ROWS = 8
LETTERS = "abcdefghij\t\n\0é😀"
KEPT = {"owner": str, "caller": int, "number": int, "n": int, "text": str}
LOG = {"owner": str, "caller": int, "number": int}
#: The kinds of errors that faults may cause, and the categories of the server's errors.
KINDS = {"timeout", "cancelled", "busy", "connect", "lost"}
REPLIES = {"lock", "elsewhere", "read_only", "interrupted", "limit", "schema", "server"}
PAUSE = 0.01


class WrongError(Exception):
    """Something is not what it must be."""


def kind_of(error: HandlerSocketError) -> str:
    """WrongError, if it is an error that no fault explains."""
    if isinstance(error, ReplyError) and error.category in REPLIES:
        return "reply"
    if error.kind in KINDS:
        return error.kind
    raise WrongError(f"{type(error).__name__} {error}")


class Caller:
    """Uses a client of either face: what an AsyncClient gives is awaited, a Client has done it."""

    def __init__(self, client: Client | AsyncClient, number: int, seed: int) -> None:
        self._client: Any = client
        self._number = number
        self._random = random.Random(f"{seed} {number}")
        self._kept: Any = client.index(None, "kept", KEPT)
        self._log: Any = client.index(None, "log", LOG)
        self.book = Book(number)
        self.calls = 0
        self.unsure = 0
        self.errors: Counter[str] = Counter()

    async def work(self, is_over: Callable[[], bool]) -> None:
        operations: dict[Callable[[], Awaitable[None]], int] = {
            self._find: 30,
            self._find_all: 8,
            self._count_all: 3,
            self._update: 10,
            self._increment: 10,
            self._fetch_and_increment: 5,
            self._delete: 5,
            self._insert_into_log: 10,
            self._group: 8,
            self._pipeline: 5,
            self._iterate: 3,
            self._find_in_a_hurry: 3,
            self._increment_in_a_hurry: 3,
        }
        names, weights = list(operations), list(operations.values())
        while not is_over():
            full = len(self.book.live) >= LIVE_ROWS
            operation = self._random.choices(names, weights)[0] if full else self._insert
            try:
                await operation()
            except WrongError as error:
                name = getattr(operation, "__name__", "").strip("_")
                raise WrongError(f"caller {self._number}, {name}: {error}") from error

    async def _insert(self) -> None:
        number, state = self.book.new_number(), (0, "new")
        try:
            await self._ask(lambda: self._kept.insert([*self._key(number), *state]))
        except HandlerSocketError as error:
            if await self._is_undone(error):
                self.book.set(number, None)
            else:
                self.book.doubt(number, None, state)
            return
        self.book.set(number, state)

    async def _find(self, **options: float) -> None:
        number = self._any_row()
        await self._expect(
            lambda: self._kept.find_one(self._key(number), **options), self._row(number)
        )

    async def _find_all(self) -> None:
        wanted = [self._row(number) for number in sorted(self.book.live)]
        numbers = [*self.book.live, self.book.unused_number]
        await self._expect(
            lambda: self._kept.find_in(numbers, self._key(0), key_part=2), wanted, sorted
        )

    async def _count_all(self) -> None:
        numbers = [*self.book.live, self.book.unused_number]
        await self._expect(
            lambda: self._kept.count(self._key(0), in_=In(numbers, 2)), len(self.book.live)
        )

    async def _iterate(self) -> None:
        found: dict[int, Any] = {}
        try:
            rows = self._kept.iterate(Range(key=[OWNER, self._number], ge=0))
            if isinstance(rows, AsyncIterator):
                found = {row.number: row async for row in rows}
            else:
                found = {row.number: row for row in rows}
        except HandlerSocketError as error:
            await self._is_undone(error)
            return
        self.calls += 1
        for number in self.book.live:
            self._compare(found.get(number), self._row(number))
        self._compare(self.book.absent & found.keys(), set())

    async def _update(self) -> None:
        number = self._any_row()
        text = "".join(self._random.choices(LETTERS, k=self._random.randint(0, 60)))
        await self._change(
            number,
            (self.book.live[number][0], text),
            lambda: self._kept.update(self._key(number), {"text": text}),
            1,
        )

    async def _increment(self, **options: float) -> None:
        number, amount = self._any_row(), self._random.randint(1, 9)
        await self._change(
            number,
            self._increased(number, amount),
            lambda: self._kept.increment(self._key(number), {"n": amount}, **options),
            1,
        )

    async def _fetch_and_increment(self) -> None:
        number, amount = self._any_row(), self._random.randint(1, 9)
        await self._change(
            number,
            self._increased(number, amount),
            lambda: self._kept.fetch_and(ModifyOp.INCREMENT, self._key(number), {"n": amount}),
            [self._row(number)],
        )

    async def _delete(self) -> None:
        number = self._any_row()
        await self._change(number, None, lambda: self._kept.delete(self._key(number)), 1)

    async def _insert_into_log(self) -> None:
        number = self.book.new_log_number()
        try:
            await self._ask(lambda: self._log.insert(self._key(number)))
        except HandlerSocketError as error:
            self.book.log_failed(number, await self._is_undone(error))

    async def _group(self) -> None:
        amount, number = self._random.randint(1, 9), self.book.new_log_number()
        less, more = self._random.sample(sorted(self.book.live), 2)
        after = {less: self._increased(less, -amount), more: self._increased(more, amount)}
        group = self._client.group()
        changes = [
            group.on(self._kept).increment(self._key(less), {"n": -amount}),
            group.on(self._kept).increment(self._key(more), {"n": amount}),
        ]
        group.on(self._log).insert(self._key(number))
        try:
            await self._ask(group.run)
        except HandlerSocketError as error:
            if await self._is_undone(error):
                self.book.log_failed(number, is_undone=True)
            else:
                self.book.doubt_all(after, number)
            return
        self._compare([change.result() for change in changes], [1, 1])
        for each, state in after.items():
            self.book.set(each, state)

    async def _pipeline(self) -> None:
        log_number, numbers = self.book.new_log_number(), sorted(self.book.live)
        pipeline = self._client.pipeline()
        finds = {}
        for number in numbers:
            if number == numbers[LIVE_ROWS // 2]:
                insert = pipeline.on(self._log).insert(self._key(log_number))
            finds[number] = pipeline.on(self._kept).find_one(self._key(number))
        # Each of them has its own outcome.
        with suppress(HandlerSocketError):
            await self._ask(pipeline.run)
        for number, find in finds.items():
            if (error := find.error()) is None:
                self._compare(find.result(), self._row(number))
            else:
                await self._is_undone(error)
        if (error := insert.error()) is not None:
            self.book.log_failed(log_number, await self._is_undone(error))

    async def _find_in_a_hurry(self) -> None:
        await self._find(timeout=self._hurry())

    async def _increment_in_a_hurry(self) -> None:
        await self._increment(timeout=self._hurry())

    async def _change(
        self, number: int, after: State, call: Callable[[], Any], wanted: object
    ) -> None:
        """A change of one live row, which becomes `after` by it."""
        try:
            result = await self._ask(call)
        except HandlerSocketError as error:
            if not await self._is_undone(error):
                self.book.doubt(number, self.book.live[number], after)
            return
        self._compare(result, wanted)
        self.book.set(number, after)

    async def _expect(
        self, call: Callable[[], Any], wanted: object, read: Callable[[Any], Any] = lambda it: it
    ) -> None:
        """A call that changes nothing."""
        try:
            result = await self._ask(call)
        except HandlerSocketError as error:
            self._compare(await self._is_undone(error), True)
            return
        self._compare(read(result), wanted)

    async def _ask(self, call: Callable[[], Any]) -> Any:
        result = call()
        if inspect.isawaitable(result):
            result = await result
        self.calls += 1
        return result

    async def _is_undone(self, error: HandlerSocketError) -> bool:
        """Notes an error, and waits. Whether what failed has certainly not been done."""
        self.errors[kind_of(error)] += 1
        self._compare(error.maybe_executed and not error.sent, False)
        self.unsure += error.maybe_executed
        await asyncio.sleep(PAUSE)
        return error.safe_to_retry

    @staticmethod
    def _compare(found: object, wanted: object) -> None:
        if found != wanted:
            raise WrongError(f"{found!r}, and not {wanted!r}")

    def _any_row(self) -> int:
        number: int = self._random.choice(sorted(self.book.live))
        return number

    def _hurry(self) -> float:
        return self._random.uniform(0.001, 0.020)

    def _key(self, number: int) -> list[str | int]:
        return [OWNER, self._number, number]

    def _row(self, number: int) -> tuple[str | int, ...]:
        return (*self._key(number), *self.book.live[number])

    def _increased(self, number: int, amount: int) -> tuple[int, str]:
        n, text = self.book.live[number]
        return n + amount, text
