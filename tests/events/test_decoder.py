"""No message is without an event, nothing of it is lost, and what is odd is noted."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_proxy.events import v1, v2
from acp_proxy.events import vocabulary as v
from acp_proxy.events.event import UNSET, Event
from acp_proxy.wire.jsonrpc import Direction
from tests.conftest import SHARED
from tests.events.decoding import Decoding

if TYPE_CHECKING:
    from pathlib import Path

BOTH = pytest.mark.parametrize("version", [1, 2])


def _tags(node: Any) -> set[str]:
    """Return the constants of every ``sessionUpdate`` in a schema."""
    found: set[str] = set()
    if isinstance(node, dict):
        tag = node.get("sessionUpdate")
        if isinstance(tag, dict) and "const" in tag:
            found.add(tag["const"])
        for part in node.values():
            found |= _tags(part)
    elif isinstance(node, list):
        for part in node:
            found |= _tags(part)
    return found


@pytest.mark.parametrize("name", ["v1", "v1.unstable", "v2", "v2.unstable"])
def test_every_update_of_the_schemas_has_a_reader(name: str) -> None:
    path: Path = SHARED / "schema" / f"{name}.json"
    if not path.is_file():
        pytest.skip("../shared/schema is absent: this clone stands alone")
    tags = _tags(json.loads(path.read_text()))

    assert len(tags) > 8
    assert tags <= set(v1.READINGS if name.startswith("v1") else v2.READINGS)


@BOTH
@pytest.mark.parametrize("tag", sorted({*v1.READINGS, *v2.READINGS, "_custom", "unheard_of"}))
def test_the_payload_of_an_update_is_in_its_event(version: int, tag: str) -> None:
    update: dict[str, Any] = {
        "toolCallId": "t", "terminalId": "x", "messageId": "m", "compactionId": "c", "planId": "p",
        "sessionId": "child", "content": {"type": "text", "text": "a"}, "status": "completed",
        "severity": "info", "title": "T", "state": "idle", "used": 1, "size": 2, "data": "",
        "availableCommands": [], "configOptions": [], "entries": [], "currentModeId": "m",
        "plan": {"planId": "p", "type": "_x"}, "_new": {"deep": [None]}, "_meta": {"k": None},
    }  # fmt: skip

    [event, *_] = Decoding(version).update(tag, **update)

    assert event.raw == {"sessionUpdate": tag, **update}
    assert event.session_id == "s"
    is_named = tag in v1.READINGS or tag in v2.READINGS
    wrong_type = tag == "tool_call_content_chunk"  # its content is no item of a known shape
    assert isinstance(event, v.UpdateReceived) is (not is_named) or wrong_type


@BOTH
@pytest.mark.parametrize("tag", sorted({*v1.READINGS, *v2.READINGS}))
def test_an_update_without_what_it_needs_is_noted(version: int, tag: str) -> None:
    [event] = Decoding(version).update(tag)

    if not isinstance(event, v.SessionInfoChanged):
        assert isinstance(event, v.UpdateReceived)
        assert event.kind == tag
        assert event.notes


GENERAL: dict[str, tuple[Direction, bytes, type[Event]]] = {
    "an unknown request": (
        Direction.CLIENT, b'{"jsonrpc":"2.0","id":1,"method":"_x","params":[1]}', v.RequestSent
    ),
    "an unknown notification": (
        Direction.AGENT, b'{"jsonrpc":"2.0","method":"_x"}', v.NotificationSent
    ),
    "an orphan": (Direction.AGENT, b'{"jsonrpc":"2.0","id":1,"result":{}}', v.RequestAnswered),
    "an update by a client": (
        Direction.CLIENT,
        (b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
        b'{"sessionUpdate":"plan","entries":[]}}}'),
        v.NotificationSent,
    ),
    "an update without params": (
        Direction.AGENT, b'{"jsonrpc":"2.0","method":"session/update"}', v.NotificationSent
    ),
    "text": (Direction.AGENT, b"Loading ...\n", v.LineWritten),
    "broken JSON": (Direction.AGENT, b'{"jsonrpc":\n', v.LineWritten),
    "no object": (Direction.AGENT, b"7\n", v.LineWritten),
    "an empty batch": (Direction.AGENT, b"[]\n", v.LineWritten),
    "a permission without a session": (
        Direction.AGENT,
        b'{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":null}',
        v.RequestSent,
    ),
    "too deep": (
        Direction.AGENT,
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
        + b"[" * 2000 + b"]" * 2000 + b"}}",
        v.NotificationSent,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GENERAL)
def test_what_has_no_meaning_is_a_general_event(name: str) -> None:
    direction, raw, kind = GENERAL[name]
    [event] = Decoding().line(direction, raw)

    assert type(event) is kind


ANSWERS: dict[str, tuple[str, str, Any, type[Event]]] = {
    "initialize": ("client", "initialize", {"protocolVersion": 1}, v.Initialized),
    "new": ("client", "session/new", {"sessionId": "s"}, v.SessionOpened),
    "resume": ("client", "session/resume", {}, v.SessionOpened),
    "fork": ("client", "session/fork", {"sessionId": "f"}, v.SessionOpened),
    "close": ("client", "session/close", None, v.SessionClosed),
    "prompt": ("client", "session/prompt", {"stopReason": "end_turn"}, v.PromptAnswered),
    "set_mode": ("client", "session/set_mode", {}, v.ModeChanged),
    "set_config_option": (
        "client", "session/set_config_option", {"configOptions": []}, v.ConfigOptionsChanged
    ),
    "permission": (
        "agent", "session/request_permission", {"outcome": {"outcome": "cancelled"}},
        v.PermissionAnswered,
    ),
    "elicitation": ("agent", "elicitation/create", {"action": "accept"}, v.ElicitationAnswered),
    "create": ("agent", "terminal/create", {"terminalId": "x"}, v.TerminalCreated),
    "output": ("agent", "terminal/output", {"output": "a"}, v.TerminalUpdated),
    "fs": ("agent", "fs/read_text_file", {"content": "a"}, v.RequestAnswered),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_means_what_its_request_asked(name: str) -> None:
    asker, method, result, kind = ANSWERS[name]
    params = {"sessionId": "s", "modeId": "m", "terminalId": "x"}
    [event] = Decoding().ask(method, params, result, asker)

    assert type(event) is kind
    assert event.raw == result


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_to_the_wrong_side_means_nothing(name: str) -> None:
    asker, method, result, _ = ANSWERS[name]
    params = {"sessionId": "s", "modeId": "m", "terminalId": "x"}
    wrong = "agent" if asker == "client" else "client"
    [event] = Decoding().ask(method, params, result, wrong)

    assert type(event) is v.RequestAnswered


def test_the_answer_to_load_ends_the_replay_first() -> None:
    events = Decoding().ask("session/load", {"sessionId": "s", "cwd": "/"}, None)

    assert [type(event) for event in events] == [v.ReplayEnded, v.SessionOpened]


def test_unset_none_and_a_value_are_kept_apart() -> None:
    [event] = Decoding(2).update("tool_call_update", toolCallId="t", title=None, kind="edit")

    assert isinstance(event, v.ToolCallUpdated)
    assert (event.name, event.title, event.kind) == (UNSET, None, "edit")


def test_secrets_of_the_environment_are_not_kept_for_the_answer() -> None:
    decoding = Decoding(1)
    params = {"sessionId": "s", "command": "c", "env": [{"name": "KEY", "value": "secret"}]}
    decoding.agent(id=1, method="terminal/create", params=params)

    [request] = decoding.decoder.open_requests()
    assert request.params == {"command": "c"}
