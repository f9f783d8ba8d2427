"""What commands cost grows as a conversation does, not as its square: batches, long histories."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from acp_proxy.cli.commands import acp_proxy
from tests.cli.commands import invoke
from tests.cli.conversations import put, update

Lines = list[tuple[str, Any]]
_SMALL, _TIMES = 150, 4
_SLACK = 2.5  # a square would take 4 times as much again
_NOISE_SECONDS = 0.25


def _request(id_: int, method: str = "x", params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}


def _result(id_: int, result: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": result or {}}


def _text(text: str, **more: Any) -> dict[str, Any]:
    return update("agent_message_chunk", content={"type": "text", "text": text}, **more)


def _item(number: int) -> dict[str, Any]:
    content = {"type": "content", "content": {"type": "text", "text": f"item {number}"}}
    return update("tool_call_content_chunk", toolCallId="c", content=content)


_OUTCOME = {"outcome": {"outcome": "selected", "optionId": "a"}}

# A kind of conversation, by how many members it has.
KINDS: dict[str, Callable[[int], Lines]] = {
    "numbers": lambda n: [("agent", [1] * n)],
    "arrays": lambda n: [("agent", [[1, [2]]] * n)],
    "chunks": lambda n: [("agent", [_text("word ") for _ in range(n)])],
    "messages": lambda n: [("agent", [_text("word", messageId=f"{i}") for i in range(n)])],
    "requests and answers": lambda n: [
        ("client", [_request(i) for i in range(n)]), ("agent", [_result(i) for i in range(n)]),
    ],
    "requests of one id": lambda n: [
        ("client", [_request(1) for _ in range(n)]), ("agent", [_result(1) for _ in range(n)]),
    ],
    "prompts": lambda n: [
        ("client", [_request(i, "session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": f"p{i}"}]}) for i in range(n)]),
        ("agent", [_result(i, {"stopReason": "end_turn"}) for i in range(n)]),
    ],
    "open prompts, of the other version": lambda n: [
        *(("client", _request(i, "session/prompt", {"sessionId": "s", "prompt": []})) for i in range(n)),
        ("agent", update("state_update", state="running")),
    ],
    "cancels of one request": lambda n: [
        ("client", _request(1)),
        ("client", [{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}] * n),
    ],
    "permissions": lambda n: [
        ("agent", [_request(i, "session/request_permission", {
            "sessionId": "s", "toolCall": {"toolCallId": f"c{i}"}, "options": [{"optionId": "a", "name": "A", "kind": "allow_once"}],
        }) for i in range(n)]),
        ("client", [_result(i, _OUTCOME) for i in range(n)]),
    ],
    "refused": lambda n: [
        ("client", [_request(i, "session/prompt", {"sessionId": "s", "prompt": []}) for i in range(n)]),
        ("agent", {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}),
    ],
    "tool calls": lambda n: [("agent", [update("tool_call", toolCallId=f"c{i}", title="t") for i in range(n)])],
    "content of one tool call": lambda n: [("agent", _item(i)) for i in range(n)],
    "terminal output": lambda n: [
        ("agent", [update("terminal_output_chunk", terminalId="t", data="aGkK") for _ in range(n)]),
    ],
    "lines with JSON inside": lambda n: [("agent", f"x {json.dumps(_result(i))} y") for i in range(n)],
}  # fmt: skip
COMMANDS = [
    "tail", "tail --json", "messages", "messages --grep word", "messages --odd", "state", "tool-calls",
    "tool-call c --history", "terminal t --history", "permissions", "sessions", "pending", "stats", "timeline",
    "search word", "transcript --format text", "transcript --format markdown", "transcript --format html",
    "transcript --format json", "export --jsonl", "verify", "diff --at 1 --at -1", "show 2", "log reindex",
]  # fmt: skip


def seconds(arguments: list[str]) -> float:
    """Return the processor time that a command takes, the least of two."""
    taken = []
    for _ in range(2):
        begun = time.process_time()
        CliRunner().invoke(acp_proxy, arguments, catch_exceptions=False)
        taken.append(time.process_time() - begun)
    return min(taken)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_command_takes_the_square(tmp_path: Path, kind: str) -> None:
    logs = {
        size: str(put(tmp_path / f"{size}.db", KINDS[kind](size)))
        for size in (_SMALL, _SMALL * _TIMES)
    }
    for command in COMMANDS:
        small, large = (seconds([*command.split(), "--log", log]) for log in logs.values())
        assert large < _TIMES * _SLACK * small + _NOISE_SECONDS, command


def test_a_batch_is_told_member_by_member(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [("agent", [1, "two", {"three": 3}, [4]])])

    said = invoke("transcript", "--log", log).stdout

    assert said.count('"two"') == 1
    for row in invoke("messages", "--log", log).stdout.splitlines()[1:]:
        assert len([word for word in ("two", "three", "[4]") if word in row]) <= 1


def test_the_members_of_a_batch_share_its_bytes(tmp_path: Path) -> None:
    from acp_proxy.recording import open_recording

    log = put(tmp_path / "log.db", [("agent", [_text(f"{i}") for i in range(50)])])

    with open_recording(log) as recording:
        rows = list(recording.messages(1))

    assert len({id(row.raw) for row in rows}) == 1
    assert rows[0].raw.startswith(b'[{"jsonrpc"')
