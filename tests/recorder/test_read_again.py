"""Prompts that are read again, and arrays that are refused, in a log with many checkpoints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_proxy.recorder.rewrite import ImportedFrame, import_connection
from acp_proxy.recording import open_recording
from acp_proxy.state import checkpoints
from acp_proxy.views.state_json import state_document
from acp_proxy.wire.jsonrpc import Direction
from tests.state.folding import Folding, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def words(folding: Folding, count: int, **fields: Any) -> None:
    """Let the agent say much."""
    for number in range(count):
        folding.update("agent_message_chunk", content=text(f"word {number}"), **fields)


def prompt(folding: Folding, id_: int) -> None:
    """Let the user say something."""
    params = {"sessionId": "s", "prompt": [text("please " * 50)]}
    folding.client(id=id_, method="session/prompt", params=params)


def answers_2_and_speaks_1(folding: Folding) -> None:
    folding.ask("initialize", {"protocolVersion": 2}, {"protocolVersion": 2})
    for id_ in range(3):
        prompt(folding, id_)
        words(folding, 30, messageId=f"m{id_}")
        folding.update("tool_call", toolCallId=f"t{id_}", title="T")
        words(folding, 30)
        folding.agent(id=id_, result={"stopReason": "end_turn"})


def begins_late(folding: Folding) -> None:
    for id_ in range(3):
        prompt(folding, id_)
        words(folding, 30, messageId=f"m{id_}")
        folding.update("state_update", state="running")
        folding.update("user_message", messageId=f"u{id_}", content=[text("please")])
        words(folding, 30, messageId=f"n{id_}")
        folding.agent(id=id_, result={"messageId": f"u{id_}"})
        folding.update("state_update", state="idle", stopReason="end_turn")


def refuses_arrays(folding: Folding) -> None:
    folding.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1})
    for id_ in range(3):
        params = {"sessionId": "s", "prompt": [text("please " * 50)]}
        ask = {"jsonrpc": "2.0", "id": id_, "method": "session/prompt", "params": params}
        folding.line(Direction.CLIENT, json.dumps([ask]).encode())
        words(folding, 40)
        folding.agent(id=None, error={"code": -32600, "message": "no"})
        words(folding, 40)


@pytest.mark.parametrize("talk", [answers_2_and_speaks_1, begins_late, refuses_arrays])
def test_the_state_from_checkpoints_is_that_of_folding(
    talk: Callable[[Folding], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "SPACING", 600)
    folding, log = Folding(), tmp_path / "log.db"
    frames: list[ImportedFrame] = []
    expected: list[Any] = []
    line = folding.line

    def keep(direction: Direction, raw: bytes) -> None:
        line(direction, raw)
        frames.append(ImportedFrame(direction.value, raw + b"\n", None, None))
        expected.append(folding.document())

    folding.line = keep  # type: ignore[method-assign]
    talk(folding)
    import_connection(str(log), "uuid-1", {}, frames)

    with open_recording(log) as recording:
        assert recording.verify(1) == []
        for seq in range(1, len(expected) + 1):
            found = state_document(recording.state(1, at=seq), 1)
            assert found == expected[seq - 1], seq
