"""Sessions, replay, plans, config and what stands beside, by docs/protocol.md (Sessions, Plans)."""

from typing import Any

import pytest

from tests.state.folding import Folding, item, text


@pytest.fixture
def v1() -> Folding:
    return Folding(1)


@pytest.fixture
def v2() -> Folding:
    return Folding(2)


BOTH = pytest.mark.parametrize("version", [1, 2])


# F.4: making and closing.


@BOTH
def test_new_seeds_what_its_answer_tells(version: int) -> None:
    folding = Folding(version)
    result = {
        "sessionId": "s", "modes": {"currentModeId": "ask", "availableModes": []},
        "configOptions": [{"x": 1}], "availableCommands": [{"name": "c"}],
    }  # fmt: skip
    folding.ask("session/new", {"cwd": "/w"}, result)

    session = folding.session()
    assert (session["cwd"], session["mode"]) == ("/w", "ask")
    assert (session["configOptions"], session["availableCommands"]) == ([{"x": 1}], [{"name": "c"}])


def test_a_null_in_the_answer_to_new_is_absent(v1: Folding) -> None:
    v1.update("current_mode_update", currentModeId="m")
    v1.ask("session/new", {"cwd": "/w"}, {"sessionId": "s", "modes": None, "configOptions": None})

    assert v1.session()["mode"] == "m"
    assert "configOptions" not in v1.session()


def test_sessions_stand_in_order_of_first_mention(v1: Folding) -> None:
    v1.update("plan", "b", entries=[])
    v1.ask("session/load", {"sessionId": "a", "cwd": "/"}, None)
    v1.update("plan", "b", entries=[])

    assert [session["sessionId"] for session in v1.document()["sessions"]] == ["b", "a"]


@pytest.mark.parametrize(
    "method", ["session/list", "session/delete", "session/archive", "session/status", "nes/suggest"]
)
def test_what_does_not_attach_mentions_no_session(v1: Folding, method: str) -> None:
    result = {"sessions": [{"sessionId": "s", "cwd": "/", "title": "T"}]}
    v1.ask(method, {"sessionId": "s"}, result)

    assert v1.document()["sessions"] == []


@pytest.mark.parametrize(
    ("answer", "closed"),
    [
        ({"result": {}}, True),
        ({"result": None}, True),
        ({"error": {"code": -32002, "message": "not found"}}, True),
        ({"error": {"code": -32603, "message": "no"}}, False),
    ],
)
def test_close_marks_the_session_and_keeps_its_state(
    v2: Folding, answer: dict[str, Any], closed: bool
) -> None:
    v2.update("tool_call_update", toolCallId="t")
    v2.client(id=1, method="session/close", params={"sessionId": "s"})
    v2.agent(id=1, **answer)

    assert v2.session().get("closed", False) is closed
    assert len(v2.session()["toolCalls"]) == 1


def test_a_fork_is_a_session_of_its_own(v2: Folding) -> None:
    v2.update("agent_message", messageId="m", content=[text("a")])
    v2.ask("session/fork", {"sessionId": "s", "cwd": "/f"}, {"sessionId": "f"})

    assert (v2.session("f")["cwd"], v2.session("f")["messages"]) == ("/f", [])


# F.4: replay windows (docs/protocol.md: Sessions).


def _resume(v2: Folding, **params: Any) -> None:
    v2.client(id=9, method="session/resume", params={"sessionId": "s", "cwd": "/w", **params})


def test_v2_the_first_append_of_a_replay_clears(v2: Folding) -> None:
    for _ in range(2):
        v2.update("agent_message_chunk", messageId="m", content=text("a"))
        v2.update("tool_call_content_chunk", toolCallId="t", content=item("a"))
        v2.update("terminal_output_chunk", terminalId="x", data="YQ==")
        v2.update("compaction_summary_chunk", compactionId="c", content=text("a"))
        v2.update("session_message_chunk", messageId="q", content=text("a"))
    before = v2.session()
    _resume(v2, replayFrom={"type": "start"})
    assert v2.session()["replaying"] is True

    for _ in range(2):
        v2.update("agent_message_chunk", messageId="m", content=text("a"))
        v2.update("tool_call_content_chunk", toolCallId="t", content=item("a"))
        v2.update("terminal_output_chunk", terminalId="x", data="YQ==")
        v2.update("compaction_summary_chunk", compactionId="c", content=text("a"))
        v2.update("session_message_chunk", messageId="q", content=text("a"))
    v2.agent(id=9, result={})

    after = v2.session()
    assert "replaying" not in after
    assert v2.texts() == [("agent", "a|a")]
    assert after["messages"][0]["replay"] is True
    for key in ("toolCalls", "terminals", "compactions", "sessionMessages"):
        assert _without_seqs(after[key]) == _without_seqs(before[key])


def test_v2_what_is_replaced_in_a_replay_is_not_cleared_again(v2: Folding) -> None:
    v2.update("agent_message_chunk", messageId="m", content=text("old"))
    v2.update("terminal_output_chunk", terminalId="x", data="YQ==")
    _resume(v2, replayFrom={"type": "start"})
    v2.update("agent_message", messageId="m", content=[text("a")])
    v2.update("agent_message_chunk", messageId="m", content=text("b"))
    v2.update("terminal_update", terminalId="x", output={"data": "Yg=="})
    v2.update("terminal_output_chunk", terminalId="x", data="Yw==")

    assert v2.texts() == [("agent", "a|b")]
    assert v2.terminal()["output"] == {"data": "YmM="}


def test_v2_resume_without_replay_opens_no_window(v2: Folding) -> None:
    v2.update("agent_message_chunk", messageId="m", content=text("a"))
    _resume(v2, replayFrom=None)
    v2.update("agent_message_chunk", messageId="m", content=text("b"))

    assert v2.texts() == [("agent", "a|b")]
    assert "replaying" not in v2.session()


def test_v2_appends_after_the_window_go_on(v2: Folding) -> None:
    v2.update("terminal_output_chunk", terminalId="x", data="YQ==")
    _resume(v2, replayFrom={"type": "start"})
    v2.agent(id=9, error={"code": -32602, "message": "no cursor"})
    v2.update("terminal_output_chunk", terminalId="x", data="Yg==")

    assert v2.terminal()["output"] == {"data": "YWI="}


def test_v2_replayed_states_are_no_turns_and_the_last_counts(v2: Folding) -> None:
    _resume(v2, replayFrom={"type": "start"})
    for state in ("running", "idle", "running", "idle"):
        v2.update("state_update", state=state)
    v2.agent(id=9, result={})

    assert "turns" not in v2.session()
    assert v2.session()["activity"] == {"state": "idle"}


def test_v2_another_session_is_not_in_the_window(v2: Folding) -> None:
    v2.update("terminal_output_chunk", "other", terminalId="x", data="YQ==")
    _resume(v2, replayFrom={"type": "start"})
    v2.update("terminal_output_chunk", "other", terminalId="x", data="Yg==")

    assert v2.session("other")["terminals"][0]["output"] == {"data": "YWI="}


def test_v1_load_replaces_messages_and_meta_outputs(v1: Folding) -> None:
    output = {"terminal_output": {"terminal_id": "x", "data": "a"}}
    v1.client(id=1, method="session/prompt", params={"sessionId": "s", "prompt": [text("p")]})
    v1.update("agent_message_chunk", content=text("a"))
    v1.update("tool_call", toolCallId="t", title="T", status="completed", _meta=output)
    v1.agent(id=1, result={"stopReason": "end_turn"})
    v1.client(id=2, method="session/load", params={"sessionId": "s", "cwd": "/w"})
    v1.update("user_message_chunk", content=text("p"))
    v1.update("agent_message_chunk", content=text("a"))
    v1.update("tool_call", toolCallId="t", title="T", _meta=output)
    v1.agent(id=2, result=None)
    v1.update("agent_message_chunk", content=text("live"))

    assert v1.texts() == [("user", "p"), ("agent", "a"), ("agent", "live")]
    assert [message.get("replay") for message in v1.session()["messages"]] == [True, True, None]
    assert v1.terminal(owner="meta")["output"] == {"data": "YQ=="}
    assert v1.call()["status"] == "pending"


def test_a_replayed_chunk_without_an_id_drops_only_what_was_before_the_window(
    v2: Folding,
) -> None:
    v2.update("agent_message", messageId="old", content=[text("old")])
    _resume(v2, replayFrom={"type": "start"})
    v2.update("user_message", messageId="u", content=[text("a")])
    v2.update("agent_message_chunk", content=text("b"))
    v2.update("user_message", messageId="u", content=[text("c")])

    assert v2.texts() == [("user", "c"), ("agent", "b")]


def test_v1_two_loads_are_two_windows(v1: Folding) -> None:
    for _ in range(2):
        v1.client(id=1, method="session/load", params={"sessionId": "s", "cwd": "/w"})
        v1.update("agent_message_chunk", content=text("a"))
        v1.update("agent_message_chunk", content=text("b"))
        v1.agent(id=1, result={})

    assert v1.texts() == [("agent", "a|b")]


def _without_seqs(things: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seqs = ("firstSeq", "lastSeq")
    return [{key: thing[key] for key in thing if key not in seqs} for thing in things]


# F.5 and C.3: snapshots.


@BOTH
def test_commands_options_and_plans_are_replaced(version: int) -> None:
    folding = Folding(version)
    for n in (1, 2):
        folding.update("available_commands_update", availableCommands=[{"name": n}])
        folding.update("config_option_update", configOptions=[{"n": n}])
        folding.update("plan_update", plan={"planId": "p", "type": "_new", "n": n}, _meta={})
    session = folding.session()
    assert session["availableCommands"] == [{"name": 2}]
    assert session["configOptions"] == [{"n": 2}]
    assert session["plans"] == [{"planId": "p", "type": "_new", "n": 2}]

    folding.update("plan_removed", planId="unknown")
    folding.update("plan_removed", planId="p")
    assert folding.session()["plans"] == []


def test_v1_the_one_plan(v1: Folding) -> None:
    v1.update("plan", entries=[{"content": "a"}], _meta={"k": 1})
    v1.update("plan", entries=[{"content": "b", "_x": None}])
    v1.update("plan", entries=None)

    assert v1.session()["plans"] == [{"entries": [{"content": "b", "_x": None}]}]


def test_v1_modes_by_update_and_by_answer(v1: Folding) -> None:
    v1.update("current_mode_update", currentModeId="a")
    v1.client(id=1, method="session/set_mode", params={"sessionId": "s", "modeId": "b"})
    assert v1.session()["mode"] == "a"

    v1.agent(id=1, result={})
    assert v1.session()["mode"] == "b"


@BOTH
def test_the_answer_to_set_config_option_has_the_whole_list(version: int) -> None:
    folding = Folding(version)
    params = {"sessionId": "s", "configId": "c", "value": "v"}
    folding.ask("session/set_config_option", params, {"configOptions": [{"n": 1}]})

    assert folding.session()["configOptions"] == [{"n": 1}]


@BOTH
def test_session_info_is_three_state_in_both_versions(version: int) -> None:
    folding = Folding(version)
    folding.update("session_info_update", title="T", updatedAt="now", _meta={"a": 1})
    folding.update("session_info_update", title=None, _meta={"a": None, "b": 2})

    session = folding.session()
    assert "title" not in session
    assert session["updatedAt"] == "now"
    assert session["_meta"] == ({"a": None, "b": 2} if version == 1 else {"b": 2})


@pytest.mark.parametrize(("version", "cleared"), [(1, False), (2, True)])
def test_a_cost_stays_unless_v2_clears_it(version: int, cleared: bool) -> None:
    folding = Folding(version)
    cost = {"amount": 1.5, "currency": "EUR"}
    folding.update("usage_update", used=1, size=9, cost=cost)
    folding.update("usage_update", used=2**64, size=9)
    assert folding.session()["usage"] == {"used": 2**64, "size": 9, "cost": cost}

    folding.update("usage_update", used=3, size=9, cost=None)
    assert ("cost" not in folding.session()["usage"]) is cleared


@BOTH
def test_notices_are_a_list(version: int) -> None:
    folding = Folding(version)
    folding.update("notice", severity="info", title="a", description=None)
    folding.update("notice", severity="_x", title="b")
    folding.update("notice", title="without severity")

    assert folding.session()["notices"] == [
        {"severity": "info", "title": "a", "description": None}, {"severity": "_x", "title": "b"}
    ]  # fmt: skip


@pytest.mark.parametrize(("version", "meta"), [(1, {"b": None}), (2, {"a": 1})])
def test_compactions(version: int, meta: dict[str, Any]) -> None:
    folding = Folding(version)
    folding.update("compaction_summary_chunk", compactionId="c", content=text("a"))
    assert folding.session()["compactions"][0]["status"] == "in_progress"

    folding.update(
        "compaction_update", compactionId="c", status="failed", error="e", _meta={"a": 1}
    )
    folding.update("compaction_update", compactionId="c", status="completed", error=None,
                   summary=[text("z")], _meta={"b": None})  # fmt: skip

    [compaction] = _without_seqs(folding.session()["compactions"])
    assert compaction == {
        "compactionId": "c", "status": "completed", "summary": [text("z")], "_meta": meta
    }  # fmt: skip


@BOTH
def test_subagents_are_told_by_their_parent_and_known_from_then_on(version: int) -> None:
    folding = Folding(version)
    folding.update("subagent_update", sessionId="child", title="C", state={"state": "running"})
    folding.update("subagent_update", sessionId="child", state=None)

    assert _without_seqs(folding.session()["subagents"]) == [{"sessionId": "child", "title": "C"}]
    assert folding.session("child")["messages"] == []


@BOTH
def test_messages_between_sessions_are_apart(version: int) -> None:
    folding = Folding(version)
    folding.update("session_message", messageId="m", senderSessionId="a", content=[text("x")])
    folding.update("session_message_chunk", messageId="m", content=text("y"))

    assert _without_seqs(folding.session()["sessionMessages"]) == [
        {"messageId": "m", "senderSessionId": "a", "content": [text("x"), text("y")]}
    ]
    assert folding.session()["messages"] == []


def test_v2_a_state_is_replaced_whole(v2: Folding) -> None:
    v2.update("state_update", state="idle", usage={"n": 1}, background=[])
    v2.update("state_update", state="_odd", _meta={"a": 1})
    v2.update("state_update", state=None)

    assert v2.session()["activity"] == {"state": "_odd", "_meta": {"a": 1}}
