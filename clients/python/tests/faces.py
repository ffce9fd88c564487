"""Both faces of the client, used in the same way."""

import asyncio

from scenario_server import Play

from handlersocket2 import AsyncClient


class Face:
    """Makes the same calls with either face."""

    def __init__(self, kind, *arguments, **options):
        self._runner = asyncio.Runner() if kind is AsyncClient else None
        self.client = kind(*arguments, **options)

    def __call__(self, call):
        if self._runner is None:
            return call()

        async def made():
            return await call()

        return self._runner.run(made())

    def close(self):
        self(self.client.close)
        if self._runner is not None:
            self._runner.close()


def script(*steps):
    """One connection, which expects and sends by turns. What is no pair stands for itself."""
    played = []
    for step in steps:
        if isinstance(step, dict):
            played.append(step)
        else:
            expected, sent = step
            played += [{"expect": expected}, *([{"send": sent}] if sent else [])]
    return played


class Played:
    """A server of these scripts, or several, and a client of it."""

    def __init__(self, kind, *, options=None, servers=None, **ports):
        self.play = Play({"servers": servers or [ports]})
        self._face = Face(kind, self.play.addresses, **{"timeout": 10, **(options or {})})
        self.client = self._face.client

    def __enter__(self):
        return self

    def __call__(self, call):
        return self._face(call)

    def __exit__(self, error, *_):
        try:
            if error is None:
                self.play.wait_for_the_end()
        finally:
            self._face.close()
            self.play.__exit__()
        if error is None:
            self.play.check()
