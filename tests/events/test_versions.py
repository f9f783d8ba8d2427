"""Which version a message is read by: docs/protocol.md: Versions."""

from typing import Any

import pytest

from acp_proxy.events.decoder import Decoder
from acp_proxy.events.vocabulary import (
    ActivityChanged,
    MessageChunkAdded,
    PromptSent,
    ToolCallRestarted,
    ToolCallUpdated,
)
from tests.events.decoding import Decoding

BLOCK = {"type": "text", "text": "a"}


def reads_null_as(decoding: Decoding) -> int:
    """Return the version by which a ``tool_call_update`` is read."""
    [event] = decoding.update("tool_call_update", toolCallId="t", title=None)
    assert isinstance(event, ToolCallUpdated)
    return 2 if event.title is None else 1


def test_without_any_evidence_it_is_version_1() -> None:
    assert reads_null_as(Decoding()) == 1


@pytest.mark.parametrize(("answered", "version"), [(1, 1), (2, 2), (3, 2), (0, 1), ("2025", 1)])
def test_the_agents_answer_decides_not_the_clients_question(answered: Any, version: int) -> None:
    decoding = Decoding()
    decoding.ask("initialize", {"protocolVersion": 2}, {"protocolVersion": answered})

    assert reads_null_as(decoding) == version
    assert decoding.decoder.versions.negotiated == answered


def test_the_latest_success_wins_and_a_failure_keeps_the_old() -> None:
    decoding = Decoding(2)
    decoding.client(id=1, method="initialize", params={"protocolVersion": 1})
    decoding.agent(id=1, error={"code": -32600, "message": "no"})
    assert reads_null_as(decoding) == 2

    decoding.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1})
    assert reads_null_as(decoding) == 1


@pytest.mark.parametrize("method", ["proxy/initialize", "_proxy/initialize"])
def test_a_proxys_initialize_counts_too(method: str) -> None:
    decoding = Decoding()
    decoding.ask(method, {"protocolVersion": 2}, {"protocolVersion": 2})

    assert reads_null_as(decoding) == 2


def test_a_client_cannot_answer_initialize() -> None:
    decoding = Decoding()
    decoding.ask("initialize", {"protocolVersion": 2}, {"protocolVersion": 2}, "agent")

    assert reads_null_as(decoding) == 1


EVIDENCE: dict[str, tuple[Any, int]] = {
    "auth/login": (lambda d: d.client(id=1, method="auth/login", params={}), 2),
    "session/load": (lambda d: d.client(id=1, method="session/load", params={}), 1),
    "state_update": (lambda d: d.update("state_update", state="idle"), 2),
    "plan": (lambda d: d.update("plan", entries=[]), 1),
    "a chunk without id": (lambda d: d.update("agent_message_chunk", content=BLOCK), 1),
    "a chunk with id": (lambda d: d.update("agent_message_chunk", messageId="m", content=BLOCK), 1),
    "paused": (lambda d: d.update("tool_call_update", toolCallId="t", status="paused"), 2),
    "stopReason": (
        lambda d: d.ask("session/prompt", {"sessionId": "s"}, {"stopReason": "end_turn"}), 1
    ),
    "messageId": (lambda d: d.ask("session/prompt", {"sessionId": "s"}, {"messageId": "m"}), 2),
    "agentCapabilities": (lambda d: d.ask("initialize", {}, {"agentCapabilities": {}}), 1),
    "capabilities": (lambda d: d.ask("initialize", {}, {"capabilities": {}}), 2),
    "an empty answer to a prompt": (lambda d: d.ask("session/prompt", {"sessionId": "s"}, {}), 2),
    "a question with info": (
        lambda d: d.client(id=1, method="initialize", params={"protocolVersion": 2, "info": {}}), 2
    ),
    "a question with clientInfo": (
        lambda d: d.client(id=1, method="initialize", params={"clientInfo": {}, "info": {}}), 1
    ),
    "the answer over the question": (
        lambda d: d.ask(
            "initialize", {"protocolVersion": 2, "info": {}}, {"agentCapabilities": {}}
        ), 1
    ),
    "replayFrom": (
        lambda d: d.client(id=1, method="session/resume", params={"replayFrom": {"type": "start"}}), 2
    ),
    "a server with type": (lambda d: d.client(id=1, method="session/new", params={
        "mcpServers": [{"type": "http"}, {"type": "stdio", "command": "/c"}]}), 2),
    "a server without": (lambda d: d.client(id=1, method="session/new", params={
        "mcpServers": [7, {"command": "/c"}]}), 1),
    "commands in an answer": (
        lambda d: d.ask("session/new", {}, {"sessionId": "s", "availableCommands": []}), 2
    ),
    "options in an answer": (
        lambda d: d.ask("session/new", {}, {"sessionId": "s", "configOptions": [{"configId": "c"}]}), 2
    ),
    "configId": (lambda d: d.update("config_option_update", configOptions=[{"configId": "c"}]), 2),
    "an option's id": (lambda d: d.update("config_option_update", configOptions=[{"id": "c"}]), 1),
    "groupId": (lambda d: d.update(
        "config_option_update", configOptions=[{"options": [{"groupId": "g"}]}]), 2),
    "a command's input": (lambda d: d.update(
        "available_commands_update", availableCommands=[{"input": {"type": "text"}}]), 2),
    "changes": (lambda d: d.update(
        "tool_call_update", toolCallId="t", content=[{"type": "diff", "changes": []}]), 2),
    "newText": (lambda d: d.update(
        "tool_call_update", toolCallId="t", content=[{"type": "diff", "newText": ""}]), 1),
    "capabilities of a call": (
        lambda d: d.update("tool_call_update", toolCallId="t", capabilities={}), 2
    ),
    "cancelled": (lambda d: d.update("tool_call_update", toolCallId="t", status="cancelled"), 2),
    "the title of a permission": (lambda d: d.permission(title="T"), 2),
    "an early draft's permission": (
        lambda d: d.permission(title="T", toolCall={"toolCallId": "t"}), 2
    ),
    "subject": (lambda d: d.permission(title="T", subject={"type": "_x"}), 2),
    "toolCall": (lambda d: d.permission(toolCall={"toolCallId": "t"}), 1),
}  # fmt: skip


NEUTRAL: dict[str, Any] = {
    "a plain option": lambda d: d.update("config_option_update", configOptions=[{"name": "c"}]),
    "a plain command": lambda d: d.update(
        "available_commands_update", availableCommands=[{"name": "c", "input": {"hint": "h"}}]),
    "a server of another kind": lambda d: d.client(
        id=1, method="session/new", params={"mcpServers": [{"type": "http", "url": "u"}]}),
    "a call": lambda d: d.update("tool_call_update", toolCallId="t", title="T"),
    "what is no list": lambda d: d.update("config_option_update", configOptions={"configId": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", NEUTRAL)
def test_what_both_versions_have_is_no_evidence(name: str) -> None:
    decoding = Decoding()
    NEUTRAL[name](decoding)

    assert decoding.decoder.versions.guessed is None


def test_evidence_counts_for_nothing_once_a_version_was_agreed_on() -> None:
    decoding = Decoding(1)
    decoding.update("config_option_update", configOptions=[{"configId": "c"}])

    assert reads_null_as(decoding) == 1


@pytest.mark.parametrize("name", EVIDENCE)
def test_without_an_answer_evidence_decides(name: str) -> None:
    say, version = EVIDENCE[name]
    decoding = Decoding()
    say(decoding)

    assert reads_null_as(decoding) == version


def test_the_first_evidence_decides() -> None:
    decoding = Decoding()
    decoding.update("state_update", state="idle")
    decoding.update("plan", entries=[])

    assert reads_null_as(decoding) == 2


def test_what_one_version_has_is_read_by_it_and_noted() -> None:
    v1, v2 = Decoding(1), Decoding(2)
    [state] = v1.update("state_update", state="running")
    [call] = v2.update("tool_call", toolCallId="t", title="T", kind=None)
    [chunk] = v2.update("agent_message_chunk", content=BLOCK)

    assert isinstance(state, ActivityChanged)
    assert isinstance(call, ToolCallRestarted)
    assert isinstance(chunk, MessageChunkAdded)
    assert chunk.joins
    assert state.notes == ("read as version 2, though version 1 was agreed on",)
    assert call.notes == chunk.notes == ("read as version 1, though version 2 was agreed on",)


def test_an_agent_that_answers_2_and_speaks_1() -> None:
    decoding = Decoding(2)
    assert reads_null_as(decoding) == 2

    decoding.update("tool_call", toolCallId="t", title="T")
    [prompt] = decoding.client(id=1, method="session/prompt", params={"sessionId": "s"})

    assert reads_null_as(decoding) == 1
    assert isinstance(prompt, PromptSent)
    assert prompt.is_turn


def test_versions_are_the_connections_own() -> None:
    one, other = Decoder(), Decoder()
    one.versions.guess(2)

    assert (one.versions.agreed, other.versions.agreed) == (2, 1)
