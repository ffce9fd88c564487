"""The dialogues of the vectors, held with the in-memory store and with the database server.

Both stores keep one contract. What it says about tables is tested here, for both by the same bytes.
"""

from __future__ import annotations

import pytest
from server_instance import ServerInstance
from support.dialogues import Dialogue, differences, load_tables, vector_dialogues
from support.memory_server import memory_server

every_dialogue = pytest.mark.parametrize(
    "dialogue", [pytest.param(dialogue, id=dialogue.name) for dialogue in vector_dialogues()]
)


@every_dialogue
def test_the_memory_server_answers(dialogue: Dialogue) -> None:
    with memory_server() as memory:
        assert differences(memory, dialogue) == []


@every_dialogue
def test_the_database_server_answers(dialogue: Dialogue, server: ServerInstance) -> None:
    load_tables(server)
    assert differences(server, dialogue) == []
