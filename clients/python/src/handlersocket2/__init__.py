"""A client for HandlerSocket: rows of MariaDB and MySQL by an indexed key, without SQL."""

from .client import Client, ClientPipeline, Index, PipelinedIndex
from .codec import Cell, RawReply, Value
from .connection import Address, Connection, Pending, Pipeline
from .errors import (
    AuthenticationError,
    ConnectionLost,
    DuplicateKeyError,
    HandlerSocketError,
    LockError,
    ProtocolError,
    ReadOnlyError,
    ReplyError,
)
from .requests import (
    Auth,
    FetchModify,
    Filter,
    FilterKind,
    Find,
    FindModify,
    In,
    Insert,
    ModifyOp,
    OpenIndex,
    Request,
    Row,
)

__all__ = [
    "Address",
    "Auth",
    "AuthenticationError",
    "Cell",
    "Client",
    "ClientPipeline",
    "Connection",
    "ConnectionLost",
    "DuplicateKeyError",
    "FetchModify",
    "Filter",
    "FilterKind",
    "Find",
    "FindModify",
    "HandlerSocketError",
    "In",
    "Index",
    "Insert",
    "LockError",
    "ModifyOp",
    "OpenIndex",
    "Pending",
    "Pipeline",
    "PipelinedIndex",
    "ProtocolError",
    "RawReply",
    "ReadOnlyError",
    "ReplyError",
    "Request",
    "Row",
    "Value",
]
__version__ = "0.1.0"
