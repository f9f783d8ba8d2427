"""The harness for shipping agents: its reader against the log, and that it notices differences."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tests.harness import PROXY, Log, environment
from tests.rig.account import Account, differences
from tests.rig.agents import AGENTS, filled
from tests.rig.asking import ask
from tests.rig.capture import Line, read_lines
from tests.rig.plays import PLAYS
from tests.rig.reading import read

SESSION = "s1"


def lines(*messages: tuple[str, dict[str, Any]]) -> list[Line]:
    return [Line(sender, json.dumps(message).encode() + b"\n") for sender, message in messages]


def updates(*told: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    for update in told:
        params = {"sessionId": SESSION, "update": update}
        yield "agent", {"method": "session/update", "params": params}


def agreed(version: int) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("client", {"id": 0, "method": "initialize", "params": {"protocolVersion": version}}),
        ("agent", {"id": 0, "result": {"protocolVersion": version}}),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["04-claude-v1", "05-codex-v2"])
def test_the_reader_and_the_log_tell_the_same(name: str, captures: Path, tmp_path: Path) -> None:
    capture, log = captures / f"{name}.jsonl", Log(tmp_path / "log.db")
    imported = [str(PROXY), "import", str(capture), "--log", str(log.path)]
    subprocess.run(imported, env=environment(), check=True, capture_output=True)

    seen = read(read_lines(capture))

    assert differences(seen, ask(log)) == []
    assert seen.tool_calls
    assert seen.permissions
    assert seen.terminals
    assert seen.told


def test_version_1_null_changes_nothing_and_a_new_call_begins_anew() -> None:
    call = {"toolCallId": "c1"}
    conversation = [
        *agreed(1),
        *updates(
            {"sessionUpdate": "tool_call", "title": "T", "kind": "read", **call},
            {"sessionUpdate": "tool_call_update", "title": None, "status": "completed", **call},
            {"sessionUpdate": "tool_call", "title": "U", "toolCallId": "c2", "status": "failed"},
            {"sessionUpdate": "tool_call", "title": "V", "toolCallId": "c2"},
        ),
    ]

    assert read(lines(*conversation)).tool_calls == {
        "s1 c1": {"title": "T", "kind": "read", "status": "completed"},
        "s1 c2": {"title": "V", "kind": "other", "status": "pending"},
    }


def test_version_2_null_clears() -> None:
    told = {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}
    conversation = [
        *agreed(2),
        *updates({**told, "title": "T", "kind": "read"}, {**told, "title": None, "kind": None}),
    ]

    assert read(lines(*conversation)).tool_calls == {
        "s1 c1": {"title": None, "kind": "other", "status": "pending"}
    }


def test_a_turn_ends_once_however_often_it_is_said_to_be_over() -> None:
    over = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    running = {"sessionUpdate": "state_update", "state": "running"}
    cut = {**over, "stopReason": "cancelled"}

    told = read(lines(*agreed(2), *updates(running, over, over, running, cut)))

    assert told.ends == {SESSION: ["end_turn", "cancelled"]}


def test_equal_ids_of_both_sides_are_told_apart() -> None:
    asked = {"toolCall": {"toolCallId": "c1"}, "options": [{"optionId": "yes"}]}
    permission = {"method": "session/request_permission", "params": {"sessionId": SESSION, **asked}}
    prompt = {"method": "session/prompt", "params": {"sessionId": SESSION, "prompt": []}}
    chosen = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    conversation = [
        *agreed(1),
        ("client", {"id": 1, **prompt}),
        ("agent", {"id": 1, **permission}),
        ("client", {"id": 1, "result": chosen}),
        ("agent", {"id": 1, "result": {"stopReason": "end_turn"}}),
        ("agent", {"id": 2, **permission}),
    ]

    answered, open_still = read(lines(*conversation)).permissions

    assert (answered["status"], answered["optionId"]) == ("selected", "yes")
    assert open_still["status"] == "abandoned"


@pytest.mark.parametrize(
    "change",
    [
        {"messages": 3},
        {"version": 2},
        {"updates": {"plan": 2}},
        {"tool_calls": {"s1 c1": {"title": "T", "kind": "other", "status": "failed"}}},
        {"permissions": []},
        {"terminals": {"s1 meta c1": {"output": b"cut", "exit": None}}},
        {"plans": {"s1": {"entries": []}}},
        {"ends": {"s1": ["end_turn"]}},
        {"texts": {}},
        {"told": {"s1": ["agent: Hello"], "s2": ["agent: Hello"]}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_differs_is_named(change: dict[str, Any]) -> None:
    seen = Account(
        messages=2,
        version=1,
        updates={"plan": 1},
        tool_calls={"s1 c1": {"title": "T", "kind": "other", "status": "completed"}},
        permissions=[{"requestId": 0, "options": ["yes"], "toolCallId": None, "status": "error"}],
        terminals={"s1 meta c1": {"output": b"cut off", "exit": None}},
        plans={"s1": {"entries": [{}]}},
        ends={"s1": ["cancelled"]},
        texts={"s1": ["agent: Hello"]},
        told={"s1": ["agent: Hello"]},
    )

    [difference] = differences(seen, replace(seen, **change))

    assert difference.startswith(next(iter(change)))
    assert differences(seen, replace(seen)) == []


def test_plays_have_names_of_their_own_and_agents_that_are_known() -> None:
    assert len({play.name for play in PLAYS}) == len(PLAYS)
    assert {play.agent for play in PLAYS} == AGENTS.keys()
    assert {name for play in PLAYS for name in play.has} <= {each.name for each in fields(Account)}


def test_an_agent_that_is_not_installed_is_noticed(tmp_path: Path) -> None:
    fast = AGENTS["fast"]
    program = Path(filled(fast.command[0], rig=tmp_path))

    assert fast.missing(tmp_path) == program
    program.parent.mkdir(parents=True)
    program.touch()
    assert fast.missing(tmp_path) is None
