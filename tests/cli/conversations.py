"""Small conversations as interchange lines: one of each protocol version, put into a log."""

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.cli.commands import invoke

EVIL = "id\x1b[2J\u202e"
"""An id that would clear the screen and turn the text round."""


def request(id_: Any, method: str, /, **params: Any) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def result(id_: Any, /, **values: Any) -> dict[str, Any]:
    """Return an answer."""
    return {"jsonrpc": "2.0", "id": id_, "result": values}


def update(variant: str, /, **fields: Any) -> dict[str, Any]:
    """Return a session/update of session s."""
    params = {"sessionId": "s", "update": {"sessionUpdate": variant, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def b64(data: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(data).decode()


_BEGAN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
_ASK = {
    "sessionId": "s",
    "toolCall": {"toolCallId": "c1"},
    "options": [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}],
}

V1 = [
    ("client", request(0, "initialize", protocolVersion=1)),  # 1
    ("agent", result(0, protocolVersion=1)),
    ("client", request(1, "session/new", cwd="/garden", mcpServers=[])),
    ("agent", result(1, sessionId="s")),
    ("client", request(2, "session/prompt", sessionId="s", prompt=[{"type": "text", "text": "hi"}])),
    ("agent", update("tool_call", toolCallId="c1", title="Edit a", kind="edit", status="pending")),
    ("agent", request("p", "session/request_permission", **_ASK)),  # 7
    ("client", result("p", outcome={"outcome": "selected", "optionId": "yes"})),
    ("agent", update(
        "tool_call_update", toolCallId="c1", status="in_progress",
        content=[{"type": "diff", "path": "/garden/a", "oldText": "one\ntwo", "newText": "one\n2\n"}],
        locations=[{"path": "/garden/a", "line": 2}], rawInput={"flag": False, "n": 1.0},
    )),
    ("agent", update("tool_call_update", toolCallId="c1", status="completed", rawInput={"flag": 0, "n": 1})),
    ("agent", request("t", "terminal/create", sessionId="s", command="ls", args=["-l"])),  # 11
    ("client", result("t", terminalId="term")),
    ("agent", request("o", "terminal/output", sessionId="s", terminalId="term")),
    ("client", result("o", output="\x1b[31mred\r\nend\rno", truncated=True)),
    ("agent", update("tool_call", toolCallId=EVIL, title=f"Look {EVIL}", status="in_progress",
                     content=[{"type": "terminal", "terminalId": "term"}])),  # 15
    ("stderr", f"warning {EVIL}"),
    ("agent", request("w", "terminal/wait_for_exit", sessionId="s", terminalId="term")),
]  # fmt: skip

V2 = [
    ("client", request(0, "initialize", protocolVersion=2)),  # 1
    ("agent", result(0, protocolVersion=2)),
    ("client", request(1, "session/new", cwd="/garden", mcpServers=[])),
    ("agent", result(1, sessionId="s")),
    ("agent", update("state_update", state="running")),
    ("agent", update(
        "tool_call_update", toolCallId="c1", name="edit", title="Edit", kind="edit",
        status="completed", content=[
            {"type": "diff", "changes": [{"operation": "move", "oldPath": "/a", "path": "/b"}],
             "patch": {"format": "git_patch", "text": "rename from /a\nrename to /b\n"}},
            {"type": "content", "content": {"type": "text", "text": "done"}},
        ],
    )),  # 6
    ("agent", update("terminal_update", terminalId="t", command="ls", output={"data": b64(b"a\xff")})),
    ("agent", update("terminal_output_chunk", terminalId="t", data=b64(b"b\x1b[0m\n"))),
    ("agent", update("terminal_update", terminalId="t", exitStatus={"exitCode": 3})),
    ("agent", update("terminal_update", terminalId="u", command="top")),  # 10
]  # fmt: skip


def put(log: Path, conversation: list[tuple[str, Any]]) -> Path:
    """Import a conversation; its messages come 100 ms after each other, from 0.1 s on."""
    lines = [
        {
            "from": stream,
            **({"data": message} if stream == "stderr" else {"message": message}),
            "elapsed_ns": seq * 100_000_000,
            "time": (_BEGAN + timedelta(seconds=seq)).isoformat(),
        }
        for seq, (stream, message) in enumerate(conversation, 1)
    ]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    invoke("import", "-", "--log", log, stdin=text)
    return log
