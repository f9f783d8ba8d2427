"""What is odd about a message in its place: orphan, twin, late, early, of the other version."""

from __future__ import annotations

from typing import Any

import pytest

from acp_proxy.log.rows import KINDS
from acp_proxy.wire.jsonrpc import Direction
from tests.events.talk import Talk, flags

CLIENT, AGENT = Direction.CLIENT, Direction.AGENT
V1_ONLY = ["tool_call", "plan", "current_mode_update"]
V2_ONLY = [
    "state_update", "user_message", "agent_message", "agent_thought", "tool_call_content_chunk",
    "terminal_update", "terminal_output_chunk",
]  # fmt: skip
BOTH = [
    "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call_update",
    "plan_update", "plan_removed", "available_commands_update", "config_option_update",
    "session_info_update", "usage_update", "notice", "compaction_update", "_vendor", "unknown", "",
]  # fmt: skip
V1_METHODS = [
    ("client", "authenticate"), ("client", "logout"), ("client", "session/load"),
    ("client", "session/set_mode"), ("agent", "fs/read_text_file"), ("agent", "fs/write_text_file"),
    ("agent", "terminal/create"), ("agent", "terminal/output"), ("agent", "terminal/wait_for_exit"),
    ("agent", "terminal/kill"), ("agent", "terminal/release"),
]  # fmt: skip
V2_METHODS = ["auth/login", "auth/logout", "tool_call/cancel", "terminal/cancel"]
NEUTRAL = ["initialize", "session/new", "session/resume", "session/list", "session/prompt", "_x/y"]


def test_a_neat_conversation_is_not_odd() -> None:
    talk = Talk()
    talk.begin()
    talk.client(id=1, method="session/prompt", params={"sessionId": "s", "prompt": []})
    talk.update("agent_message_chunk", content={"type": "text", "text": "hi"})
    talk.update("tool_call", toolCallId="t", title="T", status="pending")
    talk.agent(
        id=1,
        method="session/request_permission",
        params={"sessionId": "s", "toolCall": {"toolCallId": "t"}},
    )
    talk.client(id=1, result={"outcome": {"outcome": "selected", "optionId": "a"}})
    talk.update("tool_call_update", toolCallId="t", status="completed")
    talk.client(method="session/cancel", params={"sessionId": "s"})
    talk.agent(id=1, result={"stopReason": "cancelled"})
    assert {seq: row.flags for seq, row in talk.rows.items() if row.flags} == {}


def test_a_response_nobody_asked_for_is_an_orphan() -> None:
    talk = Talk()
    for row in (
        talk.agent(id=1, result={}),
        talk.client(id=1, error={"code": -1, "message": "m"}),
        talk.agent(id=None, error={"code": -32700, "message": "Parse error"}),
    ):
        assert "orphan" in flags(row)
        assert (row.request_seq, row.duration_ns) == (None, None)


def test_a_second_answer_is_an_orphan() -> None:
    talk = Talk()
    talk.client(id=1, method="m")
    assert talk.agent(id=1, result={}).flags is None
    assert flags(talk.agent(id=1, result={})) == {"orphan"}


def test_an_answer_of_another_id_type_is_an_orphan_and_the_request_stays_open() -> None:
    talk = Talk()
    talk.client(id=1, method="m")
    assert flags(talk.agent(id="1", result={})) == {"orphan"}
    assert flags(talk.agent(id=1.0, result={})) == {"orphan", "fractional-id"}
    assert talk.indexer.pending() == [1]


def test_an_answer_by_the_asker_is_an_orphan() -> None:
    talk = Talk()
    talk.client(id=1, method="m")
    assert flags(talk.client(id=1, result={})) == {"orphan"}


def test_a_response_without_an_id_answers_nothing_not_even_null() -> None:
    talk = Talk()
    talk.client(id=None, method="m")
    row = talk.agent(result={})
    assert (KINDS[row.kind_code], row.request_seq) == ("invalid", None)
    assert talk.agent(id=None, result={}).request_seq == 1


def test_two_open_requests_with_one_id_pair_in_order_and_are_flagged() -> None:
    talk = Talk()
    first = talk.client(id=1, method="a")
    second = talk.client(id=1, method="b")
    answers = [talk.agent(id=1, result={}), talk.agent(id=1, result={})]
    assert (first.flags, flags(second)) == (None, {"duplicate-id"})
    assert [row.request_seq for row in answers] == [1, 2]
    assert [flags(row) for row in answers] == [{"duplicate-id"}, {"duplicate-id"}]
    assert talk.client(id=1, method="c").flags is None


def test_an_id_used_again_every_turn_is_not_odd() -> None:
    talk = Talk()
    talk.begin()
    for _ in range(3):
        talk.agent(id=0, method="session/request_permission", params={"sessionId": "s"})
        talk.client(id=0, result={"outcome": {"outcome": "cancelled"}})
    assert [row.flags for row in talk.rows.values()] == [None] * 10
    assert [talk.rows[seq].request_seq for seq in (6, 8, 10)] == [5, 7, 9]


@pytest.mark.parametrize("id_", [1, "a", None, 1.5])
def test_an_answer_after_cancel_request_is_late(id_: Any) -> None:
    talk = Talk()
    talk.client(id=id_, method="session/prompt")
    talk.client(method="$/cancel_request", params={"requestId": id_})
    row = talk.agent(id=id_, error={"code": -32800, "message": "cancelled"})
    assert "late" in flags(row)
    assert row.request_seq == 1


def test_cancel_request_names_a_request_of_its_own_sender() -> None:
    talk = Talk()
    talk.client(id=1, method="a")
    talk.agent(id=1, method="b")
    talk.agent(method="$/cancel_request", params={"requestId": 1})
    assert talk.agent(id=1, result={}).flags is None
    assert flags(talk.client(id=1, result={})) == {"late"}


@pytest.mark.parametrize(
    "params", [{}, None, [], {"requestId": "1"}, {"requestId": 1.0}, {"requestId": [1]}, {"id": 1}]
)
def test_cancel_request_of_something_else_cancels_nothing(params: Any) -> None:
    talk = Talk()
    talk.client(id=1, method="a")
    talk.client(id=None, method="b")
    talk.client(method="$/cancel_request", params=params)
    assert talk.agent(id=1, result={}).flags is None
    assert flags(talk.agent(id=None, result={})) == {"null-id"}


@pytest.mark.parametrize(("id_", "request_id"), [("1.10", "1.1"), ("1e2", "100.0"), ('"a"', r'"\u0061"'),
                                                 ("1" * 40, "1" * 40)])  # fmt: skip
def test_cancel_request_knows_other_spellings(id_: str, request_id: str) -> None:
    talk = Talk()
    talk.line(CLIENT, f'{{"jsonrpc":"2.0","id":{id_},"method":"m"}}\n'.encode())
    cancel = (
        f'{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{request_id}}}}}\n'
    )
    talk.line(CLIENT, cancel.encode())
    [row] = talk.line(AGENT, f'{{"jsonrpc":"2.0","id":{id_},"result":{{}}}}\n'.encode())
    assert "late" in flags(row)


def test_updates_before_the_answer_to_session_new_are_early() -> None:
    talk = Talk()
    talk.begin(session=None)
    talk.client(id=1, method="session/new", params={"cwd": "/"})
    assert flags(talk.update("available_commands_update", "s9")) == {"early"}
    request = talk.agent(id=1, method="session/request_permission", params={"sessionId": "s9"})
    assert flags(request) == {"early"}
    talk.agent(id=1, result={"sessionId": "s9"})
    assert talk.update("available_commands_update", "s9").flags is None


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/prompt"])
def test_a_session_that_the_client_mentions_is_known(method: str) -> None:
    talk = Talk()
    talk.begin(session=None)
    talk.client(id=1, method=method, params={"sessionId": "old"})
    assert talk.update("user_message_chunk", "old").flags is None


def test_a_session_that_was_forked_is_known() -> None:
    talk = Talk()
    talk.begin()
    talk.client(id=1, method="session/fork", params={"sessionId": "s"})
    talk.agent(id=1, result={"sessionId": "child"})
    assert talk.update("user_message_chunk", "child").flags is None


def test_a_session_that_could_not_be_made_is_not_known() -> None:
    talk = Talk()
    talk.begin(session=None)
    talk.client(id=1, method="session/new")
    talk.agent(id=1, error={"code": -32000, "message": "log in"})
    assert flags(talk.update("notice", "s")) == {"early"}


def test_a_session_that_a_subagent_update_announces_is_known() -> None:
    talk = Talk()
    talk.begin(2)
    assert flags(talk.update("agent_message_chunk", "child")) == {"early"}
    assert talk.update("subagent_update", sessionId="child", title="T").flags is None
    assert talk.update("agent_message_chunk", "child").flags is None


def test_a_tool_call_without_status_is_flagged() -> None:
    talk = Talk()
    talk.begin()
    assert flags(talk.update("tool_call", toolCallId="t", title="T")) == {"no-status"}
    assert flags(talk.update("tool_call", toolCallId="t", status=None)) == {"no-status"}
    assert talk.update("tool_call", toolCallId="t", status="pending").flags is None
    assert talk.update("tool_call_update", toolCallId="t", title="T").flags is None


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize("begin", ["tool_call", "tool_call_update"])
def test_an_update_after_the_final_status_is_flagged(begin: str, status: str) -> None:
    talk = Talk()
    talk.begin()
    talk.update(begin, toolCallId="t", status="in_progress")
    assert talk.update("tool_call_update", toolCallId="t", status=status).flags is None
    assert flags(talk.update("tool_call_update", toolCallId="t", title="Read notes.md")) == {
        "after-final"
    }
    assert flags(talk.update("tool_call_update", toolCallId="t", status="in_progress")) == {
        "after-final"
    }
    assert talk.update("tool_call_update", toolCallId="t2", title="other call").flags is None


def test_a_tool_call_announced_again_begins_anew() -> None:
    talk = Talk()
    talk.begin()
    talk.update("tool_call", toolCallId="t", status="completed")
    assert talk.update("tool_call", toolCallId="t", status="pending").flags is None
    assert talk.update("tool_call_update", toolCallId="t", status="completed").flags is None


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_calls_that_are_told_again_are_not_flagged(method: str) -> None:
    talk = Talk()
    talk.begin(2)
    talk.update("subagent_update", sessionId="child")
    talk.update("subagent_update", "child", sessionId="grandchild")
    sessions = ("s", "child", "grandchild", "other")
    for session in sessions:
        talk.update("tool_call_update", session, toolCallId="t", status="completed")

    talk.client(id=1, method=method, params={"sessionId": "s"})
    for session in sessions[:3]:
        assert (
            talk.update("tool_call_update", session, toolCallId="t", status="pending").flags is None
        )
        assert talk.update("tool_call_update", session, toolCallId="t").flags is None
    assert "after-final" in flags(talk.update("tool_call_update", "other", toolCallId="t"))
    talk.agent(id=1, result={})

    for session in sessions:
        assert "after-final" in flags(talk.update("tool_call_update", session, toolCallId="t"))


def test_a_history_that_is_refused_is_not_told_for_ever() -> None:
    talk = Talk()
    talk.begin()
    talk.update("tool_call", toolCallId="t", status="completed")
    talk.client(id=1, method="session/load", params={"sessionId": "s"})
    talk.agent(id=1, error={"code": -32602, "message": "no such session"})

    assert flags(talk.update("tool_call_update", toolCallId="t")) == {"after-final"}


def test_a_session_may_announce_itself() -> None:
    talk = Talk()
    talk.begin(2)
    talk.update("subagent_update", sessionId="s")
    talk.update("tool_call_update", toolCallId="t", status="completed")
    assert flags(talk.update("tool_call_update", toolCallId="t")) == {"after-final"}


def test_tool_calls_of_two_sessions_do_not_meet() -> None:
    talk = Talk()
    talk.begin()
    talk.client(id=1, method="session/load", params={"sessionId": "s2"})
    talk.update("tool_call", "s", toolCallId="t", status="completed")
    assert talk.update("tool_call_update", "s2", toolCallId="t").flags is None


@pytest.mark.parametrize("wrong", [None, 1, True, [], ["completed"], {"completed": 1}, 1.5])
def test_a_status_of_another_type_is_no_status_that_ends(wrong: Any) -> None:
    talk = Talk()
    talk.begin()
    talk.update("tool_call_update", toolCallId="t", status=wrong)
    assert talk.update("tool_call_update", toolCallId="t").flags is None


@pytest.mark.parametrize("version", [1, 2])
def test_updates_of_the_other_version_are_flagged(version: int) -> None:
    talk = Talk()
    talk.begin(version)
    other, own = (V2_ONLY, V1_ONLY) if version == 1 else (V1_ONLY, V2_ONLY)
    for kind in other:
        assert flags(talk.update(kind, status="pending")) == {"other-version"}, kind
    for kind in (*own, *BOTH):
        assert talk.update(kind, status="pending").flags is None, kind


@pytest.mark.parametrize("version", [1, 2])
def test_methods_of_the_other_version_are_flagged(version: int) -> None:
    talk = Talk()
    talk.begin(version)
    for n, (sender, method) in enumerate(V1_METHODS):
        row = getattr(talk, sender)(id=n, method=method, params={"sessionId": "s"})
        assert flags(row) == ({"other-version"} if version == 2 else set()), method
    for method in V2_METHODS:
        row = talk.client(id=method, method=method, params={"sessionId": "s"})
        assert flags(row) == ({"other-version"} if version == 1 else set()), method
    for method in NEUTRAL:
        assert talk.client(id=method, method=method, params={"sessionId": "s"}).flags is None, (
            method
        )


@pytest.mark.parametrize("version", [1, 2])
def test_permissions_shaped_as_in_the_other_version_are_flagged(version: int) -> None:
    talk = Talk()
    talk.begin(version)
    for n, (shape, own) in enumerate([("toolCall", 1), ("subject", 2)]):
        params = {"sessionId": "s", "options": [], shape: {"toolCallId": "t"}}
        row = talk.agent(id=n, method="session/request_permission", params=params)
        assert flags(row) == (set() if own == version else {"other-version"}), shape


def test_an_update_of_the_other_version_without_a_session_is_flagged() -> None:
    talk = Talk()
    talk.begin(1)
    update = {"sessionUpdate": "state_update", "state": "running"}
    assert flags(talk.agent(method="session/update", params={"update": update})) == {
        "other-version"
    }


def test_before_a_version_is_agreed_on_no_message_is_of_another() -> None:
    talk = Talk()
    for kind in (*V1_ONLY, *V2_ONLY):
        assert "other-version" not in flags(talk.update(kind))


@pytest.mark.parametrize("version", [3, 0, "1", "2025-01-01", 2**70])
def test_with_another_version_nothing_is_of_another(version: Any) -> None:
    talk = Talk()
    talk.begin(version)
    for kind in (*V1_ONLY, *V2_ONLY):
        assert talk.update(kind, status="pending").flags is None
