"""Arrays of messages: applied in order, and taken back when the other side refuses them whole (docs/protocol.md: Batches)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_proxy.wire.jsonrpc import Direction
from tests.state.folding import Folding, text

REFUSAL = {"id": None, "error": {"code": -32600, "message": "no batches"}}


def batch(folding: Folding, direction: Direction, *messages: dict[str, Any]) -> None:
    """Let one of them say several messages on one line."""
    folding.line(direction, json.dumps([{"jsonrpc": "2.0", **one} for one in messages]).encode())


def prompt(id_: Any, words: str = "hello") -> dict[str, Any]:
    """Return a prompt."""
    params = {"sessionId": "s", "prompt": [text(words)]}
    return {"id": id_, "method": "session/prompt", "params": params}


LOAD = {"id": "l", "method": "session/load", "params": {"sessionId": "s"}}
ASK = {"id": "p", "method": "session/request_permission", "params": {
    "sessionId": "s", "toolCall": {"toolCallId": "t", "title": "T"}, "options": [],
}}  # fmt: skip
CALL = {"method": "session/update", "params": {
    "sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": "u", "title": "U"},
}}  # fmt: skip


@pytest.fixture(params=[False, True], ids=["at once", "restarted"])
def v1(request: pytest.FixtureRequest) -> Folding:
    """A folding of version 1; in the second, ``pause`` saves and restores everything."""
    folding = Folding(1)
    folding.pause = folding.restart if request.param else (lambda: None)  # type: ignore[attr-defined]
    return folding


def pause(folding: Folding) -> None:
    """Save and restore, or not."""
    folding.pause()  # type: ignore[attr-defined]


def test_a_refused_prompt_was_none(v1: Folding) -> None:
    batch(v1, Direction.CLIENT, LOAD, prompt(1))
    assert v1.texts() == [("user", "hello")]
    assert v1.session()["replaying"]
    pause(v1)

    v1.agent(**REFUSAL)

    session = v1.session()
    [turn] = session["turns"]
    assert (session["messages"], turn["endedSeq"], turn["error"]) == ([], 5, REFUSAL["error"])
    assert "replaying" not in session
    assert v1.decoder.open_requests() == []
    assert "the batch of message 3 is refused as a whole, session/prompt with it" in v1.notes


def test_a_refused_permission_is_an_error_and_what_the_agent_told_stays(v1: Folding) -> None:
    batch(v1, Direction.AGENT, CALL, ASK)
    pause(v1)

    v1.client(**REFUSAL)

    [permission] = v1.session()["permissions"]
    assert permission["status"] == "error"
    assert [call["toolCallId"] for call in v1.session()["toolCalls"]] == ["u", "t"]


def test_an_array_of_which_something_was_answered_is_not_refused(v1: Folding) -> None:
    batch(v1, Direction.CLIENT, {"id": 7, "method": "session/list", "params": {}}, prompt(1))
    v1.agent(id=7, result={"sessions": []})
    pause(v1)

    v1.agent(**REFUSAL)

    assert v1.texts() == [("user", "hello")]
    assert "nobody asked for this answer" in v1.notes


def test_the_oldest_array_is_refused_first_and_single_messages_never(v1: Folding) -> None:
    v1.client(**prompt(0, "alone"))
    batch(v1, Direction.CLIENT, prompt(1, "first"))
    batch(v1, Direction.CLIENT, prompt(2, "second"))
    pause(v1)

    v1.agent(**REFUSAL)
    assert v1.texts() == [("user", "alone"), ("user", "second")]

    v1.agent(**REFUSAL)
    v1.agent(**REFUSAL)
    assert v1.texts() == [("user", "alone")]
    assert [request.id for request in v1.decoder.open_requests()] == ["0"]


@pytest.mark.parametrize(
    "answer",
    [
        {"id": None, "error": {"code": -32700, "message": "no JSON"}},
        {"id": None, "error": {"code": True}},
        {"id": None, "error": "no"},
        {"id": 9, "error": {"code": -32600, "message": "no"}},
        {"id": None, "result": {}},
    ],
)
def test_other_answers_refuse_nothing(v1: Folding, answer: dict[str, Any]) -> None:
    batch(v1, Direction.CLIENT, prompt(1))

    v1.agent(**answer)

    assert v1.texts() == [("user", "hello")]


def test_an_error_within_an_array_refuses_nothing(v1: Folding) -> None:
    batch(v1, Direction.CLIENT, prompt(1))

    batch(v1, Direction.AGENT, REFUSAL)

    assert v1.texts() == [("user", "hello")]


def test_a_request_whose_id_is_null_has_its_own_answer(v1: Folding) -> None:
    v1.client(id=None, method="session/list", params={})
    batch(v1, Direction.CLIENT, prompt(1))

    v1.agent(**REFUSAL)

    assert v1.texts() == [("user", "hello")]


def test_a_side_does_not_refuse_its_own_array(v1: Folding) -> None:
    batch(v1, Direction.CLIENT, prompt(1))

    v1.client(**REFUSAL)

    assert v1.texts() == [("user", "hello")]
