"""Conversations made up by hypothesis: what two peers might say, sensible or nearly so."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from acp_proxy.wire.jsonrpc import Direction
from tests.state.folding import item, text
from tests.strategies import ANYTHING, big_integers, integers, json_values

TALKERS = st.sampled_from([Direction.CLIENT, Direction.AGENT])
_IDS = st.sampled_from(["a", "b", "a", "b", "\ud800", "\\ud800", "\0"])
_BLOCKS = st.sampled_from([text("one"), text("two"), {"type": "_x", "n": None}, {"type": "text"}])
_ITEMS = st.sampled_from([item("one"), {"type": "terminal", "terminalId": "a"}, {"type": "_y"}, 5])
_META = st.none() | st.sampled_from([
    {}, {"k": 1}, {"k": None, "l": 0},
    {"terminal_info": {"terminal_id": "a", "cwd": "/"}},
    {"terminal_output": {"terminal_id": "a", "data": "out\ud800"}},
    {"terminal_exit": {"terminal_id": "a", "exit_code": 0}},
])  # fmt: skip
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "toolCallId": _IDS,
    "terminalId": _IDS,
    "messageId": _IDS | st.none(),
    "compactionId": _IDS,
    "planId": _IDS,
    "title": st.sampled_from(["T", None]),
    "kind": st.sampled_from(["edit", None, "_k"]),
    "status": st.sampled_from(["completed", "in_progress", "paused", None]),
    "locations": st.lists(st.just({"path": "/a"}), max_size=2),
    "rawInput": json_values(integers | big_integers),
    "_meta": _META,
    "output": st.sampled_from([None, {"data": "YQ=="}, {"data": "!"}, {"data": "", "_meta": {}}]),
    "data": st.sampled_from(["YWI=", "w6", ""]),
    "exitStatus": st.sampled_from([None, {}, {"exitCode": 2**70}]),
    "summary": st.lists(_BLOCKS, max_size=2) | st.none(),
    "state": st.sampled_from(["running", "idle", "requires_action", "_s"]),
    "stopReason": st.sampled_from(["end_turn", "error"]),
    "used": st.just(2**63),
    "size": st.sampled_from([3, {"cols": 1, "rows": 2}]),
    "cost": st.sampled_from([None, {"amount": 1.5, "currency": "EUR"}]),
    "plan": st.sampled_from([{"planId": "a", "type": "items", "entries": []}, {"planId": "b"}]),
    "entries": st.just([{"content": "c", "status": "pending"}]),
    "sessionId": _IDS,
    "severity": st.just("info"),
    "currentModeId": _IDS,
}
_TAGS = st.sampled_from([
    "tool_call", "tool_call_update", "tool_call_content_chunk", "agent_message_chunk",
    "user_message_chunk", "agent_message", "terminal_update", "terminal_output_chunk",
    "state_update", "plan", "plan_update", "plan_removed", "usage_update", "session_info_update",
    "compaction_update", "compaction_summary_chunk", "subagent_update", "session_message",
    "session_message_chunk", "notice", "current_mode_update", "_custom",
])  # fmt: skip


@st.composite
def updates(draw: st.DrawFn) -> dict[str, Any]:
    update: dict[str, Any] = {"sessionUpdate": draw(_TAGS)}
    update |= draw(st.fixed_dictionaries({}, optional=_FIELDS))
    if draw(st.booleans()):
        update["content"] = draw(_ITEMS | _BLOCKS | st.lists(_ITEMS | _BLOCKS, max_size=2))
    if draw(st.integers(0, 9)) == 0:
        update[draw(st.sampled_from(sorted(_FIELDS)))] = draw(ANYTHING)
    params = {"sessionId": draw(_IDS), "update": update}
    return {"from": "agent", "method": "session/update", "params": params}


@st.composite
def _requests(draw: st.DrawFn) -> dict[str, Any]:
    method = draw(st.sampled_from([
        "initialize", "session/new", "session/load", "session/resume", "session/prompt",
        "session/close", "session/set_mode",
    ]))  # fmt: skip
    params = {
        "sessionId": draw(_IDS), "cwd": "/", "modeId": "m", "prompt": [text("one")],
        "replayFrom": draw(st.sampled_from([None, {"type": "start"}])),
    }  # fmt: skip
    return {"from": "client", "id": draw(st.integers(0, 2)), "method": method, "params": params}


@st.composite
def _agent_requests(draw: st.DrawFn) -> dict[str, Any]:
    method = draw(st.sampled_from([
        "session/request_permission", "terminal/create", "terminal/output", "terminal/release",
        "terminal/wait_for_exit", "elicitation/create",
    ]))  # fmt: skip
    params: dict[str, Any] = {"sessionId": draw(_IDS), "terminalId": draw(_IDS), "command": "c"}
    if draw(st.booleans()):
        params["toolCall"] = {"toolCallId": draw(_IDS), "title": "P", "_meta": draw(_META)}
    else:
        params["subject"] = {"type": "tool_call", "toolCall": {"toolCallId": draw(_IDS)}}
    return {"from": "agent", "id": draw(st.integers(0, 2)), "method": method, "params": params}


@st.composite
def _answers(draw: st.DrawFn) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "from": draw(st.sampled_from(["client", "agent"])),
        "id": draw(st.integers(0, 2)),
    }
    if draw(st.booleans()):
        result = {
            "sessionId": draw(_IDS), "terminalId": draw(_IDS), "stopReason": "end_turn",
            "outcome": {"outcome": "selected", "optionId": "y"}, "output": "o", "truncated": True,
            "exitCode": 1, "protocolVersion": draw(st.sampled_from([1, 2])),
        }  # fmt: skip
        return answer | {"result": result}
    return answer | {"error": {"code": draw(st.sampled_from([-32002, -1])), "message": "m"}}


def said_lines() -> st.SearchStrategy[list[tuple[Direction, bytes]]]:
    """Return lines of a conversation, each with who wrote it."""

    def line(message: dict[str, Any]) -> tuple[Direction, bytes]:
        rest = {"jsonrpc": "2.0", **message}
        return Direction(rest.pop("from")), json.dumps(rest).encode()

    said = updates() | updates() | _requests() | _agent_requests() | _answers()
    return st.lists(said.map(line), max_size=30)
