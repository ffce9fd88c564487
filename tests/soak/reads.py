"""The replies of a read port while a batch of writes is executed."""

from __future__ import annotations

from typing import Protocol

from soak.cutting import Ending
from soak.exchange import Sent, mismatch
from soak.model import Model
from soak.parked import Parked, may_be_parked
from soak.requests import Find, Insert, Open, Request, Spec, predict, shown


class Judge(Protocol):
    """Knows what happens beside the client."""

    def is_disturbed(self, reply: bytes, sent: Sent, request: Request) -> bool: ...

    def forbidden(self, sent: Sent, request: Request, reply: bytes, spec: Spec | None) -> str: ...

    def may_end(self, sent: Sent) -> bool: ...

    def note_parked(self) -> None: ...


class Reads:
    """The replies of the read port while a batch of writes is executed.

    Each reply has to fit one of the states of the client's rows, and no earlier state than the
    reply before it. Tables with transactions and tables without are two such chains of states. The
    reply of a find that was parked may fit several states, one after the other.
    """

    def __init__(self, judge: Judge, model: Model, sent: Sent) -> None:
        self._judge = judge
        self._model = model
        self._sent = sent
        side = sent.side
        assert side.ids is not None
        self._chains: list[list[tuple[int, Request, bytes, dict[int, Spec]]]] = [[], []]
        self._complaints = ["", ""]
        ids = side.ids
        for place, (request, reply) in enumerate(
            zip(sent.requests, sent.channel.replies, strict=False)
        ):
            if isinstance(request, Open):
                if reply != request.reply:
                    if not judge.is_disturbed(reply, sent, request):
                        raise mismatch(sent, place, reply, f"expected {shown(request.reply)}")
                elif request.spec is not None:
                    ids = {**ids, request.number: request.spec}
                continue
            spec = ids.get(request.number) if isinstance(request, Find | Insert) else None
            if complaint := judge.forbidden(sent, request, reply, spec):
                raise mismatch(sent, place, reply, complaint)
            chain = 1 if spec is not None and not spec.table.transactional else 0
            self._chains[chain].append((place, request, reply, ids))
        side.ids = ids
        self._at = [0, 0]
        self._parked: dict[int, Parked] = {}

    def look(self) -> None:
        """Removes the replies that fit the rows as they are now."""
        judge, model, sent = self._judge, self._model, self._sent
        for number, chain in enumerate(self._chains):
            while self._at[number] < len(chain):
                _, request, reply, ids = chain[self._at[number]]
                prediction = predict(request, model, ids, writable=False)
                self._complaints[number] = prediction.complaint(reply)
                if (
                    self._complaints[number]
                    and not judge.is_disturbed(reply, sent, request)
                    and not self._was_parked(*chain[self._at[number]])
                ):
                    break
                self._at[number] += 1

    def _was_parked(self, place: int, request: Request, reply: bytes, ids: dict[int, Spec]) -> bool:
        """Whether the reply fits the states so far, as the reply of a find that was parked."""
        spec = ids.get(request.number) if isinstance(request, Find) else None
        if spec is None or not isinstance(request, Find) or not may_be_parked(request, reply, spec):
            return False
        if place not in self._parked:
            self._parked[place] = Parked(request, reply, spec, self._model.owner)
        fits = self._parked[place].fits(self._model.tables[spec.table.name])
        if fits:
            self._judge.note_parked()
        return fits

    def finish(self) -> None:
        judge, sent = self._judge, self._sent
        for number, chain in enumerate(self._chains):
            if self._at[number] < len(chain):
                place, _, reply, _ = chain[self._at[number]]
                raise mismatch(
                    sent,
                    place,
                    reply,
                    f"{self._complaints[number]}\n  (in the last state that was possible)",
                )
        if not sent.channel.open:
            sent.side.channel = None
            answered = len(sent.channel.replies)
            ending = sent.plan.ending
            meant = ending not in (Ending.NONE, Ending.SLOW, Ending.HALF_CLOSE)
            if not meant and answered < len(sent.requests) and not judge.may_end(sent):
                raise mismatch(sent, answered, b"", "the server has ended the connection")
