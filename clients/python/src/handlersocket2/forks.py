"""What a fork leaves to the child: objects that have to begin anew there are told so.

The kernel gives the child every socket of the parent. If both used one, each would get replies of
the other. And a lock that another thread held at the fork is never released in the child.
"""

from __future__ import annotations

import os
import socket
from typing import Protocol
from weakref import WeakSet


class _Renewed(Protocol):
    def after_fork(self) -> None:
        """Runs in the child before anything else does, in its only thread."""


_everybody: WeakSet[_Renewed] = WeakSet()


def renew_after_fork(renewed: _Renewed) -> None:
    """Has after_fork() called in each child that is forked while this object lives."""
    _everybody.add(renewed)


def _after_fork() -> None:
    for renewed in list(_everybody):
        renewed.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


#: What belongs to the parent is kept here for ever. If it were destroyed in the child, it would
#: close a number that may be another socket's by then.
_left: list[object] = []


def leave_to_parent(owner: object, shared: socket.socket | None) -> None:
    """Lets go of the child's copy of a socket, without a word to the other side."""
    _left.append(owner)
    if shared is None or shared.fileno() < 0:
        return
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.dup2(nothing, shared.fileno(), inheritable=False)
    os.close(nothing)
