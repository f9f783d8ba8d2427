"""Rules of docs/protocol.md: Terminals, Sessions that the tests of one kind of thing do not have, by their paragraph."""

from __future__ import annotations

from typing import Any

import pytest

from tests.state.folding import Folding, text

BOTH = pytest.mark.parametrize("version", [1, 2])


@pytest.fixture
def v1() -> Folding:
    return Folding(1)


@pytest.fixture
def v2() -> Folding:
    return Folding(2)


# E: terminals.


@BOTH
def test_e1_an_exit_does_not_finish_a_call_nor_a_call_its_terminal(version: int) -> None:
    folding = Folding(version)
    shown = [{"type": "terminal", "terminalId": "x"}]
    folding.update("tool_call_update", toolCallId="t", status="in_progress", content=shown)
    if version == 1:
        params = {"sessionId": "s", "command": "ls"}
        folding.ask("terminal/create", params, {"terminalId": "x"}, "agent")
        waited = {"sessionId": "s", "terminalId": "x"}
        folding.ask("terminal/wait_for_exit", waited, {"exitCode": 0}, "agent")
    else:
        folding.update("terminal_update", terminalId="x", exitStatus={"exitCode": 0})
    folding.update("tool_call_update", toolCallId="u", status="failed", content=shown)

    owner = "client" if version == 1 else "agent"
    assert folding.call()["status"] == "in_progress"
    assert folding.terminal("x", owner)["exitStatus"] == {"exitCode": 0}


def test_e1_the_meta_of_a_snapshot_goes_with_it(v2: Folding) -> None:
    v2.update("terminal_update", terminalId="x", output={"data": "YQ==", "_meta": {"n": 1}})
    v2.update("terminal_update", terminalId="x", output={"data": "Yg=="})
    assert v2.terminal()["output"] == {"data": "Yg=="}

    v2.update("terminal_update", terminalId="x", output={"data": "YQ==", "_meta": {"n": 1}})
    v2.update("terminal_update", terminalId="x", output=None)
    v2.update("terminal_output_chunk", terminalId="x", data="Yw==")
    assert v2.terminal()["output"] == {"data": "Yw=="}


def test_e1_a_terminal_is_known_in_its_session(v2: Folding) -> None:
    v2.update("terminal_update", "s", terminalId="x", command="one")
    v2.update("terminal_update", "other", terminalId="x", command="two")

    assert v2.terminal()["command"] == "one"
    assert v2.session("other")["terminals"][0]["command"] == "two"


def test_e2_errors_change_nothing(v1: Folding) -> None:
    params = {"sessionId": "s", "command": "ls"}
    v1.ask("terminal/create", params, {"terminalId": "x"}, "agent")
    before = v1.session()
    for verb in ("output", "wait_for_exit", "kill", "release"):
        v1.agent(id=verb, method=f"terminal/{verb}", params={"sessionId": "s", "terminalId": "x"})
        v1.client(id=verb, error={"code": -32603, "message": "no"})

    assert v1.session() == before


def test_e3_info_output_and_exit_in_one_message_whatever_their_order(v1: Folding) -> None:
    v1.update("tool_call", toolCallId="t", title="T", _meta={
        "terminal_exit": {"terminal_id": "x", "exit_code": 1},
        "terminal_output_delta": {"terminal_id": "x", "data": "b"},
        "terminal_output": {"terminal_id": "x", "data": "a"},
        "terminal_info": {"terminal_id": "x", "cwd": "/w"},
    })  # fmt: skip

    assert v1.terminal(owner="meta") == {
        "terminalId": "x", "owner": "meta", "cwd": "/w", "output": {"data": "YWI="},
        "exitStatus": {"exitCode": 1},
    }  # fmt: skip


def test_e3_input_and_progress_are_no_output(v1: Folding) -> None:
    v1.update("tool_call_update", toolCallId="t", _meta={
        "terminal_input": {"terminal_id": "x", "data": "y\n"}, "mcp_output_delta": {"data": "50%"},
    })  # fmt: skip

    assert v1.session()["terminals"] == []
    assert v1.call()["_meta"]["mcp_output_delta"] == {"data": "50%"}


def test_e3_is_a_convention_of_version_1_only(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t", _meta={"terminal_info": {"terminal_id": "x"}})

    assert v2.session()["terminals"] == []


# F: everything else.


def prompt(folding: Folding, id_: Any) -> None:
    params = {"sessionId": "s", "prompt": [text(str(id_))]}
    folding.client(id=id_, method="session/prompt", params=params)


def test_f1_v1_a_prompt_ends_a_message_without_an_id(v1: Folding) -> None:
    for id_ in (1, 2):
        prompt(v1, id_)
        v1.update("agent_message_chunk", content=text("a"))

    assert v1.texts() == [("user", "1"), ("agent", "a"), ("user", "2"), ("agent", "a")]


def test_f2_v2_asking_begins_a_turn_and_an_idle_again_ends_none(v2: Folding) -> None:
    for state in ("requires_action", "running", "idle", "idle", "_odd", "idle"):
        v2.update(
            "state_update", state=state, **({"stopReason": "end_turn"} if state == "idle" else {})
        )

    assert v2.session()["turns"] == [{"startedSeq": 3, "endedSeq": 5, "stopReason": "end_turn"}]


def test_f2_v2_a_prompt_that_was_taken_back_has_no_turn(v2: Folding) -> None:
    prompt(v2, 1)
    v2.client(method="session/cancel", params={"sessionId": "s"})
    v2.agent(id=1, error={"code": -32800, "message": "cancelled"})
    v2.update("state_update", state="running")

    assert v2.session()["turns"] == [{"startedSeq": 6}]


def test_f4_v1_a_call_is_told_anew_in_a_replay(v1: Folding) -> None:
    v1.update("tool_call", toolCallId="t", title="T", status="completed", rawInput={"a": 1})
    v1.client(id=1, method="session/load", params={"sessionId": "s"})
    v1.update("tool_call", toolCallId="t", title="T2")
    v1.update("tool_call_update", toolCallId="t", status="completed")
    v1.agent(id=1, result=None)

    assert v1.call() == {
        "toolCallId": "t", "kind": "other", "status": "completed", "content": [], "locations": [],
        "title": "T2",
    }  # fmt: skip
    assert v1.session()["toolCalls"][0]["firstSeq"] == 3


def test_f4_v1_resume_tells_no_history(v1: Folding) -> None:
    v1.client(id=1, method="session/resume", params={"sessionId": "s"})
    assert "replaying" not in v1.session()

    v1.update("agent_message_chunk", content=text("a"))
    assert "replay" not in v1.session()["messages"][0]


def test_f6_two_connections_have_nothing_in_common(v1: Folding) -> None:
    other = Folding(1)
    v1.update("tool_call", toolCallId="t", title="T")
    v1.agent(id=1, method="session/request_permission",
             params={"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": []})  # fmt: skip
    other.client(id=1, result={"outcome": {"outcome": "cancelled"}})

    assert v1.session()["permissions"][0]["status"] == "pending"
    assert other.document()["sessions"] == []
