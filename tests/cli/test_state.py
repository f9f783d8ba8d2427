"""``acp-proxy state``: the page, the document, and what is refused."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from acp_proxy import decode, fold
from acp_proxy.recording import open_recording
from acp_proxy.views.state_json import state_document
from acp_proxy.wire.jsonrpc import Direction, Message, classify, text_message
from tests.cli.commands import document, invoke

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "docs" / "example.jsonl"


def _import(log: Path, *frames: tuple[str, Any]) -> None:
    lines = [
        json.dumps({"from": stream, **({"data": said} if isinstance(said, str) else
                                       {"message": {"jsonrpc": "2.0", **said}})})
        for stream, said in frames
    ]  # fmt: skip
    invoke("import", "-", "--log", log, stdin="\n".join(lines).encode())


def _update(tag: str, /, session: str = "s", **fields: Any) -> tuple[str, Any]:
    update = {"sessionUpdate": tag, **fields}
    return "agent", {"method": "session/update", "params": {"sessionId": session, "update": update}}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.db"
    invoke("import", EXAMPLE, "--log", path)
    return path


def test_the_document_is_that_of_the_fold(log: Path) -> None:
    said: list[tuple[Direction, Message]] = []
    with open_recording(log) as recording:
        for frame in recording.frames():
            direction, raw = Direction(frame.stream), frame.raw or b""
            if direction is Direction.STDERR:
                said.append((direction, text_message(raw)))
            else:
                said += [(direction, message) for message in classify(raw)]

    found = document("state", "--log", log)

    assert found == state_document(fold(decode(said)), 1)
    assert [call["title"] for call in found["sessions"][0]["toolCalls"]] == ["Opened valve 3"]


def test_every_line_counts_also_stderr_and_members_of_batches(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    calls = [_update("tool_call", toolCallId=id_)[1] | {"jsonrpc": "2.0"} for id_ in "abc"]
    _import(log, ("stderr", "hello"), ("agent", "no JSON"), ("agent", json.dumps(calls)))

    counts = [
        len(found["sessions"][0]["toolCalls"]) if found["sessions"] else 0
        for seq in range(1, 6)
        for found in [document("state", "--at", seq, "--log", log)]
    ]

    assert counts == [0, 0, 1, 2, 3]
    assert document("state", "--log", log)["at"] == 5


@pytest.mark.parametrize("seq", ["0", "-19", "20"])
def test_a_message_that_is_not_there_is_told(log: Path, seq: str) -> None:
    result = invoke("state", "--at", seq, "--log", log, code=1)

    assert f'has no message at "{seq}"; it has 1 to 19' in result.stderr


def test_one_session(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    _import(log, _update("plan", "a", entries=[]), _update("plan", "b", entries=[]))

    [found] = document("state", "--session", "b", "--log", log)["sessions"]
    nothing = invoke("state", "--session", "c", "--json", "--log", log, code=1)

    assert found["sessionId"] == "b"
    assert json.loads(nothing.stdout)["sessions"] == []


@pytest.mark.parametrize(
    ("status", "at_last"),
    [
        ("imported", "pending"),
        ("running", "pending"),
        ("exited", "abandoned"),
        ("lost", "abandoned"),
    ],
)
def test_what_nobody_answered_is_abandoned_when_the_connection_has_ended(
    tmp_path: Path, status: str, at_last: str
) -> None:
    log = tmp_path / "log.db"
    request = {"id": 1, "method": "session/request_permission", "params": {"sessionId": "s"}}
    _import(log, ("agent", request), ("stderr", "bye"))
    with closing(sqlite3.connect(log)) as db, db:
        db.execute("UPDATE connections SET status = ?", (status,))

    found = [
        document("state", *at, "--log", log)["sessions"][0]["permissions"][0]["status"]
        for at in ((), ("--at", 2), ("--at", 1))
    ]

    assert found == [at_last, at_last, "pending"]


def test_values_come_out_as_they_went_in(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    raw = '{"n":%s,"a":1.50,"b":1e400,"f":false,"z":0,"s":"\\ud83d","d":[null,{"x":null}]}' % (
        "7" * 40
    )
    _import(
        log,
        (
            "agent",
            '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
            '{"sessionUpdate":"tool_call","toolCallId":"t","rawInput":' + raw + "}}}",
        ),
    )

    assert f'"rawInput":{raw}' in invoke("state", "--json", "--log", log).stdout


def test_nothing_acts_on_the_readers_terminal(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    evil = "\x1b[2J\u202e\n"
    _import(
        log,
        ("client", {"id": evil, "method": "session/prompt", "params": {
            "sessionId": evil, "prompt": [{"type": "text", "text": evil}]}}),
        _update("tool_call", evil, toolCallId=evil, title=evil, content=[{"type": evil}]),
        _update("session_info_update", evil, title=evil),
        _update("terminal_update", evil, terminalId=evil, command=evil,
                exitStatus={"exitCode": evil, "signal": [evil]}),
        _update("state_update", evil, state=evil),
        _update("plan_update", evil, plan={"planId": evil, "entries": [{"status": evil}, 5]}),
        ("agent", {"id": evil, "method": "session/request_permission", "params": {
            "sessionId": evil, "toolCall": {"toolCallId": "t", "title": evil}}}),
        ("client", {"id": evil, "result": {"outcome": {"outcome": "selected", "optionId": evil}}}),
    )  # fmt: skip

    for arguments in ((), ("--json",)):
        text = invoke("state", *arguments, "--log", log).stdout
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "\\e[2J" in invoke("state", "--log", log).stdout


def test_of_many_sessions_the_last_are_told_whole_and_of_many_things_the_open_ones(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.db"
    said = [
        _update("tool_call_update", f"s{session}", toolCallId=f"c{call}", title=f"Do {call}",
                status="completed" if call else "in_progress")
        for session in range(10)
        for call in range(50)
    ]  # fmt: skip
    _import(log, ("client", {"id": 0, "method": "initialize", "params": {"protocolVersion": 2}}),
            ("agent", {"id": 0, "result": {"protocolVersion": 2}}), *said)  # fmt: skip

    page = invoke("state", "--log", log).stdout

    assert "  s0  to message 52: 50 tool calls\n  s1  to message 102: 50 tool calls\n" in page
    assert page.count("those that are open, and the last 10") == 8
    assert page.count("in_progress") == 8
    assert page.count("completed") == 80
    one = invoke("state", "--log", log, "--session", "s0").stdout
    assert one.count("completed") == 10
    assert "s1" not in one
