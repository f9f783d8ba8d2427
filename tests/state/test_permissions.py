"""Permissions and the tool calls in them, by the rules of docs/protocol.md (Permissions)."""

from typing import Any

import pytest

from acp_proxy.events.vocabulary import ConnectionEnded
from tests.state.folding import Folding

OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]


def ask(folding: Folding, id_: Any = 1, **params: Any) -> None:
    folding.agent(
        id=id_,
        method="session/request_permission",
        params={"sessionId": "s", "options": OPTIONS, **params},
    )


def permission(folding: Folding, index: int = -1) -> dict[str, Any]:
    found: dict[str, Any] = folding.session()["permissions"][index]
    return found


def test_v1_the_tool_call_is_applied_by_the_rules_of_v1() -> None:
    folding = Folding(1)
    folding.update("tool_call", toolCallId="t", title="T", kind="edit")
    ask(folding, toolCall={"toolCallId": "t", "title": "Really?", "kind": None})

    assert (folding.call()["title"], folding.call()["kind"]) == ("Really?", "edit")
    assert permission(folding) == {
        "requestId": 1, "seq": 4, "status": "pending", "options": OPTIONS,
        "toolCall": {"toolCallId": "t", "title": "Really?", "kind": None},
    }  # fmt: skip


def test_v1_it_may_be_the_only_announcement() -> None:
    folding = Folding(1)
    ask(folding, toolCall={"toolCallId": "t", "title": "T"})

    assert folding.call()["title"] == "T"


def test_v2_a_tool_call_subject_is_applied_like_an_update() -> None:
    folding = Folding(2)
    folding.update("tool_call_update", toolCallId="t", kind="edit")
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "t", "kind": None}}
    ask(folding, title="Sure?", description=None, subject=subject)

    assert folding.call()["kind"] == "other"
    assert permission(folding)["subject"] == subject
    assert permission(folding)["title"] == "Sure?"
    assert "title" not in folding.call()


@pytest.mark.parametrize(
    "subject",
    [
        None,
        {"type": "command", "command": "make", "cwd": "/", "toolCallId": "t", "terminalId": "x"},
        {"type": "_new", "toolCall": {"toolCallId": "t"}},
        {"type": "tool_call"},
        5,
    ],
)
def test_v2_other_subjects_change_nothing_else(subject: Any) -> None:
    folding = Folding(2)
    ask(folding, title="Sure?", subject=subject)

    session = folding.session()
    assert (session["toolCalls"], session["terminals"]) == ([], [])
    assert permission(folding).get("subject") == subject


def test_a_root_tool_call_on_a_v2_connection_is_read_as_v1_and_noted() -> None:
    folding = Folding(2)
    folding.update("tool_call_update", toolCallId="t", kind="edit")
    ask(folding, title="Sure?", toolCall={"toolCallId": "t", "kind": None})

    assert folding.call()["kind"] == "edit"
    assert any("read as version 1" in note for note in folding.notes)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"result": {"outcome": {"outcome": "selected", "optionId": "y"}}}, "selected"),
        ({"result": {"outcome": {"outcome": "selected"}}}, "other"),
        ({"result": {"outcome": {"outcome": "cancelled"}}}, "cancelled"),
        ({"result": {"outcome": {"outcome": "_perhaps", "optionId": "y"}}}, "other"),
        ({"result": {"outcome": "selected"}}, "other"),
        ({"result": None}, "other"),
        ({"error": {"code": -32800, "message": "cancelled"}}, "error"),
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_the_answer(version: int, answer: dict[str, Any], status: str) -> None:
    folding = Folding(version)
    ask(folding, title="Sure?")
    folding.client(id=1, **answer)

    found = permission(folding)
    outcome = (answer.get("result") or {}).get("outcome")
    assert (found["status"], found["answeredSeq"]) == (status, 4)
    assert found.get("outcome") == outcome
    assert found.get("optionId") == ("y" if status == "selected" else None)


def test_ids_may_come_again_and_differ_by_type() -> None:
    folding = Folding(1)
    ask(folding, 1)
    folding.client(id=1, result={"outcome": {"outcome": "cancelled"}})
    ask(folding, 1)
    ask(folding, "1")
    folding.client(id="1", result={"outcome": {"outcome": "cancelled"}})

    found = [(one["requestId"], one["status"]) for one in folding.session()["permissions"]]
    assert found == [(1, "cancelled"), (1, "pending"), ("1", "cancelled")]


def test_equal_ids_in_both_directions_are_two_requests() -> None:
    folding = Folding(1)
    folding.client(id=1, method="session/prompt", params={"sessionId": "s", "prompt": []})
    ask(folding, 1)
    folding.agent(id=1, result={"stopReason": "end_turn"})

    assert permission(folding)["status"] == "pending"
    assert folding.session()["turns"][0]["stopReason"] == "end_turn"


def test_the_agent_taking_its_request_back_is_no_answer() -> None:
    folding = Folding(2)
    ask(folding, title="Sure?")
    folding.agent(method="$/cancel_request", params={"requestId": 1})

    assert permission(folding)["status"] == "pending"


def test_when_the_connection_ends_open_ones_are_abandoned() -> None:
    folding = Folding(1)
    ask(folding, 1)
    ask(folding, 2)
    folding.client(id=2, result={"outcome": {"outcome": "cancelled"}})
    folding.state.apply(ConnectionEnded(folding.state.seq, None, None, ()))

    assert [one["status"] for one in folding.session()["permissions"]] == ["abandoned", "cancelled"]
