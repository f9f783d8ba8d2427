"""Real conversations: the states that are known of them, and the same from any beginning."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_proxy.events.decoder import Decoder
from acp_proxy.events.event import Event
from acp_proxy.events.vocabulary import NotificationSent, UpdateReceived
from acp_proxy.recording import open_recording
from acp_proxy.state.fold import State
from acp_proxy.views.jsonlines import parse_line
from acp_proxy.views.state_json import state_document, state_text
from acp_proxy.wire.jsonrpc import Direction, Message, classify, text_message
from tests.cli.commands import document, invoke
from tests.state.folding import Kept

NAMES = (
    "01-zed-1.5.4-with-claude-agent-acp-0.43.0", "02-webstorm-2026.1.2-with-goose-1.37.0",
    "03-cursor-agent-2026.05.16", "04-claude-v1", "05-codex-v2", "06-fast-v1", "07-sdk-v2",
)  # fmt: skip


def _messages(path: Path) -> Iterator[tuple[Direction, Message]]:
    for line in path.read_bytes().splitlines():
        if line.startswith(b'{"acp-proxy"'):
            continue
        stream, raw, *_ = parse_line(line)
        direction = Direction(stream)
        if direction is Direction.STDERR:
            yield direction, text_message(raw)
        else:
            yield from ((direction, message) for message in classify(raw, as_written=True))


def _fold(path: Path) -> tuple[State, Decoder, list[Event]]:
    state, decoder, events = State(), Decoder(), []
    for direction, message in _messages(path):
        for event in decoder.add(direction, message):
            events.append(event)
            state.apply(event)
    return state, decoder, events


def _text(state: State) -> str:
    return state_text(state_document(state, 1))


def _first_session(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_text(_fold(path)[0]))["sessions"][0]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_from_the_log_as_message_by_message(name: str, captures: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    invoke("import", captures / f"{name}.jsonl", "--log", log)
    state, decoder = State(), Decoder()
    with open_recording(log) as recording:
        last = recording.connection().messages
        sample = {*range(1, last, 23), last}
        for direction, message in _messages(captures / f"{name}.jsonl"):
            for event in decoder.add(direction, message):
                state.apply(event)
            if decoder.seq in sample:
                assert _text(recording.state(at=decoder.seq)) == _text(state), decoder.seq
        assert _text(recording.state()) == _text(state)
    assert document("state", "--log", log) == json.loads(_text(state))


@pytest.mark.parametrize("name", NAMES)
def test_saved_and_restored_after_every_message(name: str, captures: Path) -> None:
    path = captures / f"{name}.jsonl"
    state, decoder, kept = State(), Decoder(), Kept()
    whole, whole_decoder = State(), Decoder()
    state.watch()
    for direction, message in _messages(path):
        for event in decoder.add(direction, message):
            state.apply(event)
        for event in whole_decoder.add(direction, message):
            whole.apply(event)
        state, decoder = kept.restarted(state, decoder)
        if decoder.seq % 23 == 0:
            assert _text(state) == _text(whole), decoder.seq

    assert _text(state) == _text(whole)


def test_late_titles_of_tool_calls(captures: Path) -> None:
    calls = _first_session(captures / f"{NAMES[1]}.jsonl")["toolCalls"]

    assert [call["status"] for call in calls] == ["completed"] * 12
    assert [call["title"] for call in calls][:3] == [
        "writing repository analysis task list", "listing out files in directory", "reading readme"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "owner", "lengths"),
    [
        ("04-claude-v1", "meta", [152, 132, 48, 816, 368]),
        ("05-codex-v2", "agent", [156, 116, 0, 16, 188, 8, 148]),
        ("06-fast-v1", "client", [156, 116, 0]),
    ],
)
def test_outputs_of_terminals(name: str, owner: str, lengths: list[int], captures: Path) -> None:
    terminals = _first_session(captures / f"{name}.jsonl")["terminals"]

    assert {terminal["owner"] for terminal in terminals} == {owner}
    assert [len(one.get("output", {}).get("data", "")) for one in terminals] == lengths


def test_the_same_commands_have_the_same_output_in_both_versions(captures: Path) -> None:
    ours = _first_session(captures / "06-fast-v1.jsonl")["terminals"]
    theirs = _first_session(captures / "05-codex-v2.jsonl")["terminals"]

    assert ours[1]["output"]["data"] == theirs[1]["output"]["data"]


@pytest.mark.parametrize("name", NAMES)
def test_every_update_has_a_named_event(name: str, captures: Path) -> None:
    *_, events = _fold(captures / f"{name}.jsonl")
    unnamed = {event.kind for event in events if isinstance(event, UpdateReceived)}

    assert unnamed <= {"_example.org/custom"}
    assert not any(
        isinstance(event, NotificationSent) and event.method == "session/update" for event in events
    )
