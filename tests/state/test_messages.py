"""Messages and turns, by the rules of docs/protocol.md (Messages and thoughts, Turns)."""

from typing import Any

import pytest

from tests.state.folding import Folding, text


@pytest.fixture
def v1() -> Folding:
    return Folding(1)


@pytest.fixture
def v2() -> Folding:
    return Folding(2)


def chunk(
    folding: Folding, words: str, id_: str | None = None, role: str = "agent_message"
) -> None:
    fields: dict[str, Any] = {} if id_ is None else {"messageId": id_}
    folding.update(f"{role}_chunk", content=text(words), **fields)


# F.1, v1.


def test_v1_chunks_of_one_role_join(v1: Folding) -> None:
    chunk(v1, "a")
    chunk(v1, "b")
    chunk(v1, "hm", role="agent_thought")
    chunk(v1, "c")

    assert v1.texts() == [("agent", "a|b"), ("thought", "hm"), ("agent", "c")]


def test_v1_a_tool_call_ends_a_message_and_other_updates_do_not(v1: Folding) -> None:
    chunk(v1, "a")
    v1.update("plan", entries=[])
    v1.update("usage_update", used=1, size=2)
    v1.update("current_mode_update", currentModeId="m")
    chunk(v1, "b")
    v1.update("tool_call", toolCallId="t", title="T")
    chunk(v1, "c")
    v1.update("tool_call_update", toolCallId="t", status="completed")
    chunk(v1, "d")

    assert v1.texts() == [("agent", "a|b"), ("agent", "c|d")]


def test_v1_an_id_is_adopted_and_a_differing_one_begins_a_message(v1: Folding) -> None:
    chunk(v1, "a")
    chunk(v1, "b", "m1")
    chunk(v1, "c")
    chunk(v1, "d", "m2")

    assert v1.texts() == [("agent", "a|b|c"), ("agent", "d")]
    assert [message["messageId"] for message in v1.session()["messages"]] == ["m1", "m2"]


def test_v1_a_known_id_goes_on_after_a_tool_call(v1: Folding) -> None:
    chunk(v1, "a", "m1")
    v1.update("tool_call", toolCallId="t")
    chunk(v1, "b", "m1")

    assert v1.texts() == [("agent", "a|b")]


@pytest.mark.parametrize(
    "echo", [["hello world", "x"], ["hello", " world", "x"]], ids=["whole", "in parts"]
)
def test_v1_the_prompt_is_the_message_and_its_echo_is_not_shown_twice(
    v1: Folding, echo: list[str]
) -> None:
    prompt = [text("hello world"), text("x")]
    v1.client(id=1, method="session/prompt", params={"sessionId": "s", "prompt": prompt})
    for words in echo:
        chunk(v1, words, "u1", role="user_message")
    chunk(v1, "hi")

    assert v1.texts() == [("user", "hello world|x"), ("agent", "hi")]
    assert v1.session()["messages"][0]["messageId"] == "u1"


def test_v1_an_echo_may_come_after_something_else(v1: Folding) -> None:
    params = {"sessionId": "s", "prompt": [text("a")]}
    v1.client(id=1, method="session/prompt", params=params)
    chunk(v1, "hm", role="agent_thought")
    v1.update("tool_call", toolCallId="t")
    chunk(v1, "a", role="user_message")
    chunk(v1, "a", role="user_message")

    assert v1.texts() == [("user", "a"), ("thought", "hm"), ("user", "a")]


def test_v1_a_null_id_is_none_and_ids_may_be_used_by_each_role(v1: Folding) -> None:
    v1.update("agent_message_chunk", messageId=None, content=text("a"))
    v1.update("agent_thought_chunk", messageId="m", content=text("hm"))
    v1.update("agent_message_chunk", messageId="m", content=text("b"))

    assert v1.texts() == [("agent", "a"), ("thought", "hm"), ("agent", "b")]


def test_v1_what_is_no_echo_is_a_message(v1: Folding) -> None:
    params = {"sessionId": "s", "prompt": [text("a")]}
    v1.client(id=1, method="session/prompt", params=params)
    chunk(v1, "b", role="user_message")

    assert v1.texts() == [("user", "a"), ("user", "b")]


# F.1, v2.


def test_v2_each_role_has_ids_of_its_own_and_chunks_may_interleave(v2: Folding) -> None:
    chunk(v2, "a", "m")
    chunk(v2, "hm", "m", "agent_thought")
    chunk(v2, "n", "m2")
    chunk(v2, "b", "m")

    assert v2.texts() == [("agent", "a|b"), ("thought", "hm"), ("agent", "n")]


def test_v2_a_message_is_upserted(v2: Folding) -> None:
    chunk(v2, "a", "m")
    v2.update("agent_message", messageId="m", _meta={"a": 1, "b": 2})
    assert v2.texts() == [("agent", "a")]

    v2.update("agent_message", messageId="m", content=[text("z")], _meta={"a": None})
    chunk(v2, "y", "m")
    assert v2.texts() == [("agent", "z|y")]
    assert v2.session()["messages"][0]["_meta"] == {"b": 2}

    v2.update("agent_message", messageId="m", content=None, _meta=None)
    assert v2.texts() == [("agent", "")]
    assert "_meta" not in v2.session()["messages"][0]


def test_v2_the_prompt_is_no_message(v2: Folding) -> None:
    v2.ask("session/prompt", {"sessionId": "s", "prompt": [text("a")]}, {"messageId": "u"})

    assert v2.texts() == []


def test_v2_unknown_blocks_are_kept_and_malformed_chunks_ignored(v2: Folding) -> None:
    v2.update("agent_message_chunk", messageId="m", content={"type": "hologram", "x": [None]})
    for wrong in (None, "x", {}, {"type": "text"}, {"type": "text", "text": 5}):
        v2.update("agent_message_chunk", messageId="m", content=wrong)

    assert v2.session()["messages"][0]["content"] == [{"type": "hologram", "x": [None]}]
    assert len(v2.notes) == 5


# F.2: turns.


def test_v1_a_turn_is_from_the_prompt_to_its_answer(v1: Folding) -> None:
    prompt = {"sessionId": "s", "prompt": [text("a")]}
    v1.client(id=1, method="session/prompt", params=prompt)
    assert v1.session()["turns"] == [{"promptSeq": 3, "startedSeq": 3}]

    v1.agent(id=1, result={"stopReason": "end_turn"})
    v1.client(id=2, method="session/prompt", params=prompt)
    v1.agent(id=2, error={"code": -32000, "message": "no", "data": {"x": None}})

    assert v1.session()["turns"] == [
        {"promptSeq": 3, "startedSeq": 3, "endedSeq": 4, "stopReason": "end_turn"},
        {
            "promptSeq": 5,
            "startedSeq": 5,
            "endedSeq": 6,
            "error": {"code": -32000, "message": "no", "data": {"x": None}},
        },
    ]


def test_v1_an_update_after_the_turns_end_is_a_new_message(v1: Folding) -> None:
    v1.client(id=1, method="session/prompt", params={"sessionId": "s", "prompt": [text("a")]})
    chunk(v1, "b")
    v1.agent(id=1, result={"stopReason": "end_turn"})
    chunk(v1, "c")

    assert v1.texts() == [("user", "a"), ("agent", "b"), ("agent", "c")]


def test_v2_a_turn_is_from_running_to_idle(v2: Folding) -> None:
    v2.client(id=1, method="session/prompt", params={"sessionId": "s", "prompt": [text("a")]})
    v2.update("state_update", state="running")
    v2.agent(id=1, result={"messageId": "u"})
    v2.update("state_update", state="requires_action")
    v2.update("state_update", state="idle", stopReason="end_turn", background=[])
    v2.update("state_update", state="idle", stopReason="end_turn", background=[])
    v2.update("state_update", state="running")

    assert v2.session()["turns"] == [
        {
            "promptSeq": 3,
            "startedSeq": 4,
            "endedSeq": 7,
            "stopReason": "end_turn",
            "messageId": "u",
        },
        {"startedSeq": 9},
    ]
    assert v2.session()["activity"] == {"state": "running"}


def test_v2_a_held_prompt_waits_for_its_turn_and_a_refused_one_has_none(v2: Folding) -> None:
    prompt = {"sessionId": "s", "prompt": [text("a")]}
    v2.update("state_update", state="running")
    for id_ in (1, 2, 3):
        v2.client(id=id_, method="session/prompt", params=prompt)
    v2.agent(id=2, error={"code": -32800, "message": "cancelled"})
    v2.agent(id=3, result={})
    v2.update("state_update", state="idle")
    v2.update("state_update", state="running")

    assert [turn.get("promptSeq") for turn in v2.session()["turns"]] == [4, 6]


def test_v2_a_failed_turn_has_its_error(v2: Folding) -> None:
    error = {"code": 1, "message": "m"}
    v2.update("state_update", state="running")
    v2.update("state_update", state="idle", stopReason="error", error=error)

    [turn] = v2.session()["turns"]
    assert (turn["stopReason"], turn["error"]) == ("error", error)
