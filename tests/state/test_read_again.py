"""A prompt that was read by one version and turns out to be of the other (docs/protocol.md: Versions, design 7)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.state.folding import Folding, text


def ask(folding: Folding, id_: Any = 1, words: str = "hello") -> None:
    """Send a prompt."""
    params = {"sessionId": "s", "prompt": [text(words)]}
    folding.client(id=id_, method="session/prompt", params=params)


@pytest.fixture(params=[False, True], ids=["at once", "restarted"])
def restarted(request: pytest.FixtureRequest) -> bool:
    """Whether all is saved and restored after the prompt."""
    return bool(request.param)


# The agent answers 2 and speaks 1, as one that is shipped does.

V1_WORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "a chunk without id": ("agent_message_chunk", {"content": text("hi")}),
    "a tool call": ("tool_call", {"toolCallId": "t", "title": "T"}),
    "a plan": ("plan", {"entries": []}),
}


@pytest.mark.parametrize("name", V1_WORDS)
def test_the_first_prompt_of_an_agent_that_answers_2_and_speaks_1(
    name: str, restarted: bool
) -> None:
    tag, fields = V1_WORDS[name]
    folding = Folding(2)
    ask(folding)
    if restarted:
        folding.restart()

    folding.update(tag, **fields)

    session = folding.session()
    assert folding.texts()[0] == ("user", "hello")
    assert session["messages"][0]["firstSeq"] == 3
    assert session["turns"] == [{"promptSeq": 3, "startedSeq": 3}]
    assert "the prompt of message 3 is read again, as one of version 1" in folding.notes

    folding.agent(id=1, result={"stopReason": "end_turn"})
    assert folding.session()["turns"] == [
        {"promptSeq": 3, "startedSeq": 3, "endedSeq": 5, "stopReason": "end_turn"}
    ]
    assert folding.texts().count(("user", "hello")) == 1


def test_the_whole_turn_is_as_if_1_had_been_agreed_on(restarted: bool) -> None:
    foldings = [Folding(1), Folding(2)]
    for folding in foldings:
        for number in range(2):
            ask(folding, number, f"prompt {number}")
            if restarted:
                folding.restart()
            folding.update("user_message_chunk", content=text(f"prompt {number}"))
            folding.update("agent_message_chunk", content=text("a"))
            folding.update("tool_call", toolCallId=f"t{number}", title="T", status="pending")
            folding.update("tool_call_update", toolCallId=f"t{number}", title=None, status="failed")
            folding.update("agent_message_chunk", content=text("b"))
            folding.agent(id=number, result={"stopReason": "end_turn"})

    first, second = (folding.session() for folding in foldings)
    assert second == first
    assert [role for role, _ in foldings[0].texts()] == ["user", "agent", "agent"] * 2


def test_the_answer_alone_tells_it_too_and_the_message_gets_its_place(restarted: bool) -> None:
    folding = Folding(2)
    folding.update("agent_message_chunk", messageId="m0", content=text("before"))
    ask(folding)
    folding.update("agent_message_chunk", messageId="m1", content=text("after"))
    if restarted:
        folding.restart()
    folding.agent(id=1, result={"stopReason": "end_turn"})
    if restarted:
        folding.restart()
    folding.update("agent_message_chunk", messageId="m1", content=text("more"))

    assert folding.texts() == [("agent", "before"), ("user", "hello"), ("agent", "after|more")]
    [turn] = folding.session()["turns"]
    assert (turn["promptSeq"], turn["endedSeq"]) == (4, 6)


def test_an_agent_that_speaks_2_is_not_doubted_for_one_chunk_without_id() -> None:
    folding = Folding(2)
    folding.update("state_update", state="running")
    ask(folding)
    folding.update("agent_message_chunk", content=text("a"))

    assert folding.texts() == [("agent", "a")]
    assert folding.session()["turns"] == [{"promptSeq": 4, "startedSeq": 3}]


# Nothing was agreed on: version 1 until there is evidence.

V2_WORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "state_update": ("state_update", {"state": "running"}),
    "user_message": ("user_message", {"messageId": "u", "content": [text("hello")]}),
    "paused": ("tool_call_update", {"toolCallId": "t", "status": "paused"}),
    "a command of 2": ("available_commands_update", {"availableCommands": [{"type": "command"}]}),
    "an option of 2": ("config_option_update", {"configOptions": [{"configId": "c"}]}),
}


@pytest.mark.parametrize("name", V2_WORDS)
def test_a_prompt_before_the_evidence_is_read_again(name: str, restarted: bool) -> None:
    tag, fields = V2_WORDS[name]
    folding = Folding()
    ask(folding)
    assert folding.texts() == [("user", "hello")]
    if restarted:
        folding.restart()

    folding.update(tag, **fields)
    folding.update("state_update", state="running")
    folding.update("user_message", messageId="u", content=[text("hello")])
    folding.update("agent_message_chunk", messageId="m", content=text("hi"))
    folding.agent(id=1, result={"messageId": "u"})
    folding.update("state_update", state="idle", stopReason="end_turn")

    assert folding.texts() == [("user", "hello"), ("agent", "hi")]
    [turn] = folding.session()["turns"]
    assert (turn["promptSeq"], turn["stopReason"]) == (1, "end_turn")
    assert "the prompt of message 1 is read again, as one of version 2" in folding.notes


@pytest.mark.parametrize("result", [{}, {"messageId": "u"}, {"_meta": {"a": 1}}])
def test_the_answer_of_version_2_is_evidence_for_its_prompt(result: dict[str, Any]) -> None:
    folding = Folding()
    ask(folding)
    folding.agent(id=1, result=result)

    assert folding.texts() == []
    assert "endedSeq" not in folding.session()["turns"][0]
    folding.update("state_update", state="running")
    folding.update("state_update", state="idle", stopReason="end_turn")
    [turn] = folding.session()["turns"]
    assert (turn["promptSeq"], turn["startedSeq"], turn["endedSeq"]) == (1, 1, 4)
    assert folding.decoder.versions.spoken == 2


def test_evidence_for_version_1_changes_nothing() -> None:
    folding = Folding()
    ask(folding)
    folding.update("tool_call", toolCallId="t", title="T")
    folding.agent(id=1, result={"stopReason": "end_turn"})

    assert folding.texts() == [("user", "hello")]
    assert not [note for note in folding.notes if "again" in note]


def test_a_mixture_does_not_go_to_and_fro() -> None:
    folding = Folding()
    ask(folding)
    for _ in range(3):
        folding.update("state_update", state="running")
        folding.update("tool_call", toolCallId="t", title="T")

    assert len([note for note in folding.notes if "again" in note]) == 2
    assert folding.texts() == [("user", "hello")]


def test_prompts_cost_the_same_however_many_messages_there_are() -> None:
    folding = Folding(1)
    for number in range(2000):
        ask(folding, number)
        folding.update("agent_message_chunk", messageId=f"m{number}", content=text("a"))
        folding.agent(id=number, result={"stopReason": "end_turn"})

    assert len(folding.session()["messages"]) == 4000
    assert folding.decoder._prompts == {}
