"""Laws of folding: any cut gives the same, nothing raises, values survive."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.events.decoder import Decoder
from acp_proxy.state.fold import State
from acp_proxy.state.snapshot import BadSnapshotError, Stored, head_of_connection, restore
from acp_proxy.views.state_json import state_document, state_text
from acp_proxy.views.state_page import state_page
from acp_proxy.wire.jsonrpc import Direction, classify
from tests.state.folding import Folding, item, text
from tests.strategies import ANYTHING, NUMBERS, big_integers, integers, json_values, message_lines

_TALKERS = st.sampled_from([Direction.CLIENT, Direction.AGENT])
_IDS = st.sampled_from(["a", "b"])
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
def _updates(draw: st.DrawFn) -> dict[str, Any]:
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


def _lines() -> st.SearchStrategy[list[tuple[Direction, bytes]]]:
    def line(message: dict[str, Any]) -> tuple[Direction, bytes]:
        rest = {"jsonrpc": "2.0", **message}
        return Direction(rest.pop("from")), json.dumps(rest).encode()

    said = _updates() | _updates() | _requests() | _agent_requests() | _answers()
    return st.lists(said.map(line), max_size=30)


def _text(state: State) -> str:
    return state_text(state_document(state, 1))


@given(_lines(), st.sets(st.integers(0, 30)))
def test_folding_at_once_is_folding_in_pieces(
    lines: list[tuple[Direction, bytes]], cuts: set[int]
) -> None:
    whole, pieces = Folding(), Folding()
    for number, (direction, raw) in enumerate(lines):
        if number in cuts:
            pieces.restart()
        whole.line(direction, raw)
        pieces.line(direction, raw)

        assert _text(pieces.state) == _text(whole.state)
    assert pieces.notes == whole.notes


@given(_lines())
def test_one_batch_is_as_good_as_its_members(lines: list[tuple[Direction, bytes]]) -> None:
    whole, batched = Folding(), Folding()
    for direction, raw in lines:
        whole.line(direction, raw)
        batched.line(direction, b"[" + raw + b"]")

    assert _text(batched.state) == _text(whole.state)


@given(st.lists(st.tuples(_TALKERS, message_lines()), max_size=12))
def test_what_peers_write_never_raises(said: list[tuple[Direction, bytes]]) -> None:
    folding = Folding()
    for direction, raw in said:
        before = folding.decoder.seq
        events = [
            event for message in classify(raw) for event in folding.decoder.add(direction, message)
        ]
        assert {event.seq for event in events} == set(range(before + 1, folding.decoder.seq + 1))
        for event in events:
            folding.state.apply(event)
    folding.restart()
    state_page(state_document(folding.state, 1))


@given(st.lists(st.tuples(_TALKERS, _updates()), max_size=8), st.data())
def test_updates_with_wrong_types_anywhere_never_raise(
    said: list[tuple[Direction, dict[str, Any]]], data: st.DataObject
) -> None:
    folding = Folding(data.draw(st.sampled_from([None, 1, 2])))
    for direction, message in said:
        params = message["params"]
        key = data.draw(st.sampled_from(sorted(params["update"])))
        params["update"][key] = data.draw(ANYTHING)
        folding.say(direction, method="session/update", params=params)
    text_now = _text(folding.state)
    folding.restart()

    assert _text(folding.state) == text_now
    state_page(state_document(folding.state, 1))


@given(NUMBERS.filter(lambda number: number != "-0"), st.sampled_from([1, 2]))  # an integer: 0
def test_numbers_survive_as_they_were_written(number: str, version: int) -> None:
    folding = Folding(version)
    raw = (
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
        f'{{"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":[{number}]}}}}}}'
    )
    folding.line(Direction.AGENT, raw.encode())
    folding.restart()

    assert f'"rawInput":[{number}]' in _text(folding.state)


def test_what_json_libraries_change_survives() -> None:
    folding = Folding(2)
    raw = (
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{'
        b'"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":'
        b'{"n":%b,"e":1e400,"f":false,"z":0,"o":1,"p":1.0,"s":"\\ud83d","d":{"x":[null,{}]}},'
        b'"rawOutput":%b}}}' % (b"7" * 40, b"[" * 900 + b"]" * 900)
    )
    folding.line(Direction.AGENT, raw)
    before = _text(folding.state)
    folding.restart()

    assert _text(folding.state) == before
    assert (
        '"rawInput":{"n":%s,"e":1e400,"f":false,"z":0,"o":1,"p":1.0,"s":"\\ud83d",'
        '"d":{"x":[null,{}]}}' % ("7" * 40)
    ) in before
    assert "[" * 900 + "]" * 900 in before


def test_a_damaged_snapshot_is_refused() -> None:
    good = Stored(0, 1, head_of_connection(State(), Decoder()), [])
    session = Stored(1 << 32, 1, b'=["Session"]', [])
    orphan = Stored((1 << 32) + 1, 1, b'=["Turn",1]', [])
    for head in (
        b"",
        b"=",
        b"=[",
        b"=5",
        b'=["connection"]',
        b'=["connection",1,2,3,4,5,6]',
        b"~[1]",
    ):
        with pytest.raises(BadSnapshotError):
            restore([good._replace(head=head)])
    for things in ([good, session], [good, orphan], [session]):
        with pytest.raises(BadSnapshotError):
            restore(things)


def _seconds(count: int) -> float:
    from time import process_time

    folding = Folding(2)
    started = process_time()
    for _ in range(count):
        folding.update("terminal_output_chunk", terminalId="x", data="YWJjZGVmZ2g=" * 8)
        folding.update("tool_call_content_chunk", toolCallId="t", content=item("a"))
    return process_time() - started


def test_appending_costs_the_same_however_much_is_there() -> None:
    ratios = [_seconds(8000) / _seconds(2000) for _ in range(3)]

    assert min(ratios) < 8
